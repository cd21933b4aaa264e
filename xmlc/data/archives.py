"""Compressed files (.gz, .bz2, .xz), recognized by their first bytes, and archives of files."""

from __future__ import annotations

import bz2
import io
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple

from xmlc.core.errors import XmlcError, let_through

SUFFIXES = ("", ".gz", ".xz", ".bz2")
CHUNK = 1 << 16
LISTED = 20


class Compression(NamedTuple):
    """A compression format, and how to read its streams."""

    #: The bytes with which every stream begins.
    magic: bytes
    #: Returns a new decompressor for one stream.
    new_stream: Callable[[], Any]
    #: Zero bytes may follow a stream, in a multiple of this number.
    padding: int


COMPRESSIONS = (
    Compression(b"\x1f\x8b", lambda: zlib.decompressobj(16 + zlib.MAX_WBITS), 1),
    Compression(b"BZh", bz2.BZ2Decompressor, 1),
    Compression(b"\xfd7zXZ\x00", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), 4),
)


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed if its first bytes mark it as compressed.

    Damaged or incomplete data raises an `XmlcError`, possibly only when it is read.
    """
    file = open(path, "rb")
    # A valid compressed file has at least 6 bytes
    if path.suffix in SUFFIXES[1:] and len(file.peek(8)) < 6:
        file.close()
        raise XmlcError(
            f"{path}: found fewer than 6 bytes, expected a {path.suffix} file. Download it again."
        )
    return plain(file, str(path))


def is_compressed(path: Path) -> bool:
    """Return whether the first bytes of a file mark it as compressed."""
    with open(path, "rb") as file:
        return _compression(file) is not None


def plain(file: Any, name: str) -> BinaryIO:
    """Decompress an open file with ``peek``, as `open_plain` does.

    Closing the result also closes ``file``. Messages of errors contain ``name``.
    """
    compression = _compression(file)
    if compression:
        return io.BufferedReader(_Content(file, compression, name), CHUNK)
    return file


def _compression(file: Any) -> Compression | None:
    return next((each for each in COMPRESSIONS if file.peek(8).startswith(each.magic)), None)


class _Content(io.RawIOBase):
    """The content of all streams in a compressed file.

    The standard library's readers take a damaged later stream for the end of the file.
    """

    def __init__(self, file: BinaryIO, compression: Compression, name: str) -> None:
        self._file = file
        self._name = name
        self._parts = _parts(file, compression)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            while not self._rest:
                part = next(self._parts, None)
                if part is None:
                    break
                self._rest = memoryview(part)
        except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
            let_through(error)
            remedy = "Download or copy the file again."
            raise XmlcError(
                f"{self._name}: found damaged or incomplete data ({error}). {remedy}"
            ) from error
        target = memoryview(buffer)
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


def _parts(file: BinaryIO, compression: Compression) -> Iterator[bytes]:
    """Yield the content of a file, stream by stream, with zero bytes as padding."""
    stream = compression.new_stream()
    data = b""
    zeros = 0
    while True:
        data = data or file.read(CHUNK)
        if not data:
            break
        if stream.eof:
            rest = data.lstrip(b"\0")
            zeros += len(data) - len(rest)
            data = rest
            if data and zeros % compression.padding == 0:
                stream = compression.new_stream()
                zeros = 0
            elif data:
                break
        if data:
            yield stream.decompress(data)
            data = stream.unused_data
    if not stream.eof:
        raise EOFError("the end is missing")
    if zeros % compression.padding:
        raise EOFError(
            f"found {zeros} zero bytes after a stream, expected a multiple of {compression.padding}"
        )


def unpack(archive: Path, wanted: Collection[str], folder: Path) -> None:
    """Extract wanted files from an archive into ``folder``.

    The archive is zip, tar (compressed or not), or one compressed file, recognized by content. A
    wanted file is found by its base name in any folder of it, and a single wanted name also fits
    the only file. Files that are compressed within the archive, such as ``train.txt.gz`` for
    ``train.txt``, are decompressed. The folder should be temporary, because extracted files may
    remain in it after an error.

    Raises
    ------
    XmlcError
        If the archive is damaged, lacks a wanted file, or contains one twice.
    """
    try:
        names = _wanted([*dict.fromkeys(path for path, _ in _files_in(archive))], wanted)
        for path, opened in _files_in(archive):
            if path in names:
                if names[path].endswith(SUFFIXES[1:]):
                    source = opened()
                else:
                    source = plain(opened(), path)
                with source, open(folder / names[path], "wb") as file:
                    shutil.copyfileobj(source, file, CHUNK)
    except XmlcError:
        raise
    # For a damaged header, tarfile and zipfile raise many types of exceptions, such as struct.error
    except Exception as error:
        let_through(error)
        raise XmlcError(
            f"found a damaged or incomplete archive ({error}). Download it again."
        ) from error


def _files_in(archive: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the path of each file in an archive, and a function that opens it before the next."""
    with plain(open(archive, "rb"), "the archive") as content:
        try:
            tarred = tarfile.open(fileobj=content, mode="r|")
        except tarfile.ReadError:
            tarred = None
        if tarred:
            with tarred:
                for member in tarred:
                    if member.isfile():
                        yield member.name, partial(tarred.extractfile, member)
            # Read to the end, to detect damage after the tar archive
            while content.read(CHUNK):
                pass
            return
    if is_compressed(archive):
        yield archive.stem, partial(open, archive, "rb")
    # `is_zipfile` also accepts a tar archive whose end is a zip file
    elif zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for entry in zipped.infolist():
                if not entry.is_dir():
                    yield entry.filename, partial(zipped.open, entry)
    else:
        raise XmlcError(
            "found no archive, expected zip, tar or one compressed file. The file may be "
            "incomplete."
        )


def _wanted(paths: list[str], wanted: Collection[str]) -> dict[str, str]:
    if len(paths) == len(wanted) == 1:
        return dict(zip(paths, wanted))
    found = {}
    for name in wanted:
        compressed = [name + suffix for suffix in SUFFIXES]
        matches = [path for path in paths if PurePosixPath(path).name in compressed]
        if len(matches) != 1:
            count = len(matches) or "no"
            more = ""
            if len(paths) > LISTED:
                more = f" and {len(paths) - LISTED} more"
            listed = ", ".join(sorted(paths)[:LISTED]) + more
            raise XmlcError(
                f"found {count} {name} in the archive, expected one. It contains {listed}."
            )
        found[matches[0]] = name
    return found
