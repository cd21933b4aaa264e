"""Published rules on the marginals: Lewis, the multinomial rule, and Hamming loss."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.inference._positives import count_distribution, count_limit
from xmlc.inference.distributions import predict_from_marginals
from xmlc.inference.meuf import probability_of_none
from xmlc.kernels.csr import CSR, Matrix
from xmlc.kernels.heaps import make_heap, pop_first
from xmlc.kernels.sums import in_turn


@njit
def first_rows(indptr, labels, marginals, one_label, counts, values):
    """Add labels to each instance's set, most probable first, while p_{k+1} (M + k) exceeds M_k.

    If M is the sum of all marginals, the set maximises Lewis' approximation v_k = 2 M_k / (M + k),
    with M_k as the sum of the first k. As the mediant of v_k and 2 p_{k+1}, v_{k+1} exceeds v_k
    only if 2 p_{k+1} does, and because marginals descend, v_k never rises again after it has
    fallen. If ``one_label`` is true, M is 1, and the set is optimal if exactly one label is
    positive (gfm2011, Theorem 2.2). Time is O(L + k log L).
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        own = slice(indptr[i], indptr[i + 1])
        ids = labels[own]
        p = marginals[own]
        heap = np.empty(p.size, dtype=np.int64)
        make_heap(heap, p, ids)
        total = in_turn(p)
        M = total
        if one_label:
            M = 1.0
        k = 0
        mass = 0.0
        while k < p.size and p[heap[0]] * (M + k) > mass:
            best = pop_first(heap, p.size - k, p, ids)
            mass += p[best]
            kept[place + k] = ids[best]
            k += 1
        values[i] = probability_of_none(p)
        if k > 0:
            value = 2.0 * mass / (total + k)
            if one_label:
                value = 2.0 * mass / (total * (1 + k))
            if one_label or value > values[i]:
                values[i] = value
            else:
                k = 0
        counts[i] = k
        place += k
    return kept[:place]


@njit
def hamming_rows(indptr, labels, marginals, counts, values):
    """Select the labels with p >= 1/2, and compute the set's expected F for independent labels.

    E[F] = sum_ar 2 a A(a) B(r) / (k + a + r), where A and B are the distributions of the number of
    positives inside and outside the set. Time is O(L R), with R as in
    `xmlc.inference.meuf.expected_of_first`.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        own = slice(indptr[i], indptr[i + 1])
        p = marginals[own]
        chosen = p >= 0.5
        inside = p[chosen]
        outside = p[~chosen]
        k = inside.size
        kept[place : place + k] = labels[own][chosen]
        place += k
        counts[i] = k
        hits = count_distribution(inside, k)
        others = count_distribution(outside, count_limit(in_turn(outside), outside.size))
        values[i] = 0.0
        if k == 0:
            values[i] = others[0]
        for a in range(1, k + 1):
            for r in range(others.size):
                values[i] += 2.0 * a * hits[a] * others[r] / (k + a + r)
    return kept[:place]


def lewis(marginals: Matrix, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Maximise Lewis' approximation of the expected F of independent labels (gfm2011, Section 2.1).

    It is 2 sum_i p_i h_i / (sum_i p_i + sum_i h_i) for h != 0, and the exact value prod_i (1 - p_i)
    for h = 0, and returned as ``expected_f``. The best set consists of the k most probable labels,
    for the smaller of two k with equal values.

    Parameters
    ----------
    marginals, n_jobs
        As in `meuf`.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        As in `meuf`.

    See Also
    --------
    meuf : Exact.

    Examples
    --------
    >>> from xmlc.inference import lewis
    >>> Y_hat, expected_f = lewis([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 1, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.722, 0.648])
    """
    return predict_from_marginals(first_rows, marginals, n_jobs, False)


def multinomial(marginals: Matrix, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Maximise the expected F if exactly one label is positive (gfm2011, Theorem 2.2).

    The set contains the k most probable labels, for the smallest k with p_1 + .. + p_k >= (1 + k)
    p_{k+1}. Marginals that do not sum to 1 are divided by their sum, as if one label were drawn in
    proportion to them. This does not change the set, because the rule only compares marginals with
    each other. An instance without marginals above 0 gets the empty set. The theorem is after del
    Coz et al.

    ``expected_f`` is 2 (p_1 + .. + p_k) / ((1 + k) sum_i p_i), and 1 for an instance without
    marginals above 0.

    Parameters
    ----------
    marginals, n_jobs
        As in `meuf`.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        As in `meuf`.

    See Also
    --------
    meuf : For any number of positive labels.

    Examples
    --------
    >>> from xmlc.inference import multinomial
    >>> Y_hat, expected_f = multinomial([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [1, 0, 0]]
    >>> expected_f.round(3)
    array([0.562, 0.5  ])
    """
    return predict_from_marginals(first_rows, marginals, n_jobs, True)


def hamming(marginals: Matrix, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Predict the labels with p_i >= 1/2, which minimises the expected Hamming loss.

    It is H in Section 4 of gfm2011. ``expected_f`` is the set's expected F-measure for independent
    labels, with 0/0 = 1.

    Parameters
    ----------
    marginals, n_jobs
        As in `meuf`.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        As in `meuf`.

    See Also
    --------
    meuf : Maximises the expected F-measure.

    Examples
    --------
    >>> from xmlc.inference import hamming
    >>> Y_hat, expected_f = hamming([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    return predict_from_marginals(hamming_rows, marginals, n_jobs)
