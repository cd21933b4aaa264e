"""The number of positives among independent labels (Poisson-binomial distribution).

A distribution ends at r if r or more positives have a probability below 1e-17, which is dropped
without a change of the others.
"""

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.float64 import log

LOG_NEGLIGIBLE = -40.0  # e^-40 = 4e-18


@njit
def count_limit(mean, n, least=LOG_NEGLIGIBLE):
    """Return r <= ``n`` such that r or more positives have a probability below e^least, or ``n``.

    Let N be the number of positives and r exceed its expectation ``mean``. Chernoff's bound is Pr(N
    >= r) <= e^-mean (e mean / r)^r, because Pr(N >= r) <= E[x^N] / x^r for x = r / mean, and E[x^N]
    = prod(1 + p_i (x - 1)) <= e^(mean (x - 1)).
    """
    r = int(mean) + 1
    while r < n and r * (1.0 + log(mean / r)) - mean > least:
        r += 1
    return min(r, n)


@njit
def count_distribution(p, limit):
    """Return the distribution of the number of positives up to ``limit``, float64 (limit + 1,).

    Labels with the marginals p are added one by one, in O(len(p) * limit). All terms are positive,
    so the relative error is at most len(p) rounding errors.
    """
    pmf = np.zeros(limit + 1)
    pmf[0] = 1.0
    for i in range(p.size):
        positive = p[i]
        negative = 1.0 - p[i]
        for r in range(min(i + 1, limit), 0, -1):
            pmf[r] = pmf[r] * negative + pmf[r - 1] * positive
        pmf[0] *= negative
    return pmf


@njit
def without_label(pmf, p, rest):
    """Remove one label with marginal ``p`` from a distribution of the number of positives.

    Let q be the distribution for the other labels, which is written to ``rest``, float64 (size -
    1,). The kernel solves pmf[r] = (1 - p) q[r] + p q[r - 1], for ascending r if p <= 1/2 and
    otherwise for descending r. An error e of one entry of q then adds at most e to the next,
    because min(p, 1 - p) <= max(p, 1 - p), and the division at most doubles the rounding error of
    pmf[r]. So the absolute error after r steps is below 2 (r + 1) rounding errors of a probability.

    ``pmf`` is from `count_distribution` up to `count_limit`, so its last entry is negligible, or is
    the probability that all labels are positive.
    """
    if p <= 0.5:
        before = 0.0
        for r in range(rest.size):
            before = max((pmf[r] - p * before) / (1.0 - p), 0.0)
            rest[r] = before
    else:
        after = 0.0
        for r in range(rest.size - 1, -1, -1):
            after = max((pmf[r + 1] - (1.0 - p) * after) / p, 0.0)
            rest[r] = after
