"""The best labels or nodes of an instance, kept in order while more are found: kernels.

`insert_best` keeps two lists, of labels and of estimates. `insert_key` keeps one of keys (`rank_key`) and moves them
without a branch where they are few: a search inserts many nodes, each at another place, and a processor that guesses
the place wrong loses 20 cycles, in which all keys of a short list are moved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from xmlc.kernels.bits import bits_float, float_bits
from xmlc.kernels.vectors import Lanes, Vectors
from xmlc.runtime.kernel_cache import njit

LARGEST = np.int64(0x7FFFFFFF)  # number
FREE = np.int64((-0x40800000 << 32) + 0x80000000)  # the key of number -1 with estimate -1: below any other
LANES = 16  # of a register of float32
SHORT = 32  # places; in a longer list a wrong guess costs less than moving all keys


@njit(cache=True, nogil=True, inline="always")
def _comes_before(label, estimate, other, other_estimate):
    """Whether a label ranks before another: by the greater estimate, of equal ones by the smaller label."""
    return estimate > other_estimate or (estimate == other_estimate and (label < other or other < 0))


@njit(cache=True, nogil=True)
def insert_best(labels, estimates, label, estimate):
    """Insert a label into a list of the best, sorted by estimate, ties to the smaller label; O(k).

    A free entry has an estimate that is no greater than any that is offered, and where it may be equal the label -1.
    """
    place = labels.size - 1
    if place < 0 or not _comes_before(label, estimate, labels[place], estimates[place]):
        return
    while place > 0 and _comes_before(label, estimate, labels[place - 1], estimates[place - 1]):
        labels[place], estimates[place] = labels[place - 1], estimates[place - 1]
        place -= 1
    labels[place], estimates[place] = label, estimate


@njit(cache=True, nogil=True, inline="always")
def ranks_before(value, number, other_value, other_number):
    """Whether something ranks before something else: by the greater value, of equal ones by the smaller number."""
    return value > other_value or (value == other_value and number < other_number)


@njit(cache=True, nogil=True)
def push_node(heap_nodes, heap_estimates, size, node, estimate):
    """Push onto a max-heap ordered by (estimate, smaller node first)."""
    i = size
    while i > 0:
        up = (i - 1) >> 1
        if ranks_before(heap_estimates[up], heap_nodes[up], estimate, node):
            break
        heap_nodes[i], heap_estimates[i] = heap_nodes[up], heap_estimates[up]
        i = up
    heap_nodes[i], heap_estimates[i] = node, estimate


@njit(cache=True, nogil=True)
def pop_node(heap_nodes, heap_estimates, size):
    """Remove the top of the max-heap of `push_node`; the caller read it at index 0."""
    last = size - 1
    node, estimate = heap_nodes[last], heap_estimates[last]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= last:
            break
        right = child + 1
        if right < last and ranks_before(
            heap_estimates[right], heap_nodes[right], heap_estimates[child], heap_nodes[child]
        ):
            child = right
        if ranks_before(estimate, node, heap_estimates[child], heap_nodes[child]):
            break
        heap_nodes[i], heap_estimates[i] = heap_nodes[child], heap_estimates[child]
        i = child
    heap_nodes[i], heap_estimates[i] = node, estimate


@njit(cache=True, nogil=True, inline="always")
def rank_key(number, estimate):
    """Return an int64 that is greater for the greater float32 estimate >= 0, and of equal ones for the smaller number.

    Numbers are from -1 to 2**31 - 1.
    """
    return (np.int64(float_bits(estimate)) << np.int64(32)) + (LARGEST - np.int64(number))


@njit(cache=True, nogil=True, inline="always")
def key_number(key):
    """Return the number of a key as int32; -1 of `FREE`."""
    return np.int32(LARGEST - (key & np.int64(0xFFFFFFFF)))


@njit(cache=True, nogil=True, inline="always")
def key_estimate(key):
    """Return the float32 estimate of a key; -1 of `FREE`."""
    return bits_float(np.uint32((key >> np.int64(32)) & np.int64(0xFFFFFFFF)))


@njit(cache=True, nogil=True)
def insert_key(keys, key):
    """Insert a key into a list sorted in descending order; return the one that has no place any more, maybe this one.

    Free places hold `FREE`. A short list is gone through whatever the key: 1 ns for 3 places.
    """
    if keys.size > SHORT:
        return insert_key_far(keys, key)
    for place in range(keys.size):
        other = keys[place]
        keys[place] = max(other, key)
        key = min(other, key)
    return key


@njit(cache=True, nogil=True)
def insert_key_far(keys, key):
    """Do what `insert_key` does, from the end of the list on and no farther than the key goes."""
    place = keys.size - 1
    last = keys[place]
    if key <= last:
        return key
    while place > 0 and keys[place - 1] < key:
        keys[place] = keys[place - 1]
        place -= 1
    keys[place] = key
    return last


@intrinsic
def reaching_16(typing_context: Any, estimates: Any, factor: Any, least: Any) -> Any:
    """Return what `reaching` does of the first 16 estimates, which are compared all at once."""

    def generate(context, builder, signature, arguments):
        vectors = Vectors(builder, LANES)
        estimates = context.make_array(signature.args[0])(context, builder, arguments[0])
        factor, least = (Lanes(vectors, vectors.broadcast(number)) for number in arguments[1:])
        products = factor * Lanes(
            vectors, vectors.load(vectors.at(estimates.data, context.get_constant(types.intp, 0)))
        )
        mask = builder.bitcast(products.compared(">=", least), ir.IntType(LANES))
        return builder.zext(mask, ir.IntType(64))

    return types.uint64(estimates, types.float32, types.float32), generate


@njit(cache=True, nogil=True)
def reaching(estimates, factor, least):
    """Return which of up to 64 estimates, multiplied by a factor, are at least ``least``, as the bits of a uint64."""
    if estimates.size == LANES:
        return reaching_16(estimates, factor, least)
    mask = np.uint64(0)
    for c in range(estimates.size):
        mask |= np.uint64(factor * estimates[c] >= least) << np.uint64(c)
    return mask
