"""GFM, which maximises the expected F-measure (gfm2011, Algorithm 1), and GFM-T (Section 3).

The kernels `best_set` and `best_first_labels` are the two algorithms, on one instance in compact
form (`xmlc.inference._compact`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.inference._compact import (
    GRAIN,
    NONE,
    compact_dense,
    compact_marginals,
    compact_samples,
    marginals_of_columns,
)
from xmlc.inference.distributions import (
    LabelsBySize,
    checked_labels_by_size,
    predict_blocks,
    predict_from_marginals,
)
from xmlc.inference.meuf import TIE
from xmlc.inference.samples import Samples, checked_samples
from xmlc.kernels.arrays import row_of, sort, unchecked_view
from xmlc.kernels.csr import CSR
from xmlc.kernels.domains import MANY, check, whole
from xmlc.kernels.sums import total

NO_THRESHOLDS = np.empty(0)


@njit
def best_set(P, sizes, p_empty, ids, kept):
    """Return size and expected F-measure of the best set of one instance (gfm2011, Algorithm 1).

    The loop is the outer maximisation over the number k of labels, and for each k, the inner one
    takes the k largest entries of column k of F = PW. This takes O(L^2 S) without the bounds
    `no_larger_set_wins`, `upper_bound` and `may_stop`, which leave out only work that cannot change
    the result, because `TIE` is larger than rounding errors. ``kept``, uint32, receives the labels
    of the set, in any order.
    """
    mass = mass_of_sizes(P)
    f = np.empty(ids.size)
    best_k = 0
    best = p_empty  # of the empty set
    for k in range(1, ids.size + 1):
        if no_larger_set_wins(mass, sizes, k, best):
            break
        column_of_f(P, sizes, k, f)
        most = upper_bound(f, k)
        if 2.0 * most <= best:
            if may_stop(most, f[k - 1], sizes[-1] + k, best):
                break
            continue
        value = 2.0 * sum_of_largest(f, k)
        if value > best + TIE:
            best_k = k
            best = value
    if best_k > 0:
        column_of_f(P, sizes, best_k, f)
        keep_largest(f, ids, best_k, kept)
    return best_k, best


@njit
def best_first_labels(P, sizes, p_empty, ids, thresholds, kept):
    """Run GFM-T on one instance: for each k, try only the k most probable labels, in O(L S).

    Parameters and result are those of `best_set`. With ``thresholds``, float64 (t,), only the empty
    set and the numbers of labels that reach one of them are tried.
    """
    mass = mass_of_sizes(P)
    allowed = sizes_at(P, thresholds)
    prefix = np.zeros(sizes.size)
    best_k = 0
    best = p_empty
    for k in range(1, ids.size + 1):
        if no_larger_set_wins(mass, sizes, k, best):
            break
        value = 0.0
        for s in range(sizes.size):
            prefix[s] += P[s, k - 1]
            value += 2.0 * prefix[s] / (sizes[s] + k)
        if allowed[k] and value > best + TIE:
            best_k = k
            best = value
    kept[:best_k] = ids[:best_k]
    return best_k, best


# Bounds: let E_k be the greatest expected F-measure of a set of k labels, twice the sum of the k
# largest entries f_ik


@njit
def mass_of_sizes(P):
    """Return the sum of each row of a compact P, float64 (S,)."""
    mass = np.empty(P.shape[0])
    for s in range(mass.size):
        mass[s] = total(row_of(P, s))
    return mass


@njit
def no_larger_set_wins(mass, sizes, k, best):
    """Return whether no set of k or more labels exceeds ``best``.

    E_k <= B_k = 2 sum_is p_is / (s + k), because B_k sums over all labels. It falls with k.
    """
    bound = 0.0
    for s in range(sizes.size):
        bound += 2.0 * mass[s] / (sizes[s] + k)
    return bound <= best + TIE


@njit
def upper_bound(f, k):
    """Return A_k with E_k <= 2 A_k, where A_k = k t + sum_i max(f_ik - t, 0) for any t.

    It is tight if t is near the k-th largest entry, so t is the k-th entry of the labels, which are
    sorted by descending marginal. Four sums are added at the same time.
    """
    least = f[k - 1]
    a = b = c = d = 0.0
    whole = f.size & ~3
    for i in range(0, whole, 4):
        a += max(f[i] - least, 0.0)
        b += max(f[i + 1] - least, 0.0)
        c += max(f[i + 2] - least, 0.0)
        d += max(f[i + 3] - least, 0.0)
    for i in range(whole, f.size):
        a += max(f[i] - least, 0.0)
    return k * least + (a + c) + (b + d)


@njit
def may_stop(most, least, reach, best):
    """Return whether no set of more than k labels exceeds ``best``.

    Let s' be the largest size, ``reach`` = s' + k, ``most`` = A_k and ``least`` the t of
    `upper_bound`. For j > k, f_ij <= f_ik (s' + k) / (s' + j). So E_j <= 2 (A_k + (j - k) t) (s' +
    k) / (s' + j), which falls with j if t (s' + k) <= A_k.
    """
    return least * reach <= most and 2.0 * (most + least) * (reach / (reach + 1.0)) <= best


# Steps of Algorithm 1


@njit(error_model="numpy")
def column_of_f(P, sizes, k, f):
    """Write column k of F = PW (equation (7): w_sk = 1 / (s + k)) to ``f``, float64 (L,).

    Rows of P are added by ascending size, four at a time, so that f is read and written less often.
    """
    whole = sizes.size & ~3
    for i in range(f.size):
        f[i] = 0.0
    for s in range(0, whole, 4):
        u = 1.0 / (sizes[s] + k)
        v = 1.0 / (sizes[s + 1] + k)
        w = 1.0 / (sizes[s + 2] + k)
        x = 1.0 / (sizes[s + 3] + k)
        a, b, c, d = row_of(P, s), row_of(P, s + 1), row_of(P, s + 2), row_of(P, s + 3)
        for i in range(f.size):
            f[i] = (((f[i] + u * a[i]) + v * b[i]) + w * c[i]) + x * d[i]
    for s in range(whole, sizes.size):
        weight = 1.0 / (sizes[s] + k)
        row = row_of(P, s)
        for i in range(f.size):
            f[i] += weight * row[i]


@njit
def sum_of_largest(values, k):
    """Return the sum of the ``k`` largest values and reorder the values, in linear time on average.

    The pivot is the k-th value. In more than half of the columns of F, the values before it are
    exactly those above it, and none has to move.
    """
    low = 0
    high = values.size
    last = values[k - 1]
    if (
        count_above(values, last) == k - 1
        and count_above(unchecked_view(values, 0, k), last) == k - 1
    ):
        high = k
    while k < high:
        pivot = values[k - 1]
        end = low
        for i in range(low, high):
            values[i], values[end] = values[end], values[i]
            end += values[end] > pivot
        if k <= end:
            high = end
            continue
        low = end
        for i in range(low, high):
            values[i], values[end] = values[end], values[i]
            end += values[end] == pivot
        if k <= end:
            break
        low = end
    result = 0.0
    for i in range(k):
        result += values[i]
    return result


@njit(error_model="numpy")
def keep_largest(values, ids, k, kept):
    """Write the ids of the ``k`` largest values to ``kept``, in any order.

    Among values that are equal in multiples of `GRAIN`, smaller ids are selected first.
    """
    selected = values.copy()
    sum_of_largest(selected, k)
    least = np.rint(selected[:k].min() / GRAIN)
    n_kept = 0
    n_equal = 0
    equal = np.empty(ids.size, dtype=np.uint32)
    for i in range(ids.size):
        grain = np.rint(values[i] / GRAIN)
        if grain > least:
            kept[n_kept] = ids[i]
            n_kept += 1
        elif grain == least:
            equal[n_equal] = ids[i]
            n_equal += 1
    sort(equal[:n_equal])
    for i in range(k - n_kept):
        kept[n_kept + i] = equal[i]


@njit
def count_above(values, least):
    """Return how many values exceed ``least``, by vector instructions."""
    n_above = 0
    for value in values:
        n_above += value > least
    return n_above


@njit
def sizes_at(P, thresholds):
    """Return a bool array (L + 1,), true at k if there is a threshold that exactly k labels reach.

    Thresholds and marginals are rounded to multiples of `GRAIN`. Without thresholds, all are true.
    """
    allowed = np.full(P.shape[1] + 1, thresholds.size == 0)
    marginals = marginals_of_columns(P)
    for threshold in thresholds:
        k = 0
        while k < marginals.size and np.rint(marginals[k] / GRAIN) >= np.rint(threshold / GRAIN):
            k += 1
        allowed[k] = True
    return allowed


# The loops over the instances of a block. Each kernel returns the labels of the best sets, uint32,
# and writes their sizes to ``counts``, int64 (n,), and their expected F-measures to ``values``,
# float64 (n,).


@njit
def maximise(P, sizes, p_empty, ids, by_marginal, thresholds, kept):
    """Run GFM, or GFM-T if ``by_marginal`` is true, on one instance in compact form."""
    if by_marginal:
        return best_first_labels(P, sizes, p_empty, ids, thresholds, kept)
    return best_set(P, sizes, p_empty, ids, kept)


@njit
def gfm_dense(P, p_empty, sizes, by_marginal, thresholds, counts, values):
    """Maximise for instances with full matrices P, as in `LabelsBySize`."""
    n, m, _ = P.shape
    kept = np.empty(n * m, dtype=np.uint32)
    end = 0
    for i in range(n):
        own, own_sizes, empty, ids = compact_dense(P[i], p_empty[i], sizes)
        counts[i], values[i] = maximise(
            own, own_sizes, empty, ids, by_marginal, thresholds, kept[end:]
        )
        end += counts[i]
    return kept[:end]


@njit
def gfm_samples(indptr, labels, m, n_samples, by_marginal, thresholds, counts, values):
    """Maximise for instances given by samples, with uint32 labels from ``indptr`` on."""
    place = np.full(m, NONE)
    kept = np.empty(labels.size, dtype=np.uint32)
    end = 0
    for i in range(counts.size):
        rows = indptr[i * n_samples : (i + 1) * n_samples + 1]
        P, sizes, p_empty, ids = compact_samples(rows, labels, place)
        counts[i], values[i] = maximise(P, sizes, p_empty, ids, by_marginal, thresholds, kept[end:])
        end += counts[i]
    return kept[:end]


@njit
def gfm_marginals(indptr, labels, marginals, by_marginal, thresholds, counts, values):
    """Maximise for instances given by the marginals above 0 of independent labels, as CSR arrays.

    For independent labels, the k largest entries of column k of F belong to the k most probable
    labels. Proof: f_ik - f_jk = p_i E[1/(k+1+Q+Y_j)] - p_j E[1/(k+1+Q+Y_i)] = (p_i - p_j)
    E[1/(k+1+Q)], with Q as the number of positives other than i and j.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    end = 0
    # The best set that a threshold selects may be larger than the best of all
    all_labels = thresholds.size > 0
    for i in range(counts.size):
        own = unchecked_view(labels, indptr[i], indptr[i + 1])
        p = unchecked_view(marginals, indptr[i], indptr[i + 1])
        P, sizes, p_empty, ids = compact_marginals(p, own, all_labels)
        counts[i], values[i] = maximise(P, sizes, p_empty, ids, by_marginal, thresholds, kept[end:])
        end += counts[i]
    return kept[:end]


