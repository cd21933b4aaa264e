"""Files from Google Drive."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from xmlc.data.fetching.limits import USUAL, Limits, TooSlow, Watch
from xmlc.data.fetching.parts import Part, fetch_once
from xmlc.data.fetching.supervised import supervised
from xmlc.errors import XmlcError
from xmlc.runtime.progress import Progress

GDOWNS_CHUNK = 1 << 19  # bytes that gdown receives before it hands any on; its own limit is on silence


def fetch_drive(identifier: str, target: Path, partial: Path, limits: Limits = USUAL) -> None:
    """Download a file from Google Drive, always from its beginning: Drive names no version of a file.

    Parameters
    ----------
    identifier : str
    target, partial, limits
        See `xmlc.data.fetching.http.fetch_http`.

    Raises
    ------
    XmlcError
        The file cannot be had: refused, over its quota, too slow, too long or too large.
    """
    fetch_once(f"drive:{identifier}", target, partial, limits, lambda part: _complete(identifier, part, limits))


class _Sink:
    """A file for gdown to write to, which hands on what it gets."""

    def __init__(self, put: Callable[[bytes], None]):
        self._put, self._size = put, 0

    def write(self, data: bytes) -> int:
        self._put(bytes(data))
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None: ...


def _complete(identifier: str, part: Part, limits: Limits) -> None:
    import gdown

    # Versions before 6 lack some of these.
    download: Callable[..., object] = gdown.download
    wishes: dict[str, object] = {"quiet": True, "use_cookies": False, "timeout": limits.seconds}
    options = {name: value for name, value in wishes.items() if name in inspect.signature(download).parameters}

    def send(put: Callable[[bytes], None]) -> None:
        try:
            done = download(id=identifier, output=_Sink(put), **options)
        except Exception as error:  # gdown raises what its own dependencies do
            raise XmlcError(f"Google Drive did not hand it out ({' '.join(str(error).split())})") from error
        if done is None:
            raise XmlcError("Google Drive did not hand it out (refused, or over its quota)")

    part.begin(None)
    watch = Watch(replace(limits, seconds=max(limits.seconds, 3 * GDOWNS_CHUNK / limits.least_rate)))
    try:
        with closing(supervised(send, watch)) as chunks:
            _save(chunks, part.file, identifier, limits)
    except TooSlow as error:
        raise XmlcError(f"Google Drive did not hand it out ({error})") from error


def _save(chunks: Iterator[bytes], path: Path, identifier: str, limits: Limits) -> None:
    with open(path, "wb") as file, Progress(0, f"Google Drive {identifier}", "B") as progress:
        for chunk in chunks:
            file.write(chunk)
            progress.update(len(chunk))
            limits.refuse_more(file.tell())
