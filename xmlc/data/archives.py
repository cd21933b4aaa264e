"""Compressed files (.gz, .bz2, .xz), which are told by their first bytes, and archives of files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO

from xmlc.core.errors import XmlcError, let_through

SUFFIXES = ("", ".gz", ".xz", ".bz2")
#: By a file's first bytes, what opens it decompressed.
OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
LISTED = 20


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed if its first bytes say that it is compressed; see `read_from`."""
    file: BinaryIO = _opener(path)(path, "rb")
    return file


def is_compressed(path: Path) -> bool:
    """Tell whether the first bytes of a file say that it is compressed."""
    return _opener(path) is not open


def _opener(path: Path) -> Callable[..., Any]:
    with open(path, "rb") as file:
        head = file.read(8)
    return next((opener for magic, opener in OPENERS.items() if head.startswith(magic)), open)


def read_from(file: BinaryIO, path: Path, size: int = -1) -> bytes:
    """Read so many bytes, or all, of a file that `open_plain` opened.

    Raises
    ------
    XmlcError
        The compressed data is damaged or cut off.
    """
    try:
        return file.read(size)
    except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
        let_through(error)
        raise XmlcError(f"{path}: the data is damaged or cut off ({error}); fetch it anew") from error


def unpack(archive: Path, wanted: Collection[str], folder: Path) -> None:
    """Copy the wanted files out of an archive (zip, tar, or one compressed file) into ``folder``.

    They are found by their base name and written under it, wherever the archive would put them.

    Parameters
    ----------
    archive : Path
        ``.zip``, ``.tar`` compressed or not, or one ``.gz``, ``.bz2``, ``.xz`` file, whatever its name.
    wanted : collection of str
        Base names. If there is one, and one file in the archive, that is the one.
    folder : Path
        Where they are written. After an error it may hold some of them; the caller gives a temporary one.

    Raises
    ------
    XmlcError
        The archive is damaged or lacks a wanted file.
    """
    try:
        with _files_in(archive) as files:
            names = _wanted([*files], wanted)
            for path, opened in files.items():  # in the order of a tar, which is read from front to end
                if path in names:
                    with opened() as source, open(folder / names[path], "wb") as file:
                        shutil.copyfileobj(source, file)
    except XmlcError:
        raise
    except Exception as error:  # tarfile and zipfile raise whatever a damaged header leads to, struct.error, say
        let_through(error)
        raise XmlcError(f"the archive is damaged or cut off ({error})") from error


@contextmanager
def _files_in(archive: Path) -> Iterator[dict[str, Callable[[], IO[bytes]]]]:
    """Give the files of an archive by their paths in it, each with what opens it."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            yield {info.filename: partial(zipped.open, info) for info in zipped.infolist() if not info.is_dir()}
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tarred:
            extract: Callable[..., Any] = tarred.extractfile  # None of what is no file
            yield {member.name: partial(extract, member) for member in tarred if member.isfile()}
    elif is_compressed(archive):
        yield {archive.stem: partial(open_plain, archive)}
    else:
        raise XmlcError("found a file that is neither zip nor tar, nor one compressed file; it may be cut off")


def _wanted(paths: list[str], wanted: Collection[str]) -> dict[str, str]:
    """Return the wanted names by their paths in an archive."""
    if len(paths) == len(wanted) == 1:
        return dict(zip(paths, wanted))
    found = {}
    for name in wanted:
        matches = [path for path in paths if PurePosixPath(path).name == name]
        if len(matches) != 1:
            problem = "holds more than one" if matches else "lacks"
            more = f" and {len(paths) - LISTED} more" if len(paths) > LISTED else ""
            raise XmlcError(f"the archive {problem} {name}; it holds {', '.join(sorted(paths)[:LISTED])}{more}")
        found[matches[0]] = name
    return found
