"""One knob for the number of threads."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from xmlc.errors import XmlcError


def set_process_threads(n_threads: int) -> None:
    """Give this process ``n_threads`` numba threads, for the command line: call it before numba is imported.

    Snakemake hands a job's threads to OpenMP and BLAS by environment variables but not to numba, whose pool
    takes every core unless told otherwise.
    """
    if n_threads < 1:
        raise XmlcError(f"{n_threads} threads asked for, at least 1 is needed")
    if "numba" in sys.modules:
        import numba

        numba.set_num_threads(min(n_threads, numba.config.NUMBA_NUM_THREADS))
    else:
        os.environ["NUMBA_NUM_THREADS"] = str(n_threads)


@contextmanager
def numba_threads(n_jobs: int | None) -> Iterator[int]:
    """Run a block with ``n_jobs`` numba threads (None: as many as are set; -1: all) and give the number used."""
    import numba

    before = numba.get_num_threads()
    limit = numba.config.NUMBA_NUM_THREADS
    if n_jobs is not None and n_jobs == 0:
        raise XmlcError("n_jobs=0 asked for; use a positive number, -1 for all cores or None for the default")
    wanted = before if n_jobs is None else limit + 1 + n_jobs if n_jobs < 0 else n_jobs
    numba.set_num_threads(max(1, min(wanted, limit)))
    try:
        yield numba.get_num_threads()
    finally:
        numba.set_num_threads(before)
