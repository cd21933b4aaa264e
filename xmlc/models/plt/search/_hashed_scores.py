"""Estimates from weights that are hashed into one table: kernels (plt2016, Section 6: feature hashing)."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.counter_random import mix64
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.prefetch import prefetch
from xmlc.runtime.kernel_cache import njit


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
def ask_for_slots(ids, values, nodes, node, slots, signed):
    """Find the slots of one node's features, prefetch them, and give the values their signs."""
    key, mask = node_key(nodes.seed, node), np.uint64(nodes.table.size - 1)
    for k in range(ids.size):
        slot, sign = slot_and_sign(key, ids[k], mask)
        slots[k], signed[k] = slot, sign * values[k]
        prefetch(nodes.table, np.int64(slot))


@njit(cache=True, nogil=True)
def slots_estimate(slots, signed, nodes, node):
    """Return the probability estimate of one node for one instance, laid out by `ask_for_slots`."""
    score = nodes.bias[node]
    for k in range(slots.size):
        score += signed[k] * nodes.table[slots[k]]
    return sigmoid(np.float32(score * np.float32(1.0 / nodes.scale[node])))


@njit(cache=True, nogil=True)
def hashed_block_estimates(ids, values, nodes, first, estimates):
    """Write the probability estimates of ``estimates.size`` nodes, at least one, from ``first`` on for one instance.

    The slots of the next node are under way while those of one are read.
    """
    slots, signed = np.empty((2, ids.size), dtype=np.uint64), np.empty((2, ids.size), dtype=np.float32)
    ask_for_slots(ids, values, nodes, first, slots[0], signed[0])
    for c in range(estimates.size):
        now = c & 1
        if c + 1 < estimates.size:
            ask_for_slots(ids, values, nodes, first + c + 1, slots[1 - now], signed[1 - now])
        estimates[c] = slots_estimate(slots[now], signed[now], nodes, first + c)
