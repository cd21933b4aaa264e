"""GFM, Algorithm 1 of gfm2011, for one instance and for a block of them: kernels.

An instance is first brought into compact form: only the labels with mass, most probable first, and only the sizes
s_y with mass. There are L and S of them; P lies size by size, so that the inner loops run along the labels.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import borrowed, copy_into, kth_smallest, row_of
from xmlc.kernels.heaps import make_heap, pop_first
from xmlc.kernels.sums import total

# Expected F-measures that differ by no more than this count as equal: more than rounding can do.
TIE = 1e-12
# Values by which labels are ranked are compared in multiples of this, for the same reason.
GRAIN = 2.0**-40


@njit(cache=True, nogil=True, error_model="numpy")
def columns_of_f(P, sizes, k, F):
    """Write columns k and k + 1 of F = PW (equation (7): w_sk = 1 / (s + k)) into the rows of ``F``, float64 (2, L).

    Both at once, because P may exceed the first cache, and four sizes at a time, so that F is read and written a
    quarter as often; sizes are added in ascending order.
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
    """Tell of each k of 0 .. L whether it is the number of labels that reach one of the thresholds: bool (L + 1,).

    Parameters
    ----------
    P : float64 (S, L)
        As of `best_size`.
    thresholds : float64 (t,)
        On the marginals, compared in multiples of `GRAIN`. Without any, every k is.
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
    """Find the size k of the best set and its expected F-measure: both maximisations of Algorithm 1, k = 0 included.

    Let E_k be the greatest value of a set of k labels: twice the sum of the k largest of column k of F. What cannot
    change the result is left out, by three bounds; without them it takes O(L^2 S).

    1. E_k <= B_k = 2 sum_is p_is / (s + k), the sum over all labels instead of k of them, for p_is >= 0. B_k falls with
       k: once it does not exceed the best value found, no greater k can, and the loop over k ends.
    2. E_k <= 2 A_k, where A_k = k t + sum_i max(f_ik - t, 0) for any t; close where t is the k-th largest or nearly so.
       Labels lie by descending marginal, so t is that of the k-th. One pass that compiles to vector instructions spares
       the selection of the k largest.
    3. No size with mass is above s', so f_ij <= f_ik (s' + k) / (s' + j) for j > k, and by (2), with the same t,
       E_j <= 2 (A_k + (j - k) t) (s' + k) / (s' + j). If t (s' + k) <= A_k this falls with j: once it does not exceed
       the best value found for j = k + 1, the loop ends.

    (2) and (3) leave nothing out whose value exceeds the best, and `TIE` is more than rounding can do.

    Parameters
    ----------
    P : float64 (S, L)
        p(Y_i = 1, s_y = sizes[s]), labels by descending marginal.
    sizes : float64 (S,)
    p_empty : float64
        p(Y = 0).
    by_marginal : bool
        GFM-T: not the k largest of column k but the first k labels. Then O(L S) in all.
    thresholds : float64 (t,)
        Of GFM-T: only the k that `sizes_at` has, and the empty set, are tried; none of GFM.

    Returns
    -------
    k : int
    value : float64
    n_columns : int
        Of F, that were computed: two at a time.
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
    """Write the first ``order.size`` places by descending value (in multiples of `GRAIN`), then ascending id."""
    grains, heap = np.empty(values.size), np.empty(values.size, dtype=np.int64)
    for i in range(values.size):
        grains[i] = np.rint(values[i] / GRAIN)
    make_heap(heap, grains, ids)
    for rank in range(order.size):
        order[rank] = pop_first(heap, heap.size - rank, grains, ids)


@njit(cache=True, nogil=True, error_model="numpy")
def keep_largest(values, ids, k, kept):
    """Write the ids of the ``k`` largest values, in no order; of values equal in multiples of `GRAIN` the smaller ids.

    Parameters
    ----------
    values : float64 (L,), ids : uint32 (L,)
    k : int in 1 .. L
    kept : uint32, at least k
        Written.
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
        kth_smallest(equal[:n_equal], k - n_kept)  # which puts the smaller ones before it
    copy_into(kept[n_kept:k], equal[: k - n_kept])


@njit(cache=True, nogil=True)
def by_descending_marginal(P, ids):
    """Return a compact P (S, L) and its labels (L,) in the order of the marginals, sums over the sizes."""
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
        Written: the labels of the best set, in no order.

    Returns
    -------
    k : int
    value : float64
        Its expected F-measure.
    """
    k, value, _ = best_size(P, sizes, p_empty, by_marginal, thresholds)
    if by_marginal:
        copy_into(kept, borrowed(ids, 0, k))
    elif k > 0:
        F = np.empty((2, ids.size))
        columns_of_f(P, sizes, k, F)
        keep_largest(F[0], ids, k, kept)
    return k, value


# Sums of the largest entries of a column of F: kernels.
#
# Labels lie by descending marginal, which nearly is their order in a column of F.


LANES = 16  # of `sum_above`


@njit(cache=True, nogil=True)
def sum_of_largest(values, k):
    """Return the sum of the ``k`` largest values, reordering them: by selection, in linear time on average.

    The pivot is the value at the k-th place. Where the values before it are greater and no others are, as in more than
    half of the columns, they are added as they stand. Most other calls end after one or two passes.

    Parameters
    ----------
    values : float64 (L,)
    k : int in 1 .. L
    """
    low, high, k = np.uint64(0), np.uint64(values.size), np.uint64(k)
    last = k - np.uint64(1)
    if count_above(values, values[last]) != last or count_above(borrowed(values, 0, k), values[last]) != last:
        while k < high:
            pivot = values[last]
            greater = move_to_front(values, low, high, pivot, False)
            if k <= greater:
                high = greater
                continue
            low = move_to_front(values, greater, high, pivot, True)
            if k <= low:
                break
    total = 0.0
    for i in range(k):
        total += values[i]
    return total


@njit(cache=True, nogil=True)
def count_above(values, least):
    """Return how many values exceed ``least``; compiles to vector instructions."""
    n_above = 0
    for value in values:
        n_above += value > least
    return n_above


@njit(cache=True, nogil=True)
def move_to_front(values, low, high, pivot, equal):
    """Move values above the pivot, or with ``equal`` values equal to it, to the front; return where the others begin.

    What is moved keeps its order. Of the others, the first changes places with each value in turn: it is kept in a
    register, because reading again what was just written takes some five cycles.

    Parameters
    ----------
    values : float64 (L,)
        ``low .. high - 1`` are reordered, low < high. At least one of them does not exceed the pivot.
    low, high : uint64
    pivot : float64
    equal : bool
    """
    first, end, one = values[low], low, np.uint64(1)
    for i in range(low, high):
        value = values[i]
        values[i] = first
        if value == pivot if equal else value > pivot:
            values[end] = value
            end += one
            first = values[min(end, high - one)]
        else:
            first = value
    if end < high:
        values[end] = first
    return end


@njit(cache=True, nogil=True)
def sum_above(values, least, sums):
    """Return the sum of the excesses over ``least``, in `LANES` sums side by side: by vector instructions.

    Parameters
    ----------
    values : float64 (L,)
    least : float64
    sums : float64 (LANES,)
        Written.
    """
    for lane in range(LANES):
        sums[lane] = 0.0
    whole = values.size // LANES * LANES
    for start in range(0, whole, LANES):
        for lane in range(LANES):
            above = values[start + lane] - least
            sums[lane] += above if above > 0.0 else 0.0
    for i in range(whole, values.size):
        above = values[i] - least
        sums[i - whole] += above if above > 0.0 else 0.0
    total = 0.0
    for lane in range(LANES):
        total += sums[lane]
    return total
