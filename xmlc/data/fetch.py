"""Fetching single files: HTTP with resume and retries, and Google Drive."""

from __future__ import annotations

import hashlib
import inspect
import os
import time
from collections.abc import Callable
from pathlib import Path

import requests
import urllib3

from xmlc.errors import XmlcError
from xmlc.runtime.progress import Progress

ATTEMPTS = 4
FIRST_PAUSE = 1.0  # seconds; doubles from attempt to attempt
TIMEOUT = 60  # seconds without a byte
CHUNK = 1 << 20
PASSING = (408, 425, 429, 500, 502, 503, 504)
MISSING = (403, 404, 410)  # object stores answer 403 for a file that does not exist
HTML_MARKS = (b"<html", b"<!doctype html", b"<head", b"<body", b"<script")
WEB_PAGE = "found an HTML page instead of data (a quota, sign-in or error page)"


class NotThere(XmlcError):
    """It cannot be had from here; another source may have it."""


def fetch_http(url: str, target: Path, partial: Path) -> None:
    """Download a file, going on where an earlier attempt stopped.

    Parameters
    ----------
    url : str
    target : Path
        Appears when the file is whole; on the same file system as ``partial``.
    partial : Path
        Folder for unfinished files; they are kept there so that the next run goes on with them.

    Raises
    ------
    NotThere
        The server says that there is no such file.
    XmlcError
        Every attempt failed, with the last reason; or the file is a web page.
    """
    part = _part(partial, url)
    problem = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(FIRST_PAUSE * 2 ** (attempt - 1))
        try:
            problem = _attempt(url, part)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            problem = str(error)
        if not problem:
            _publish(part, target)
            return
    raise XmlcError(f"{problem}, after {ATTEMPTS} attempts")


def fetch_drive(identifier: str, target: Path, partial: Path) -> None:
    """Download a file from Google Drive, going on where an earlier attempt stopped.

    Raises
    ------
    XmlcError
        The file cannot be had: refused, or over its quota.
    """
    import gdown

    part = _part(partial, f"drive:{identifier}")
    wishes: dict[str, object] = {"quiet": True, "resume": True, "use_cookies": False}
    wishes |= {"retries": ATTEMPTS - 1, "timeout": TIMEOUT}
    with Progress(0, f"Google Drive {identifier}", "B") as progress:

        def show(done: int, total: int | None) -> None:
            progress.total = total or progress.total
            progress.update(done - progress.done)

        wishes["progress"] = show
        # Versions before 6 lack some of these.
        download: Callable[..., object] = gdown.download
        known = inspect.signature(download).parameters
        options = {name: value for name, value in wishes.items() if name in known}
        try:
            done = download(id=identifier, output=str(part), **options)
        except Exception as error:  # gdown raises what its own dependencies do
            raise XmlcError(f"Google Drive did not hand it out ({' '.join(str(error).split())})") from error
    if done is None or not part.exists():
        raise XmlcError("Google Drive did not hand it out (refused, or over its quota)")
    _publish(part, target)


def check_is_data(path: Path) -> None:
    """Refuse what servers hand out instead of data: a web page, such as Drive's quota page, or a Git LFS pointer.

    Raises
    ------
    XmlcError
        With what was found.
    """
    with open(path, "rb") as file:
        head = file.read(2048).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not head:
        raise XmlcError("found an empty file")
    if head.startswith(b"<") and any(mark in head for mark in HTML_MARKS):
        raise XmlcError(WEB_PAGE)
    if head.startswith(b"version https://git-lfs.github.com/"):
        raise XmlcError("found a Git LFS pointer instead of the file that it points to")


def _part(partial: Path, source: str) -> Path:
    partial.mkdir(parents=True, exist_ok=True)
    return partial / hashlib.sha256(source.encode()).hexdigest()[:32]


def _mark(part: Path) -> Path:
    """Return the file that remembers which version of the server's file a part belongs to."""
    return part.with_suffix(".version")


def _publish(part: Path, target: Path) -> None:
    os.replace(part, target)
    _mark(part).unlink(missing_ok=True)


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _mark(part).unlink(missing_ok=True)


def _range_headers(part: Path, have: int) -> dict[str, str]:
    headers = {"Accept-Encoding": "identity"}  # else the length would be that of the compressed transfer
    if have:
        headers["Range"] = f"bytes={have}-"
        if _mark(part).exists():  # a file that has changed meanwhile then comes whole
            headers["If-Range"] = _mark(part).read_text(encoding="utf-8")
    return headers


def _attempt(url: str, part: Path) -> str:
    """Fetch what is missing; return what went wrong, or nothing."""
    have = part.stat().st_size if part.exists() else 0
    with requests.get(url, headers=_range_headers(part, have), stream=True, timeout=TIMEOUT) as response:
        status = response.status_code
        resumed = status == 206
        if status == 416 or (resumed and not _content_range(response).startswith((f"bytes {have}-", "missing"))):
            _discard(part)  # the part is as long as the file, or belongs to another version of it
            return "the server refused to go on with the part downloaded so far"
        if status in PASSING:
            return f"the server answered {status}"
        if status in MISSING:
            raise NotThere(f"the server has no such file, or does not hand it out ({status})")
        if not response.ok:
            raise XmlcError(f"the server answered {status}")
        if not resumed:
            _discard(part)
            version = response.headers.get("ETag") or response.headers.get("Last-Modified")
            if version:
                _mark(part).write_text(version, encoding="utf-8")
            have = 0
        total = _total_bytes(response, have)
        _save(response, part, have, total, url)
    size = part.stat().st_size
    return "" if total is None or size == total else f"found {size} bytes, expected {total}"


def _save(response: requests.Response, part: Path, have: int, total: int | None, url: str) -> None:
    """Append the body to the part, as it comes over the wire.

    Undecoded: some servers label a ``.gz`` file as a gzip transfer of its content, and its length is that of the file.
    """
    html = "text/html" in response.headers.get("Content-Type", "")
    with open(part, "ab") as file, Progress(total or 0, url, "B") as progress:
        progress.update(have)
        for chunk in response.raw.stream(CHUNK, decode_content=False):
            if html and file.tell() == 0 and chunk.lstrip().startswith(b"<"):
                raise XmlcError(WEB_PAGE)
            file.write(chunk)
            progress.update(len(chunk))


def _content_range(response: requests.Response) -> str:
    return response.headers.get("Content-Range", "missing")


def _total_bytes(response: requests.Response, have: int) -> int | None:
    """Return the length of the whole file, if the server says it."""
    whole = _content_range(response).rpartition("/")[2]
    if whole.isdigit():
        return int(whole)
    length = response.headers.get("Content-Length", "")
    return int(length) + have if length.isdigit() else None
