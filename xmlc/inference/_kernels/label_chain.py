"""Ancestral sampling from a chain of labels whose conditionals depend on how many labels were drawn before."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def draw_chains(conditionals, seed, first_piece, drawn):
    """Toss a coin for each label in turn, with the probability that the labels drawn so far give.

    Costs one random number and one byte written per label.

    Parameters
    ----------
    conditionals : float64 (m, m)
        Row i, column c: p(Y_i = 1 | c of the labels before i are 1).
    seed, first_piece : int64
        Instance t has the stream (seed, first_piece + t).
    drawn : bool (n, n_samples, m)
        Is filled.
    """
    n, n_samples, m = drawn.shape
    for t in range(n):
        key = stream_key(seed, first_piece + t)
        for r in range(n_samples):
            count = 0
            for i in range(m):
                drawn[t, r, i] = random_unit(key, np.int64(r * m + i)) < conditionals[i, count]
                count += drawn[t, r, i]
