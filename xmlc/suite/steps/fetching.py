"""Single files from folders, over HTTP and from Google Drive."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

import requests

from xmlc.core.errors import XmlcError, let_through
from xmlc.core.progress import Progress
from xmlc.data.archives import is_compressed, plain
from xmlc.suite.config.catalogue import DRIVE
from xmlc.suite.config.sources import WEB

RETRIES = 3
SILENCE = 20.0  # seconds without a byte after which an attempt fails
CHUNK = 1 << 16
MISSING = (403, 404, 410)  # an object store may return 403 for a missing file
#: Files that some servers send instead of data, such as an error page, by their first bytes
NO_DATA = {
    b"<!doctype html": "an HTML page (a quota, sign-in or error page)",
    b"<html": "an HTML page (a quota, sign-in or error page)",
    b"{": "JSON",
    b"[": "JSON",
    b"version https://git-lfs": "a Git LFS pointer",
}


class Unreachable(XmlcError):
    """A failed download, after which it is unclear whether the server has the file."""


def fetch(address: str, target: Path) -> None:
    """Fetch a file from a path, a web address or Google Drive, if its first bytes may be data or an
    archive.

    The error is `Unreachable` if the server failed or did not answer.
    """
    copy(address, target)
    with plain(open(target, "rb"), "the file") as file:
        head = file.read(512).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if not head:
        raise XmlcError("found an empty file")
    for mark, what in NO_DATA.items():
        if head.startswith(mark):
            text = " ".join(head[:60].decode(errors="replace").split())
            raise XmlcError(f"found {what} instead of data: {text!r}")


def copy(address: str, target: Path) -> None:
    """Copy a file without a check of its content. A failed download starts again at its first
    byte.
    """
    if not address.startswith(WEB):
        if not Path(address).is_file():
            raise XmlcError("found no such file")
        shutil.copyfile(address, target)
        return
    if address.startswith(DRIVE):
        import gdown

        try:
            gdown.download(address, str(target), quiet=not sys.stderr.isatty(), use_cookies=False)
        except Exception as error:  # gdown raises errors of many classes
            let_through(error)
            reason = " ".join(str(error).split())
            raise XmlcError(f"Google Drive refused the download ({reason})") from error
        return
    import pooch

    pooch.get_logger().setLevel("WARNING")
    target.unlink(missing_ok=True)  # pooch would keep an existing file
    name = target.name
    folder = target.parent.absolute()
    files = pooch.create(
        folder, "", registry={name: None}, urls={name: address}, retry_if_failed=RETRIES
    )
    try:
        files.fetch(name, downloader=_transfer)
    # The address of a redirection may be invalid, which raises a ValueError.
    except (requests.RequestException, ValueError) as error:
        raise Unreachable(f"{error}, after {RETRIES + 1} attempts") from error


def _transfer(url: str, path: str, files: object) -> None:
    """Download a file for pooch, which tries again after a `RequestException` or a ValueError.

    The downloader of pooch would accept a part of a file (status 206), request a missing file
    again, and not notice that the end of encoded content is missing.
    """
    file = Path(path)
    file.unlink()  # pooch created the file with rights for its owner only
    headers = {"Accept-Encoding": "identity"}
    with requests.get(url, headers=headers, stream=True, timeout=SILENCE) as response:
        status = response.status_code
        if status in MISSING:
            raise XmlcError(f"the server refused the file or does not have it ({status})")
        if status != 200:
            raise requests.HTTPError(f"the server answered {status}")
        # Without this header, `requests` returns the bytes as the server sent them.
        coding = response.raw.headers.pop("Content-Encoding", "").strip().lower()
        total = response.raw.length_remaining or 0
        with open(file, "wb") as content, Progress(total, url, "B") as progress:
            for chunk in response.iter_content(CHUNK):
                progress.update(content.write(chunk))
    if coding in ("gzip", "x-gzip"):
        # Some servers send ``train.txt.gz`` as ``train.txt`` with the encoding gzip. It stays
        # compressed.
        if urlsplit(url).path.endswith(".gz"):
            return
        decoded = file.with_name(f"{file.name}.decoded")
        try:
            with plain(open(file, "rb"), "the content") as source, open(decoded, "wb") as content:
                shutil.copyfileobj(source, content, CHUNK)
        except XmlcError as error:
            raise ValueError(error) from error
        decoded.replace(file)
    # xmlc can read some compressed files without decoding.
    elif coding not in ("", "identity") and not is_compressed(file):
        raise XmlcError(f"found the encoding {coding}, expected gzip or none")
