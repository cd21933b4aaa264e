"""Compiled kernels on disk: a file for each signature and processor, in place of numba's index.

Numba has one index for each kernel. Two processes that compile it for other types or processors overwrite each other's
lines, and may give one name to the code of both; and half a file ends every process that reads it. Here an entry is one
file that says what it is for and has a digest. It appears whole, replaces no other one, and is ignored when damaged.

A process that needs a kernel which another one compiles waits for it, so that the first jobs of a run do not all
compile the same.
"""

from __future__ import annotations

import atexit
import hashlib
import pickle
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeAlias

import llvmlite
import numba
from numba.core.serialize import dumps

from xmlc.files import atomic_file
from xmlc.processes import Process
from xmlc.runtime.claims import Claimed, claimed, pause

# Types of the arguments; the processor: triple, name and features; digests of the kernel's bytecode and closure.
Key: TypeAlias = tuple[object, tuple[str, str, str], tuple[str, str]]

PATIENCE = 180.0  # seconds to wait for another process; far longer than any kernel takes
DIGEST_SIZE = 32
SUFFIX = ".kernel"
_claims: dict[Path, ExitStack] = {}  # of the entries that this process compiles
_given_up: set[Process] = set()  # for whom this process has waited in vain
_told: set[str] = set()


class Entries:
    """The entries of one kernel; has the methods of `numba.core.caching.IndexDataCacheFile`, which it replaces.

    Parameters
    ----------
    cache_path : str
        What the locator says.
    filename_base : str
        The kernel's name and line, and the version of Python.
    source_stamp : object
        Stands for the content of its source file.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: object):
        self._place, self._name = Path(cache_path), filename_base
        self._stamp = (numba.__version__, llvmlite.__version__, source_stamp)

    def load(self, key: Key) -> Any:
        """Return what was saved with a key, by whichever process; None if this process is to compile it."""
        file, deadline = self._file(key), time.monotonic() + PATIENCE
        while (found := self._read(file, key)) is None and file not in _claims:
            try:
                claim = ExitStack()
                claim.enter_context(claimed(file, "compiles", patience=0))
                _claims[file] = claim  # and look once more: perhaps it was compiled meanwhile
            except Claimed as error:
                other = error.claim.process
                if time.monotonic() > deadline:
                    _given_up.add(other)  # killed on another machine, say
                if other in _given_up:
                    break
                _tell(f"waiting for kernels that process {other.pid} on {other.host} compiles")
                pause()
            except OSError:
                break  # nothing can be kept here
        if found is not None:
            _release(file)
        return found

    def save(self, key: Key, data: object) -> None:
        """Keep what was compiled; where that is impossible the next process will compile it again."""
        file = self._file(key)
        content = dumps((self._stamp, key, data))
        with suppress(OSError), atomic_file(file) as temporary:
            temporary.write_bytes(hashlib.sha256(content).digest() + content)
        _release(file)

    def flush(self) -> None:
        """Remove all entries of this kernel."""
        for file in self._place.glob(f"*/{self._name}.*{SUFFIX}"):
            file.unlink(missing_ok=True)

    def _file(self, key: Key) -> Path:
        """Return the file of an entry: the processor and its features are in the key, and name the folder."""
        _, name, _ = processor = key[1]
        return self._place / f"{name}-{_digest(processor)}" / f"{self._name}.{_digest((self._stamp, key))}{SUFFIX}"

    def _read(self, file: Path, key: Key) -> Any:
        try:
            whole = file.read_bytes()
        except OSError:
            return None
        digest, content = whole[:DIGEST_SIZE], whole[DIGEST_SIZE:]
        if hashlib.sha256(content).digest() != digest:
            _tell(f"{file}: damaged, compiled anew")
            file.unlink(missing_ok=True)
            return None
        # Numba's form of compiled code, which is as much a program as the files of the package beside it.
        stamp, saved_key, data = pickle.loads(content)
        return data if (stamp, saved_key) == (self._stamp, key) else None


def _release(file: Path) -> None:
    """Give back the claim on an entry, and those taken since, on kernels that it calls and that could not be kept."""
    while file in _claims:
        _claims.popitem()[1].close()


@atexit.register
def _release_all() -> None:
    while _claims:
        _claims.popitem()[1].close()


def _digest(thing: object) -> str:
    """Return 16 hexadecimal digits that change with the text of a thing."""
    return hashlib.sha256(repr(thing).encode()).hexdigest()[:16]


def _tell(text: str) -> None:
    """Write a line, once in a process."""
    if text not in _told:
        _told.add(text)
        print(f"xmlc: {text}", file=sys.stderr, flush=True)
