"""What servers hand out instead of data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from xmlc.data.compressed import Unreadable, open_plain
from xmlc.errors import XmlcError

HEAD = 2048
HTML_MARKS = (b"<html", b"<!doctype html", b"<head", b"<body", b"<script")
WEB_PAGE = "found an HTML page instead of data (a quota, sign-in or error page)"
ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06")
TAR_MARK, TAR_PLACE = b"ustar", 257
NUMBERS = re.compile(rb"[\d\s.,:+\-]|[eE][+\-]?\d|nan|inf", re.IGNORECASE)
HEADER = re.compile(rb"\d+[ \t]+\d+[ \t]+\d+\s*")  # of the repository's format
SHOWN = 60
PAIRS = rb"\d+:\S+([ \t]+\d+:\S+)*\s*(#.*)?"
# Other formats by their first line, and the entry of the catalogue that says so.
OTHERS = (
    ("SVMLight", re.compile(rb"(\d+(,\d+)*[ \t]+)?" + PAIRS), "{source: mirror, format: svmlight}"),
    ("Vowpal Wabbit's format", re.compile(rb"[^|]*\|.*"), "{source: mirror, format: vw}"),
    ("ARFF", re.compile(rb"@relation.*", re.I), "{source: mirror, format: arff, labels: <XML file>}"),
    (
        "the repository's variant of two files",
        re.compile(rb"\d+[ \t]+\d+\s*"),
        "{source: mirror, format: repository-two-files, train: [<features>, <labels>], test: [<features>, <labels>]}",
    ),
    ("comma-separated values", re.compile(rb"[^,]*(,[^,]*)+"), ""),
)


class OtherFormat(XmlcError):
    """A file is in another format than the repository's; ``entry`` is what the catalogue must say, or empty."""

    def __init__(self, message: str, entry: str):
        super().__init__(message)
        self.entry = entry

    def advice(self, dataset: str) -> str:
        """Say what to do where it is a dataset's."""
        if self.entry:
            return f"add to config/datasets.yaml:\n  {dataset}: {self.entry}"
        return "write it by xmlc.data.writer.save_repository(path, X, Y)"


def check_is_data(path: Path, with_header: bool = False) -> None:
    """Refuse a web page, such as Drive's quota page, JSON, a sentence, a Git LFS pointer, an empty or damaged file.

    Only the beginning is looked at. A text passes as ARFF, XML, Vowpal Wabbit's format, or if its first line that is no
    comment consists of numbers.

    Parameters
    ----------
    path : Path
        A text, compressed or not, or an archive.
    with_header : bool
        Whether a text must begin with three counts, as in the repository's format.

    Raises
    ------
    OtherFormat
        A file that must have a header is in another format.
    XmlcError
        With what was found.
    """
    try:
        with open_plain(path) as file:
            head = file.read(HEAD)
    except Unreadable as error:
        raise XmlcError(f"found a damaged file ({error})") from error
    if head.startswith(ARCHIVES) or head[TAR_PLACE:].startswith(TAR_MARK):
        return
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        raise XmlcError("found an empty file")
    lower = head.lower()
    if lower.startswith(b"<") and any(mark in lower for mark in HTML_MARKS):
        raise XmlcError(WEB_PAGE)
    if lower.startswith(b"version https://git-lfs.github.com/"):
        raise XmlcError("found a Git LFS pointer instead of the file that it points to")
    if head.startswith((b"{", b"[")):
        raise XmlcError(f"found JSON instead of data: {_shown(head)}")
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith((b"#", b"%"))), b"")
    if with_header and not HEADER.fullmatch(first):
        for format, line, entry in OTHERS:
            if line.fullmatch(first):
                raise OtherFormat(f"found what looks like {format}: {_shown(head)}", entry)
        raise XmlcError(f"found no header of three counts, as data in the repository's format has: {_shown(head)}")
    if not (first.startswith((b"@", b"<")) or b"|" in first or not NUMBERS.sub(b"", first.partition(b"#")[0])):
        raise XmlcError(f"found a text instead of data: {_shown(head)}")


def check_folder(folder: Path, with_header: Iterable[str] = ()) -> None:
    """Check every file of a folder; those named have a header.

    Raises
    ------
    XmlcError
        With the name of the file.
    """
    for file in sorted(folder.iterdir()):
        try:
            check_is_data(file, file.name in with_header)
        except XmlcError as error:
            error.args = (f"{file.name}: {error}",)
            raise


def _shown(head: bytes) -> str:
    text = " ".join(head.decode("utf-8", errors="replace").split())
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")
