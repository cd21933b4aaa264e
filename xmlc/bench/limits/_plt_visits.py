"""What a search of a PLT visits, and the bare accesses to the weights of these visits: kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.bench.plt._access import LANES, add_rows_in_chains
from xmlc.kernels.arrays import borrowed
from xmlc.kernels.float32 import fma
from xmlc.kernels.sibling_rows import add_rows_64, dense_scores
from xmlc.models.plt.search import (
    block_features,
    block_weights,
    children_of,
    empty_frontier,
    match_features,
    next_level,
    sparse_rows,
    take_estimates,
    walk_levels,
)
from xmlc.runtime.kernel_cache import njit


class OneLevel(NamedTuple):
    """Collector that hands on what it takes, and ends a walk after one level."""

    inner: Any


@overload(take_estimates)
def _take_estimates(collector, rows, parents, estimates, first, label):
    def implementation(collector, rows, parents, estimates, first, label):
        return OneLevel(take_estimates(collector.inner, rows, parents, estimates, first, label))

    return implementation if collector.instance_class is OneLevel else None


@overload(next_level)
def _next_level(collector):
    def implementation(collector):
        return empty_frontier(np.int64(0)), collector

    return implementation if collector.instance_class is OneLevel else None


@njit(cache=True, nogil=True)
def one_level(x, frontier, nodes, link, collector, shape):
    """Expand one level for all instances; return the next frontier and the collector. Parameters as `walk_levels`."""
    done, _ = walk_levels(x, np.int64(0), x.indptr.size - 1, frontier, nodes, link, OneLevel(collector), shape)
    return next_level(done.inner)


@njit(cache=True, nogil=True)
def count_known(x, rows, visited, nodes, ends, ids, values):
    """Find the features of some instances that the blocks below some nodes know.

    Parameters
    ----------
    x : KernelCSR
    rows, visited : int32 (visits,)
        Which instance, and below which node.
    nodes : NodeWeights or CompactNodeWeights
    ends : int64 (visits + 1,)
        Written: where the features of each visit start.
    ids : uint32, values : float32
        Written as far as there is space: indices within the block's features, and the instance's values.
    """
    most = 0
    for row in range(x.indptr.size - 1):
        most = max(most, x.indptr[row + 1] - x.indptr[row])
    found, found_values = np.empty(most, dtype=np.uint32), np.empty(most, dtype=np.float32)
    ends[0] = 0
    for i in range(rows.size):
        start, end = x.indptr[rows[i]], x.indptr[rows[i] + 1]
        features = block_features(nodes, visited[i] + 1)
        count = match_features(x.indices[start:end], x.data[start:end], features, found, found_values)
        ends[i + 1] = ends[i] + count
        if ends[i + 1] <= ids.size:
            for k in range(count):
                ids[ends[i] + k], values[ends[i] + k] = found[k], found_values[k]


@njit(cache=True, nogil=True)
def sum_dense(ids, values, weights, degree, sums):
    """Add rows of ``degree`` neighbouring weights, times their values, to sums, in whole vectors and several chains."""
    column = 0
    while degree > LANES and column + 64 <= degree:
        add_rows_64(ids, values, weights, degree, column, sums, sums)
        column += 64
    while column + LANES <= degree:
        add_rows_in_chains(ids, values, weights, degree, column, sums)
        column += LANES
    if column < degree and degree > LANES:  # the last vector overlaps the one before
        add_rows_in_chains(ids, values, weights, degree, degree - LANES, sums)
    elif column < degree:
        own = borrowed(sums, 0, degree)
        dense_scores(ids, values, weights, degree, own, own)


@njit(cache=True, nogil=True)
def sum_sparse(ids, values, row_starts, siblings, weights, sums):
    """Add the stored weights of rows, times their values, to the sums of their siblings."""
    for k in range(ids.size):
        value = values[k]
        for entry in range(np.uint64(row_starts[ids[k]]), np.uint64(row_starts[ids[k] + np.uint32(1)])):
            sums[siblings[entry]] = fma(value, weights[entry], sums[siblings[entry]])


def sum_block(ids, values, nodes, block, degree, sums):
    """Add the rows of one block, dense or sparse as they are stored; see `sum_dense` and `sum_sparse`."""
    raise TypeError("only kernels call this")


@overload(sum_block)
def _choose_sum_block(ids, values, nodes, block, degree, sums):
    if "row_starts" in nodes.fields:

        def implementation(ids, values, nodes, block, degree, sums):
            row_starts, siblings, weights = sparse_rows(nodes, block)
            sum_sparse(ids, values, row_starts, siblings, weights, sums)

    else:

        def implementation(ids, values, nodes, block, degree, sums):
            sum_dense(ids, values, block_weights(nodes, block), degree, sums)

    return implementation


@njit(cache=True, nogil=True)
def touch_blocks(visited, ends, ids, values, nodes, sums):
    """Touch the weights of visits, one after the other, and add them up.

    Left out: which of an instance's features a block knows (they are given), the bias, estimates from scores, the
    choice of the best and of what to visit next. A row of stored weights is read for each feature.

    Parameters
    ----------
    visited : int32 (visits,), ends : int64 (visits + 1,), ids : uint32, values : float32
        As for `count_known`; a piece of ``ends`` counts from the start of all ``ids``.
    nodes : NodeWeights or CompactNodeWeights
    sums : float32
        Scratch, as long as there are siblings and at least 16.
    """
    for i in range(visited.size):
        own_ids, own_values = borrowed(ids, ends[i], ends[i + 1]), borrowed(values, ends[i], ends[i + 1])
        _, degree = children_of(nodes, visited[i])
        sum_block(own_ids, own_values, nodes, visited[i] + 1, degree, sums)
