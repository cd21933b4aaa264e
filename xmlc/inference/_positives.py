"""How many of several independent labels are positive (the Poisson-binomial distribution): kernels.

Distributions are cut above a number of positives that is reached with a probability below 1e-17; what lies below the
cut is what it would be without it, so that no more than that probability is lost in all.
"""

from __future__ import annotations

from math import ldexp

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.float64 import log

LOG_NEGLIGIBLE = -40.0  # e^-40 = 4e-18


@njit(cache=True, nogil=True)
def count_limit(mean, n, least=LOG_NEGLIGIBLE):
    """Return the smallest number of positives whose probability to be reached is below e^least, but at most ``n``.

    Chernoff's bound, for any independent labels with ``mean`` positives expected and r > mean:
    Pr(N >= r) <= e^-mean (e mean / r)^r. (E[x^N] = prod(1 + p_i (x - 1)) <= e^(mean (x - 1)), and Pr(N >= r) is at most
    E[x^N] / x^r; take x = r / mean.)
    """
    r = int(mean) + 1
    while r < n and r * (1.0 + log(mean / r)) - mean > least:
        r += 1
    return min(r, n)


@njit(cache=True, nogil=True)
def count_distribution(p, limit):
    """Return the distribution of the number of positives up to ``limit``, float64 (limit + 1,).

    Label by label, in O(len(p) * limit) additions and products; all terms are positive, so the relative error is
    that of len(p) roundings.

    Parameters
    ----------
    p : float64 (n,)
        Marginals of independent labels.
    limit : int
    """
    law = np.zeros(limit + 1)
    law[0] = 1.0
    for i in range(p.size):
        positive, negative = p[i], 1.0 - p[i]
        for r in range(min(i + 1, limit), 0, -1):
            law[r] = law[r] * negative + law[r - 1] * positive
        law[0] *= negative
    return law


@njit(cache=True, nogil=True)
def without_label(law, p, rest):
    """Take one label with marginal ``p`` out of a distribution of the number of positives.

    With q for the rest, law[r] = (1 - p) q[r] + p q[r - 1] is solved upwards for p <= 1/2 and downwards for p > 1/2.
    An error e of the entry before then comes in as e min(p, 1 - p) / max(p, 1 - p) <= e, and the rounding of law[r]
    at most doubled: after r steps the absolute error is below 2 (r + 1) roundings of a probability, whatever p is.

    Parameters
    ----------
    law : float64 (size,)
        From `count_distribution` with the `count_limit`: the last entry is negligible, or belongs to all labels.
    p : float64
    rest : float64 (size - 1,)
        Written: the probabilities of 0 .. size - 2 positives among the other labels.
    """
    if p <= 0.5:
        before = 0.0
        for r in range(rest.size):
            before = max((law[r] - p * before) / (1.0 - p), 0.0)
            rest[r] = before
    else:
        after = 0.0
        for r in range(rest.size - 1, -1, -1):
            after = max((law[r + 1] - (1.0 - p) * after) / p, 0.0)
            rest[r] = after


@njit(cache=True, nogil=True)
def add_label(law, positive, negative):
    """Add one label to a distribution of the number of positives, float64 (size,), cut above size - 1."""
    for r in range(law.size - 1, 0, -1):
        law[r] = law[r] * negative + law[r - 1] * positive
    law[0] *= negative


@njit(cache=True, nogil=True)
def convolve(law, other, result):
    """Write the distribution of the sum of two numbers of positives, each float64 (size,), cut above size - 1."""
    result[:] = 0.0
    for a in range(law.size):
        if law[a] > 0.0:
            for r in range(law.size - a):
                result[a + r] += law[a] * other[r]


@njit(cache=True, nogil=True)
def with_odds(p, e):
    """Return the probabilities whose odds are 2^e p / (1 - p), and their complements, each to a few roundings."""
    positive, negative, factor = np.empty_like(p), 1.0 - p, ldexp(1.0, np.int32(e))
    for i in range(p.size):
        both = p[i] * factor + negative[i]
        positive[i], negative[i] = p[i] * factor / both, negative[i] / both
    return positive, negative
