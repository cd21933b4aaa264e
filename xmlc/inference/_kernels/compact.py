"""GFM over a block of instances, from dense P, from samples and from marginals: kernels that bring each instance into
the compact form of `xmlc.inference._kernels.gfm`.

All return ``kept``: the labels of the best sets, uint32, instance after instance, and write their numbers and values.
"""

from __future__ import annotations

import numpy as np

from xmlc.inference._kernels.counting import compact_samples, counting_room
from xmlc.inference._kernels.gfm import by_descending_marginal, maximise, rank_places
from xmlc.inference._kernels.independent import candidates, leave_one_out_sizes
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def gfm_dense(P, p_empty, sizes, by_marginal, thresholds, counts, values):
    """Run Algorithm 1 on instances whose matrix P is given in full.

    Reads P once, 8 bytes per entry, and does the rest on what has mass.

    Parameters
    ----------
    P : float64 (n, m, S), p_empty : float64 (n,), sizes : int64 (S,)
        See `LabelsBySize`.
    by_marginal, thresholds
        Of GFM-T, see `xmlc.inference._kernels.gfm.best_size`.
    counts : int64 (n,), values : float64 (n,)
        Written.
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
def gfm_samples(indptr, labels, n_samples, place, by_marginal, thresholds, counts, values):
    """Run Algorithm 1 on instances given by samples; P is never made for all labels and sizes.

    Reads 4 bytes per one of the samples.

    Parameters
    ----------
    indptr : int64, labels : uint32
        The samples, the first at entry 0.
    n_samples : int
    place : int32 (m,)
        All -1, and left so.
    by_marginal, thresholds, counts, values
        See `gfm_dense`.
    """
    room = counting_room(indptr, n_samples, place)
    kept = np.empty(indptr[-1] - indptr[0], dtype=np.uint32)
    start = 0
    for i in range(counts.size):
        P, sizes, p_empty, ids = compact_samples(indptr, labels, i * n_samples, n_samples, room)
        counts[i], values[i] = maximise(P, sizes, p_empty, ids, by_marginal, thresholds, kept[start:])
        start += counts[i]
    return kept[:start]


@njit(cache=True, nogil=True)
def gfm_marginals(indptr, labels, marginals, by_marginal, thresholds, counts, values):
    """Run Algorithm 1 on instances given by the marginals of independent labels.

    Only the labels that a best set may hold get a row of P (see `candidates`): with independent labels f_ik is the
    greater, the greater p_i is, for every k. Let Q be the number of positives besides i and j. Then
    f_ik - f_jk = p_i E[1/(k+1+Q+Y_j)] - p_j E[1/(k+1+Q+Y_i)] = (p_i - p_j) E[1/(k+1+Q)], for what p_i p_j stands before
    cancels out. So a top k never needs the labels behind the first k.

    Parameters
    ----------
    indptr : int64 (n + 1,), labels : uint32, marginals : float64
        Instance by instance, the first at entry 0.
    by_marginal, thresholds, counts, values
        See `gfm_dense`.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        order, n_candidates, p_empty = candidates(p, ids)
        if thresholds.size > 0:  # the set that reaches one of few thresholds may be larger than the best of all
            n_candidates = p.size
            rank_places(p, ids, order)
        P, sizes = leave_one_out_sizes(p, p[order[:n_candidates]])
        ranked = ids[order[:n_candidates]]
        counts[i], values[i] = maximise(P, sizes, p_empty, ranked, by_marginal, thresholds, kept[place:])
        place += counts[i]
    return kept[:place]
