"""Checksums next to files and in records, which detect damage and edits.

They are XXH3 with 128 bits (the library xxHash, Collet 2012-2024), as fast as reading memory and
the same on any machine. They do not detect manipulation, because anyone who edits a file can also
write the new checksum.

Each folder has a file ``checksums.json``, written by ``xmlc.core.files.atomic_folder``, with the
size and checksum of every other file. Each record has the checksum of its content under the key
``checksum``.
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
# Snakemake and macOS create these files anywhere
SYSTEMS_OWN = {".snakemake_timestamp", ".DS_Store"}
REMEMBERED = 10_000  # files whose checksums a process remembers
# Path in a folder to size in bytes and xxh3_128 checksum
Files = dict[str, dict[str, int | str]]
# Inode, size in bytes and modification time in nanoseconds
State = tuple[int, int, int]


class Damaged(XmlcError):
    """A file that differs from its checksum and has to be restored.

    Parameters
    ----------
    file : Path
        The changed file.
    fault : str
        Difference from the checksum.
    target : Path
        File or folder to restore.

    See Also
    --------
    verify_file, xmlc.XmlcError

    Examples
    --------
    >>> from pathlib import Path
    >>> from xmlc.core.checksums import Damaged
    >>> print(Damaged(Path("model/a.npy"), "found 3 bytes, expected 4", Path("model")))
    model/a.npy: found 3 bytes, expected 4. Restore model from a copy, or run again ...
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
    """Raise an error if a file differs from its checksum in its folder or the parent folder.

    Parameters
    ----------
    path : Path

    Raises
    ------
    Damaged
        The file is missing, changed or without a checksum.

    See Also
    --------
    xmlc.load_model : Verifies each file of a model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from xmlc import BinaryRelevance
    >>> from xmlc.core.checksums import verify_file
    >>> folder = Path(tempfile.mkdtemp()) / "model"
    >>> BinaryRelevance(C=1.0).fit([[0.0], [1.0]], [[1, 0], [0, 1]]).save(folder)
    >>> verify_file(folder / "C_.npy")
    >>> _ = (folder / "C_.npy").write_bytes(b"")
    >>> verify_file(folder / "C_.npy")
    Traceback (most recent call last):
    xmlc.core.checksums.Damaged: ...
    """
    folder = path.parent
    if not (folder / NAME).is_file() and (folder.parent / NAME).is_file():
        folder = folder.parent
    check_listed(folder, path.relative_to(folder).as_posix())


def check_listed(folder: Path, name: str) -> None:
    """Raise `Damaged` if a file is missing, unlisted or changed.

    A process reads an unchanged file only once.
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
    """Raise `Damaged` if a listed file is a link, below a link, or no regular file.

    A link could lead out of the folder, and reading a FIFO or a device could wait for ever.
    """
    place = folder
    for part in Path(name).parts:
        place = place / part
        check_no_link(place)
    if not stat.S_ISREG(os.lstat(place).st_mode):
        raise Damaged(place, "found no regular file, expected one", folder)


def check_no_link(path: Path) -> None:
    """Raise `Damaged` if a part of a stored folder is a symbolic link."""
    if path.is_symlink():
        raise Damaged(path, f"found a link to {os.readlink(path)}, expected a copy", path.parent)


def checksum_of(path: str | os.PathLike[str]) -> str:
    """Return a file's checksum as 32 hexadecimal digits, read in blocks."""
    with open(path, "rb", buffering=0) as file:
        return hashlib.file_digest(file, xxhash.xxh3_128).hexdigest()


def checksum_now(path: Path) -> str:
    """Return the checksum of a file, which is read again only if it has changed."""
    return _checksum(str(path), state_of(path))


def content_checksum(content: Mapping[str, object]) -> str:
    """Return the checksum of a record, whatever the order of its keys."""
    text = json.dumps(_without_checksum(content), sort_keys=True, separators=(",", ":"))
    return xxhash.xxh3_128_hexdigest(text.encode("ascii"))


def _without_checksum(content: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in content.items() if name != KEY}


def stamped(content: Mapping[str, object]) -> dict[str, object]:
    """Return a record with its checksum as the last key."""
    return _without_checksum(content) | {KEY: content_checksum(content)}


def check_content(path: Path, content: Mapping[str, object]) -> dict[str, object]:
    """Return a record's content without its checksum, or raise `Damaged` if this is wrong."""
    target = written_with(path)
    if KEY not in content:
        fault = (
            f"found no key {KEY!r}, expected one. Another version wrote the file, or it was edited"
        )
        raise Damaged(path, fault, target)
    try:
        found = content_checksum(content)
    # YAML may contain dates and self-references, which JSON cannot encode
    except (TypeError, ValueError, RecursionError) as error:
        raise Damaged(path, f"found content that xmlc does not write ({error})", target) from error
    if content[KEY] != found:
        raise Damaged(path, f"found content with checksum {found}, expected {content[KEY]}", target)
    return _without_checksum(content)


def written_with(file: Path) -> Path:
    """Return a file's folder if it lists checksums, and otherwise the file."""
    if (file.parent / NAME).is_file():
        return file.parent
    return file


def list_files(folder: Path) -> None:
    """Write the checksums of a folder, to which nobody else may write meanwhile."""
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
    """Return the checksums of a folder, or raise `Damaged` without a readable list."""
    file = folder / NAME
    try:
        _check_regular(folder, NAME)
        return _listed(file, state_of(file))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        let_through(error)
        reason = getattr(error, "strerror", error)
        raise Damaged(file, f"found no readable list of checksums ({reason})", folder) from error


def unlisted_in(folder: Path) -> list[str]:
    """Return the files in a folder without a checksum."""
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
    """Return inode, size and modification time, one of which changes with the file."""
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


@lru_cache(maxsize=REMEMBERED)
def _checksum(path: str, state: State) -> str:
    """Return a cached checksum, because steps open the same arrays for each method and part."""
    return checksum_of(path)


@lru_cache(maxsize=256)
def _listed(file: Path, state: State) -> Files:
    content = check_content(file, json.loads(file.read_text(encoding="utf-8")))
    if content.get("schema") != SCHEMA:
        raise ValueError(f"found schema {content.get('schema')}, expected {SCHEMA}")
    return cast(Files, content["files"])
