"""One knob for the number of threads."""

from __future__ import annotations

import os
import sys
from numbers import Integral

from xmlc.core.errors import XmlcError


def set_process_threads(n_threads: int) -> None:
    """Give this process ``n_threads`` numba threads, for the command line: call it before numba is imported.

    Snakemake hands a job's threads to OpenMP and BLAS by environment variables but not to numba, whose pool
    takes every core unless it is limited.
    """
    if n_threads < 1:
        raise XmlcError(f"{n_threads} threads: expected at least 1")
    if "numba" in sys.modules:
        import numba

        numba.set_num_threads(min(n_threads, _most_threads()))
    else:
        os.environ["NUMBA_NUM_THREADS"] = str(n_threads)


def resolve_threads(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` stands for.

    None: as many as this process was given; -1: all cores, -2: all but one, and so on, as in scikit-learn.
    """
    import numba

    if n_jobs is None:
        return numba.get_num_threads()
    if not isinstance(n_jobs, int | Integral) or n_jobs == 0:
        raise XmlcError(f"n_jobs={n_jobs!r}: expected a positive number, -1 for all cores or None for the default")
    return n_jobs if n_jobs > 0 else max(1, _most_threads() + 1 + n_jobs)


def _most_threads() -> int:
    """Return the size of numba's pool: all cores unless the environment says otherwise."""
    import numba

    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # numba sets its options at run time
