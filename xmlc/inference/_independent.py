"""Maximise the expected F-measure of independent labels exactly, with kernels for a block of instances.

With independent labels, the best set of size k contains the k most probable labels (Theorem 2.1 of gfm2011). The
kernels therefore search only for the best k. Let p_1 >= p_2 >= ... be the marginals of one instance. M is the sum of
all marginals, and M_k is the sum of the first k marginals.
"""

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.inference._positives import count_distribution, count_limit, without_label
from xmlc.inference._selection import TIE
from xmlc.kernels.heaps import make_heap, pop_first
from xmlc.kernels.sums import in_turn


@njit(cache=True, nogil=True)
def candidates(p, ids, with_empty=True):
    """Rank the labels that a best set may contain, in O(L + K log L).

    Let E_k be the expected F-measure of the first k labels. The kernel computes only bounds of E_k. With N_i as the
    number of positives other than i, E_k = 2 sum_{i <= k} p_i E[1/(k + 1 + N_i)].

    * E_k >= 2 sum_{i <= k} p_i / (k + 1 + M - p_i) by Jensen's inequality, because 1/x is convex. p/(c - p) is convex
      too, so E_k >= 2 M_k / (k + 1 + M - M_k / k).
    * E_k <= 2 M_k / (M_k + k), because F <= 2a / (a + k), where a is the number of true positives, and the right side
      is concave in a. The bound 2 M_k / (M_k + k) does not rise with k, because M_k / k does not rise.
    * E_k <= 2 M_k / (k + c) with c = M - p_1. Proof: with u = M - p_i, E[1/(t + N_i)] = int_0^1 E[x^(t - 1 + N_i)] dx
      is at most I_t = int_0^1 x^(t-1) e^(-u (1 - x)) dx, and integration by parts gives I_t <= 1 / (u + t - 1), here
      for t = k + 1. M_(k+1) / (k + 1 + c) is the mediant of M_k / (k + c) and p_(k+1), and the labels are in descending
      order of p. The bound 2 M_k / (k + c) therefore does not rise from the first k with p_k <= M_k / (k + c) on.

    The search for K ends at the first k for which an upper bound of all later E_k is below a lower bound of the best
    E_k.

    Parameters
    ----------
    p : float64 (L,)
        Marginals above 0.
    ids : uint32 (L,)
        Label ids.
    with_empty : bool
        Whether the best set may be empty.

    Returns
    -------
    order : int64 (L,)
        Indices of all labels. The first K indices are sorted by descending marginal, then ascending id.
    K : int
        Upper bound on the size of the best set.
    p_empty : float64
        Probability that no label is positive, which is the expected F-measure of the empty set. 0 if ``with_empty`` is
        false.
    """
    total, p_empty = 0.0, 1.0
    for i in range(p.size):
        total += p[i]
        p_empty *= 1.0 - p[i]
    if not with_empty:
        p_empty = 0.0
    heap = np.empty(p.size, dtype=np.int64)
    make_heap(heap, p, ids)
    mass, lower, n_candidates, others = 0.0, p_empty, 0, 0.0
    for k in range(1, p.size + 1):
        next_p = p[pop_first(heap, p.size - k + 1, p, ids)]
        mass += next_p
        if k == 1:
            others = max(total - next_p, 0.0)
        upper = 2.0 * mass / (mass + k)
        if next_p * (k + others) <= mass:
            upper = min(upper, 2.0 * mass / (k + others))
        if upper < lower * (1.0 - TIE):
            break
        n_candidates = k
        lower = max(lower, 2.0 * mass / (k + 1.0 + total - mass / k))
    order = np.empty(p.size, dtype=np.int64)
    for rank in range(p.size):
        order[rank] = heap[p.size - 1 - rank]
    return order, n_candidates, p_empty


@njit(cache=True, nogil=True)
def leave_one_out_sizes(p, ranked):
    """Return P of independent labels in compact form: p_is = p_i Pr(s - 1 positives among the other labels).

    P contains only sizes with a probability above 1e-17. If at most 100 sizes are dropped, their total probability is
    below 1e-15.

    Parameters
    ----------
    p : float64 (L,)
        Marginals of all labels of the instance.
    ranked : float64 (K,)
        Marginals of the labels that get a column of P.

    Returns
    -------
    P : float64 (S, K)
        The entries p_is, size by size.
    sizes : float64 (S,)
        Sizes of the rows of P, ascending.
    """
    pmf = count_distribution(p, count_limit(in_turn(p), p.size))
    sizes, n_sizes = np.empty(pmf.size), 0
    for size in range(1, pmf.size):
        if pmf[size] > 1e-17:
            sizes[n_sizes] = size
            n_sizes += 1
    P, rest = np.empty((n_sizes, ranked.size)), np.empty(pmf.size - 1)
    for i in range(ranked.size):
        without_label(pmf, ranked[i], rest)
        for s in range(n_sizes):
            P[s, i] = ranked[i] * rest[np.int64(sizes[s]) - 1]
    return P, sizes[:n_sizes]


