"""Training of siblings together: gather what reaches their parent, solve, copy the weights: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.kernels.arrays import borrowed, copy_into
from xmlc.kernels.sibling_rows import aligned_buffer, padded_size
from xmlc.models.plt.training._gather import gather_rows, sibling_targets
from xmlc.models.plt.training._solvers import numbers_per_weight, solve


class Reach(NamedTuple):
    """Which instances reach which node: those with z_t = 1 for their parent.

    Attributes
    ----------
    order : int64 (n,)
        Rows in the order of the pass.
    node_starts, node_positions : int64 (n_nodes + 1,), uint32
        Positions in ``order`` of the instances with z_t = 1, node after node.
    block_starts, block_positions : int64 (n_nodes + 2,), uint32
        The same for the instances that reach each block: all of them for block 0 (the root alone), those of
        node t for block t + 1 (its children).
    """

    order: np.ndarray
    node_starts: np.ndarray
    node_positions: np.ndarray
    block_starts: np.ndarray
    block_positions: np.ndarray


@njit(cache=True, nogil=True)
def train_siblings(
    x, reach, blocks, firsts, bases, widths, degrees, features, feature_starts, weights, weight_starts, bias, solver,
    n_features, offset,
):  # fmt: skip
    """Train groups of siblings: piece i is the siblings ``bases[i] .. bases[i] + widths[i] - 1`` of a block.

    What one piece needs is renumbered and put side by side, weights and all, so that each non-zero touches one run of
    memory, and of the cache nothing but what this piece uses.

    Parameters
    ----------
    x : KernelCSR
    reach : Reach
    blocks, firsts, bases, widths, degrees : int64, one per piece
        The block, the node number of its first node, the first sibling trained here, how many, and the
        number of all siblings.
    features, feature_starts, weights, weight_starts, bias
        As in `NodeWeights`, features and weights from block ``offset`` on; the bias of the pieces' nodes is zero on
        entry, trained on return like the weights.
    solver : Sgd, AdaGrad or DualDescent
    n_features : int
        Features of the instances.
    offset : int
        The first block of ``features`` and ``weights``.

    Returns
    -------
    int
        Pairs of a non-zero and a sibling that were visited, once for each pass.
    """
    local, places = np.empty(n_features, dtype=np.uint32), np.empty(reach.order.size, dtype=np.uint32)
    largest, visited = 0, 0
    for i in range(blocks.size):
        index = blocks[i] - offset
        largest = max(largest, (feature_starts[index + 1] - feature_starts[index]) * padded_size(widths[i]))
    buffer = aligned_buffer(largest * numbers_per_weight(solver))
    for i in range(blocks.size):
        block, first, width = blocks[i], firsts[i] + bases[i], widths[i]
        mine = features[feature_starts[block - offset] : feature_starts[block - offset + 1]]
        for number in range(mine.size):
            local[mine[number]] = number
        positions = reach.block_positions[reach.block_starts[block] : reach.block_starts[block + 1]]
        ends, ids, values = gather_rows(x.indptr, x.indices, x.data, reach.order[positions], local)
        padded = padded_size(width)
        targets = np.zeros((positions.size, padded), dtype=np.uint8)
        sibling_targets(reach.node_starts, reach.node_positions, positions, first, targets[:, :width], places)
        stride = numbers_per_weight(solver) * padded
        state = buffer[: mine.size * stride]
        state[:] = 0
        own_bias = np.zeros(padded, dtype=np.float32)
        visited += solve(solver, ends, ids, values, targets, state, own_bias, width, block)
        copy_into(bias[first:], own_bias[:width])
        own = weights[weight_starts[block - offset] + bases[i] : weight_starts[block - offset + 1]]
        for f in range(mine.size):
            row = borrowed(own, f * degrees[i], f * degrees[i] + width)
            copy_into(row, borrowed(state, f * stride, f * stride + width))
    return visited
