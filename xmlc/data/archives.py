"""Unpacking of downloaded archives, which are not trusted."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from xmlc.errors import XmlcError

SINGLE = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
BROKEN = (EOFError, OSError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile, NotImplementedError)


def unpack(archive: Path, wanted: Iterable[str], folder: Path) -> None:
    """Copy the wanted files out of an archive (zip, tar, or one compressed file) into ``folder``.

    Members are found by their base name and written under it, so nothing can land outside the folder; an archive
    that tries (an absolute path, ``..``, a link, a device) is refused as a whole.

    Raises
    ------
    XmlcError
        The archive is damaged, unsafe, or lacks a wanted file.
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
        raise XmlcError(f"the archive is damaged or cut off ({error})") from error


def _unpack_zip(archive: Path, wanted: list[str], folder: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        for info in content.infolist():
            kind = info.external_attr >> 28  # file type of Unix modes; 0 where the archive has none
            _check_name(info.filename, plain=kind in (0, 4, 8))
        for name, member in _chosen([info.filename for info in content.infolist()], wanted).items():
            with content.open(member) as source:
                _copy(source, folder / name)


def _unpack_tar(archive: Path, wanted: list[str], folder: Path) -> None:
    with tarfile.open(archive) as content:
        members = content.getmembers()
        for member in members:
            _check_name(member.name, plain=member.isfile() or member.isdir())
        for name, member in _chosen([member.name for member in members], wanted).items():
            with content.extractfile(member) as source:
                _copy(source, folder / name)


def _unpack_single(archive: Path, wanted: list[str], folder: Path) -> None:
    with open(archive, "rb") as file:
        head = file.read(8)
    for magic, opener in SINGLE.items():
        if head.startswith(magic) and len(wanted) == 1:
            with opener(archive, "rb") as source:
                _copy(source, folder / wanted[0])
            return
    raise XmlcError(f"neither zip nor tar, and not one compressed file for {', '.join(wanted)}; is it cut off?")


def _check_name(name: str, plain: bool) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")):
        raise XmlcError(f"the archive is not safe: its member {name!r} would lie outside the folder; nothing was unpacked")
    if not plain:
        raise XmlcError(f"the archive is not safe: its member {name!r} is a link or device; nothing was unpacked")


def _chosen(members: list[str], wanted: list[str]) -> dict[str, str]:
    """Find each wanted file among the members, by base name."""
    found: dict[str, str] = {}
    for name in wanted:
        matches = [member for member in members if PurePosixPath(member).name == name]
        if len(matches) != 1:
            problem = "lacks" if not matches else "holds more than one"
            listed = ", ".join(sorted(members)[:20]) or "nothing"
            raise XmlcError(f"the archive {problem} {name}; it holds {listed}")
        found[name] = matches[0]
    return found


def _copy(source: BinaryIO, target: Path) -> None:
    with open(target, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
