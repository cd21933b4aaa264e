"""What kernels do with whole arrays: kernels."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def copy_into(target, source):
    """Write ``source`` to the beginning of ``target``, of any one type each.

    ``target[: source.size] = source`` does the same, but brings along the text of the error of unequal lengths, with
    all that numba needs to make it: more than a second of compilation in each process, and more in each kernel that
    calls it. Here nothing is checked: ``target`` must be long enough, and the two must not overlap.
    """
    for i in range(source.size):
        target[i] = source[i]
