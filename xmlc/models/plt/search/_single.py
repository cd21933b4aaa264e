"""Ranking of a single instance with as little around it as can be: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.top_k import insert_best
from xmlc.models.plt.search._block_scores import instance_estimates
from xmlc.models.plt.search._by_instance import best_first, empty_search_scratch
from xmlc.models.plt.search._walk import NONE, children_of
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def first_fault(ids, values, n_features):
    """Return the index of the first feature that is out of range or not above the last, or whose value is no number."""
    for i in range(ids.size):
        if not 0 <= ids[i] < n_features or (i > 0 and ids[i] <= ids[i - 1]) or not np.isfinite(values[i]):
            return i
    return -1


@njit(cache=True, nogil=True)
def rank_single(ids, values, nodes, link, k, max_degree):
    """Find the k labels with the largest estimates of one instance by best-first search.

    Per block reached: a search of 0.7 ns per non-zero and halving of the block's features, then 1.4 ns per non-zero
    that the block knows and 16 siblings. In a model larger than the caches nearly all of that waits for memory instead.

    Parameters
    ----------
    ids, values, nodes, link
        As for `best_first`.
    k : int
    max_degree : int
        Largest number of siblings.

    Returns
    -------
    labels : int32 (k,), estimates : float32 (k,)
        Best first; -1 and 0 where there are fewer than k labels.
    """
    labels, estimates = np.full(k, -1, dtype=np.int32), np.zeros(k, dtype=np.float32)
    scratch = empty_search_scratch(nodes.label.size, ids.size, max_degree)
    best_first(ids, values, nodes, link, scratch, labels, estimates)
    return labels, estimates


@njit(cache=True, nogil=True)
def rank_single_by_beam(ids, values, nodes, link, k, beam, max_degree):
    """Rank the labels of one instance by beam search, as `rank_by_beam` does; parameters as for `rank_single`."""
    leaves, leaf_estimates = np.full(k, -1, dtype=np.int32), np.full(k, NONE)
    parents, parent_estimates = np.full(beam, -1, dtype=np.int32), np.ones(beam, dtype=np.float32)
    best, best_estimates = np.empty(beam, dtype=np.int32), np.empty(beam, dtype=np.float32)
    scratch = empty_search_scratch(0, ids.size, max_degree)
    n_parents = 1
    while n_parents > 0:
        best_estimates[:] = NONE
        for i in np.argsort(parents[:n_parents]):  # ties go to the node met first
            first, degree = children_of(nodes, parents[i])
            out = scratch.out[:degree]
            instance_estimates(ids, values, nodes, parents[i] + 1, first, link, scratch.ids, scratch.values, out)
            for c in range(degree):
                product = parent_estimates[i] * out[c]
                if product > leaf_estimates[-1]:
                    if nodes.label[first + c] >= 0:
                        insert_best(leaves, leaf_estimates, first + c, product)
                    elif product > best_estimates[-1]:
                        insert_best(best, best_estimates, first + c, product)
        n_parents = 0
        while n_parents < beam and best_estimates[n_parents] > leaf_estimates[-1]:
            n_parents += 1
        parents, parent_estimates, best, best_estimates = best, best_estimates, parents, parent_estimates
    for j in range(k):
        if leaves[j] < 0:
            leaf_estimates[j] = 0.0
        else:
            leaves[j] = nodes.label[leaves[j]]
    return leaves, leaf_estimates
