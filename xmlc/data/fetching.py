"""Fetching of single files over HTTP and from Google Drive."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import requests

from xmlc.core.errors import XmlcError, let_through
from xmlc.core.progress import Progress

ATTEMPTS = 4
FIRST_PAUSE = 1.0  # seconds; doubles from attempt to attempt
SILENCE = 20.0  # seconds without a byte, after which an attempt has failed
CHUNK = 1 << 16
PASSING = (408, 425, 429, 500, 502, 503, 504)
MISSING = (403, 404, 410)  # object stores answer 403 for a file that does not exist


class NotThere(XmlcError):
    """It cannot be had from here; another source may have it."""


def fetch_http(url: str, target: Path) -> None:
    """Download a file; an attempt that fails for a passing reason is made again, from the beginning.

    Raises
    ------
    NotThere
        The server says that there is no such file.
    XmlcError
        Every attempt failed, with the last reason.
    """
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(FIRST_PAUSE * 2 ** (attempt - 1))
        try:
            return _attempt(url, target)
        except requests.HTTPError as error:
            status = error.response.status_code
            if status in MISSING:
                raise NotThere(f"the server has no such file, or does not hand it out ({status})") from None
            problem = f"the server answered {status}"
            if status not in PASSING:
                break
        except requests.RequestException as error:
            problem = f"{error}, after {attempt + 1} attempts"
    raise XmlcError(problem)


def _attempt(url: str, target: Path) -> None:
    headers = {"Accept-Encoding": "identity"}  # else the length would be that of the compressed transfer
    with requests.get(url, headers=headers, stream=True, timeout=SILENCE) as response:
        response.raise_for_status()
        total = int(response.headers.get("Content-Length", 0))
        with open(target, "wb") as file, Progress(total, url, "B") as progress:
            for chunk in response.iter_content(CHUNK):
                progress.update(file.write(chunk))
            if file.tell() < total:  # urllib3 before version 2 does not look
                raise requests.ConnectionError(f"found {file.tell()} bytes, expected {total}")


def fetch_drive(identifier: str, target: Path) -> None:
    """Download a file from Google Drive.

    Raises
    ------
    XmlcError
        The file cannot be had: refused, or over its quota.
    """
    import gdown

    try:
        gdown.download(id=identifier, output=str(target), quiet=not sys.stderr.isatty(), use_cookies=False)
    except Exception as error:  # gdown raises whatever its own dependencies do
        let_through(error)
        raise XmlcError(f"Google Drive did not hand it out ({' '.join(str(error).split())})") from error
