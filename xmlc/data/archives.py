"""Compressed files (.gz, .bz2, .xz), which are read to the last byte of their last stream, and archives of files.

The readers of Python's ``bz2`` and ``lzma`` take an error at the beginning of a later stream for the end of the file,
so half of what parallel compressors or ``cat`` wrote may be missing without a word. These do not.
"""

from __future__ import annotations

import bz2
import errno
import io
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from xmlc.core.errors import XmlcError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SUFFIXES = ("", ".gz", ".xz", ".bz2")
CHUNK = 1 << 14
PLAIN_UNIX_KINDS = (0, 0o04, 0o10)  # not said, folder, file: the upper four bits of a Unix mode
LISTED = 20


class Unreadable(Exception):
    """A compressed file is damaged or cut off; the message leaves its name to the caller."""


#: By a file's first bytes, what makes the decompressor of one stream.
DECOMPRESSORS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=16 + zlib.MAX_WBITS),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
}


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed if its first bytes say that it is compressed.

    Reading raises `Unreadable` where a stream is damaged or cut off, or where anything but a stream or zeros follows
    one.
    """
    make = _decompressor_of(path)
    file = open(path, "rb")
    return file if make is None else io.BufferedReader(_Decompressed(file, make), CHUNK)


def is_compressed(path: Path) -> bool:
    """Tell whether the first bytes of a file say that it is compressed."""
    return _decompressor_of(path) is not None


def _decompressor_of(path: Path) -> Callable[[], Any] | None:
    with open(path, "rb") as file:
        head = file.read(8)
    return next((make for magic, make in DECOMPRESSORS.items() if head.startswith(magic)), None)


class _Decompressed(io.RawIOBase):
    """The content of all streams of a file."""

    def __init__(self, file: BinaryIO, make: Callable[[], Any]):
        self._file, self._chunks, self._rest = file, _chunks(file, make), memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        try:
            while not self._rest and (piece := next(self._chunks, None)) is not None:
                self._rest = memoryview(piece)
        except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # the disk's, not the data's
                raise
            raise Unreadable(f"the data is damaged or cut off ({error}); fetch it anew") from error
        target = memoryview(buffer).cast("B")
        size = min(len(target), len(self._rest))
        target[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


def _chunks(file: BinaryIO, make: Callable[[], Any]) -> Iterator[bytes]:
    stream, data = make(), b""
    while data := data or file.read(CHUNK):
        if stream.eof:
            data = data.lstrip(b"\0")  # padding
            if not data:
                continue
            stream = make()
        yield stream.decompress(data)
        data = stream.unused_data if stream.eof else b""
    if not stream.eof:
        raise EOFError("it ends within a stream")


def unpack(archive: Path, wanted: Iterable[str], folder: Path) -> None:
    """Copy the wanted files, or all, out of an archive (zip, tar, or one compressed file) into ``folder``.

    Members are found by their base name and written under it, all of them under their paths; an archive with a path
    outside the folder (an absolute one, ``..``), a link or a device is refused as a whole.

    Parameters
    ----------
    archive : Path
        ``.zip``, ``.tar`` compressed or not, or one ``.gz``, ``.bz2``, ``.xz`` file, whatever its name.
    wanted : iterable of str
        Base names; none for all members.
    folder : Path
        Where they are written. After an error it may hold some of them; the caller gives a temporary one.

    Raises
    ------
    XmlcError
        The archive is damaged, lacks a wanted file or is not safe.
    """
    wanted = list(wanted)
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, wanted, folder)
        elif members := _tar_members(archive):
            _unpack_tar(archive, members, wanted, folder)
        elif is_compressed(archive) and len(wanted) == 1:
            with open_plain(archive) as file:
                _copy(file, folder / wanted[0])
        else:
            raise XmlcError(
                f"found a file that is neither zip nor tar, nor one compressed file, expected an archive with "
                f"{', '.join(wanted)}; it may be cut off"
            )
    except XmlcError:
        raise
    except Unreadable as error:
        raise XmlcError(f"the archive: {error}") from error
    except Exception as error:  # tarfile and zipfile raise whatever a damaged header leads to, struct.error, say
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # a full disk, say
            raise
        raise XmlcError(f"the archive is damaged or cut off ({error})") from error


def _copy(source: IO[bytes], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "wb") as file:
        shutil.copyfileobj(source, file)


def _unpack_zip(archive: Path, wanted: list[str], folder: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        members = [(info.filename, info.external_attr >> 28 in PLAIN_UNIX_KINDS) for info in content.infolist()]
        for name, member in _chosen(members, wanted).items():
            with content.open(member) as source:
                _copy(source, folder / name)


def _tar_members(archive: Path) -> list[tuple[str, bool]]:
    """List names in a tar, and whether each is a file or folder; empty if it is none."""
    with open_plain(archive) as file:
        try:
            content = tarfile.open(fileobj=file, mode="r|")
        except tarfile.ReadError:
            return []
        with content:
            members = [(member.name, member.isfile() or member.isdir()) for member in content]
        while file.read(CHUNK):  # behind the end of the archive too every stream must be whole
            pass
    return members


def _unpack_tar(archive: Path, members: list[tuple[str, bool]], wanted: list[str], folder: Path) -> None:
    targets = {member: name for name, member in _chosen(members, wanted).items()}
    with open_plain(archive) as file, tarfile.open(fileobj=file, mode="r|") as content:
        for member in content:
            if member.name in targets and (source := content.extractfile(member)) is not None:
                with source:
                    _copy(source, folder / targets[member.name])


def _chosen(members: list[tuple[str, bool]], wanted: list[str]) -> dict[str, str]:
    """Find each wanted file among the members, by base name, if all of them are safe."""
    for member, plain in members:
        path = PurePosixPath(member.replace("\\", "/"))
        outside = path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":"))
        if outside or not plain:
            problem = "would lie outside the folder" if outside else "is a link or device"
            raise XmlcError(f"the archive is not safe: its member {member!r} {problem}; nothing was unpacked")
    found, names = {}, [member for member, _ in members]
    if not wanted:
        return {name: name for name in names if not name.endswith("/")}
    for name in wanted:
        matches = [member for member in names if PurePosixPath(member).name == name and not member.endswith("/")]
        if len(matches) != 1:
            problem = "lacks" if not matches else "holds more than one"
            listed = ", ".join(sorted(names)[:LISTED]) or "nothing"
            more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
            raise XmlcError(f"the archive {problem} {name}; it holds {listed}{more}")
        found[name] = matches[0]
    return found
