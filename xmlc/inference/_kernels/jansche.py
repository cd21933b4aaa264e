"""The published MEUF (Jansche, ACL 2007), whose running time gfm2011 measures: kernels.

For every k the expected F-measure of the k most probable labels is computed anew, by a dynamic programme that goes
through all m labels and keeps the probability of every state (true positives, positives). Labels with marginal 0 are
gone through like any others, as published; `xmlc.inference._kernels.independent` computes the same without all this.
"""

from __future__ import annotations

import numpy as np

from xmlc.inference._kernels.independent import best_of
from xmlc.kernels.heaps import make_heap, pop_first
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def expected_by_states(p, k):
    """Return the expected F-measure of the first k labels, k >= 1, exactly, in O(m^3).

    Within the first k labels every positive is a true one. Behind them the state (a, r) stands for a true positives
    and a + r positives; only the states that the labels so far can have reached are touched.

    Parameters
    ----------
    p : float64 (m,)
        Marginals.
    k : int
    """
    m = p.size
    states = np.zeros((k + 1, m - k + 1))
    states[0, 0] = 1.0
    for j in range(k):
        for a in range(j + 1, 0, -1):
            states[a, 0] = states[a, 0] * (1.0 - p[j]) + states[a - 1, 0] * p[j]
        states[0, 0] *= 1.0 - p[j]
    for j in range(k, m):
        for a in range(k + 1):
            row = states[a]
            for r in range(j - k + 1, 0, -1):
                row[r] = row[r] * (1.0 - p[j]) + row[r - 1] * p[j]
            row[0] *= 1.0 - p[j]
    value = 0.0
    for a in range(1, k + 1):
        for r in range(m - k + 1):
            value += states[a, r] * (2.0 * a / (k + a + r))
    return value


@njit(cache=True, nogil=True)
def expected_by_cells(p, k, n_cells):
    """Return an approximation of the expected F-measure of the first k labels, k >= 1, in O(m k n_cells).

    As `expected_by_states`, but for the positives behind the first k labels there are ``n_cells`` cells: of exactly
    0, 1, .. of them, and the last of all greater numbers, which keeps its probability and its mean number.

    Parameters
    ----------
    p : float64 (m,)
    k, n_cells : int
    """
    last = n_cells - 1
    states, means = np.zeros((k + 1, n_cells)), np.full(k + 1, float(last))
    states[0, 0] = 1.0
    for j in range(k):
        for a in range(j + 1, 0, -1):
            states[a, 0] = states[a, 0] * (1.0 - p[j]) + states[a - 1, 0] * p[j]
        states[0, 0] *= 1.0 - p[j]
    for j in range(k, p.size):
        for a in range(k + 1):
            row = states[a]
            entering = row[last - 1] * p[j]
            mass = row[last] + entering
            if mass > 0.0:
                means[a] = (row[last] * (means[a] + p[j]) + entering * last) / mass
            row[last] = mass
            for r in range(last - 1, 0, -1):
                row[r] = row[r] * (1.0 - p[j]) + row[r - 1] * p[j]
            row[0] *= 1.0 - p[j]
    value = 0.0
    for a in range(1, k + 1):
        for r in range(last):
            value += states[a, r] * (2.0 * a / (k + a + r))
        value += states[a, last] * (2.0 * a / (k + a + means[a]))
    return value


@njit(cache=True, nogil=True)
def jansche_rows(indptr, labels, marginals, m, n_cells, counts, values):
    """Run the inner maximisation for every k of 1 .. m and the outer over them, k = 0 included, for every instance.

    Parameters
    ----------
    indptr, labels, marginals, counts, values
        See `xmlc.inference._kernels.independent.meuf_rows`.
    m : int
        Number of labels.
    n_cells : int
        At least 2: `expected_by_cells`; 0: `expected_by_states`.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        heap, ranked = np.empty(p.size, dtype=np.int64), np.zeros(m)
        make_heap(heap, p, ids)
        p_empty = 1.0
        for rank in range(p.size):
            best = pop_first(heap, p.size - rank, p, ids)
            kept[place + rank] = ids[best]
            ranked[rank] = p[best]
            p_empty *= 1.0 - p[best]
        expected = np.zeros(m + 1)
        for k in range(1, m + 1):
            expected[k] = expected_by_cells(ranked, k, n_cells) if n_cells > 0 else expected_by_states(ranked, k)
        counts[i], values[i] = best_of(expected, p_empty)
        place += counts[i]
    return kept[:place]
