"""Node weights hashed into one table: kernels (plt2016, Section 6: feature hashing shared over all nodes)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.csr import KernelCSR
from xmlc.kernels.counter_random import mix64, stream_key
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.streams import Stream
from xmlc.trees import LabelTree


class HashedWeights(NamedTuple):
    """Tree and hashed weights in the form that the kernels take.

    Attributes
    ----------
    children : int64 (n_nodes + 1,), label : int32 (n_nodes,)
        The tree, as in `NodeWeights`.
    table : float32 (2**k,)
        The weights shared by all nodes; a node's weight is its slot times the sign divided by ``scale``.
    scale : float64 (n_nodes,)
        Pi of each node (Appendix B).
    bias : float32 (n_nodes,)
        Weight of the constant feature times ``scale``; not hashed.
    seed : uint64
        Key of the hash function.
    """

    children: np.ndarray
    label: np.ndarray
    table: np.ndarray
    scale: np.ndarray
    bias: np.ndarray
    seed: np.uint64


@njit(cache=True, nogil=True)
def node_key(seed, node):
    """Return the uint64 key under which a node hashes its features."""
    return mix64(np.uint64(seed) ^ mix64(np.uint64(node) + np.uint64(1)))


@njit(cache=True, nogil=True)
def slot_and_sign(key, feature, mask):
    """Return the slot of (node, feature) and its sign, from independent bits of one hash."""
    bits = mix64(key + np.uint64(feature))
    sign = np.float32(1.0) if bits >> np.uint64(63) else np.float32(-1.0)
    return bits & mask, sign


@njit(cache=True, nogil=True)
def hashed_score(ids, values, table, bias, key):
    """Return the scaled linear score of one node: one random read of the table per non-zero."""
    mask = np.uint64(table.size - 1)
    score = bias
    for k in range(ids.size):
        slot, sign = slot_and_sign(key, ids[k], mask)
        score += values[k] * (sign * table[slot])
    return score


@njit(cache=True, nogil=True)
def hashed_estimate(ids, values, nodes, node):
    """Return the probability estimate of one node for one instance."""
    key = node_key(nodes.seed, node)
    score = hashed_score(ids, values, nodes.table, nodes.bias[node], key)
    return sigmoid(np.float32(score * np.float32(1.0 / nodes.scale[node])))


@njit(cache=True, nogil=True)
def hashed_block_estimates(ids, values, nodes, first, estimates):
    """Write the probability estimates of ``estimates.size`` nodes from ``first`` on for one instance."""
    for c in range(estimates.size):
        estimates[c] = hashed_estimate(ids, values, nodes, first + c)


@njit(cache=True, nogil=True)
def hashed_step(ids, values, nodes, steps_done, node, target, gamma, lam):
    """Take one two-phase step (Appendix B) for one node and one instance."""
    key = node_key(nodes.seed, node)
    mask = np.uint64(nodes.table.size - 1)
    gamma_t = gamma / (1.0 + lam * gamma * steps_done[node])
    estimate = hashed_estimate(ids, values, nodes, node)
    step = np.float32(nodes.scale[node] * gamma_t) * (estimate - target)
    nodes.bias[node] -= step
    for k in range(ids.size):
        slot, sign = slot_and_sign(key, ids[k], mask)
        nodes.table[slot] -= values[k] * (sign * step)
    nodes.scale[node] *= 1.0 + lam * gamma_t
    steps_done[node] += 1


@njit(cache=True, nogil=True)
def hashed_pass(x, y, order, leaf, parent, nodes, steps_done, gamma, lam, stamp, epoch):
    """Pass once over the training set, instance by instance, root first (Algorithm 3 as an online learner).

    ``stamp`` is int64 (n_nodes,) scratch that starts at -1; ``steps_done`` int64 (n_nodes,) counts steps.
    """
    positives = np.empty(parent.size, dtype=np.int32)
    for position in range(order.size):
        row = order[position]
        ids = x.indices[x.indptr[row] : x.indptr[row + 1]]
        values = x.data[x.indptr[row] : x.indptr[row + 1]]
        mark = epoch * order.size + position
        count = 0
        for label in y.indices[y.indptr[row] : y.indptr[row + 1]]:
            node = leaf[label]
            while node >= 0 and stamp[node] != mark:
                stamp[node] = mark
                positives[count] = node
                count += 1
                node = parent[node]
        root_target = np.float32(1.0) if count > 0 else np.float32(0.0)
        hashed_step(ids, values, nodes, steps_done, np.int64(0), root_target, gamma, lam)
        for node in np.sort(positives[:count]):
            for child in range(nodes.children[node], nodes.children[node + 1]):
                target = np.float32(1.0) if stamp[child] == mark else np.float32(0.0)
                hashed_step(ids, values, nodes, steps_done, child, target, gamma, lam)


def train_hashed(
    x: KernelCSR,
    y: KernelCSR,
    tree: LabelTree,
    order: np.ndarray,
    gamma: float,
    lam: float,
    epochs: int,
    hash_bits: int,
    random_state: int,
) -> HashedWeights:
    """Train all node classifiers on one shared table of ``2**hash_bits`` weights, on one thread."""
    n_nodes = tree.n_nodes
    seed = np.uint64(stream_key(np.int64(random_state), np.int64(Stream.PLT_HASH)))
    table = np.zeros(1 << hash_bits, dtype=np.float32)
    scale, bias = np.ones(n_nodes), np.zeros(n_nodes, dtype=np.float32)
    nodes = HashedWeights(tree.children, tree.label, table, scale, bias, seed)
    stamp, steps_done = np.full(n_nodes, -1, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64)
    leaf = tree.leaf
    for epoch in range(epochs):
        hashed_pass(x, y, order, leaf, tree.parent, nodes, steps_done, gamma, lam, stamp, epoch)
    return nodes
