"""Estimates from weights that are hashed into one table: kernels (plt2016, Section 6: feature hashing)."""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.kernels.counter_random import mix64
from xmlc.kernels.float32 import sigmoid


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
