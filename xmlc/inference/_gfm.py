"""Run GFM, Algorithm 1 of gfm2011, on a block of instances or on one instance, with kernels.

An instance is first converted to a compact form. The compact form contains only the L labels and the S sizes s_y whose
probability is above 0. Labels are sorted by descending probability. P is stored size by size, so that the inner loops
run along the labels.

Three kernels run on a block of instances: `gfm_dense` reads P, `gfm_samples` reads samples, and `gfm_marginals` reads
marginals. Each kernel returns ``kept``, the labels of the best sets, as uint32, instance after instance. Each kernel
writes the sizes and the expected F-measures of the best sets to arrays.
"""

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.inference._counting import compact_samples, counting_scratch
from xmlc.inference._independent import candidates, leave_one_out_sizes
from xmlc.inference._selection import GRAIN, LANES, TIE, sum_above, sum_of_largest
from xmlc.kernels.arrays import copy_into, kth_smallest, row_of, unchecked_view
from xmlc.kernels.heaps import make_heap, pop_first
from xmlc.kernels.sums import total


@njit(cache=True, nogil=True)
def gfm_dense(P, p_empty, sizes, by_marginal, thresholds, counts, values):
    """Run Algorithm 1 on instances whose matrix P is given in full.

    The kernel reads P once, 8 bytes per entry. After reading P, the kernel uses only labels and sizes with a
    probability above 0.

    Parameters
    ----------
    P : float64 (n, m, S)
        See `LabelsBySize`.
    p_empty : float64 (n,)
        See `LabelsBySize`.
    sizes : int64 (S,)
        See `LabelsBySize`.
    by_marginal, thresholds
        Options of GFM-T, see `best_size`.
    counts : int64 (n,)
        Receives the sizes of the best sets.
    values : float64 (n,)
        Receives the expected F-measures of the best sets.
    """
    n, m, n_sizes = P.shape
    kept = np.empty(n * m, dtype=np.uint32)
    place = 0
    for i in range(n):
        has_size, has_label = np.zeros(n_sizes, dtype=np.bool_), np.zeros(m, dtype=np.bool_)
        for j in range(m):
            for s in range(n_sizes):
                if P[i, j, s] > 0.0:
                    has_size[s] = has_label[j] = True
        rows, ids = np.flatnonzero(has_size), np.flatnonzero(has_label).astype(np.uint32)
        compact, own_sizes = np.empty((rows.size, ids.size)), np.empty(rows.size)
        for a in range(rows.size):
            own_sizes[a] = sizes[rows[a]]
            for b in range(ids.size):
                compact[a, b] = P[i, ids[b], rows[a]]
        compact, ids = by_descending_marginal(compact, ids)
        counts[i], values[i] = maximise(compact, own_sizes, p_empty[i], ids, by_marginal, thresholds, kept[place:])
        place += counts[i]
    return kept[:place]


@njit(cache=True, nogil=True)
def gfm_samples(indptr, labels, m, n_samples, by_marginal, thresholds, counts, values):
    """Run Algorithm 1 on instances given by samples, without storing P for all labels and sizes.

    The kernel reads 4 bytes for each positive label of a sample.

    Parameters
    ----------
    indptr : int64
        Start of each sample in ``labels``, from 0 on.
    labels : uint32
        Label ids, sample by sample.
    m : int
        Number of labels.
    n_samples : int
        Samples per instance.
    by_marginal, thresholds, counts, values
        See `gfm_dense`.
    """
    scratch = counting_scratch(indptr, m, n_samples)
    kept = np.empty(indptr[-1] - indptr[0], dtype=np.uint32)
    start = 0
    for i in range(counts.size):
        P, sizes, p_empty, ids = compact_samples(indptr, labels, i * n_samples, n_samples, scratch)
        counts[i], values[i] = maximise(P, sizes, p_empty, ids, by_marginal, thresholds, kept[start:])
        start += counts[i]
    return kept[:start]


