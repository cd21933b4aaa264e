"""Send instances from a node to its children: kernels (ldsm2020, Section 2 and Algorithms 4 and 5)."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.kernels.sums import sparse_dot
from xmlc.runtime.kernel_cache import njit

SENT = np.float32(0.5)  # an instance goes in each direction whose margin reaches this


@njit(cache=True, nogil=True)
def lay_out(features, weights, dense):
    """Write the weights of a node's features, float32 (p, M), into ``dense``, float32 (d * M,)."""
    arity = weights.shape[1]
    for k in range(features.size):
        place = np.int64(features[k]) * arity
        for j in range(arity):
            dense[place + j] = weights[k, j]


@njit(cache=True, nogil=True)
def clear(features, arity, dense):
    """Set to 0 what `lay_out` wrote."""
    for feature in features:
        place = np.int64(feature) * arity
        for j in range(arity):
            dense[place + j] = 0


@njit(cache=True, nogil=True)
def directions_of(ids, values, dense, biases, margins):
    """Return the directions of an instance, a bit each; ``margins``, float32 (M,), is overwritten by w_j . x.

    If no margin reaches 1/2, the largest one decides, the first among equal ones.
    """
    arity = biases.size
    for j in range(biases.size):
        margins[j] = biases[j] + sparse_dot(ids, values, dense[j::arity])
    chosen = 0
    for j in range(biases.size):
        chosen |= (margins[j] >= SENT) << j
    if chosen == 0:
        largest = 0
        for j in range(1, biases.size):
            if margins[j] > margins[largest]:
                largest = j
        chosen = 1 << largest
    return chosen


@njit(cache=True, nogil=True)
def route(x, instances, features, weights, biases, dense, chosen):
    """Find the directions of the instances of a node.

    Parameters
    ----------
    x : KernelCSR
    instances : uint32 (n,)
    features : uint32 (p,), weights : float32 (p, M), biases : float32 (M,)
        The node's regressors.
    dense : float32 (d * M,)
        Scratch, all zero before and after.
    chosen : uint8 (n,)
        Overwritten by the directions, a bit each.
    """
    margins = np.empty(biases.size, dtype=np.float32)
    lay_out(features, weights, dense)
    indptr, indices, data = x.indptr, x.indices, x.data
    for i in range(instances.size):
        start, end = indptr[instances[i]], indptr[instances[i] + 1]
        ids, values = borrowed(indices, start, end), borrowed(data, start, end)
        chosen[i] = directions_of(ids, values, dense, biases, margins)
    clear(features, biases.size, dense)


@njit(cache=True, nogil=True)
def divides(chosen, sizes):
    """Count the instances sent in each direction into ``sizes``, int64 (M,); tell whether none gets none or all."""
    sizes[:] = 0
    for i in range(chosen.size):
        for j in range(sizes.size):
            sizes[j] += (chosen[i] >> j) & 1
    result = True
    for j in range(sizes.size):
        result &= 0 < sizes[j] < chosen.size
    return result


@njit(cache=True, nogil=True)
def sent_to(instances, chosen, direction, sent):
    """Write the instances that go in a direction, in their order, into ``sent``, as many as they are."""
    n_sent = 0
    for i in range(instances.size):
        if (chosen[i] >> direction) & 1:
            sent[n_sent] = instances[i]
            n_sent += 1
