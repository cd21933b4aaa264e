"""Download single files over HTTP and from Google Drive."""

from __future__ import annotations

import shutil
import socket
import ssl
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import requests

from xmlc.core.errors import XmlcError, let_through
from xmlc.core.progress import Progress
from xmlc.data.archives import DEFLATE, is_compressed, plain

ATTEMPTS = 4
# Seconds before the second attempt. Before each further attempt, the pause is twice as long as before.
FIRST_PAUSE = 1.0
SILENCE = 20.0  # If no byte arrives for this number of seconds, an attempt to download a file fails.
CHUNK = 1 << 16
PASSING = (408, 425, 429, 500, 502, 503, 504)
MISSING = (403, 404, 410)  # An object store may return the status 403 for a file that does not exist.


class NotThere(XmlcError):
    """Raised if a source does not have a file, so that the caller can try another source."""


def fetch_http(url: str, target: Path) -> None:
    """Download a file. After a temporary failure, the download is started again from the beginning.

    Raises
    ------
    NotThere
        The server reports that the file does not exist, or refuses access to the file.
    XmlcError
        The download failed. The error message states why the last attempt failed.
    """
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(FIRST_PAUSE * 2 ** (attempt - 1))
        try:
            return _attempt(url, target)
        except requests.HTTPError as error:
            if (status := error.response.status_code) in MISSING:
                raise NotThere(f"the server refused the file or does not have it ({status})") from None
            problem = f"the server answered {status}"
            if status not in PASSING:
                break
        # The address of a redirection may be invalid, which raises a ValueError.
        except (requests.RequestException, ValueError) as error:
            problem = f"{error}, after {attempt + 1} attempt{'s' if attempt else ''}"
            if _lasts(error):
                break
    raise XmlcError(problem)


def _lasts(error: Exception) -> bool:
    """Return whether another attempt would also fail, because the address, the host or its certificate is wrong."""
    cause: BaseException | None = error
    while cause:
        unknown = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME
        if unknown or isinstance(cause, ssl.SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return isinstance(error, requests.TooManyRedirects | ValueError)


def _attempt(url: str, target: Path) -> None:
    with requests.get(url, headers={"Accept-Encoding": "identity"}, stream=True, timeout=SILENCE) as response:
        response.raise_for_status()
        # For example, the status 206 means that the content is only a part of the file.
        if response.status_code != 200:
            raise requests.HTTPError(response=response)
        # The response header Content-Encoding is removed, so that `requests` returns the bytes as the server sent them.
        # The header Content-Length counts the bytes as sent.
        coding = response.raw.headers.pop("Content-Encoding", "").strip().lower()
        total = response.raw.length_remaining or 0
        with open(target, "wb") as file, Progress(total, url, "B") as progress:
            for chunk in response.iter_content(CHUNK):
                progress.update(file.write(chunk))
            if file.tell() < total:  # Versions of urllib3 before 2 do not check the length of the content.
                raise requests.ConnectionError(f"found {file.tell()} bytes, expected {total}")
    if coding not in ("", "identity"):
        _decode(target, coding, named_gz=urlsplit(url).path.endswith(".gz"))


def _decode(file: Path, coding: str, named_gz: bool) -> None:
    """Decode a downloaded file that the server encoded, although the request asked for no encoding.

    Some servers send a file ``train.txt.gz`` as ``train.txt`` with the encoding gzip. If the address of a file ends
    with ``.gz``, the compressed file is kept.
    """
    if coding not in ("gzip", "x-gzip", "deflate"):
        # The encoding is a compression format that xmlc can read, so the file needs no decoding.
        if is_compressed(file):
            return
        raise XmlcError(f"found the encoding {coding}, expected gzip, deflate or none")
    decoded = file.with_name(f"{file.name}.decoded")
    try:
        source = plain(open(file, "rb"), f"encoded as {coding}", DEFLATE if coding == "deflate" else None)
        with source, open(decoded, "wb") as content:
            shutil.copyfileobj(source, content, CHUNK)
    except XmlcError as error:
        raise requests.exceptions.ContentDecodingError(str(error)) from error
    if named_gz and coding != "deflate" and not is_compressed(decoded):
        decoded.unlink()
    else:
        decoded.replace(file)


def fetch_drive(identifier: str, target: Path) -> None:
    """Download a file from Google Drive.

    Raises
    ------
    XmlcError
        Google Drive refused the download, for example because the file was downloaded too often.
    """
    import gdown

    try:
        gdown.download(id=identifier, output=str(target), quiet=not sys.stderr.isatty(), use_cookies=False)
    except Exception as error:  # gdown raises errors of many classes, so any error is caught here.
        let_through(error)
        raise XmlcError(f"Google Drive refused the download ({' '.join(str(error).split())})") from error
