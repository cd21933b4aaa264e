"""Balanced spherical 2-means over label representations: kernels."""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.counter_random import random_below, stream_key

MIN_GAIN = 1e-4  # rounds go on while the mean similarity gains at least this much (Parabel)
MAX_ROUNDS = 50
NO_SIDE = -1


@njit(cache=True, nogil=True)
def add_members(reps, members, sides, sums):
    """Add the representation of each member to the sum of its side; members without one are left out.

    ``sums`` is float32 (d, 2): the two sums lie side by side, so that a feature costs one cache miss.
    """
    for i in range(members.size):
        side = sides[i]
        if side != NO_SIDE:
            for k in range(reps.indptr[members[i]], reps.indptr[members[i] + 1]):
                sums[reps.indices[k], side] += reps.data[k]


@njit(cache=True, nogil=True)
def clear_members(reps, members, sums):
    """Set the features of all members back to zero, by whichever way touches less."""
    nonzeros = 0
    for label in members:
        nonzeros += reps.indptr[label + 1] - reps.indptr[label]
    if nonzeros > sums.shape[0]:
        sums[:] = np.float32(0.0)
        return
    for label in members:
        for k in range(reps.indptr[label], reps.indptr[label + 1]):
            sums[reps.indices[k], 0] = np.float32(0.0)
            sums[reps.indices[k], 1] = np.float32(0.0)


@njit(cache=True, nogil=True)
def cosines(reps, members, sides, sums, similarities):
    """Write the cosine between each member and each side's centroid, the sum scaled to unit length.

    The squared length of a sum is the sum of its members' products with it, so that no pass over d is needed.
    A sum without length is similar to nothing.
    """
    squares = np.zeros(2, dtype=np.float64)
    for i in range(members.size):
        a, b = 0.0, 0.0
        for k in range(reps.indptr[members[i]], reps.indptr[members[i] + 1]):
            value, feature = np.float64(reps.data[k]), reps.indices[k]
            a += value * np.float64(sums[feature, 0])
            b += value * np.float64(sums[feature, 1])
        similarities[i, 0], similarities[i, 1] = a, b
        if sides[i] != NO_SIDE:
            squares[sides[i]] += similarities[i, sides[i]]
    for side in range(2):
        if squares[side] > 0.0:
            similarities[:, side] /= np.sqrt(squares[side])


@njit(cache=True, nogil=True)
def bisect(reps, members, key, sums):
    """Part the members of one node into two halves by balanced spherical 2-means.

    Parameters
    ----------
    reps : KernelCSR
        Representations (m, d), rows of unit length or empty.
    members : int64
        Labels, ascending; at least two.
    key : uint64
        Random stream of the node: its first two numbers choose two members as first centroids.
    sums : float32 (d, 2)
        Scratch, zero on entry and on return.

    Returns
    -------
    int8 (members.size,)
        Side of each member; side 0 has the odd one.
    """
    n = members.size
    half = (n + 1) // 2
    sides = np.full(n, NO_SIDE, dtype=np.int8)
    first = random_below(key, 0, n)
    second = random_below(key, 1, n - 1)
    sides[first] = 0
    sides[second + 1 if second >= first else second] = 1
    similarities = np.empty((n, 2), dtype=np.float64)
    before = -np.inf
    for _ in range(MAX_ROUNDS):
        add_members(reps, members, sides, sums)
        cosines(reps, members, sides, sums, similarities)
        clear_members(reps, members, sums)
        # A stable sort of ascending labels: ties go to the smaller label.
        ranking = np.argsort(similarities[:, 1] - similarities[:, 0], kind="mergesort")
        mean = 0.0
        for rank in range(n):
            side = 0 if rank < half else 1
            sides[ranking[rank]] = side
            mean += similarities[ranking[rank], side] / n
        if mean - before < MIN_GAIN:
            break
        before = mean
    return sides


@njit(cache=True, nogil=True)
def bisect_segments(reps, n_features, order, starts, ends, ids, key):
    """Bisect segments of ``order`` in place: afterwards each holds its side 0, then its side 1, both ascending.

    Parameters
    ----------
    reps : KernelCSR
    n_features : int
    order : int64 (m,)
        Labels, ascending within each segment.
    starts, ends : int64
        The segments, each of at least two labels; kernels that run together have disjoint ones.
    ids : int64
        Number of each segment's node in the binary tree, which with ``key`` (uint64) is its random stream.
    """
    sums = np.zeros((n_features, 2), dtype=np.float32)
    for i in range(starts.size):
        members = order[starts[i] : ends[i]].copy()
        sides = bisect(reps, members, stream_key(key, ids[i]), sums)
        place = np.array([starts[i], starts[i] + (members.size + 1) // 2])
        for label, side in zip(members, sides):
            order[place[side]] = label
            place[side] += 1
