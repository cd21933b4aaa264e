"""Fetching single files: HTTP with resume and retries, and Google Drive."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import requests

from xmlc.errors import XmlcError
from xmlc.progress import Progress

ATTEMPTS = 4
FIRST_PAUSE = 1.0  # seconds; doubles from attempt to attempt
TIMEOUT = 60
CHUNK = 1 << 20
PASSING = (408, 425, 429, 500, 502, 503, 504)


class NotThere(XmlcError):
    """The server has no such file."""


def fetch_http(url: str, target: Path, partial: Path) -> None:
    """Download a file, going on where an earlier attempt stopped.

    Parameters
    ----------
    url : str
    target : Path
        Appears when the file is whole.
    partial : Path
        Folder for unfinished files; they are kept there so that the next run goes on with them.

    Raises
    ------
    NotThere
        The server says that there is no such file.
    XmlcError
        Every attempt failed; the message gives the last reason.
    """
    partial.mkdir(parents=True, exist_ok=True)
    part = partial / hashlib.sha256(url.encode()).hexdigest()[:32]
    problem = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(FIRST_PAUSE * 2 ** (attempt - 1))
        try:
            problem = _attempt(url, part)
        except requests.RequestException as error:
            problem = str(error)
        if not problem:
            os.replace(part, target)
            return
    raise XmlcError(f"{problem}, after {ATTEMPTS} attempts")


def fetch_drive(identifier: str, target: Path) -> None:
    """Download a file from Google Drive.

    Raises
    ------
    XmlcError
        The file cannot be had: refused, or over its quota.
    """
    import gdown

    try:
        done = gdown.download(id=identifier, output=str(target), quiet=True)
    except Exception as error:  # gdown raises what its own dependencies do
        raise XmlcError(f"Google Drive did not hand it out ({error})") from error
    if done is None or not target.exists():
        raise XmlcError("Google Drive did not hand it out (refused, or over its quota)")


def check_not_html(path: Path) -> None:
    """Refuse a web page that came instead of data, such as Drive's quota page."""
    with open(path, "rb") as file:
        head = file.read(1024).lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html", b"<head")):
        raise XmlcError("found an HTML page instead of data (a quota, sign-in or error page)")


def _attempt(url: str, part: Path) -> str:
    """Fetch what is missing; return what went wrong, or nothing."""
    have = part.stat().st_size if part.exists() else 0
    # Without identity the length would be that of the compressed transfer.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code == 416:  # the part is as long as the file, or the file has changed
            part.unlink()
            return "the server refused to go on with the part downloaded so far"
        if response.status_code in PASSING:
            return f"the server answered {response.status_code}"
        if response.status_code in (404, 410):
            raise NotThere(f"the server has no such file ({response.status_code})")
        if not response.ok:
            raise XmlcError(f"the server answered {response.status_code}")
        resumed = response.status_code == 206
        length = response.headers.get("Content-Length")
        total = None if length is None else int(length) + (have if resumed else 0)
        with open(part, "ab" if resumed else "wb") as file, Progress(total or 0, url, "B") as progress:
            progress.update(have if resumed else 0)
            for chunk in response.iter_content(CHUNK):
                file.write(chunk)
                progress.update(len(chunk))
    size = part.stat().st_size
    return "" if total is None or size == total else f"found {size} bytes, expected {total}"
