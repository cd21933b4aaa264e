"""Detect damaged and edited files and records by checksums that are written next to them.

The checksum is XXH3 with 128 bits (the library xxHash, Collet 2012-2024). XXH3 is as fast as
reading memory, and has the same result on any machine. A checksum does not detect manipulation,
because anyone who edits a file can also write the new checksum.

Each folder has a file `NAME` with the size and checksum of every other file.
`xmlc.core.files.atomic_folder` writes the file `NAME`. Each record has the checksum of its content
under the key `KEY`.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import cast

import xxhash

from xmlc.core.errors import XmlcError, let_through

NAME = "checksums.json"
KEY = "checksum"
SCHEMA = 1
# Snakemake and macOS create these files anywhere.
SYSTEMS_OWN = {".snakemake_timestamp", ".DS_Store"}
REMEMBERED = 10_000  # Number of files whose checksums a process remembers.
# Maps paths in a folder to sizes in bytes and to xxh3_128 checksums.
Files = dict[str, dict[str, int | str]]
# Inode, size in bytes and modification time of a file, in nanoseconds.
State = tuple[int, int, int]


class Damaged(XmlcError):
    """Report a file that was changed after it was written, and the file or folder to restore.

    Attributes
    ----------
    file, fault, target : Path, str, Path
        The changed file, the kind of change, and the file or folder to restore. All files in a
        ``target`` folder were written together.
    """

    def __init__(self, file: Path, fault: str, target: Path):
        super().__init__(
            f"{file}: {fault}. Restore {target} from a copy, or run again the command that wrote "
            "it."
        )
        self.file = file
        self.fault = fault
        self.target = target


def verify_file(path: Path) -> None:
    """Check that a file is unchanged, using the checksums in its folder or in the parent folder.

    Raises
    ------
    Damaged
    """
    folder = path.parent
    if not (folder / NAME).is_file() and (folder.parent / NAME).is_file():
        folder = folder.parent
    check_listed(folder, path.relative_to(folder).as_posix())


def check_listed(folder: Path, name: str) -> None:
    """Check that a file in a folder is unchanged.

    A process reads each unchanged file only once, even if it checks the file often.

    Raises
    ------
    Damaged
        The file is missing or has other content, or the folder's list of checksums lacks the file.
    """
    file = folder / name
    entry = listed_in(folder).get(name)
    if entry is None:
        raise Damaged(file, f"found no entry in {NAME}, expected one", folder)
    try:
        _check_regular(folder, name)
        n_bytes = os.stat(file).st_size
        if n_bytes != entry["bytes"]:
            raise Damaged(file, f"found {n_bytes} bytes, expected {entry['bytes']}", folder)
        found = checksum_now(file)
    except OSError as error:
        let_through(error)
        raise Damaged(file, f"found an unreadable file ({error.strerror})", folder) from error
    if found != entry["xxh3_128"]:
        raise Damaged(file, f"found checksum {found}, expected {entry['xxh3_128']}", folder)


def _check_regular(folder: Path, name: str) -> None:
    """Raise an error if a listed file, or a folder between it and ``folder``, is a link, or if it
    is no regular file.

    A link could lead out of the folder, and reading a FIFO or a device could wait for ever. No such
    file is opened.
    """
    place = folder
    for part in Path(name).parts:
        place = place / part
        check_no_link(place)
    if not stat.S_ISREG(os.lstat(place).st_mode):
        raise Damaged(place, "found no regular file, expected one", folder)


def check_no_link(path: Path) -> None:
    """Raise an error if a part of a stored folder is a symbolic link.

    Raises
    ------
    Damaged
    """
    if path.is_symlink():
        raise Damaged(path, f"found a link to {os.readlink(path)}, expected a copy", path.parent)


def checksum_of(path: str | os.PathLike[str]) -> str:
    """Return the checksum of a file as 32 hexadecimal digits.

    The file is read in blocks, to save memory.
    """
    with open(path, "rb", buffering=0) as file:
        return hashlib.file_digest(file, xxhash.xxh3_128).hexdigest()


def checksum_now(path: Path) -> str:
    """Return the checksum of a file's current content.

    A process reads each unchanged file only once.
    """
    return _checksum(str(path), state_of(path))


def content_checksum(content: Mapping[str, object]) -> str:
    """Return the checksum of a record's content without `KEY`.

    The checksum does not depend on the order of keys or on white space.
    """
    text = json.dumps(_without_checksum(content), sort_keys=True, separators=(",", ":"))
    return xxhash.xxh3_128_hexdigest(text.encode("ascii"))


def _without_checksum(content: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in content.items() if name != KEY}


def stamped(content: Mapping[str, object]) -> dict[str, object]:
    """Return the content of a record with its checksum as the last key."""
    return _without_checksum(content) | {KEY: content_checksum(content)}


def check_content(path: Path, content: Mapping[str, object]) -> dict[str, object]:
    """Return a record's content without its checksum, after checking the checksum.

    Raises
    ------
    Damaged
        The checksum is missing or differs from the computed checksum of the content.
    """
    target = written_with(path)
    if KEY not in content:
        fault = (
            f"found no key {KEY!r}, expected one. Another version wrote the file, or it was edited"
        )
        raise Damaged(path, fault, target)
    try:
        found = content_checksum(content)
    # If the content was read from YAML, it may contain dates and self-references, which JSON cannot
    # encode.
    except (TypeError, ValueError, RecursionError) as error:
        raise Damaged(path, f"found content that xmlc does not write ({error})", target) from error
    if content[KEY] != found:
        raise Damaged(path, f"found content with checksum {found}, expected {content[KEY]}", target)
    return _without_checksum(content)


def written_with(file: Path) -> Path:
    """Return a file's folder if the folder has a list of checksums, and otherwise the file."""
    if (file.parent / NAME).is_file():
        return file.parent
    return file


