"""Training of siblings together: gather what reaches their parent, solve, keep the weights: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.arrays import borrowed, copy_into
from xmlc.kernels.sibling_rows import aligned_buffer, padded_size
from xmlc.models.plt.training._gather import gather_rows, sibling_targets
from xmlc.models.plt.training._solvers import numbers_per_weight, solve
from xmlc.models.plt.weights._kept import count_rows, fill_rows
from xmlc.runtime.kernel_cache import njit


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


class Pieces(NamedTuple):
    """Neighbouring siblings that are trained together: piece i is ``bases[i] .. bases[i] + widths[i] - 1`` of a block.

    Attributes
    ----------
    blocks : int64 (pieces,)
        The block.
    firsts : int64 (pieces,)
        The node number of the first sibling of the block.
    bases, widths : int64 (pieces,)
        The first sibling of the piece, and how many.
    degrees : int64 (pieces,)
        The number of all siblings of the block.
    """

    blocks: np.ndarray
    firsts: np.ndarray
    bases: np.ndarray
    widths: np.ndarray
    degrees: np.ndarray


@njit(cache=True, nogil=True)
def train_piece(x, reach, pieces, i, features, bias, solver, scratch, buffer):
    """Train the siblings of piece ``i``; their biases go to ``bias``.

    What a piece needs is renumbered and put side by side, weights and all, so that each non-zero touches one run of
    memory, and of the cache nothing but what this piece uses.

    Parameters
    ----------
    x : KernelCSR
    reach : Reach
    pieces : Pieces
    features : uint32
        Features of the instances that reach the block, ascending.
    bias : float32 (n_nodes,)
    solver : Sgd, AdaGrad or DualDescent
    scratch : pair of uint32
        As long as there are features, and instances.
    buffer : float32
        For the weights: at least `row_length` numbers for each feature.

    Returns
    -------
    state : float32
        Begins with the weights of the first feature; those of the next follow after as many numbers as `row_length`
        says. It lies in ``buffer``.
    visited : int
        Pairs of a non-zero and a sibling that were visited, once for each pass.
    """
    local, places = scratch
    block, width = pieces.blocks[i], pieces.widths[i]
    first = pieces.firsts[i] + pieces.bases[i]
    for number in range(features.size):
        local[features[number]] = number
    positions = reach.block_positions[reach.block_starts[block] : reach.block_starts[block + 1]]
    ends, ids, values = gather_rows(x.indptr, x.indices, x.data, reach.order[positions], local)
    padded = padded_size(width)
    targets = np.zeros((positions.size, padded), dtype=np.uint8)
    sibling_targets(reach.node_starts, reach.node_positions, positions, first, targets[:, :width], places)
    state = buffer[: features.size * row_length(solver, width)]
    state[:] = 0
    own_bias = np.zeros(padded, dtype=np.float32)
    visited = solve(solver, ends, ids, values, targets, state, own_bias, width, block)
    copy_into(bias[first:], own_bias[:width])
    return state, visited


@njit(cache=True, nogil=True)
def row_length(solver, width):
    """Return how many float32 a solver keeps for a feature of so many siblings."""
    return numbers_per_weight(solver) * padded_size(width)


@njit(cache=True, nogil=True)
def numbers_needed(pieces, feature_starts, offset, solver):
    """Return how many float32 the largest of some pieces needs; arguments as for `train_siblings_above`."""
    largest = 0
    for i in range(pieces.blocks.size):
        block = pieces.blocks[i] - offset
        n_features = feature_starts[block + 1] - feature_starts[block]
        largest = max(largest, n_features * row_length(solver, pieces.widths[i]))
    return largest


@njit(cache=True, nogil=True)
def train_siblings(x, reach, pieces, features, feature_starts, weights, weight_starts, bias, solver, n_features):
    """Train groups of siblings and keep all their weights.

    Parameters
    ----------
    x : KernelCSR
    reach : Reach
    pieces : Pieces
    features, feature_starts, weights, weight_starts, bias
        As in `NodeWeights`; weights and biases of the pieces' nodes are written.
    solver : Sgd, AdaGrad or DualDescent
    n_features : int
        Features of the instances.

    Returns
    -------
    int
        Pairs of a non-zero and a sibling that were visited, once for each pass.
    """
    scratch = np.empty(n_features, dtype=np.uint32), np.empty(reach.order.size, dtype=np.uint32)
    buffer, visited = aligned_buffer(numbers_needed(pieces, feature_starts, 0, solver)), 0
    for i in range(pieces.blocks.size):
        block, width, degree = pieces.blocks[i], pieces.widths[i], pieces.degrees[i]
        mine = features[feature_starts[block] : feature_starts[block + 1]]
        state, visits = train_piece(x, reach, pieces, i, mine, bias, solver, scratch, buffer)
        visited += visits
        length = row_length(solver, width)
        own = weights[weight_starts[block] + pieces.bases[i] : weight_starts[block + 1]]
        for f in range(mine.size):
            row = borrowed(own, f * degree, f * degree + width)
            copy_into(row, borrowed(state, f * length, f * length + width))
    return visited


@njit(cache=True, nogil=True)
def with_room(array, used, more):
    """Return an array that begins with the first ``used`` entries of this one and has room for ``more`` after them."""
    if used + more <= array.size:
        return array
    longer = np.empty(max(used + more, 2 * used), dtype=array.dtype)
    copy_into(longer, borrowed(array, 0, used))
    return longer


@njit(cache=True, nogil=True)
def train_siblings_above(
    x, reach, pieces, features, feature_starts, offset, bias, solver, n_features, cut, siblings
):  # fmt: skip
    """Train groups of siblings and keep the weights w with abs(w) > cut, while they are in the cache.

    Parameters as for `train_siblings`, and

    Parameters
    ----------
    features, feature_starts
        Of the blocks from block ``offset`` on.
    offset : int
    cut : float32
    siblings : uint16 or uint32, empty
        Of the type that numbers of siblings shall have.

    Returns
    -------
    visited : int
        Pairs of a non-zero and a sibling that were visited, once for each pass.
    kept_features, kept_weights, features, row_starts : tuple of ndarray
    siblings, weights
        As in `CompactBlocks`, with a piece in place of a block.
    """
    scratch = np.empty(n_features, dtype=np.uint32), np.empty(reach.order.size, dtype=np.uint32)
    buffer, visited = aligned_buffer(numbers_needed(pieces, feature_starts, offset, solver)), 0
    kept_features, kept_weights = np.zeros(pieces.blocks.size, np.int64), np.zeros(pieces.blocks.size, np.int64)
    own_features, row_starts = np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint32)
    weights, n_rows, n_entries = np.empty(0, dtype=np.float32), 0, 0
    for i in range(pieces.blocks.size):
        block, width, base = pieces.blocks[i] - offset, pieces.widths[i], pieces.bases[i]
        mine = features[feature_starts[block] : feature_starts[block + 1]]
        state, visits = train_piece(x, reach, pieces, i, mine, bias, solver, scratch, buffer)
        visited += visits
        length = row_length(solver, width)
        rows, entries = count_rows(state, mine.size, length, width, cut)
        own_features, row_starts = with_room(own_features, n_rows, rows), with_room(row_starts, n_rows + i, rows + 1)
        siblings, weights = with_room(siblings, n_entries, entries), with_room(weights, n_entries, entries)
        outputs = (own_features[n_rows:], row_starts[n_rows + i :], siblings[n_entries:], weights[n_entries:])
        fill_rows(mine, state, length, width, base, cut, *outputs)
        kept_features[i], kept_weights[i] = rows, entries
        n_rows, n_entries = n_rows + rows, n_entries + entries
    row_starts = row_starts[: n_rows + pieces.blocks.size].copy()
    kept = (kept_features, kept_weights, own_features[:n_rows].copy(), row_starts)
    return visited, kept, siblings[:n_entries].copy(), weights[:n_entries].copy()
