"""Files of the suite: records with checksums, digests, mapped arrays, and advice on missing
paths.
"""

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
    """Write ``content`` like `write_json`, with its checksum as the last key.

    Raises
    ------
    ValueError
        A number is not finite.
    """
    write_json(path, stamped(json.loads(as_json(content))))


def similar_path(path: str | os.PathLike[str]) -> str:
    """Return advice that names the file or folder next to a missing ``path`` with the most similar
    name, or "".

    If a parent of the path is missing, too, the advice is about the first missing parent.
    """
    missing = Path(path)
    while not missing.parent.exists():
        missing = missing.parent
    try:
        names = [file.name for file in missing.parent.iterdir() if not file.name.startswith(".")]
    except OSError:  # The parent is a file, or cannot be read.
        return ""
    similar = get_close_matches(missing.name, names, n=1)
    if similar:
        return f". Did you mean {missing.with_name(similar[0])}?"
    return ""


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 digest of a file as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob(path: str | os.PathLike[str]) -> str:
    """Return the id that git gives to a file's content, as 40 hexadecimal digits."""
    with open(path, "rb") as file:
        head = b"blob %d\0" % os.stat(path).st_size
        return hashlib.file_digest(
            file, lambda: hashlib.sha1(head, usedforsecurity=False)
        ).hexdigest()


@contextmanager
def read_in_parts(arrays: Iterable[np.ndarray]) -> Iterator[None]:
    """Repeatedly release the pages of mapped arrays while a ``with`` block reads the arrays, to
    save memory.

    The ``with`` block must not change the arrays. For speed, the block should read each part of an
    array many times before the next part. A page fault may map 2 MB, so random reads can map
    gigabytes between two checks of the memory. If the system does not count the pages of files, no
    pages are released.
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
    """Return the bytes of mapped files that this process has in memory, or 0 if the system does not
    count them.
    """
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[2]) * mmap.PAGESIZE
    except OSError:
        return 0
