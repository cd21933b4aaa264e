"""Unpacking of downloaded archives, which are not trusted."""

from __future__ import annotations

import errno
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from xmlc.data.compressed import Unreadable, expansion, is_compressed, open_plain
from xmlc.errors import XmlcError

PLAIN_UNIX_KINDS = (0, 0o04, 0o10)  # not said, folder, file: the upper four bits of a Unix mode
LISTED = 20
CHUNK = 1 << 20


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
        The archive is damaged, lacks a wanted file, or would expand further than `xmlc.data.compressed` allows.
    """
    wanted = list(wanted)
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, wanted, folder)
        else:
            _unpack_tar_or_single(archive, wanted, folder)
    except XmlcError:
        raise
    except Unreadable as error:
        raise XmlcError(f"the archive: {error}") from error
    except Exception as error:  # tarfile and zipfile raise whatever a damaged header leads to, struct.error, say
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # a full disk, say
            raise
        raise XmlcError(f"the archive is damaged or cut off ({error})") from error


def _unpack_zip(archive: Path, wanted: list[str], folder: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        for info in content.infolist():
            _check_member(info.filename, plain=info.external_attr >> 28 in PLAIN_UNIX_KINDS)
        chosen = _chosen([info.filename for info in content.infolist()], wanted)
        unpacked = sum(content.getinfo(member).file_size for member in chosen.values())
        expansion().refuse_more(unpacked, archive.stat().st_size)
        for name, member in chosen.items():
            if content.getinfo(member).flag_bits & 1:
                raise XmlcError(f"the archive's {name} is encrypted")
            with content.open(member) as source:
                _copy(source, folder / name)


def _unpack_tar_or_single(archive: Path, wanted: list[str], folder: Path) -> None:
    with open_plain(archive) as file:
        try:
            content = tarfile.open(fileobj=file, mode="r:")
        except tarfile.ReadError:
            file.seek(0)
            _unpack_single(file, wanted, folder, is_compressed(archive))
        else:
            with content:
                _unpack_tar(content, wanted, folder, archive.stat().st_size)
        while file.read(CHUNK):  # behind the end of the archive too every stream must be whole
            pass


def _unpack_tar(content: tarfile.TarFile, wanted: list[str], folder: Path, size: int) -> None:
    members = list(_members(content))
    for member in members:
        _check_member(member.name, plain=member.isfile() or member.isdir())
    chosen = _chosen([member.name for member in members], wanted)
    by_name = {member.name: member for member in members}
    expansion().refuse_more(sum(by_name[name].size for name in chosen.values()), size)  # sparse files claim any size
    for name, path in sorted(chosen.items(), key=lambda item: by_name[item[1]].offset):
        source = content.extractfile(by_name[path])
        if source is None:
            raise XmlcError(f"the archive's {name} is a folder, expected a file")
        with source:
            _copy(source, folder / name)


def _members(content: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Give the members of a tar; one that claims a negative size leads back, to the same members for ever."""
    last = -1
    while (member := content.next()) is not None:
        if member.offset <= last or member.size < 0:
            raise tarfile.ReadError(f"member {member.name!r} leads back")
        last = member.offset
        yield member


def _unpack_single(file: BinaryIO, wanted: list[str], folder: Path, compressed: bool) -> None:
    if not compressed or len(wanted) != 1:
        raise XmlcError(
            f"found a file that is neither zip nor tar, nor one compressed file, expected an archive with "
            f"{', '.join(wanted)}; it may be cut off"
        )
    _copy(file, folder / wanted[0])


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
        shutil.copyfileobj(source, file, CHUNK)
