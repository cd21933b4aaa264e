"""Files over HTTP, with resume and retries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from email.utils import parsedate_to_datetime
from itertools import count
from pathlib import Path

import requests
import urllib3

from xmlc.data.fetching.content import WEB_PAGE
from xmlc.data.fetching.limits import USUAL, Limits, TooSlow, Watch
from xmlc.data.fetching.parts import Part, Version, fetch_once
from xmlc.data.fetching.supervised import supervised
from xmlc.errors import XmlcError
from xmlc.runtime.progress import Progress

ATTEMPTS, SLOW_ATTEMPTS = 4, 2
FIRST_PAUSE = 1.0  # seconds; doubles from attempt to attempt
PASSING = (408, 425, 429, 500, 502, 503, 504)
MISSING = (403, 404, 410)  # object stores answer 403 for a file that does not exist

Received = requests.Response | bytes


class NotThere(XmlcError):
    """It cannot be had from here; another source may have it."""


def fetch_http(url: str, target: Path, partial: Path, limits: Limits = USUAL) -> None:
    """Download a file, going on where an earlier attempt stopped if the server says that it is still the same file.

    Parameters
    ----------
    url : str
    target : Path
        Appears when the file is whole; on the same file system as ``partial``.
    partial : Path
        Folder for unfinished files; what can be resumed is kept there so that the next run goes on with it. Of
        processes that want the same file at the same time one fetches it.
    limits : Limits

    Raises
    ------
    NotThere
        The server says that there is no such file.
    XmlcError
        Every attempt failed, with the last reason; it took too long; the file is too large, or a web page.
    """
    fetch_once(url, target, partial, limits, lambda part: _complete(url, part, Watch(limits)))


def _complete(url: str, part: Part, watch: Watch) -> None:
    slow = 0
    for attempt in count(1):
        try:
            problem = _attempt(url, part, watch)
        except (TooSlow, requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            problem, slow = str(error), slow + 1
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            problem = str(error)
        if not problem:
            return
        if attempt == ATTEMPTS or slow == SLOW_ATTEMPTS:
            raise XmlcError(f"{problem}, after {attempt} attempts")
        time.sleep(FIRST_PAUSE * 2 ** (attempt - 1))


def _attempt(url: str, part: Part, watch: Watch) -> str:
    """Fetch what is missing; return what went wrong, or nothing."""
    version = part.version
    have = part.size if version else 0
    headers = {"Accept-Encoding": "identity"}  # else the length would be that of the compressed transfer
    if version and have:
        headers |= {"Range": f"bytes={have}-", "If-Range": version.validator}  # else it comes whole

    def send(put: Callable[[Received], None]) -> None:
        with requests.get(url, headers=headers, stream=True, timeout=watch.limits.seconds) as response:
            put(response)
            # Undecoded: some servers label a .gz file as a gzip transfer of its content, and its length is that of the
            # file.
            for chunk in response.raw.stream(watch.limits.chunk, decode_content=False):
                put(chunk)

    with closing(supervised(send, watch)) as items:
        response = next(items)
        assert isinstance(response, requests.Response)
        if problem := _refused(response):
            return problem
        if response.status_code == 416 or (response.status_code == 206 and not _goes_on(response, have, version)):
            part.discard()  # the part is as long as the file, or belongs to another version of it
            return "the server refused to go on with the part downloaded so far"
        if response.status_code != 206:
            have = 0
        total = _total_bytes(response, have)
        watch.limits.refuse_more(total or 0)
        if not have:
            part.begin(_version(response, total))
        _save(response, items, part, total, watch.limits)
    return "" if total is None or part.size == total else f"found {part.size} bytes, expected {total}"


def _refused(response: requests.Response) -> str:
    """Return a reason to try again, if the server answers no file."""
    status = response.status_code
    if status in PASSING:
        return f"the server answered {status}"
    if status in MISSING:
        raise NotThere(f"the server has no such file, or does not hand it out ({status})")
    if not response.ok and status != 416:
        raise XmlcError(f"the server answered {status}")
    return ""


def _goes_on(response: requests.Response, have: int, version: Version | None) -> bool:
    """Tell whether a part of a file continues what is there; some servers do not look at ``If-Range``."""
    if version is None or not _content_range(response).startswith(f"bytes {have}-"):
        return False
    validators = {response.headers.get("ETag"), response.headers.get("Last-Modified")} - {None}
    same_file = version.validator in validators if validators else not version.validator.startswith('"')
    return same_file and version.total in (None, _total_bytes(response, have))


def _version(response: requests.Response, total: int | None) -> Version | None:
    """Return what tells this file from others that were or will be at its address (RFC 9110, 8.8.2, 13.1.5)."""
    tag, changed = response.headers.get("ETag", ""), response.headers.get("Last-Modified", "")
    if tag.startswith('"'):  # a weak one, W/"...", may be that of another file
        return Version(tag, total)
    try:
        age = parsedate_to_datetime(response.headers["Date"]) - parsedate_to_datetime(changed)
    except (KeyError, ValueError, TypeError):
        return None
    return Version(changed, total) if age.total_seconds() >= 1 else None  # the clock counts seconds


def _save(
    response: requests.Response, items: Iterator[Received], part: Part, total: int | None, limits: Limits
) -> None:
    """Append the body to the part, as it comes over the wire."""
    html = "text/html" in response.headers.get("Content-Type", "")
    with open(part.file, "ab") as file, Progress(total or 0, response.url, "B") as progress:
        size = file.tell()
        progress.update(size)
        for chunk in items:
            assert isinstance(chunk, bytes)
            if html and size == 0 and chunk.lstrip().startswith(b"<"):
                raise XmlcError(WEB_PAGE)
            file.write(chunk)
            size += len(chunk)
            limits.refuse_more(size)
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
