"""One instance for GFM, from a full matrix P, samples, or marginals of independent labels.

Kernels return it in compact form, with only the L labels and S sizes of a probability above 0:

* P, float64 (S, L): p(Y_i = 1, s_y = s), size by size, so that inner loops run along the labels.
* sizes, float64 (S,): the sizes s_y, ascending.
* p_empty, float64: p(Y = 0).
* ids, uint32 (L,): the labels by descending marginal, then by ascending id.
"""

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.inference._positives import count_distribution, count_limit, without_label
from xmlc.inference.meuf import candidates
from xmlc.kernels.arrays import sort, unchecked_view
from xmlc.kernels.heaps import make_heap, pop_first
from xmlc.kernels.sums import in_turn

# Values are ranked in multiples of GRAIN, so that rounding errors do not change the order
GRAIN = 2.0**-40
NONE = np.uint32(0xFFFFFFFF)
# Sizes that are less probable are dropped: a hundred have less than 1e-15 together
NEGLIGIBLE = 1e-17


@njit
def compact_dense(P, p_empty, sizes):
    """Return an instance in compact form from its float64 (m, S) matrix P."""
    m, n_sizes = P.shape
    has_size = np.zeros(n_sizes, dtype=np.bool_)
    has_label = np.zeros(m, dtype=np.bool_)
    for j in range(m):
        for s in range(n_sizes):
            if P[j, s] > 0.0:
                has_size[s] = True
                has_label[j] = True
    rows = np.flatnonzero(has_size)
    ids = np.flatnonzero(has_label).astype(np.uint32)
    marginals = np.zeros(ids.size)
    for j in range(ids.size):
        for s in rows:
            marginals[j] += P[ids[j], s]
    order = np.empty(ids.size, dtype=np.int64)
    rank_places(marginals, ids, order)
    ids = ids[order]
    compact = np.empty((rows.size, ids.size))
    for s in range(rows.size):
        for i in range(ids.size):
            compact[s, i] = P[ids[i], rows[s]]
    return compact, sizes[rows].astype(np.float64), p_empty, ids


@njit
def compact_samples(indptr, labels, place):
    """Return an instance in compact form, with shares of its samples as probabilities.

    ``indptr`` has the starts of the samples in ``labels``. ``place``, uint32 (m,), is a scratch
    array of `NONE`, which the kernel restores.
    """
    n_samples = indptr.size - 1
    ones = unchecked_view(labels, indptr[0], indptr[-1])
    ids = rank_by_counts(ones, n_samples, place)
    rows, sizes, n_empty = sizes_of_samples(indptr)
    # Adding the samples that begin at each one is faster than a loop over the few ones of each
    begins = np.zeros(ones.size + 1, dtype=np.uint64)
    for r in range(1, n_samples):
        begins[indptr[r] - indptr[0]] += np.uint64(1)
    P = np.zeros((sizes.size, ids.size))
    r = np.uint64(0)
    for e in range(np.uint64(ones.size)):
        r += begins[e]
        P[rows[r], place[ones[e]]] += 1.0
    P /= n_samples
    for label in ids:
        place[label] = NONE
    return P, sizes, n_empty / n_samples, ids


@njit
def rank_by_counts(ones, n_samples, place):
    """Return labels by descending count, then id, and write their ranks to ``place``."""
    keys = np.empty(ones.size, dtype=np.uint64)
    n_labels = 0
    for label in ones:
        if place[label] == NONE:
            place[label] = n_labels
            keys[n_labels] = np.uint64(n_samples) << np.uint64(32) | np.uint64(label)
            n_labels += 1
        keys[place[label]] -= np.uint64(1) << np.uint64(32)
    keys = keys[:n_labels]
    sort(keys)
    ids = np.empty(n_labels, dtype=np.uint32)
    for rank in range(n_labels):
        ids[rank] = np.uint32(keys[rank] & np.uint64(0xFFFFFFFF))
        place[ids[rank]] = rank
    return ids


@njit
def sizes_of_samples(indptr):
    """Return each sample's row of P, the sizes above 0, and the number of empty samples."""
    lengths = np.diff(indptr)
    occurs = np.zeros(lengths.max() + 1, dtype=np.bool_)
    for length in lengths:
        occurs[length] = True
    row = np.zeros(occurs.size, dtype=np.uint32)
    sizes = np.empty(occurs.size)
    n_sizes = 0
    for size in range(1, row.size):
        if occurs[size]:
            row[size] = n_sizes
            sizes[n_sizes] = size
            n_sizes += 1
    return row[lengths], sizes[:n_sizes], np.count_nonzero(lengths == 0)


@njit
def compact_marginals(p, ids, all_labels):
    """Return an instance in compact form from the marginals p above 0 of independent labels.

    An entry of P is p_i Pr(s - 1 positives among the other labels). Only the labels that a best set
    may contain (`candidates`) are included, unless ``all_labels`` is true.
    """
    order, n_labels, p_empty = candidates(p, ids)
    if all_labels:
        n_labels = p.size
        rank_places(p, ids, order)
    pmf = count_distribution(p, count_limit(in_turn(p), p.size))
    sizes = 1 + np.flatnonzero(pmf[1:] > NEGLIGIBLE)
    P = np.empty((sizes.size, n_labels))
    ranked = np.empty(n_labels, dtype=np.uint32)
    rest = np.empty(pmf.size - 1)
    for rank in range(n_labels):
        label = order[rank]
        ranked[rank] = ids[label]
        without_label(pmf, p[label], rest)
        for s in range(sizes.size):
            P[s, rank] = p[label] * rest[sizes[s] - 1]
    return P, sizes.astype(np.float64), p_empty, ranked


@njit
def marginals_of_columns(P):
    """Return the marginals of a compact P, float64 (L,)."""
    marginals = np.zeros(P.shape[1])
    for s in range(P.shape[0]):
        for i in range(marginals.size):
            marginals[i] += P[s, i]
    return marginals


@njit
def rank_places(values, ids, order):
    """Write the indices of the ``order.size`` largest values to ``order``, in descending order.

    Among values that are equal in multiples of `GRAIN`, the smaller id is first.
    """
    grains = np.empty(values.size)
    for i in range(values.size):
        grains[i] = np.rint(values[i] / GRAIN)
    heap = np.empty(values.size, dtype=np.int64)
    make_heap(heap, grains, ids)
    for rank in range(order.size):
        order[rank] = pop_first(heap, heap.size - rank, grains, ids)
