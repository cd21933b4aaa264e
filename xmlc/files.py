"""Files that appear under their final name only when they are whole."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from xmlc.checksums import NAME as CHECKSUMS
from xmlc.checksums import State, list_files, stamped, state_of, unlisted_in
from xmlc.errors import NOT_WHOLE, XmlcError, is_cut_short, is_of_writing
from xmlc.processes import Process, this_process

FORGOTTEN = 7 * 86400.0  # seconds; no job runs for longer
TAKEN = errno.ENOTEMPTY, errno.EEXIST  # a folder that is not empty has the name
# The system's function that gives two files each other's name, and its flag for that: of macOS and of Linux the same.
EXCHANGE, FLAG = "renameatx_np" if sys.platform == "darwin" else "renameat2", 2


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
    with errors_named(path):
        handle, name = tempfile.mkstemp(prefix=_beside(path), suffix=path.suffix, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o666 & ~_umask())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary folder beside ``path``; it replaces ``path`` when the block ends without an error.

    Its files are then listed in it with their checksums (`xmlc.checksums`), which are checked where they are opened.
    The folder that was there is deleted, with what was edited by hand in its files. Who has mapped its files on this
    machine keeps them; who has done so on another machine, over a network file system, loses them.

    A kill at any moment leaves the old folder or the new one. On file systems that cannot exchange two names (NFS) a
    kill between two renamings leaves nothing under the name.

    Raises
    ------
    XmlcError, OSError
        The folder cannot be replaced (`check_replaceable`), before the block or at its end; nothing was changed.
    """
    path = Path(path)
    check_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent, [file for file in os.listdir(path.parent) if file.startswith(f".{path.name}+")])
    with errors_named(path):
        temporary = Path(tempfile.mkdtemp(prefix=_beside(path), dir=path.parent))
        try:
            yield temporary
            list_files(temporary)
            temporary.chmod(0o777 & ~_umask())
            replace_folder(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Refuse to replace anything but a folder of which `atomic_folder` wrote every file, an empty one, or none at all.

    Raises
    ------
    XmlcError, OSError
        It holds a file that the list of its files does not name, or has no such list; it is a file, a symbolic link, or
        may not be written; it is or holds the working directory.
    """
    while True:
        before = _state(path)
        try:
            return _check_as_it_is(Path(path))
        except (XmlcError, OSError):
            if _state(path) == before:  # otherwise another process replaces it at this moment
                raise


def _check_as_it_is(path: Path) -> None:
    if path.is_symlink():
        raise XmlcError(f"{path}: is a symbolic link, which is not replaced; give {os.path.realpath(path)}, or another")
    if path.exists() and path.resolve() in (Path.cwd(), *Path.cwd().parents):
        raise XmlcError(f"{path}: is or holds the working directory, which is not replaced; give another folder")
    for place in (next(folder for folder in path.absolute().parents if folder.exists()), path):
        if place.exists() and not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
            raise XmlcError(f"{place}: is no folder that you may write to; give another one")
    if path.exists() and (names := unlisted_in(path)):
        raise XmlcError(f"{path}: holds {names[0]}, which xmlc did not write; give another folder, or remove this one")


def _state(path: str | os.PathLike[str]) -> State | None:
    with suppress(OSError):
        return state_of(path)
    return None  # nothing has that name


def replace_folder(new: Path, path: Path) -> None:
    """Give a folder the name ``path``, and an old folder of that name the new one's, or delete it.

    Others may do the same at the same time.

    Raises
    ------
    XmlcError, OSError
        As `check_replaceable`.
    """
    while True:
        try:
            return os.replace(new, path)
        except OSError as error:
            if error.errno not in TAKEN:
                raise
        with suppress(FileNotFoundError):  # another process is about to replace it
            check_replaceable(path)
            return _exchange(new, path)


def _exchange(new: Path, path: Path) -> None:
    """Give two folders each other's names; where the file system cannot, delete the second one's old folder."""
    exchange = getattr(ctypes.CDLL(None), EXCHANGE, None)
    # Each name has a folder from which it is looked up, which counts for relative ones only.
    if exchange and exchange(0, os.fsencode(new.absolute()), 0, os.fsencode(path.absolute()), FLAG) == 0:
        return
    aside = f"{new}-"
    os.rename(path, aside)
    try:
        os.rename(new, path)
    except OSError as error:
        if error.errno not in TAKEN:  # by what another process has put there since
            os.rename(aside, path)
            raise
    shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def errors_named(path: Path) -> Iterator[None]:
    """Have errors of writing in a block name ``path``, where they name no file or a temporary one of this module."""
    try:
        yield
    except OSError as error:
        if is_cut_short(error):
            raise OSError(errno.ENOSPC, NOT_WHOLE, str(path)) from error
        if error.filename is None and is_of_writing(error):
            error.filename = str(path)
        if error.filename is not None:
            error.filename = _final_name(error.filename, path)
        if error.filename2 is not None:  # Python shows one that was set, even to None
            error.filename2 = _final_name(error.filename2, path)
        raise


def _final_name(name: object, path: Path) -> object:
    """Return the name that a temporary file or folder has in the end; any other name as it is."""
    if isinstance(name, str | os.PathLike) and Path(name).is_relative_to(path.parent):
        first, *below = Path(name).relative_to(path.parent).parts or ("",)
        if first.startswith(_beside(path)):
            return str(path.joinpath(*below))
    return name


def remove_leftovers(place: Path, names: Iterable[str]) -> set[str]:
    """Remove those of some files and folders that processes left which have ended; name those of all processes."""
    found = set()
    for name in names:
        parts = name.rsplit("+", 2)  # the name of what was made, the process, and a number or random letters
        process = Process.parse(parts[1]) if len(parts) == 3 else None
        if process is None:
            continue
        found.add(name)
        path = place / name
        with suppress(OSError):  # another process may remove it too
            if process.has_ended or (not process.is_visible and time.time() - path.stat().st_mtime > FORGOTTEN):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    return found


def _beside(path: Path) -> str:
    """Return how names of temporary files begin: hidden, with the process that makes them."""
    return f".{path.name}+{this_process()}+"


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


def file_digest(files: Iterable[Path]) -> str:
    """Return 16 hexadecimal digits that change with the name or the content of any file."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file}\0{sha256(file)}\0".encode())
    return digest.hexdigest()[:16]


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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