@njit(cache=True, nogil=True)
def mean_reciprocals(pmf, size):
    """Return S(t) = E[1 / (t + N)] for t = 0 .. size - 1, with N distributed as ``pmf`` and S(0) = 0.

    The result is float64 (size,).
    """
    result = np.zeros(size)
    for t in range(1, size):
        for r in range(pmf.size):
            result[t] += pmf[r] / (t + r)
    return result


@njit(cache=True, nogil=True)
def expected_of_first(p, tail):
    """Return the expected F-measure E_k of the first k labels for k from 0 to K, float64 (K + 1,), with E_0 = 0.

    E_k is the sum over a of 2 a A_k(a) S_k(k + a). A_k(a) is the probability of a positives among the first k labels,
    and S_k(t) is E[1 / (t + number of positives among the other labels)]. The kernel computes A_k for ascending k, and
    S_K from the distribution of the number of positives in the tail (the labels after the first K). For smaller k,
    S_{k-1}(t) = p_k S_k(t + 1) + (1 - p_k) S_k(t). The distribution of the tail is truncated (`count_limit`), which
    lowers each E_k by less than 1e-17.

    Time is O(K^2 + (len(tail) + K) R). R is the largest number of positives in the truncated distribution of the tail.
    The kernel needs 4 K^2 bytes of memory.

    Parameters
    ----------
    p : float64 (K,)
        The first K marginals.
    tail : float64 (L - K,)
        The marginals after the first K, in any order.
    """
    K = p.size
    hits = np.zeros((K + 1) * (K + 2) // 2)  # `hits` contains A_0, A_1 and so on. A_k has k + 1 entries.
    hits[0] = 1.0
    for k in range(1, K + 1):
        before, now = hits[k * (k - 1) // 2 :], hits[k * (k + 1) // 2 :]
        for a in range(k):
            now[a] += before[a] * (1.0 - p[k - 1])
            now[a + 1] += before[a] * p[k - 1]
    pmf = count_distribution(tail, count_limit(in_turn(tail), tail.size))
    reciprocals = mean_reciprocals(pmf, 2 * K + 1)
    values = np.zeros(K + 1)
    for k in range(K, 0, -1):
        now = hits[k * (k + 1) // 2 :]
        for a in range(1, k + 1):
            values[k] += 2.0 * a * now[a] * reciprocals[k + a]
        for t in range(1, 2 * k - 1):
            reciprocals[t] = p[k - 1] * reciprocals[t + 1] + (1.0 - p[k - 1]) * reciprocals[t]
    return values


@njit(cache=True, nogil=True)
def best_of(values, p_empty):
    """Return the best size k and the expected F-measure of the first k labels.

    If two sizes have equal values (see `TIE`), the smaller k wins. The size k = 0 is the empty set.
    """
    best_k, best = 0, p_empty
    for k in range(1, values.size):
        if values[k] > best + TIE:
            best_k, best = k, values[k]
    return best_k, best


@njit(cache=True, nogil=True)
def meuf_rows(indptr, labels, marginals, with_empty, counts, values):
    """Maximise the expected F-measure of each instance of a block, and return the labels of the best sets, uint32.

    The kernel reads 12 bytes per estimate, and its time does not depend on m.

    Parameters
    ----------
    indptr : int64 (n + 1,)
        Start of each instance in ``labels``, from 0 on.
    labels : uint32
        Label ids, instance by instance.
    marginals : float64
        Marginals above 0, in the order of ``labels``.
    with_empty : bool
        Whether the best set may be empty.
    counts : int64 (n,)
        Receives the sizes of the best sets.
    values : float64 (n,)
        Receives the expected F-measures of the best sets.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        order, n_candidates, p_empty = candidates(p, ids, with_empty)
        expected = expected_of_first(p[order[:n_candidates]], p[order[n_candidates:]])
        k, values[i] = best_of(expected, p_empty)
        for rank in range(k):
            kept[place + rank] = ids[order[rank]]
        counts[i] = k
        place += k
    return kept[:place]
