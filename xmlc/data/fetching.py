"""Fetching of single files over HTTP and from Google Drive, resumed where the server can."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import requests
import urllib3

from xmlc.core.errors import XmlcError
from xmlc.core.files import errors_named, locked
from xmlc.core.progress import Progress

ATTEMPTS = 4
FIRST_PAUSE = 1.0  # seconds; doubles from attempt to attempt
SILENCE = 20.0  # seconds without a byte, after which an attempt has failed
CHUNK = 1 << 16
PASSING = (408, 425, 429, 500, 502, 503, 504)
MISSING = (403, 404, 410)  # object stores answer 403 for a file that does not exist
WEB_PAGE = "found an HTML page instead of data (a quota, sign-in or error page)"


class NotThere(XmlcError):
    """It cannot be had from here; another source may have it."""


class _Part(NamedTuple):
    """An unfinished file; it is resumed if the server names the version of the file that it belongs to."""

    file: Path

    @property
    def size(self) -> int:
        return self.file.stat().st_size if self.file.exists() else 0

    @property
    def validator(self) -> str:
        """Strong ``ETag`` or ``Last-Modified`` of the file that it belongs to; empty if it cannot be resumed."""
        with suppress(OSError, ValueError):
            return str(json.loads(self._version.read_text(encoding="utf-8")))
        return ""

    def begin(self, validator: str) -> None:
        """Begin anew."""
        self.discard()
        if validator:
            self._version.write_text(json.dumps(validator), encoding="utf-8")

    def discard(self) -> None:
        self._version.unlink(missing_ok=True)
        self.file.unlink(missing_ok=True)

    @property
    def _version(self) -> Path:
        return self.file.with_suffix(".version")


def fetch_http(url: str, target: Path, partial: Path) -> None:
    """Download a file, going on where an earlier attempt stopped if the server says that it is still the same file.

    Parameters
    ----------
    url : str
    target : Path
        Appears when the file is whole; on the same file system as ``partial``.
    partial : Path
        Folder for unfinished files; those that can be resumed are kept there, and the next run goes on with them. Of
        processes that want the same file at the same time each fetches it after the one before.

    Raises
    ------
    NotThere
        The server says that there is no such file.
    XmlcError
        Every attempt failed, with the last reason; or the file is a web page.
    """
    _fetch(url, target, partial, lambda part: _with_attempts(url, part))


def fetch_drive(identifier: str, target: Path, partial: Path) -> None:
    """Download a file from Google Drive, always from its beginning: Drive names no version of a file.

    Parameters
    ----------
    identifier : str
    target, partial
        As in `fetch_http`.

    Raises
    ------
    XmlcError
        The file cannot be had: refused, or over its quota.
    """
    _fetch(f"drive:{identifier}", target, partial, lambda part: _from_drive(identifier, part))


def _fetch(source: str, target: Path, partial: Path, fetch: Callable[[_Part], None]) -> None:
    """Have a function complete the unfinished file of a source, and give it its name."""
    partial.mkdir(parents=True, exist_ok=True)
    part = _Part(partial / f"{hashlib.sha256(source.encode()).hexdigest()[:32]}.part")
    lock = part.file.with_suffix(".lock")
    with errors_named(target), ExitStack() as stack:
        try:
            stack.enter_context(locked(lock, wait=False))
        except BlockingIOError:
            print(f"xmlc: waiting for another process, which fetches {source}", file=sys.stderr, flush=True)
            stack.enter_context(locked(lock))
        try:
            fetch(part)
            os.replace(part.file, target)
            part.discard()
        except BaseException as error:
            if not part.validator or isinstance(error, OSError):  # of a full disk
                part.discard()
            raise


def _with_attempts(url: str, part: _Part) -> None:
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(FIRST_PAUSE * 2 ** (attempt - 1))
        try:
            problem = _attempt(url, part)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            problem = str(error)
        if not problem:
            return
    raise XmlcError(f"{problem}, after {ATTEMPTS} attempts")


def _attempt(url: str, part: _Part) -> str:
    """Fetch what is missing; return what went wrong, or nothing."""
    validator = part.validator
    have = part.size if validator else 0
    headers = {"Accept-Encoding": "identity"}  # else the length would be that of the compressed transfer
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": validator}  # else it comes whole
    with requests.get(url, headers=headers, stream=True, timeout=SILENCE) as response:
        status = response.status_code
        if status in PASSING:
            return f"the server answered {status}"
        if status in MISSING:
            raise NotThere(f"the server has no such file, or does not hand it out ({status})")
        if not response.ok and status != 416:
            raise XmlcError(f"the server answered {status}")
        content_range = response.headers.get("Content-Range", "")
        goes_on = content_range.startswith(f"bytes {have}-") and _validator(response) in (validator, "")
        if status == 416 or (status == 206 and not goes_on):
            part.discard()  # the part is as long as the file, or belongs to another version of it
            return "the server refused to go on with the part downloaded so far"
        if status != 206:
            have = 0
            part.begin(_validator(response))
        length, whole = response.headers.get("Content-Length", ""), content_range.rpartition("/")[2]
        total = int(whole) if whole.isdigit() else have + int(length) if length.isdigit() else 0
        # Undecoded: some servers label a .gz file as a gzip transfer of its content; its length is that of the file.
        chunks = response.raw.stream(CHUNK, decode_content=False)
        is_page = "text/html" in response.headers.get("Content-Type", "")
        _append(chunks, part, total, url, is_page)
    return "" if part.size == total or not total else f"found {part.size} bytes, expected {total}"


def _validator(response: requests.Response) -> str:
    """Return what tells this file from others that were or will be at its address (RFC 9110, 8.8)."""
    tag = response.headers.get("ETag", "")
    return tag if tag.startswith('"') else response.headers.get("Last-Modified", "")  # W/"..." is a weak tag


def _append(chunks: Iterable[bytes], part: _Part, total: int, title: str, is_page: bool) -> None:
    with open(part.file, "ab") as file, Progress(total, title, "B") as progress:
        progress.update(file.tell())
        for chunk in chunks:
            if is_page and file.tell() == 0 and chunk.lstrip().startswith(b"<"):
                raise XmlcError(WEB_PAGE)
            file.write(chunk)
            progress.update(len(chunk))


def _from_drive(identifier: str, part: _Part) -> None:
    import gdown

    class Watched:
        """A file for gdown to write to."""

        def write(self, data: bytes) -> int:
            progress.update(len(data))
            return file.write(data)

        def tell(self) -> int:
            return file.tell()

        def flush(self) -> None: ...

    # Versions before 6 lack some of these.
    download: Callable[..., object] = gdown.download
    wishes: dict[str, object] = {"quiet": True, "use_cookies": False, "timeout": SILENCE}
    options = {name: value for name, value in wishes.items() if name in inspect.signature(download).parameters}
    part.discard()
    with open(part.file, "wb") as file, Progress(0, f"Google Drive {identifier}", "B") as progress:
        try:
            done = download(id=identifier, output=Watched(), **options)
        except XmlcError:
            raise
        except Exception as error:  # gdown raises whatever its own dependencies do
            if isinstance(error, OSError) and not isinstance(error, requests.RequestException):  # of a full disk
                raise
            raise XmlcError(f"Google Drive did not hand it out ({' '.join(str(error).split())})") from error
    if done is None:
        raise XmlcError("Google Drive did not hand it out (refused, or over its quota)")
