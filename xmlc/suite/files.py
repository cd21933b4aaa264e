"""Files of the suite: records with checksums, digests, mapped arrays, and similar paths."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from threading import Event, Thread

import numpy as np

from xmlc.core.appendable import give_back
from xmlc.core.checksums import stamped
from xmlc.core.files import as_json, write_json

MOST_MAPPED = 1 << 28  # bytes of mapped files that `read_in_parts` keeps in memory
LARGE = 1 << 24  # bytes of an array whose pages are released
SECONDS_BETWEEN_LOOKS = 0.005


def write_record(path: str | os.PathLike[str], content: Mapping[str, object]) -> None:
    """Write ``content`` like `write_json`, with its checksum as the last key. Numbers must be
    finite.
    """
    write_json(path, stamped(json.loads(as_json(content))))


def similar_path(path: str | os.PathLike[str]) -> str:
    """Return advice with the name most similar to the first missing part of a path, or ""."""
    missing = Path(path)
    while not missing.parent.exists():
        missing = missing.parent
    try:
        names = [file.name for file in missing.parent.iterdir() if not file.name.startswith(".")]
    except OSError:  # the parent is a file, or cannot be read
        return ""
    similar = get_close_matches(missing.name, names, n=1)
    if similar:
        return f". Did you mean {missing.with_name(similar[0])}?"
    return ""


def sha256(path: str | os.PathLike[str]) -> str:
    """Return 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob(path: str | os.PathLike[str]) -> str:
    """Return git's id of a file's content, 40 hexadecimal digits."""
    with open(path, "rb") as file:
        head = b"blob %d\0" % os.stat(path).st_size
        return hashlib.file_digest(
            file, lambda: hashlib.sha1(head, usedforsecurity=False)
        ).hexdigest()


@contextmanager
def read_in_parts(arrays: Iterable[np.ndarray]) -> Iterator[None]:
    """Release the pages of mapped arrays again and again while a ``with`` block reads them.

    The block must not change the arrays, and should read each part many times before the next one.
    Random reads can map gigabytes between two checks, because a page fault may map 2 MB.
    """
    large = [array for array in arrays if array.nbytes > LARGE]
    most = mapped_bytes() + MOST_MAPPED
    done = Event()

    def watch() -> None:
        while large and not done.wait(SECONDS_BETWEEN_LOOKS):
            if mapped_bytes() > most:
                give_back(*large)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def mapped_bytes() -> int:
    """Return the bytes of mapped files in memory, or 0 if the system does not count them."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[2]) * mmap.PAGESIZE
    except OSError:
        return 0
