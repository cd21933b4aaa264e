"""Compressed files (.gz, .bz2, .xz): every stream is read to its last byte, and expansion has a limit.

The readers of Python's ``bz2`` and ``lzma`` take an error at the beginning of a later stream for the end of the file,
so half of what parallel compressors or ``cat`` wrote may be missing without a word. These do not.
"""

from __future__ import annotations

import bz2
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 14
SMALL = 1 << 24  # so many bytes may come out of any file: short texts can be as regular as they like
LARGEST_WINDOW = 1 << 30  # bytes of memory that an .xz file may ask for; `xz -9` asks for 65 MB


class Unreadable(Exception):
    """A compressed file is damaged, cut off, or expands too far; the message leaves its name to the caller."""


@dataclass(frozen=True)
class Expansion:
    """How far compressed files may expand: to ``ratio`` times their size, and to so many ``gigabytes``.

    Text of multi-label data expands 3 to 20 times.
    """

    ratio: float = 100
    gigabytes: float = 64

    def most_bytes(self, size: int) -> int:
        """Return how many bytes may come out of a file of ``size`` bytes."""
        return int(min(max(SMALL, self.ratio * size), self.gigabytes * 1e9))

    def refuse_more(self, expanded: int, size: int) -> None:
        """Raise `Unreadable` if ``expanded`` bytes out of ``size`` are too many."""
        if expanded > (most := self.most_bytes(size)):
            raise Unreadable(
                f"expands from {size} to more than {most} bytes, which data does not; if it is right, raise expansion "
                "in config/config.yaml (--expansion RATIO GIGABYTES)"
            )


USUAL = Expansion()
_EXPANSION: ContextVar[Expansion] = ContextVar("expansion", default=USUAL)


def expansion() -> Expansion:
    """Return the limit that holds here."""
    return _EXPANSION.get()


@contextmanager
def limited_expansion(limit: Expansion) -> Iterator[None]:
    """Read compressed files under another limit within the block."""
    token = _EXPANSION.set(limit)
    try:
        yield
    finally:
        _EXPANSION.reset(token)


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed if its first bytes say that it is compressed.

    Its methods raise `Unreadable` where a stream is damaged or cut off, where anything but a stream or padding follows
    one, and where more comes out than `expansion` allows. It can be sought in, at the price of reading again.
    """
    file = open(path, "rb")
    make = _stream_of(file)
    return file if make is None else io.BufferedReader(_Decompressed(file, make), CHUNK)


def is_compressed(path: Path) -> bool:
    """Tell whether the first bytes of a file say that it is compressed."""
    with open(path, "rb") as file:
        return _stream_of(file) is not None


def most_plain_bytes(path: Path) -> int:
    """Return how many bytes `open_plain` gives at most."""
    size = path.stat().st_size
    return expansion().most_bytes(size) if is_compressed(path) else size


class _Stream(Protocol):
    """One compressed stream, as the decompressors of ``bz2`` and ``lzma`` are."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _GzipStream:
    """A member of a gzip file, whose header, length and checksum zlib checks."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def needs_input(self) -> bool:
        return not self._inflate.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)


def _xz_stream() -> _Stream:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=LARGEST_WINDOW)


STREAMS: dict[bytes, Callable[[], _Stream]] = {
    b"\x1f\x8b": _GzipStream,
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": _xz_stream,
}


def _stream_of(file: BinaryIO) -> Callable[[], _Stream] | None:
    """Tell by the first bytes how a file is compressed, if it is; it stands at its beginning then."""
    head = file.read(8)
    file.seek(0)
    return next((make for magic, make in STREAMS.items() if head.startswith(magic)), None)


class _Decompressed(io.RawIOBase):
    """The content of all streams of a file."""

    def __init__(self, file: BinaryIO, make: Callable[[], _Stream]):
        self._file, self._make = file, make
        self._size = os.fstat(file.fileno()).st_size
        self._expansion = expansion()
        self._rewind()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        target = offset + (self._position if whence == io.SEEK_CUR else 0)
        if whence == io.SEEK_END or target < 0:
            raise io.UnsupportedOperation("positions count from the beginning, or from the current one")
        if target < self._position:
            self._rewind()
        while self._position < target and self._next(min(CHUNK, target - self._position)):
            pass
        return self._position

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        room = memoryview(buffer).cast("B")
        data = self._next(len(room)) if room else b""  # zlib takes a size of 0 for any size
        room[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _rewind(self) -> None:
        self._file.seek(0)
        self._position = 0
        self._stream: _Stream | None = self._make()
        self._input = b""  # read, and not given to the stream

    def _next(self, size: int) -> bytes:
        """Return at most so many bytes, and none only at the end of the file."""
        try:
            data = self._expanded(size)
        except (EOFError, lzma.LZMAError, zlib.error, MemoryError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # the disk's, not the data's
                raise
            raise Unreadable(f"the data is damaged or cut off ({error}); fetch it anew") from error
        self._position += len(data)
        self._expansion.refuse_more(self._position, self._size)
        return data

    def _expanded(self, size: int) -> bytes:
        while self._stream is not None:
            data, self._input = self._input, b""
            at_end = False
            if self._stream.needs_input and not data:
                data = self._file.read(CHUNK)
                at_end = not data
            found = self._stream.decompress(data, size)
            if self._stream.eof:
                self._stream = self._following(self._stream.unused_data)
            elif at_end and not found:
                raise EOFError("it ends within a stream")
            if found:
                return found
        return b""

    def _following(self, rest: bytes) -> _Stream | None:
        """Begin the stream behind one that has ended, if there is one."""
        padding = 0
        while not (data := rest.lstrip(b"\0")):
            padding += len(rest)
            rest = self._file.read(CHUNK)
            if not rest:
                break
        padding += len(rest) - len(data)
        in_xz = self._make is _xz_stream
        if padding % 4 if in_xz else padding and data:
            raise EOFError("found zeros behind a stream, expected the next one or padding")
        self._input = data
        return self._make() if data else None
