"""Files and folders that appear under their final name only when they are complete."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import glob
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from xmlc.core.checksums import NAME as CHECKSUMS
from xmlc.core.checksums import list_files, unlisted_in
from xmlc.core.errors import WRITING_ONLY, InvalidParameterError, XmlcError, shown

# In the names of temporary files and folders of this machine
OURS = f"+xmlc-{os.uname().nodename}+"
# Seconds after which temporary files of other machines are removed. No job runs longer.
FORGOTTEN = 7 * 86400.0
SETTLED = 1.0  # seconds within which a process locks a temporary file after creating it
NOT_WHOLE = "the file could not be written completely. The disk may be full, or a quota used up"


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Lock a file or folder during a block. The system releases the lock if the process ends.

    A missing file is created, and never removed, so that two processes cannot lock different files
    of the same name. The value is False if the file system has no locks, so that others can enter
    the block, too. If another process holds the lock and ``wait`` is false, a BlockingIOError is
    raised.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o666)
    try:
        is_locked = True
        how = fcntl.LOCK_EX
        if not wait:
            how |= fcntl.LOCK_NB
        try:
            fcntl.flock(handle, how)
        except BlockingIOError:
            raise
        except OSError:
            is_locked = False
        yield is_locked
    finally:
        os.close(handle)


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary file, renamed to ``path`` if the block ends without an error.

    It has the suffix of ``path``, because writers choose a format by the suffix.
    """
    with temporary_place(Path(path), Path.touch) as temporary:
        yield temporary
        os.replace(temporary, path)


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder, which replaces ``path`` if the block ends without an error.

    At the end, it gets a list of its files with their checksums (`xmlc.core.checksums`), which
    programs check when they read a file. The old folder is deleted, with all edits, unless it must
    not be replaced (`check_replaceable`, at the start and at the end). Processes on this machine
    can still use deleted files that they have mapped, but those of other machines on a network file
    system cannot.

    If the process is killed, either the old or the new folder is complete. Between two renamings,
    no folder has the name ``path``.
    """
    path = checked_path(path)
    check_replaceable(path)
    remove_leftovers(path.parent)
    with temporary_place(path, Path.mkdir) as temporary:
        yield temporary
        list_files(temporary)
        replace_folder(temporary, path)


@contextmanager
def temporary_place(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Create a temporary file or folder next to ``path``, locked during a block and then removed.

    An OSError in the block names ``path`` instead.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}{OURS}{token_hex(4)}{path.suffix}")
    try:
        with ExitStack() as stack:
            stack.callback(_remove, temporary)
            make(temporary)
            stack.enter_context(locked(temporary))
            yield temporary
    except OSError as error:
        # NumPy's error for a full disk has no ``errno``
        if type(error) is OSError and error.errno is None:
            raise OSError(errno.ENOSPC, f"{NOT_WHOLE} ({error})", str(path)) from error
        if error.filename is None and error.errno in WRITING_ONLY:
            error.filename = str(path)
        for name in ("filename", "filename2"):
            named = getattr(error, name)
            if isinstance(named, str | os.PathLike):
                setattr(error, name, str(named).replace(str(temporary), str(path)))
        raise


def remove_leftovers(place: Path) -> set[str]:
    """Remove what ended processes left in a folder, and return all temporary names found there.

    Because locks may work only within one machine, files of other machines are removed after a
    week.
    """
    found = set(map(str, glob(".*+xmlc-*+*", root_dir=place)))
    for name in found:
        with suppress(OSError), locked(place / name, wait=False) as has_ended:
            most = FORGOTTEN
            if has_ended and OURS in name:
                most = SETTLED
            if time.time() - (place / name).stat().st_mtime > most:
                _remove(place / name)
    return found


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def checked_path(path: object) -> Path:
    """Convert a user's path to a Path, and refuse other types and zero bytes."""
    if not isinstance(path, str | os.PathLike) or "\0" in os.fsdecode(path):
        raise InvalidParameterError(
            f"path: found {shown(path)}, expected the name of a folder or file"
        )
    return Path(path)


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Raise an `XmlcError` if `atomic_folder` must not replace ``path``.

    Such are a file, a symbolic link, a folder without write permission, the working directory or
    one of its parents, and a folder with a file that has no checksum.
    """
    path = checked_path(path)
    if path.is_symlink():
        remedy = f"Use {os.path.realpath(path)}, or another folder."
        raise XmlcError(f"{path}: found a symbolic link, expected a folder. {remedy}")
    above = next(folder for folder in (*path.absolute().parents, Path("/")) if folder.exists())
    for place in (above, path):
        if place.exists() and not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
            expected = "a writable folder. Use another folder."
            raise XmlcError(f"{place}: found a file or a read-only folder, expected {expected}")
    if path.exists() and path.resolve() in (Path.cwd(), *Path.cwd().parents):
        raise XmlcError(
            f"{path}: found the working directory or a parent of it, expected another folder"
        )
    if path.exists() and unlisted_in(path):
        raise XmlcError(
            f"{path}: found {unlisted_in(path)[0]}, which xmlc did not write. Use another folder."
        )


def replace_folder(new: Path, path: Path) -> None:
    """Rename a folder to ``path``, and delete the old one (see `check_replaceable`)."""
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


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8, atomically."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write ``content``, with numbers and arrays of NumPy, as indented JSON, atomically.

    Numbers that are not finite raise a ValueError, because JSON has none and results must not hide
    them.
    """
    write_text(path, as_json(content))


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def folder_bytes(folder: str | os.PathLike[str]) -> int:
    """Return the total bytes of the files in a folder, except its checksums."""
    files = Path(folder).rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file() and file.name != CHECKSUMS)


def as_json(content: Any) -> str:
    """Return ``content`` as the text that `write_json` writes."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
