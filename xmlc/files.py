"""Files that appear under their final name only when they are whole."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file name beside ``path``; it becomes ``path`` when the block ends without an error.

    The temporary file keeps the suffix of ``path``, because writers choose a format by it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
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
    """Give a temporary folder beside ``path``; it replaces ``path`` when the block ends without an error."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        if path.exists():
            shutil.rmtree(path)
        os.replace(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write ``content`` as indented JSON, atomically; numpy numbers and arrays become plain ones.

    Raises
    ------
    ValueError
        A number is not finite: JSON has no such number, and a result must not hide one.
    """
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def folder_bytes(folder: str | os.PathLike[str]) -> int:
    """Return the size of everything in a folder, in bytes: of a model on disk, say."""
    return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())


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