def list_files(folder: Path) -> None:
    """Write the list of checksums of a folder, including subfolders.

    While this function runs, no other process may write to the folder.
    """
    files: Files = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            files[file.relative_to(folder).as_posix()] = {
                "bytes": file.stat().st_size,
                "xxh3_128": checksum_of(file),
            }
    files.pop(NAME, None)
    text = json.dumps(stamped({"schema": SCHEMA, "files": files}), indent=2) + "\n"
    (folder / NAME).write_text(text, encoding="utf-8")


def listed_in(folder: Path) -> Files:
    """Return the list of checksums of a folder.

    Raises
    ------
    Damaged
        The list of checksums is missing or unreadable, or was edited.
    """
    file = folder / NAME
    try:
        _check_regular(folder, NAME)
        return _listed(file, state_of(file))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        let_through(error)
        reason = getattr(error, "strerror", error)
        raise Damaged(file, f"found no readable list of checksums ({reason})", folder) from error


def unlisted_in(folder: Path) -> list[str]:
    """Return the files in a folder that have no checksum.

    If the list of checksums is unreadable, return all files in the folder.
    """
    try:
        listed = {NAME, *listed_in(folder)}
    except Damaged:
        return sorted(set(os.listdir(folder)) - SYSTEMS_OWN)
    files = (file for file in folder.rglob("*") if file.is_symlink() or not file.is_dir())
    return sorted(
        {file.relative_to(folder).as_posix() for file in files if file.name not in SYSTEMS_OWN}
        - listed
    )


def state_of(path: str | os.PathLike[str]) -> State:
    """Return inode, size and modification time of a file.

    If a file is edited or replaced, its inode, size or modification time changes.
    """
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


@lru_cache(maxsize=REMEMBERED)
def _checksum(path: str, state: State) -> str:
    """Return a file's checksum.

    Checksums are cached, because steps open the same arrays for each method and part.
    """
    return checksum_of(path)


@lru_cache(maxsize=256)
def _listed(file: Path, state: State) -> Files:
    content = check_content(file, json.loads(file.read_text(encoding="utf-8")))
    if content.get("schema") != SCHEMA:
        raise ValueError(f"found schema {content.get('schema')}, expected {SCHEMA}")
    return cast(Files, content["files"])
