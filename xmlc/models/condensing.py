"""A smaller training set for nearest neighbours: near-duplicates with the same label set stand for each other.

The open point of swnn2018 (Conclusion): a compression of the training set that keeps what it says about labels. An
instance is left out where another one with exactly its label set is kept whose cosine similarity to it is at least
``similarity``, in the spirit of condensed nearest neighbours (Hart, IEEE Transactions on Information Theory 1968). No
label set is lost, and for unit vectors x, a left out and b that stands for it, x's similarities to both differ by at
most |a - b| = sqrt(2 - 2 cos(a, b)) <= sqrt(2 - 2 similarity).
"""

from __future__ import annotations

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.kernels.csr import as_features, as_labels, kernel_csr, unit_rows

ROUNDING = 1e-6  # of a cosine in float32: an exact copy has similarity 1


def kept_instances(X: object, Y: object, similarity: float) -> np.ndarray:
    """Choose the instances that stand for all others, one after the other in their order.

    Takes time in proportion to the pairs of a non-zero of an instance and one of a kept instance of its label set in
    the same feature, and 8 bytes of memory per feature.

    Parameters
    ----------
    X : CSR, shape (n, d)
        Instances; their lengths do not matter.
    Y : boolean CSR, shape (n, m)
    similarity : float
        Above 0 and at most 1; an instance is left out if one that is kept, and has its labels, is at least so similar.

    Returns
    -------
    ndarray of int64
        Numbers of the kept instances, ascending. An instance without features is like no other and is kept.

    Raises
    ------
    XmlcError
        The similarity is out of its range.
    """
    if not 0 < similarity <= 1:
        raise XmlcError(f"similarity {similarity:g}: expected a cosine above 0 and at most 1")
    unit, labels = kernel_csr(unit_rows(as_features(X))), as_labels(Y)
    groups: dict[bytes, list[int]] = {}
    for i in range(labels.shape[0]):
        groups.setdefault(labels.indices[labels.indptr[i] : labels.indptr[i + 1]].tobytes(), []).append(i)
    fronts = np.full(int(unit.indices.max(initial=0)) + 1, -1, dtype=np.int64)
    kept = [kept_of_group(unit, np.array(group), similarity - ROUNDING, fronts) for group in groups.values()]
    return np.sort(np.concatenate([*kept, np.empty(0, dtype=np.int64)]))


# The kernel of `xmlc.models.condensing`.


@njit(cache=True, nogil=True)
def kept_of_group(x, group, bound, fronts):
    """Choose the instances of one label set that have a cosine below ``bound`` to all that are kept before.

    The non-zeros of kept instances are chained by feature, so that an instance meets only those that it shares.
    Products are added in float64, in the order of its features.

    Parameters
    ----------
    x : KernelCSR
        Instances of unit length (n, d).
    group : int64
        Their numbers, at least one.
    bound : float64
    fronts : int64 (d,)
        Scratch, -1 on entry and on return: the front of each feature's chain.

    Returns
    -------
    int64
        The kept ones, in their order.
    """
    nonzeros = 0
    for i in group:
        nonzeros += x.indptr[i + 1] - x.indptr[i]
    chain, owner = np.empty(nonzeros, dtype=np.int64), np.empty(nonzeros, dtype=np.int64)
    values = np.empty(nonzeros, dtype=np.float32)
    products = np.zeros(group.size, dtype=np.float64)
    kept, n_kept, n_chained = np.empty(group.size, dtype=np.int64), 0, 0
    for i in group:
        for p in range(x.indptr[i], x.indptr[i + 1]):
            link = fronts[x.indices[p]]
            while link >= 0:
                products[owner[link]] += np.float64(x.data[p]) * np.float64(values[link])
                link = chain[link]
        is_new = n_kept == 0 or products[:n_kept].max() < bound
        products[:n_kept] = 0.0
        if is_new:
            for p in range(x.indptr[i], x.indptr[i + 1]):
                chain[n_chained], owner[n_chained], values[n_chained] = fronts[x.indices[p]], n_kept, x.data[p]
                fronts[x.indices[p]] = n_chained
                n_chained += 1
            kept[n_kept] = i
            n_kept += 1
    for i in kept[:n_kept]:
        for feature in x.indices[x.indptr[i] : x.indptr[i + 1]]:
            fronts[feature] = -1
    return kept[:n_kept]
