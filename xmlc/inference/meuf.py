"""MEUF, the maximum expected utility framework (Jansche, ACL 2007).

With independent labels, the best set of size k contains the k most probable labels (Theorem 2.1 of
gfm2011), so only the best k has to be found. Let p_1 >= p_2 >= ... be the marginals of one
instance, M their sum, and M_k the sum of the first k.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.inference._positives import count_distribution, count_limit
from xmlc.inference.distributions import predict_from_marginals
from xmlc.kernels.csr import CSR, Matrix
from xmlc.kernels.heaps import make_heap, pop_first
from xmlc.kernels.sums import in_turn

# Expected F-measures closer than this are equal, because rounding errors are smaller
TIE = 1e-12


@njit
def best_first(p, ids, with_empty, kept):
    """Return the best k and the expected F of the k most probable labels, for one instance.

    `candidates` bounds k, which changes the time and not the result. The marginals p, float64, are
    above 0, and ``kept``, uint32, receives the labels of the set, which is not empty unless
    ``with_empty`` is true.
    """
    order, most, p_empty = candidates(p, ids, with_empty)
    expected = expected_of_first(p[order[:most]], p[order[most:]])
    k, value = best_of(expected, p_empty)
    kept[:k] = ids[order[:k]]
    return k, value


@njit
def expected_of_first(p, tail):
    """Return the expected F-measure E_k of the first k labels, k = 0 .. K, float64, E_0 = 0.

    E_k is the sum over a of 2 a A_k(a) S_k(k + a). A_k(a) is the probability of a positives among
    the first k labels, with the marginals p, and S_k(t) is E[1 / (t + number of positives among the
    other labels)]. The kernel computes A_k for ascending k, and S_K from the number of positives
    among labels after the first K, with the marginals ``tail``. For smaller k, S_{k-1}(t) = p_k
    S_k(t + 1) + (1 - p_k) S_k(t). Because the distribution of the tail is truncated (`count_limit`)
    to R positives, each E_k is too low, by less than 1e-17.

    Time is O(K^2 + (len(tail) + K) R), and memory 4 K^2 bytes.
    """
    K = p.size
    # A_0, A_1 and so on, with k + 1 entries for A_k
    hits = np.zeros((K + 1) * (K + 2) // 2)
    hits[0] = 1.0
    for k in range(1, K + 1):
        before = hits[k * (k - 1) // 2 :]
        now = hits[k * (k + 1) // 2 :]
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


@njit
def mean_reciprocals(pmf, size):
    """Return S(t) = E[1 / (t + N)] for t < ``size``, with N distributed as ``pmf`` and S(0) = 0."""
    result = np.zeros(size)
    for t in range(1, size):
        for r in range(pmf.size):
            result[t] += pmf[r] / (t + r)
    return result


@njit
def best_of(values, p_empty):
    """Return the best size k, 0 for the empty set, and the expected F of the first k labels.

    The smaller of two sizes with equal values (see `TIE`) wins.
    """
    best_k = 0
    best = p_empty
    for k in range(1, values.size):
        if values[k] > best + TIE:
            best_k = k
            best = values[k]
    return best_k, best


@njit
def candidates(p, ids, with_empty=True):
    """Rank the labels that a best set may contain, in O(L + K log L).

    Only bounds of E_k, the expected F-measure of the first k labels, are computed. With N_i as the
    number of positives other than i, E_k = 2 sum_{i <= k} p_i E[1/(k + 1 + N_i)].

    * E_k >= 2 sum_{i <= k} p_i / (k + 1 + M - p_i) by Jensen's inequality, because 1/x is convex.
      p/(c - p) is convex too, so E_k >= 2 M_k / (k + 1 + M - M_k / k).
    * E_k <= 2 M_k / (M_k + k), because F <= 2a / (a + k) for a true positives, and the right side
      is concave in a. This bound does not rise with k, because M_k / k does not.
    * E_k <= 2 M_k / (k + c) with c = M - p_1. Proof: with u = M - p_i, E[1/(t + N_i)] = int_0^1
      E[x^(t - 1 + N_i)] dx is at most I_t = int_0^1 x^(t-1) e^(-u (1 - x)) dx, and integration by
      parts gives I_t <= 1 / (u + t - 1), here for t = k + 1. M_(k+1) / (k + 1 + c) is the mediant
      of M_k / (k + c) and p_(k+1), and p descends. So this bound does not rise from the first k
      with p_k <= M_k / (k + c) on.

    The search for K ends at the first k for which an upper bound of all later E_k is below a lower
    bound of the best E_k. The marginals p, float64 (L,), are above 0.

    Returns
    -------
    order : int64 (L,)
        Indices of all labels, the first K of them by descending marginal, then ascending id.
    K : int
        Upper bound on the size of the best set.
    p_empty : float64
        Expected F-measure of the empty set, or 0 if ``with_empty`` is false.
    """
    total = in_turn(p)
    p_empty = 0.0
    if with_empty:
        p_empty = probability_of_none(p)
    heap = np.empty(p.size, dtype=np.int64)
    make_heap(heap, p, ids)
    mass = others = 0.0
    lower = p_empty
    n_candidates = 0
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
    return heap[::-1].copy(), n_candidates, p_empty


@njit
def probability_of_none(p):
    """Return the probability of no positive label, the expected F-measure of the empty set."""
    result = 1.0
    for i in range(p.size):
        result *= 1.0 - p[i]
    return result


@njit
def meuf_rows(indptr, labels, marginals, with_empty, counts, values):
    """Maximise the expected F-measure of each instance of a block, and return the labels, uint32.

    The block is CSR with ``indptr[0] = 0``, uint32 labels and float64 marginals above 0. The kernel
    writes the sizes of the sets to ``counts``, int64 (n,), and their values to ``values``, float64
    (n,). It reads 12 bytes per estimate, and its time does not depend on m.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    end = 0
    for i in range(counts.size):
        own = slice(indptr[i], indptr[i + 1])
        counts[i], values[i] = best_first(marginals[own], labels[own], with_empty, kept[end:])
        end += counts[i]
    return kept[:end]


def meuf(marginals: Matrix, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Find the label set that exactly maximises the expected F-measure of independent labels.

    The sets are those of Jansche's procedure (`meuf_cubic`), but found by a recursion of Ye, Chai,
    Lee and Chieu, "Optimizing F-measures: a tale of two approaches", ICML 2012. It takes O(K^2),
    where K is an upper bound on the size of the best set that is little larger than this size.

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
        p(Y_i = 1), 0 for labels that an SPE does not store (`truncation_bound` bounds the loss).
    n_jobs : int or None
        Number of threads, without effect on the result.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
        Among sets of equal value (up to 1e-12), the one with the fewest labels, then the one with
        the smaller label ids.
    expected_f : ndarray of float64, shape (n,)
        Expected F-measure of each set for independent labels, with 0/0 = 1, exact up to rounding
        errors.

    Raises
    ------
    XmlcError
        If an entry is not a probability, or the shape is not (n, m).

    See Also
    --------
    gfm : Exact for any joint distribution.
    gfm_sizes : Learns the distribution of the number of labels.
    xmlc.thresholds.LabelSets : Chooses a method by the measure.

    Notes
    -----
    For an instance with L marginals above 0, time is O(L R + K^2), independent of m. R is the
    largest r for which at least r labels outside the first K are positive with a probability of at
    least 4e-18.

    Examples
    --------
    >>> from xmlc.inference import meuf
    >>> Y_hat, expected_f = meuf([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    return predict_from_marginals(meuf_rows, marginals, n_jobs, True, trusting=True)
