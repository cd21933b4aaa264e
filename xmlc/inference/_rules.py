"""Run Jansche's dynamic programme and simple published rules on the marginals of a block of instances.

Kernels for a block have the parameters of `xmlc.inference._independent.meuf_rows`, and return the labels of the sets.
"""

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.inference._independent import best_of
from xmlc.inference._positives import count_distribution, count_limit
from xmlc.kernels.arrays import copy_into
from xmlc.kernels.heaps import make_heap, pop_first
from xmlc.kernels.sums import in_turn


@njit(cache=True, nogil=True)
def jansche_rows(indptr, labels, marginals, m, n_cells, counts, values):
    """Run Jansche's inner maximisation for each k in 1 .. m, and the outer maximisation over k in 0 .. m, per instance.

    Parameters
    ----------
    indptr, labels, marginals, counts, values
        See `xmlc.inference._independent.meuf_rows`.
    m : int
        Number of labels.
    n_cells : int
        Number of states: at least 2, or 0. If ``n_cells`` is 0, each number of positives has a state, so that the
        result is exact.
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
            expected[k] = expected_by_cells(ranked, k, n_cells if n_cells > 0 else m - k + 2)
        counts[i], values[i] = best_of(expected, p_empty)
        place += counts[i]
    return kept[:place]


@njit(cache=True, nogil=True)
def expected_by_cells(p, k, n_cells):
    """Return the expected F-measure of the first k labels, k >= 1, by the published dynamic programme of MEUF.

    The dynamic programme is by Jansche (ACL 2007), and gfm2011 measures its running time. For each k, the programme
    processes all m labels again, including labels with marginal 0. The programme computes the probability of each state
    (a, r).

    Each positive among the first k labels is a true positive. For the labels after the first k, the state (a, r) means
    a true positives and r other positives. The first cells represent r = 0, 1, .. exactly. The last cell represents all
    greater values of r by their total probability and their mean. Time is O(m k n_cells). With at least m - k + 2
    cells, the last cell stays empty, so that the result is exact and takes O(m^3).

    Parameters
    ----------
    p : float64 (m,)
        Marginals, descending.
    k : int
        Number of labels in the set.
    n_cells : int
        Number of states for r.
    """
    last = n_cells - 1
    states, means = np.zeros((k + 1, n_cells)), np.full(k + 1, float(last))
    states[0, 0] = 1.0
    for j in range(k):
        for a in range(j + 1, 0, -1):
            states[a, 0] = states[a, 0] * (1.0 - p[j]) + states[a - 1, 0] * p[j]
        states[0, 0] *= 1.0 - p[j]
    for j in range(k, p.size):
        others = j - k  # After the first k labels, j - k labels were added, so r is at most j - k.
        for a in range(k + 1):
            row = states[a]
            if others >= last - 1:
                entering = row[last - 1] * p[j]
                mass = row[last] + entering
                if mass > 0.0:
                    means[a] = (row[last] * (means[a] + p[j]) + entering * last) / mass
                row[last] = mass
            for r in range(min(last - 1, others + 1), 0, -1):
                row[r] = row[r] * (1.0 - p[j]) + row[r - 1] * p[j]
            row[0] *= 1.0 - p[j]
    value = 0.0
    for a in range(1, k + 1):
        for r in range(last):
            value += states[a, r] * (2.0 * a / (k + a + r))
        value += states[a, last] * (2.0 * a / (k + a + means[a]))
    return value


@njit(cache=True, nogil=True)
def first_rows(indptr, labels, marginals, one_label, counts, values):
    """Add labels to each instance's set, most probable first, while p_{k+1} (M + k) exceeds M_k.

    M_k is the sum of the first k marginals. Time is O(L + k log L).

    If M is the sum of all marginals, the set maximises Lewis' approximation v_k = 2 M_k / (M + k). As the mediant of
    v_k and 2 p_{k+1}, v_{k+1} exceeds v_k only if 2 p_{k+1} exceeds v_k. Marginals descend, so v_k never rises again
    after it has fallen. If ``one_label`` is true, M is 1, and the set is optimal if exactly one label is positive
    (gfm2011, Theorem 2.2).
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        heap = np.empty(p.size, dtype=np.int64)
        make_heap(heap, p, ids)
        total, p_empty = in_turn(p), 1.0
        for j in range(p.size):
            p_empty *= 1.0 - p[j]
        k, mass, M = 0, 0.0, 1.0 if one_label else total
        while k < p.size and p[heap[0]] * (M + k) > mass:
            best = pop_first(heap, p.size - k, p, ids)
            mass += p[best]
            kept[place + k] = ids[best]
            k += 1
        counts[i], values[i] = 0, p_empty
        if k > 0:
            value = 2.0 * mass / (total * (1 + k)) if one_label else 2.0 * mass / (total + k)
            if one_label or value > p_empty:
                counts[i], values[i] = k, value
        place += counts[i]
    return kept[:place]


@njit(cache=True, nogil=True)
def hamming_rows(indptr, labels, marginals, counts, values):
    """Select the labels with p >= 1/2, and compute the set's expected F-measure for independent labels.

    E[F] = sum_ar 2 a A(a) B(r) / (k + a + r). Here A and B are the distributions of the number of positives in the set
    and outside the set. Time is O(L R), with R as in `xmlc.inference._independent.expected_of_first`.
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
        others = count_distribution(outside, count_limit(in_turn(outside), outside.size))
        values[i] = 0.0 if k > 0 else others[0]
        for a in range(1, k + 1):
            for r in range(others.size):
                values[i] += 2.0 * a * hits[a] * others[r] / (k + a + r)
    return kept[:place]
