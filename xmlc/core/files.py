"""Files that appear under their final name only when they are whole."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from glob import glob
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from xmlc.core.checksums import NAME as CHECKSUMS
from xmlc.core.checksums import list_files, stamped, unlisted_in
from xmlc.core.errors import WRITING_ONLY, InvalidParameterError, XmlcError, shown

OURS = f"+xmlc-{os.uname().nodename}+"  # in the names of temporary files and folders that this machine makes
FORGOTTEN = 7 * 86400.0  # seconds; no job runs for longer
SETTLED = 1.0  # seconds after which whoever made one has locked it
NOT_WHOLE = "the file could not be written whole, so the disk is probably full or a quota used up"


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Have the system's lock of a file or folder while a block runs; it ends with the process, however that ends.

    Parameters
    ----------
    path : Path
        A file is made if there is none, and stays: to remove it would let two processes lock one name.
    wait : bool
        Whether to wait for a process that has it.

    Yields
    ------
    bool
        False if the file system has no locks: then nothing holds others off.

    Raises
    ------
    BlockingIOError
        Another process has it, and is not waited for.
    OSError
        The file cannot be made or opened.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o666)
    try:
        is_locked = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            is_locked = False
        yield is_locked
    finally:
        os.close(handle)


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file name beside ``path``; it becomes ``path`` when the block ends without an error.

    The temporary file keeps the suffix of ``path``, because writers choose a format by it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _temporary(path, Path.touch) as temporary:
        yield temporary
        os.replace(temporary, path)


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary folder beside ``path``; it replaces ``path`` when the block ends without an error.

    Its files are then listed in it with their checksums (`xmlc.core.checksums`), which are checked where they are
    opened. The folder that was there is deleted, with what was edited by hand in its files. Who has mapped its files on
    this machine keeps them; who has done so on another machine, over a network file system, loses them.

    A kill leaves the old folder or the new one, or between two renamings nothing under the name; never a part of one.

    Raises
    ------
    XmlcError, OSError
        The folder cannot be replaced (`check_replaceable`), before the block or at its end; nothing was changed.
    """
    path = checked_path(path)
    check_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent)
    with _temporary(path, Path.mkdir) as temporary:
        yield temporary
        list_files(temporary)
        replace_folder(temporary, path)


@contextmanager
def temporary_folder(beside: Path) -> Iterator[Path]:
    """Yield a temporary folder next to ``beside``, on the same file system, and remove it when the block ends.

    Temporary folders that killed processes left there are removed first.
    """
    beside.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(beside.parent)
    with _temporary(beside.with_suffix(""), Path.mkdir) as temporary:
        yield temporary


@contextmanager
def _temporary(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Make a temporary file or folder beside ``path``, locked while a block runs, and remove it at the end."""
    temporary = path.with_name(f".{path.name}{OURS}{token_hex(4)}{path.suffix}")
    with errors_named(path, temporary), ExitStack() as stack:
        stack.callback(_remove, temporary)
        make(temporary)
        stack.enter_context(locked(temporary))
        yield temporary


def remove_leftovers(place: Path) -> set[str]:
    """Remove the temporary files and folders of processes that have ended from a folder; name those of all processes.

    Locks may be a machine's own: what another machine made is removed after a week.
    """
    found = set(map(str, glob(".*+xmlc-*+*", root_dir=place)))
    for name in found:
        with suppress(OSError), locked(place / name, wait=False) as has_ended:
            age = time.time() - (place / name).stat().st_mtime
            if age > (SETTLED if has_ended and OURS in name else FORGOTTEN):
                _remove(place / name)
    return found


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def checked_path(path: object) -> Path:
    """Return the path that a user passed as a str or a Path.

    Raises
    ------
    InvalidParameterError
        The value is neither, or has a zero byte.
    """
    if not isinstance(path, str | os.PathLike) or "\0" in os.fsdecode(path):
        raise InvalidParameterError(f"path={shown(path)}: expected the name of a folder or file: a str or a Path")
    return Path(path)


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Refuse to replace anything but a folder of which `atomic_folder` wrote every file, an empty one, or none at all.

    Raises
    ------
    XmlcError
        It holds a file that the list of its files does not name, or has no such list; it is a file, a symbolic link, or
        may not be written; it is or holds the working directory.
    """
    path = checked_path(path)
    if path.is_symlink():
        raise XmlcError(f"{path}: is a symbolic link, which is not replaced; give {os.path.realpath(path)}, or another")
    above = next(folder for folder in (*path.absolute().parents, Path("/")) if folder.exists())
    for place in (above, path):
        if place.exists() and not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
            raise XmlcError(f"{place}: is no folder that you may write to; give another one")
    if path.exists() and path.resolve() in (Path.cwd(), *Path.cwd().parents):
        raise XmlcError(f"{path}: is or holds the working directory, which is not replaced; give another folder")
    if path.exists() and (names := unlisted_in(path)):
        raise XmlcError(f"{path}: holds {names[0]}, which xmlc did not write; give another folder, or remove this one")


def replace_folder(new: Path, path: Path) -> None:
    """Give a folder the name ``path``, and delete an old folder of that name.

    Raises
    ------
    XmlcError, OSError
        The old folder cannot be replaced (`check_replaceable`); nothing was changed.
    """
    check_replaceable(path)
    if not path.exists():
        os.rename(new, path)
        return
    aside = Path(f"{new}-")
    os.rename(path, aside)
    try:
        os.rename(new, path)
    except OSError:
        os.rename(aside, path)
        raise
    _remove(aside)


@contextmanager
def errors_named(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Have errors of writing in a block name ``path``, where they name no file or a temporary one of it."""
    try:
        yield
    except OSError as error:
        if type(error) is OSError and error.errno is None:  # numpy keeps the reason to itself
            raise OSError(errno.ENOSPC, f"{NOT_WHOLE} ({error})", str(path)) from error
        if error.filename is None and error.errno in WRITING_ONLY:
            error.filename = str(path)
        for name in ("filename", "filename2"):
            if isinstance(named := getattr(error, name), str | os.PathLike):
                setattr(error, name, str(named).replace(str(temporary or path), str(path)))
        raise


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write ``content`` as indented JSON, atomically; numpy numbers and arrays become plain ones.

    Raises
    ------
    ValueError
        A number is not finite: JSON has no such number, and a result must not hide one.
    """
    text = _json(content)
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_record(path: str | os.PathLike[str], content: Mapping[str, object]) -> None:
    """Write ``content`` as `write_json` does, with the checksum of its content as the last key.

    Raises
    ------
    ValueError
        A number is not finite.
    """
    write_json(path, stamped(json.loads(_json(content))))


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def folder_bytes(folder: str | os.PathLike[str]) -> int:
    """Return the size of everything in a folder but its checksums, in bytes: of a model on disk, say."""
    files = (file for file in Path(folder).rglob("*") if file.is_file() and file.name != CHECKSUMS)
    return sum(file.stat().st_size for file in files)


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 digest of a file as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob(path: str | os.PathLike[str]) -> str:
    """Return the id of a file's content in any git repository that holds it, 40 hexadecimal digits."""
    with open(path, "rb") as file:
        head = b"blob %d\0" % os.stat(path).st_size
        return hashlib.file_digest(file, lambda: hashlib.sha1(head, usedforsecurity=False)).hexdigest()


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
