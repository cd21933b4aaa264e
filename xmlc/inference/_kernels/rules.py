"""Simple rules on the marginals of a block of instances: kernels.

Parameters of all as of `xmlc.inference._kernels.independent.meuf_rows`; all return the labels of the sets, uint32.
They rank only as many labels as they look at, so an instance with L labels above 0 costs O(L + k log L).
"""

from __future__ import annotations

import numpy as np

from xmlc.inference._kernels.poisson_binomial import count_distribution, count_limit
from xmlc.kernels.arrays import copy_into
from xmlc.kernels.heaps import heap_of, pop_first
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def lewis_rows(indptr, labels, marginals, counts, values):
    """Maximise Lewis' approximation 2 M_k / (M + k), M_k the sum of the first k marginals and M that of all.

    The value of k + 1 is the mediant of that of k and 2 p_{k+1} / 1: it rises exactly as long as 2 p_{k+1} exceeds the
    value, and marginals descend, so the first k that does not rise is the best.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        heap = heap_of(p, ids)
        total, p_empty = 0.0, 1.0
        for j in range(p.size):
            total += p[j]
            p_empty *= 1.0 - p[j]
        k, mass = 0, 0.0
        while k < p.size and p[heap[0]] * (total + k) > mass:
            best = pop_first(heap, p.size - k, p, ids)
            mass += p[best]
            kept[place + k] = ids[best]
            k += 1
        value = 2.0 * mass / (total + k) if k > 0 else 0.0
        counts[i] = k if value > p_empty else 0
        values[i] = max(value, p_empty)
        place += counts[i]
    return kept[:place]


@njit(cache=True, nogil=True)
def multinomial_rows(indptr, labels, marginals, counts, values):
    """Take the first k labels for the first k with p_1 + .. + p_k >= (1 + k) p_{k+1} (gfm2011, Theorem 2.2)."""
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        heap = heap_of(p, ids)
        k, mass = 0, 0.0
        while k < p.size and mass < (1 + k) * p[heap[0]]:
            best = pop_first(heap, p.size - k, p, ids)
            mass += p[best]
            kept[place + k] = ids[best]
            k += 1
        counts[i] = k
        values[i] = 2.0 * mass / (p.sum() * (1 + k)) if k > 0 else 1.0
        place += k
    return kept[:place]


@njit(cache=True, nogil=True)
def hamming_rows(indptr, labels, marginals, counts, values):
    """Take the labels with p >= 1/2, and compute the set's expected F-measure for independent labels.

    E[F] = sum_ar 2 a A(a) B(r) / (k + a + r) with the distributions A of the positives within and B outside the set:
    O(L R) as in `expected_of_first`.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        chosen = p >= 0.5
        inside, outside = p[chosen], p[~chosen]
        k = inside.size
        copy_into(kept[place:], ids[chosen])
        place += k
        counts[i] = k
        hits = count_distribution(inside, k)
        others = count_distribution(outside, count_limit(outside.sum(), outside.size))
        values[i] = 0.0 if k > 0 else others[0]
        for a in range(1, k + 1):
            for r in range(others.size):
                values[i] += 2.0 * a * hits[a] * others[r] / (k + a + r)
    return kept[:place]
