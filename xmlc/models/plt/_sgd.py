"""Two-phase stochastic gradient descent for the children of one tree node: kernels (plt2016, Appendix B)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

CONTRACT = {"contract"}  # lets multiply and add fuse; never reorders a sum


@njit(cache=True, nogil=True, fastmath=CONTRACT)
def sigmoid(score):
    """Return 1 / (1 + exp(-score)) in float32, without overflow."""
    if score >= np.float32(0.0):
        return np.float32(1.0) / (np.float32(1.0) + math.exp(-score))
    e = math.exp(score)
    return e / (np.float32(1.0) + e)


@njit(cache=True, nogil=True)
def count_features(indptr, indices, order, starts, positions, blocks, n_features):
    """Count the distinct features, and the non-zeros, of the instances that reach each block.

    Parameters
    ----------
    indptr : int64 (n + 1,), indices : uint32
        Instances in CSR form.
    order : int64 (n,)
        Rows in the order of the pass.
    starts : int64, positions : uint32
        Instances that reach each block, as positions in ``order``.
    blocks : int64
        Blocks to look at.

    Returns
    -------
    distinct, nonzeros : int64 (blocks.size,)
    """
    distinct = np.zeros(blocks.size, dtype=np.int64)
    nonzeros = np.zeros(blocks.size, dtype=np.int64)
    stamp = np.zeros(n_features, dtype=np.int32)
    for b in range(blocks.size):
        for position in positions[starts[blocks[b]] : starts[blocks[b] + 1]]:
            row = order[position]
            ids = indices[indptr[row] : indptr[row + 1]]
            nonzeros[b] += ids.size
            for feature in ids:
                if stamp[feature] != b + 1:
                    stamp[feature] = b + 1
                    distinct[b] += 1
    return distinct, nonzeros


@njit(cache=True, nogil=True)
def fill_features(indptr, indices, order, starts, positions, blocks, n_features, feature_starts, features):
    """List the distinct features of each block, ascending, in its part of ``features``.

    Parameters as for `count_features`; ``feature_starts`` (int64, one more than there are blocks) says where
    each block's part of ``features`` (uint32) begins.
    """
    stamp = np.zeros(n_features, dtype=np.int32)
    for b in range(blocks.size):
        mine = features[feature_starts[blocks[b]] : feature_starts[blocks[b] + 1]]
        count = 0
        for position in positions[starts[blocks[b]] : starts[blocks[b] + 1]]:
            row = order[position]
            for feature in indices[indptr[row] : indptr[row + 1]]:
                if stamp[feature] != b + 1:
                    stamp[feature] = b + 1
                    mine[count] = feature
                    count += 1
        mine.sort()


@njit(cache=True, nogil=True)
def gather_rows(indptr, indices, data, rows, local):
    """Copy some instances side by side, their features renumbered by ``local``.

    Returns
    -------
    ends : int64 (rows.size + 1,), ids : uint32, values : float32
    """
    ends = np.zeros(rows.size + 1, dtype=np.int64)
    for i in range(rows.size):
        ends[i + 1] = ends[i] + indptr[rows[i] + 1] - indptr[rows[i]]
    ids = np.empty(ends[-1], dtype=np.uint32)
    values = np.empty(ends[-1], dtype=np.float32)
    for i in range(rows.size):
        start, end = indptr[rows[i]], indptr[rows[i] + 1]
        values[ends[i] : ends[i + 1]] = data[start:end]
        for k in range(end - start):
            ids[ends[i] + k] = local[indices[start + k]]
    return ends, ids, values


@njit(cache=True, nogil=True)
def sibling_targets(starts, positions, parent_positions, first, targets):
    """Set ``targets[i, c]`` to 1 where instance i of the parent has z = 1 for the sibling ``first + c``.

    ``starts`` and ``positions`` list the instances of each node; ``targets`` is uint8 (instances, siblings),
    all zero.
    """
    for c in range(targets.shape[1]):
        mine = positions[starts[first + c] : starts[first + c + 1]]
        for i in np.searchsorted(parent_positions, mine):
            targets[i, c] = 1


@njit(cache=True, nogil=True, fastmath=CONTRACT)
def child_scores(ids, values, weights, bias, base, n_children, scores):
    """Add up the linear scores of some siblings for one instance.

    The weights of a feature for all siblings lie side by side, so a non-zero of the instance touches one run
    of ``4 * scores.size`` bytes.

    Parameters
    ----------
    ids : uint32, values : float32
        The instance.
    weights : float32, flat
        Block of (features, n_children) weights, feature after feature.
    bias : float32 (siblings,)
    base : int
        Number of the first sibling within the block.
    scores : float32 (siblings,)
        Overwritten.
    """
    scores[:] = bias
    for k in range(ids.size):
        value = values[k]
        start = np.int64(ids[k]) * n_children + base
        row = weights[start : start + scores.size]
        for c in range(scores.size):
            scores[c] += value * row[c]


@njit(cache=True, nogil=True, fastmath=CONTRACT)
def train_children(ends, ids, values, targets, weights, bias, base, n_children, gamma, lam, epochs):
    """Train the node classifiers of some siblings by two-phase SGD with lazy scaling (Appendix B).

    The block holds the scaled weights Pi_t * w_t until the end; step t (from 0) is
    gamma_t = gamma / (1 + lam * gamma * t), and all siblings share t and Pi because they see the same
    instances. Moves 16 bytes per non-zero and sibling (two reads, one write, and the instance itself).

    Parameters
    ----------
    ends : int64, ids : uint32, values : float32
        Instances that reach the parent, in the order of the pass, with the parent's feature numbers.
    targets : uint8 (instances, siblings)
        z_t of each instance and sibling.
    weights : float32, flat
        The parent's block, see `child_scores`; zero on entry, the weights on return.
    bias : float32 (siblings,)
        Zero on entry; the weight of the constant feature 1 on return.
    base, n_children : int
        Number of the first sibling within the block, and the block's width.
    """
    n_siblings = bias.size
    scores = np.empty(n_siblings, dtype=np.float32)
    steps = np.empty(n_siblings, dtype=np.float32)
    scale = 1.0
    t = 0
    for _ in range(epochs):
        for i in range(ends.size - 1):
            row_ids, row_values = ids[ends[i] : ends[i + 1]], values[ends[i] : ends[i + 1]]
            child_scores(row_ids, row_values, weights, bias, base, n_children, scores)
            gamma_t = gamma / (1.0 + lam * gamma * t)
            inverse, step = np.float32(1.0 / scale), np.float32(scale * gamma_t)
            for c in range(n_siblings):
                steps[c] = step * (sigmoid(scores[c] * inverse) - np.float32(targets[i, c]))
                bias[c] -= steps[c]
            for k in range(row_ids.size):
                value = row_values[k]
                start = np.int64(row_ids[k]) * n_children + base
                row = weights[start : start + n_siblings]
                for c in range(n_siblings):
                    row[c] -= value * steps[c]
            scale *= 1.0 + lam * gamma_t
            t += 1
    inverse = np.float32(1.0 / scale)
    for c in range(n_siblings):
        bias[c] *= inverse
    for f in range(weights.size // n_children):
        for c in range(base + f * n_children, base + f * n_children + n_siblings):
            weights[c] *= inverse
