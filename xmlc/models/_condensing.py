"""The kernel of `xmlc.models.condensing`."""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit


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