@njit(cache=True, nogil=True)
def gfm_marginals(indptr, labels, marginals, by_marginal, thresholds, counts, values):
    """Run Algorithm 1 on instances given by the marginals of independent labels.

    P contains only the labels that a best set may contain (see `candidates`). For independent labels, the k largest
    entries of column k of F belong to the k most probable labels. Proof: f_ik - f_jk = p_i E[1/(k+1+Q+Y_j)] - p_j
    E[1/(k+1+Q+Y_i)] = (p_i - p_j) E[1/(k+1+Q)]. Here Q is the number of positives other than i and j.

    Parameters
    ----------
    indptr : int64 (n + 1,)
        Start of each instance in ``labels``, from 0 on.
    labels : uint32
        Label ids, instance by instance.
    marginals : float64
        Marginals above 0, in the order of ``labels``.
    by_marginal, thresholds, counts, values
        See `gfm_dense`.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = unchecked_view(labels, indptr[i], indptr[i + 1]), unchecked_view(marginals, indptr[i], indptr[i + 1])
        order, n_candidates, p_empty = candidates(p, ids)
        if thresholds.size > 0:  # The best set that a threshold selects may be larger than the best of all sets.
            n_candidates = p.size
            rank_places(p, ids, order)
        own, ranked = np.empty(n_candidates), np.empty(n_candidates, dtype=np.uint32)
        for rank in range(n_candidates):
            own[rank], ranked[rank] = p[order[rank]], ids[order[rank]]
        P, sizes = leave_one_out_sizes(p, own)
        chosen = unchecked_view(kept, place, kept.size)
        counts[i], values[i] = maximise(P, sizes, p_empty, ranked, by_marginal, thresholds, chosen)
        place += counts[i]
    return kept[:place]


@njit(cache=True, nogil=True, error_model="numpy")
def columns_of_f(P, sizes, k, F):
    """Write columns k and k + 1 of F = PW (equation (7): w_sk = 1 / (s + k)) into the rows of ``F``, float64 (2, L).

    The kernel reads P only once for both columns, because P may exceed the first-level cache. The kernel adds four rows
    of P at a time, so that F is read and written a quarter as often. Rows of P are added in ascending order of the
    sizes s.
    """
    f, g, whole = row_of(F, 0), row_of(F, 1), sizes.size & ~3
    for i in range(f.size):
        f[i] = g[i] = 0.0
    for s in range(0, whole, 4):
        p, q, r, t = sizes[s] + k, sizes[s + 1] + k, sizes[s + 2] + k, sizes[s + 3] + k
        u, v, w, x = 1.0 / p, 1.0 / q, 1.0 / r, 1.0 / t
        u1, v1, w1, x1 = 1.0 / (p + 1.0), 1.0 / (q + 1.0), 1.0 / (r + 1.0), 1.0 / (t + 1.0)
        a, b, c, d = row_of(P, s), row_of(P, s + 1), row_of(P, s + 2), row_of(P, s + 3)
        for i in range(f.size):
            f[i] = (((f[i] + u * a[i]) + v * b[i]) + w * c[i]) + x * d[i]
            g[i] = (((g[i] + u1 * a[i]) + v1 * b[i]) + w1 * c[i]) + x1 * d[i]
    for s in range(whole, sizes.size):
        u, v, a = 1.0 / (sizes[s] + k), 1.0 / (sizes[s] + k + 1.0), row_of(P, s)
        for i in range(f.size):
            f[i] += u * a[i]
            g[i] += v * a[i]


@njit(cache=True, nogil=True)
def sizes_at(P, thresholds):
    """Return a bool array (L + 1,). Entry k is true if there is a threshold that exactly k labels reach.

    Parameters
    ----------
    P : float64 (S, L)
        As in `best_size`.
    thresholds : float64 (t,)
        Thresholds on the marginals. Thresholds and marginals are rounded to multiples of `GRAIN` before the comparison.
        Without thresholds, all entries of the result are true.
    """
    at = np.full(P.shape[1] + 1, thresholds.size == 0)
    if thresholds.size > 0:
        marginals = np.zeros(P.shape[1])
        for s in range(P.shape[0]):
            for i in range(P.shape[1]):
                marginals[i] += P[s, i]
        for threshold in thresholds:
            k = 0
            while k < marginals.size and np.rint(marginals[k] / GRAIN) >= np.rint(threshold / GRAIN):
                k += 1
            at[k] = True
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def best_size(P, sizes, p_empty, by_marginal, thresholds):
    """Find the size k >= 0 of the best set and its expected F-measure by both maximisations of Algorithm 1.

    Let E_k be the greatest expected F-measure of a set of k labels. E_k is twice the sum of the k largest entries of
    column k of F. Without bounds, the search takes O(L^2 S). Three bounds avoid work that cannot change the result.

    (1) E_k <= B_k = 2 sum_is p_is / (s + k), because B_k sums over all labels instead of k labels. Because B_k falls
        with k, the loop over k ends when B_k does not exceed the best value found.
    (2) E_k <= 2 A_k, where A_k = k t + sum_i max(f_ik - t, 0) for any t. Bound (2) is tight if t is near the k-th
        largest entry. Because labels are sorted by descending marginal, the kernel sets t to the k-th entry of the
        column. If bound (2) is low enough, the kernel need not select the k largest entries.
    (3) Let s' be the largest size with a probability above 0. Then f_ij <= f_ik (s' + k) / (s' + j) for j > k. With
        the t of (2), the bound E_j <= 2 (A_k + (j - k) t) (s' + k) / (s' + j) holds for j > k, and falls with j if
        t (s' + k) <= A_k. The loop ends when the bound for j = k + 1 does not exceed the best value found.

    Bounds (2) and (3) never skip a value that exceeds the best, because `TIE` is larger than rounding errors.

    Parameters
    ----------
    P : float64 (S, L)
        p(Y_i = 1, s_y = sizes[s]), with labels in order of descending marginals.
    sizes : float64 (S,)
        Sizes with a probability above 0, ascending.
    p_empty : float64
        p(Y = 0).
    by_marginal : bool
        True for GFM-T, which uses the first k labels instead of the k largest entries of column k of F. The search of
        GFM-T takes O(L S).
    thresholds : float64 (t,)
        GFM-T tries only the empty set and the sizes k for which `sizes_at` is true. GFM has no thresholds.

    Returns
    -------
    k : int
        Size of the best set.
    value : float64
        Expected F-measure of the best set.
    n_columns : int
        Number of columns of F that were computed. The kernel computes two columns at a time.
    """
    n_sizes, n_labels = P.shape
    mass, prefix = np.zeros(n_sizes), np.zeros(n_sizes)
    for s in range(n_sizes):
        mass[s] = total(row_of(P, s))
    F, sums, at = np.empty((2, n_labels)), np.empty(LANES), sizes_at(P, thresholds)
    best_k, best, n_columns = 0, p_empty, 0
    for k in range(1, n_labels + 1):
        bound = value = 0.0
        for s in range(n_sizes):
            bound += 2.0 * mass[s] / (sizes[s] + k)
        if bound <= best + TIE:
            break
        if by_marginal:
            for s in range(n_sizes):
                prefix[s] += P[s, k - 1]
                value += 2.0 * prefix[s] / (sizes[s] + k)
        else:
            if k > n_columns:
                columns_of_f(P, sizes, k, F)
                n_columns += 2
            f = row_of(F, (k - 1) & 1)
            least = f[k - 1]
            most = k * least + sum_above(f, least, sums)
            if 2.0 * most <= best:
                reach = sizes[n_sizes - 1] + k
                if least * reach <= most and 2.0 * (most + least) * (reach / (reach + 1.0)) <= best:
                    break
                continue
            value = 2.0 * sum_of_largest(f, k)
        if at[k] and value > best + TIE:
            best_k, best = k, value
    return best_k, best, n_columns


@njit(cache=True, nogil=True)
def rank_places(values, ids, order):
    """Write the indices of the ``order.size`` largest values to ``order``, in descending order of the values.

    If two values are equal in multiples of `GRAIN`, the value with the smaller id is first.
    """
    grains, heap = np.empty(values.size), np.empty(values.size, dtype=np.int64)
    for i in range(values.size):
        grains[i] = np.rint(values[i] / GRAIN)
    make_heap(heap, grains, ids)
    for rank in range(order.size):
        order[rank] = pop_first(heap, heap.size - rank, grains, ids)


@njit(cache=True, nogil=True, error_model="numpy")
def keep_largest(values, ids, k, kept):
    """Write the ids of the ``k`` largest values to ``kept``, in any order.

    If two values are equal in multiples of `GRAIN`, the value with the smaller id is selected first.

    Parameters
    ----------
    values : float64 (L,)
        Values from which the kernel selects.
    ids : uint32 (L,)
        Id of each value.
    k : int from 1 to L
        Number of values to select.
    kept : uint32, at least k
        Receives the ids.
    """
    selected, least = np.empty(values.size), np.inf
    copy_into(selected, values)
    sum_of_largest(selected, k)
    for i in range(k):
        least = min(least, selected[i])
    least = np.rint(least / GRAIN)
    n_kept, n_equal, equal = 0, 0, np.empty(ids.size, dtype=np.uint32)
    for i in range(ids.size):
        grain = np.rint(values[i] / GRAIN)
        if grain > least:
            kept[n_kept] = ids[i]
            n_kept += 1
        elif grain == least:
            equal[n_equal] = ids[i]
            n_equal += 1
    if n_kept + n_equal > k:
        kth_smallest(equal[:n_equal], k - n_kept)  # `kth_smallest` moves the smaller ids to the front.
    copy_into(kept[n_kept:k], equal[: k - n_kept])


@njit(cache=True, nogil=True)
def by_descending_marginal(P, ids):
    """Return a compact P (S, L) and ids (L,), after sorting the labels by descending marginal.

    The marginal of a label is the sum of the label's column of P.
    """
    marginals = np.zeros(ids.size)
    for s in range(P.shape[0]):
        for i in range(ids.size):
            marginals[i] += P[s, i]
    order = np.empty(ids.size, dtype=np.int64)
    rank_places(marginals, ids, order)
    ranked = np.empty_like(P)
    for s in range(P.shape[0]):
        for i in range(ids.size):
            ranked[s, i] = P[s, order[i]]
    return ranked, ids[order]


@njit(cache=True, nogil=True)
def maximise(P, sizes, p_empty, ids, by_marginal, thresholds, kept):
    """Run Algorithm 1 on one instance in compact form.

    Parameters
    ----------
    P, sizes, p_empty, by_marginal, thresholds
        See `best_size`.
    ids : uint32 (L,)
        The labels, in the order of P.
    kept : uint32, at least as long as the set
        Receives the labels of the best set, in any order.

    Returns
    -------
    k : int
    value : float64
        Expected F-measure of the best set.
    """
    k, value, _ = best_size(P, sizes, p_empty, by_marginal, thresholds)
    if by_marginal:
        copy_into(kept, unchecked_view(ids, 0, k))
    elif k > 0:
        F = np.empty((2, ids.size))
        columns_of_f(P, sizes, k, F)
        keep_largest(F[0], ids, k, kept)
    return k, value
