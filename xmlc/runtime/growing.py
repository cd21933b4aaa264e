"""Arrays that grow in place: address space is reserved for them, and memory follows where they are written.

An array that is made longer by the allocator is moved or written over once more: of a stream's training with three
gigabytes of weights that was a seventh of the time. Here it is a longer view of the same mapping. The mapping asks for
pages of two megabytes, of which a first write costs a third of that of as many small ones.
"""

from __future__ import annotations

import mmap
import os
import sys
from contextlib import suppress

import numpy as np

LARGE = 1 << 22  # bytes, from which on address space is reserved
POPULATE_WRITE = 23  # MADV_POPULATE_WRITE of Linux 5.14 and later, which Python does not name


def grown_array(array: np.ndarray, size: int, factor: float) -> np.ndarray:
    """Return an array of at least ``size`` entries that begins with those of ``array``; the others are zero.

    Parameters
    ----------
    array : ndarray
        Of one dimension; returned as it is if it is long enough, and not to be used any more if not.
    size : int
    factor : float
        By which it becomes longer at the least, so that it need not grow often.
    """
    if size <= array.size:
        return array
    size = max(size, int(array.size * factor))
    mapped = _mapping_of(array)
    if mapped is None and size * array.itemsize >= LARGE:
        mapped = _reserved()
        if mapped is not None:
            np.frombuffer(mapped, array.dtype, array.size)[:] = array
    if mapped is not None and size * array.itemsize <= len(mapped):
        return np.frombuffer(mapped, array.dtype, size)
    longer = np.zeros(size, dtype=array.dtype)
    longer[: array.size] = array
    return longer


def provide_memory(array: np.ndarray, start: int, end: int) -> None:
    """Have the system provide the memory of some bytes of a `grown_array`, as if they were written, where it can.

    Clearing pages takes far longer than to write to them once. What the array holds stays, also what another thread
    writes at the same time.
    """
    mapped = _mapping_of(array)
    if mapped is not None and start < end and sys.platform == "linux":
        start -= start % mmap.PAGESIZE
        with suppress(OSError, ValueError):
            mapped.madvise(POPULATE_WRITE, start, end - start)


def _mapping_of(array: np.ndarray) -> mmap.mmap | None:
    """Return the mapping that an array of `grown_array` is a view of, or None."""
    owner: object = array.base.obj if isinstance(array.base, memoryview) else array.base
    return owner if isinstance(owner, mmap.mmap) else None


def _reserved() -> mmap.mmap | None:
    """Reserve as much address space as the machine has memory; None where the system does not."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        mapped = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        mapped.madvise(mmap.MADV_HUGEPAGE)
    except (AttributeError, OSError, ValueError):
        return None
    return mapped
