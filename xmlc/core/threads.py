"""The number of threads of a process, and of a value of ``n_jobs``."""

from __future__ import annotations

import os
import sys
from numbers import Integral

from xmlc.core.errors import XmlcError


def set_process_threads(n_threads: int) -> None:
    """Limit numba to ``n_threads`` threads in this process, best before it is imported.

    Snakemake limits OpenMP and BLAS by environment variables, but not numba, which would use every
    core.
    """
    if n_threads < 1:
        raise XmlcError(f"threads: found {n_threads}, expected at least 1")
    if "numba" in sys.modules:
        import numba

        numba.set_num_threads(min(n_threads, _most_threads()))
    else:
        os.environ["NUMBA_NUM_THREADS"] = str(n_threads)


def resolve_threads(n_jobs: int | None) -> int:
    """Return the number of threads for a value of ``n_jobs``.

    Parameters
    ----------
    n_jobs : int or None
        None for numba's number in this process, and as in scikit-learn -1 for all cores, -2 for all
        except one, and so on.

    Returns
    -------
    int

    Raises
    ------
    XmlcError
        ``n_jobs`` is 0 or no whole number.

    See Also
    --------
    xmlc.models

    Examples
    --------
    >>> from xmlc.core.threads import resolve_threads
    >>> resolve_threads(3)
    3
    """
    import numba

    if n_jobs is None:
        return numba.get_num_threads()
    if not isinstance(n_jobs, int | Integral) or n_jobs == 0:
        expected = "a positive number, -1 for all cores or None for the default"
        raise XmlcError(f"found n_jobs={n_jobs!r}, expected {expected}")
    if n_jobs > 0:
        return n_jobs
    return max(1, _most_threads() + 1 + n_jobs)


def _most_threads() -> int:
    """Return the size of numba's pool, by default one thread per core."""
    import numba

    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # numba sets its options at run time