def gfm(
    P: object, p_empty: object = None, sizes: object = None, n_jobs: int | None = None
) -> tuple[CSR, np.ndarray]:
    """Find the label sets with the greatest expected F-measure (gfm2011, Algorithm 1).

    The result is exact for any joint distribution of the labels, with 0/0 = 1. Among sets of equal
    value (up to 1e-12), the one with the fewest labels wins, then the one with the smaller label
    ids.

    Parameters
    ----------
    P : LabelsBySize, Samples, ndarray, or marginals
        With ``p_empty``, an ndarray of p(Y_i = 1, s_y = s), of shape (n, m, S), or (m, S) for one
        instance. Without it, an SPE or an ndarray of shape (n, m) has the marginals of independent
        labels, 0 for labels that an SPE does not store (`truncation_bound` bounds the loss).
    p_empty : float or ndarray of shape (n,), optional
        p(Y = 0), the probability of the empty set.
    sizes : ndarray of int, shape (S,), optional
        Sizes s along the last axis of P, by default from 1 to S.
    n_jobs : int or None
        Number of threads, without effect on the result.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)
        Expected F-measure of each set under the given distribution.

    Raises
    ------
    XmlcError
        If shapes contradict each other, or an entry is not a probability.

    See Also
    --------
    meuf : The same sets for independent labels, faster.
    gfm_t : Tries only thresholds on the marginals.
    gfm_sizes : Learns the distribution of the number of labels.

    Notes
    -----
    If L labels and S sizes of an instance have a probability above 0, time is at most O(L^2 S).
    Most instances take far less, because the loop over k ends when no larger set can win. With
    sparse input, time does not depend on m.

    Examples
    --------
    >>> from xmlc.inference import gfm
    >>> Y_hat, expected_f = gfm([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    return _predict(P, p_empty, sizes, n_jobs, False, NO_THRESHOLDS)


def gfm_t(
    P: object,
    p_empty: object = None,
    sizes: object = None,
    n_jobs: int | None = None,
    n_thresholds: int | None = None,
) -> tuple[CSR, np.ndarray]:
    """Find the best set of the form "the k most probable labels" (GFM-T, gfm2011, Section 3).

    The expected F-measure is exact, but only thresholds on the marginals are tried. Labels with
    equal marginals are ranked by ascending id. Time is O(L S) per instance, with L and S as in
    `gfm`.

    Parameters
    ----------
    P, p_empty, sizes, n_jobs
        As in `gfm`.
    n_thresholds : int or None
        The paper's t, "a small number t < m of thresholds", of which it specifies neither the
        number nor the values. Here they are 1/(2t), 2/(2t), .. 1/2, because with many labels the
        best threshold is half the best F-measure (plt2016, equation (4)). The method tries the
        empty set and the labels that reach each threshold, or with None every number k of labels.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        As in `gfm`, or if ``n_thresholds`` is below 1.

    See Also
    --------
    gfm : Tries all sets.

    Examples
    --------
    >>> from xmlc.inference import gfm_t
    >>> Y_hat, expected_f = gfm_t([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    check("n_thresholds", n_thresholds, whole(1, MANY, none=True))
    thresholds = NO_THRESHOLDS
    if n_thresholds is not None:
        thresholds = np.arange(1, n_thresholds + 1) / (2 * n_thresholds)
    return _predict(P, p_empty, sizes, n_jobs, True, thresholds)


def _predict(
    P: Any, p_empty: Any, sizes: Any, n_jobs: int | None, *options: Any
) -> tuple[CSR, np.ndarray]:
    if isinstance(P, Samples):
        Y, n_samples = checked_samples(P)
        m = Y.shape[1]

        def predict_samples(start: int, end: int, *results: np.ndarray) -> np.ndarray:
            rows = Y.indptr[start * n_samples : end * n_samples + 1].astype(np.int64)
            labels = np.ascontiguousarray(Y.indices[rows[0] : rows[-1]], dtype=np.int32).view(
                np.uint32
            )
            return gfm_samples(rows - rows[0], labels, m, n_samples, *options, *results)

        return predict_blocks(predict_samples, (Y.shape[0] // n_samples, m), n_jobs)
    if not isinstance(P, LabelsBySize):
        if p_empty is None:
            return predict_from_marginals(gfm_marginals, P, n_jobs, *options, trusting=True)
        P = LabelsBySize(P, p_empty, sizes)
    P, p_empty, sizes = checked_labels_by_size(*P)

    def predict(start: int, end: int, *results: np.ndarray) -> np.ndarray:
        return gfm_dense(P[start:end], p_empty[start:end], sizes, *options, *results)

    return predict_blocks(predict, P.shape[:2], n_jobs)
