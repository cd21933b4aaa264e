"""Unpacking of downloaded archives, which are not trusted."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import IO, Any

from xmlc.errors import XmlcError

SINGLE: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
# NotImplementedError is how zipfile reports a compression that it does not know.
BROKEN = (EOFError, OSError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile, NotImplementedError)
PLAIN_UNIX_KINDS = (0, 0o04, 0o10)  # not said, folder, file: the upper four bits of a Unix mode
LISTED = 20


class UnsafeArchive(XmlcError):
    """An archive contains a path outside its folder; it may be malicious, so no other way to read it is tried."""


def unpack(archive: Path, wanted: Iterable[str], folder: Path) -> None:
    """Copy the wanted files out of an archive (zip, tar, or one compressed file) into ``folder``.

    Members are found by their base name and written under it, so nothing can land outside the folder; an archive
    that tries (an absolute path, ``..``, a link, a device) is refused as a whole.

    Parameters
    ----------
    archive : Path
        ``.zip``, ``.tar`` with any compression of tarfile, or one ``.gz``, ``.bz2``, ``.xz`` file, whatever its name.
    wanted : iterable of str
        Base names.
    folder : Path
        Where they are written. After an error it may hold some of them; the caller gives a temporary one.

    Raises
    ------
    UnsafeArchive
        A member would lie outside the folder, or is a link or device.
    XmlcError
        The archive is damaged or lacks a wanted file.
    """
    wanted = list(wanted)
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, wanted, folder)
        elif tarfile.is_tarfile(archive):
            _unpack_tar(archive, wanted, folder)
        else:
            _unpack_single(archive, wanted, folder)
    except BROKEN as error:
        if isinstance(error, OSError) and error.errno is not None:  # a full disk, say: the archive is not to blame
            raise
        raise XmlcError(f"the archive is damaged or cut off ({error})") from error


def _unpack_zip(archive: Path, wanted: list[str], folder: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        for info in content.infolist():
            _check_member(info.filename, plain=info.external_attr >> 28 in PLAIN_UNIX_KINDS)
        for name, member in _chosen([info.filename for info in content.infolist()], wanted).items():
            if content.getinfo(member).flag_bits & 1:
                raise XmlcError(f"the archive's {name} is encrypted")
            with content.open(member) as source:
                _copy(source, folder / name)


def _unpack_tar(archive: Path, wanted: list[str], folder: Path) -> None:
    with tarfile.open(archive) as content:
        members = content.getmembers()
        for member in members:
            _check_member(member.name, plain=member.isfile() or member.isdir())
        for name, chosen in _chosen([member.name for member in members], wanted).items():
            source = content.extractfile(chosen)
            if source is None:
                raise XmlcError(f"the archive's {name} is a folder, expected a file")
            with source:
                _copy(source, folder / name)


def _unpack_single(archive: Path, wanted: list[str], folder: Path) -> None:
    with open(archive, "rb") as file:
        head = file.read(8)
    for magic, opener in SINGLE.items():
        if head.startswith(magic) and len(wanted) == 1:
            with opener(archive, "rb") as source:
                _copy(source, folder / wanted[0])
            return
    raise XmlcError(
        f"found a file that is neither zip nor tar, nor one compressed file, expected an archive with "
        f"{', '.join(wanted)}; it may be cut off"
    )


def _check_member(name: str, plain: bool) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    problem = ""
    if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")):
        problem = "would lie outside the folder"
    elif not plain:
        problem = "is a link or device"
    if problem:
        raise UnsafeArchive(f"the archive is not safe: its member {name!r} {problem}; nothing was unpacked")


def _chosen(members: list[str], wanted: list[str]) -> dict[str, str]:
    """Find each wanted file among the members, by base name."""
    found: dict[str, str] = {}
    for name in wanted:
        matches = [member for member in members if PurePosixPath(member).name == name and not member.endswith("/")]
        if len(matches) != 1:
            problem = "lacks" if not matches else "holds more than one"
            listed = ", ".join(sorted(members)[:LISTED]) or "nothing"
            more = f" and {len(members) - LISTED} more" if len(members) > LISTED else ""
            raise XmlcError(f"the archive {problem} {name}; it holds {listed}{more}")
        found[name] = matches[0]
    return found


def _copy(source: IO[bytes], target: Path) -> None:
    with open(target, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
