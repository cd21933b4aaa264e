"""Search in a probabilistic label tree: kernels for thresholds (plt2016, Algorithm 4) and for the top k."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.kernels.arrays import borrowed, row_of
from xmlc.kernels.heaps import pop_node, push_node
from xmlc.models.plt.search._block_scores import instance_estimates
from xmlc.models.plt.search._hashed_scores import hashed_block_estimates
from xmlc.runtime.kernel_cache import njit


class SearchScratch(NamedTuple):
    """Buffers of a search for one instance.

    Its arrays are passed on one by one: handing a kernel the whole of it, or taking an array from one as its result,
    costs 10 to 30 % of a search.

    Attributes
    ----------
    heap_nodes : int32 (n_nodes,), heap_estimates : float32 (n_nodes,)
        The nodes to expand.
    ids : uint32 (max_nonzeros,), values : float32 (max_nonzeros,)
        What a block has of the instance's features.
    out : float32 (max_degree,)
        Estimates of one block's nodes.
    """

    heap_nodes: np.ndarray
    heap_estimates: np.ndarray
    ids: np.ndarray
    values: np.ndarray
    out: np.ndarray


@njit(cache=True, nogil=True)
def empty_search_scratch(n_nodes, max_nonzeros, max_degree):
    """Make a `SearchScratch`; memory that no search reaches is never touched."""
    return SearchScratch(
        np.empty(n_nodes, dtype=np.int32),
        np.empty(n_nodes, dtype=np.float32),
        np.empty(max_nonzeros, dtype=np.uint32),
        np.empty(max_nonzeros, dtype=np.float32),
        np.empty(max(max_degree, 1), dtype=np.float32),
    )


def block_estimates(ids, values, nodes, block, first, n_children, link, scratch_ids, scratch_values, out):
    """Write the estimates of all nodes of one block for one instance into ``out[:n_children]``.

    Compiled for exact, compact and hashed weights, so that all are searched by the same kernels. Hashed ones are those
    of logistic regression, whatever ``link`` (see `estimate_scores`).
    """
    raise TypeError("only kernels call this")


@overload(block_estimates)
def _choose_block_estimates(ids, values, nodes, block, first, n_children, link, scratch_ids, scratch_values, out):
    if "table" in nodes.fields:

        def implementation(ids, values, nodes, block, first, n_children, link, scratch_ids, scratch_values, out):
            hashed_block_estimates(ids, values, nodes, first, borrowed(out, 0, n_children))

    else:

        def implementation(ids, values, nodes, block, first, n_children, link, scratch_ids, scratch_values, out):
            estimates = borrowed(out, 0, n_children)
            instance_estimates(ids, values, nodes, block, first, link, scratch_ids, scratch_values, estimates)

    return implementation


@njit(cache=True, nogil=True)
def search_threshold(x, start, end, nodes, link, thresholds, shape):
    """Find every label whose estimate is above its threshold, for instances ``start .. end - 1``.

    Algorithm 4 with a threshold per node: a node is expanded when its estimate exceeds the smallest threshold
    below it.

    Parameters
    ----------
    x : KernelCSR
        Instances.
    nodes : NodeWeights, CompactNodeWeights or HashedWeights
    link : int
        See `estimate_scores`.
    thresholds : float32 (n_nodes,)
    shape : tuple of int
        Number of features, largest number of non-zeros of an instance, largest number of siblings.

    Returns
    -------
    counts : int64 (end - start,)
        Labels found per instance.
    labels : int32, estimates : float32
        The labels of all instances, one after the other, in the order of the search.
    inner_products : int64 (end - start,)
        Node classifiers evaluated per instance.
    """
    counts = np.zeros(end - start, dtype=np.int64)
    inner_products = np.ones(end - start, dtype=np.int64)
    labels = np.empty(1024, dtype=np.int32)
    estimates = np.empty(1024, dtype=np.float32)
    stack_nodes = np.empty(nodes.label.size, dtype=np.int32)
    stack_estimates = np.empty(nodes.label.size, dtype=np.float32)
    _, max_nonzeros, max_degree = shape
    scratch_ids = np.empty(max_nonzeros, dtype=np.uint32)
    scratch_values = np.empty(max_nonzeros, dtype=np.float32)
    out = np.empty(max(max_degree, 1), dtype=np.float32)
    found = 0
    for i in range(start, end):
        ids, values = x.indices[x.indptr[i] : x.indptr[i + 1]], x.data[x.indptr[i] : x.indptr[i + 1]]
        block_estimates(ids, values, nodes, 0, 0, 1, link, scratch_ids, scratch_values, out)
        before, height = found, 0
        if out[0] > thresholds[0]:
            stack_nodes[0], stack_estimates[0], height = 0, out[0], 1
        while height > 0:
            height -= 1
            node, estimate = stack_nodes[height], stack_estimates[height]
            if nodes.label[node] >= 0:
                if found == labels.size:
                    labels = np.concatenate((labels, np.empty_like(labels)))
                    estimates = np.concatenate((estimates, np.empty_like(estimates)))
                labels[found], estimates[found] = nodes.label[node], estimate
                found += 1
                continue
            first = nodes.children[node]
            degree = nodes.children[node + 1] - first
            block_estimates(ids, values, nodes, node + 1, first, degree, link, scratch_ids, scratch_values, out)
            inner_products[i - start] += degree
            for c in range(degree):
                product = estimate * out[c]
                if product > thresholds[first + c]:
                    stack_nodes[height], stack_estimates[height] = first + c, product
                    height += 1
        counts[i - start] = found - before
    return counts, labels[:found].copy(), estimates[:found].copy(), inner_products


@njit(cache=True, nogil=True)
def best_first(ids, values, nodes, link, scratch, labels, estimates):
    """Find the labels with the largest estimates of one instance, best first.

    Best-first search (plt2016, Section 5.2, last paragraph but one): the queue of Algorithm 4 becomes a
    priority queue. Ties go to the node with the smaller number.

    Parameters
    ----------
    ids : uint32, values : float32
        The instance.
    nodes : NodeWeights, CompactNodeWeights or HashedWeights
    link : int
        See `estimate_scores`.
    scratch : SearchScratch
    labels : int32 (k,), estimates : float32 (k,)
        Overwritten as far as there are labels.

    Returns
    -------
    int
        Node classifiers evaluated.
    """
    heap_nodes, heap_estimates, found_ids, found_values, out = scratch
    block_estimates(ids, values, nodes, 0, 0, 1, link, found_ids, found_values, out)
    heap_nodes[0], heap_estimates[0], size, found, inner_products = 0, out[0], np.int64(1), 0, 1
    while size > 0 and found < labels.size:
        node, estimate = heap_nodes[0], heap_estimates[0]
        pop_node(heap_nodes, heap_estimates, size)
        size -= 1
        if nodes.label[node] >= 0:
            labels[found], estimates[found] = nodes.label[node], estimate
            found += 1
            continue
        first = nodes.children[node]
        degree = nodes.children[node + 1] - first
        block_estimates(ids, values, nodes, node + 1, first, degree, link, found_ids, found_values, out)
        inner_products += degree
        for c in range(degree):
            push_node(heap_nodes, heap_estimates, size, first + c, estimate * out[c])
            size += 1
    return inner_products


@njit(cache=True, nogil=True)
def search_top_k(x, start, end, nodes, link, k, shape):
    """Find the k labels with the largest estimates, best first, for instances ``start .. end - 1``; see `best_first`.

    Parameters
    ----------
    x, nodes, link, shape
        As for `search_threshold`.
    k : int

    Returns
    -------
    labels : int32 (end - start, k), estimates : float32 (end - start, k)
        -1 and 0 where there are fewer than k labels.
    inner_products : int64 (end - start,)
    """
    labels = np.full((end - start, k), -1, dtype=np.int32)
    estimates = np.zeros((end - start, k), dtype=np.float32)
    inner_products = np.empty(end - start, dtype=np.int64)
    _, max_nonzeros, max_degree = shape
    scratch = empty_search_scratch(nodes.label.size, max_nonzeros, max_degree)
    indptr, indices, data = x
    for i in range(start, end):
        ids, values = borrowed(indices, indptr[i], indptr[i + 1]), borrowed(data, indptr[i], indptr[i + 1])
        own_labels, own_estimates = row_of(labels, i - start), row_of(estimates, i - start)
        inner_products[i - start] = best_first(ids, values, nodes, link, scratch, own_labels, own_estimates)
    return labels, estimates, inner_products
