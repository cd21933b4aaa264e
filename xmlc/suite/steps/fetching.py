"""Fetch single files from folders, over HTTP and from Google Drive."""

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
SILENCE = 20.0  # An attempt to download a file fails if no byte arrives for these seconds.
CHUNK = 1 << 16
MISSING = (403, 404, 410)  # An object store may return 403 for a file that does not exist.
#: Maps the first bytes of a file that is not data to a description of the file. Some servers send
#: an error page or a similar file instead of data.
NO_DATA = {
    b"<!doctype html": "an HTML page (a quota, sign-in or error page)",
    b"<html": "an HTML page (a quota, sign-in or error page)",
    b"{": "JSON",
    b"[": "JSON",
    b"version https://git-lfs": "a Git LFS pointer",
}


class Unreachable(XmlcError):
    """Raised if a download fails, so that nobody knows whether the server has the file."""


def fetch(address: str, target: Path) -> None:
    """Fetch a file, and check that its first bytes may be data or an archive.

    Parameters
    ----------
    address : str
        A path, a web address, or the address of a file on Google Drive.
    target : Path

    Raises
    ------
    Unreachable
        The server failed or did not answer. The error message states why the last attempt failed.
    XmlcError
        The file does not exist, the server refuses access to it, or it is no data, for example an
        error page.
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
    """Copy a file without a check of its content. A failed download starts again at its first byte.

    Raises
    ------
    Unreachable, XmlcError
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
    again, and decode content without noticing that its end is missing.
    """
    file = Path(path)
    file.unlink()  # pooch has created the file with rights for its owner only
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
        # Some servers send a file ``train.txt.gz`` as ``train.txt`` with the encoding gzip. If the
        # address ends with ``.gz``, the compressed file is kept.
        if urlsplit(url).path.endswith(".gz"):
            return
        decoded = file.with_name(f"{file.name}.decoded")
        try:
            with plain(open(file, "rb"), "the content") as source, open(decoded, "wb") as content:
                shutil.copyfileobj(source, content, CHUNK)
        except XmlcError as error:
            raise ValueError(error) from error
        decoded.replace(file)
    # The encoding may be a compression format that xmlc can read, so the file needs no decoding.
    elif coding not in ("", "identity") and not is_compressed(file):
        raise XmlcError(f"found the encoding {coding}, expected gzip or none")
