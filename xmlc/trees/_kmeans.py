"""Balanced spherical 2-means over label representations: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.csr import KernelCSR
from xmlc.kernels.arrays import borrowed
from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.runtime.kernel_cache import njit

MIN_GAIN = 1e-4  # rounds go on while the mean similarity gains at least this much (Parabel)
MAX_ROUNDS = 50
NO_SIDE = -1
RESOLUTION = 2.0**20  # differences of cosines are resolved to 1 / this: coarser than the rounding of float32 sums
MIN_SQUARE = 1e-6  # a sum shorter than the root of this is what rounding left of rows that cancel out
NONZEROS_PER_COPY = 1 << 18  # segments up to this size are bisected in a copy (2 MiB) with features numbered anew
NOT_SEEN = np.uint32(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def first_sides(n, key):
    """Choose two of ``n`` members as first centroids by the first two numbers of a stream: sides int8 (n,)."""
    sides = np.full(n, NO_SIDE, dtype=np.int8)
    first = random_below(key, 0, n)
    second = random_below(key, 1, n - 1)
    sides[first] = 0
    sides[second + 1 if second >= first else second] = 1
    return sides


@njit(cache=True, nogil=True)
def move_members(rows, members, before, after, sums):
    """Take each member's row from the sum of its side ``before`` and add it to that of its side ``after``.

    ``sums`` is float32 (d, 2): the two sums lie side by side, so that a feature costs one cache miss. Few members
    change sides after the first round, and only these cost anything.
    """
    for i in range(members.size):
        old, new = before[i], after[i]
        if old == new:
            continue
        start, end = np.uint64(rows.indptr[members[i]]), np.uint64(rows.indptr[members[i] + 1])
        if old == NO_SIDE:
            for k in range(start, end):
                sums[rows.indices[k], new] += rows.data[k]
        else:
            for k in range(start, end):
                sums[rows.indices[k], old] -= rows.data[k]
                sums[rows.indices[k], new] += rows.data[k]


@njit(cache=True, nogil=True)
def clear_members(rows, members, sums):
    """Set the features of all members back to zero, by whichever way touches less."""
    nonzeros = 0
    for member in members:
        nonzeros += rows.indptr[member + 1] - rows.indptr[member]
    if nonzeros > sums.shape[0]:
        sums[:] = np.float32(0.0)
        return
    for member in members:
        for feature in borrowed(rows.indices, rows.indptr[member], rows.indptr[member + 1]):
            sums[feature, 0] = np.float32(0.0)
            sums[feature, 1] = np.float32(0.0)


@njit(cache=True, nogil=True)
def multiply_members(rows, members, sums, start, end, products):
    """Write the products of members ``start .. end - 1`` with the two sums into ``products``, float64 (n, 2).

    Reads 8 bytes of a row and 8 of the sums per non-zero; the products are added up in float32, in two chains each
    so that one addition need not wait for the one before.
    """
    for i in range(start, end):
        a0, b0, a1, b1 = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        k, last = np.uint64(rows.indptr[members[i]]), np.uint64(rows.indptr[members[i] + 1])
        if (last - k) & np.uint64(1):
            a0 += rows.data[k] * sums[rows.indices[k], 0]
            b0 += rows.data[k] * sums[rows.indices[k], 1]
            k += np.uint64(1)
        while k < last:
            value, feature = rows.data[k], rows.indices[k]
            a0 += value * sums[feature, 0]
            b0 += value * sums[feature, 1]
            k += np.uint64(1)
            value, feature = rows.data[k], rows.indices[k]
            a1 += value * sums[feature, 0]
            b1 += value * sums[feature, 1]
            k += np.uint64(1)
        products[i, 0] = np.float64(a0) + np.float64(a1)
        products[i, 1] = np.float64(b0) + np.float64(b1)


@njit(cache=True, nogil=True)
def halve(products, sides, halves):
    """Give the half of the members that is nearer to side 0's centroid to side 0, and return their mean cosine.

    The squared length of a sum is the sum of its members' products with it, so that no pass over d is needed. A sum
    without length is similar to nothing. Ties go to the smaller member.

    Parameters
    ----------
    products : float64 (n, 2)
        Products of each member with the sums of the two sides.
    sides : int8 (n,)
        The sides that were added up.
    halves : int8 (n,)
        The new sides, written here; side 0 has the odd member.

    Returns
    -------
    float64
        Mean cosine between the members and the centroids of their new sides.
    """
    n = sides.size
    squares = np.zeros(2, dtype=np.float64)
    for i in range(n):
        if sides[i] != NO_SIDE:
            squares[sides[i]] += products[i, sides[i]]
    scales = np.zeros(2, dtype=np.float64)
    for side in range(2):
        if squares[side] > MIN_SQUARE:
            scales[side] = 1.0 / np.sqrt(squares[side])
    ranks = np.empty(n, dtype=np.int64)
    for i in range(n):
        difference = products[i, 1] * scales[1] - products[i, 0] * scales[0]
        ranks[i] = np.int64(np.rint(difference * RESOLUTION)) * (1 << 32) + i
    last = (n - 1) // 2
    middle = np.partition(ranks, last)[last]
    mean = 0.0
    for i in range(n):
        side = 1 if ranks[i] > middle else 0
        halves[i] = side
        mean += products[i, side] * scales[side]
    return mean / n


@njit(cache=True, nogil=True)
def bisect(rows, members, key, sums):
    """Part the members of one node into two halves by balanced spherical 2-means.

    Parameters
    ----------
    rows : KernelCSR
        Representations, rows of unit length or empty.
    members : int64
        Rows, ascending; at least two.
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
    sides = first_sides(n, key)
    halves = np.empty(n, dtype=np.int8)
    products = np.empty((n, 2), dtype=np.float64)
    move_members(rows, members, np.full(n, NO_SIDE, dtype=np.int8), sides, sums)
    before = -np.inf
    for _ in range(MAX_ROUNDS):
        multiply_members(rows, members, sums, np.int64(0), n, products)
        mean = halve(products, sides, halves)
        if mean - before < MIN_GAIN:
            break
        move_members(rows, members, sides, halves, sums)
        sides[:] = halves
        before = mean
    clear_members(rows, members, sums)
    return halves


@njit(cache=True, nogil=True)
def place_halves(order, start, members, halves):
    """Write the members of side 0, then those of side 1, to ``order[start:]``, each as they were."""
    places = np.array([start, start + (members.size + 1) // 2])
    for i in range(members.size):
        order[places[halves[i]]] = members[i]
        places[halves[i]] += 1


@njit(cache=True, nogil=True)
def copy_rows(rows, members, numbers):
    """Copy the members' rows side by side, their features numbered as they come.

    ``numbers`` is scratch, uint32 (d,), all `NOT_SEEN` on entry and on return. Returns the rows and how many features
    they have.
    """
    starts = np.zeros(members.size + 1, dtype=np.int64)
    for i in range(members.size):
        starts[i + 1] = starts[i] + rows.indptr[members[i] + 1] - rows.indptr[members[i]]
    indices = np.empty(starts[-1], dtype=np.uint32)
    data = np.empty(starts[-1], dtype=np.float32)
    count = np.uint32(0)
    for i in range(members.size):
        place = np.uint64(starts[i])
        for k in range(np.uint64(rows.indptr[members[i]]), np.uint64(rows.indptr[members[i] + 1])):
            feature = rows.indices[k]
            if numbers[feature] == NOT_SEEN:
                numbers[feature] = count
                count += np.uint32(1)
            indices[place] = numbers[feature]
            data[place] = rows.data[k]
            place += np.uint64(1)
    for member in members:
        for feature in borrowed(rows.indices, rows.indptr[member], rows.indptr[member + 1]):
            numbers[feature] = NOT_SEEN
    return KernelCSR(starts, indices, data), np.int64(count)


@njit(cache=True, nogil=True)
def bisections_left(size, left, depth, max_leaf):
    """Return how many rounds of bisection a segment still has to go through.

    ``left`` are those that its node's children are made by; if there are none, the segment is a node itself, and
    is parted in ``depth`` rounds if it is larger than ``max_leaf``.
    """
    if size < 2:
        return 0
    return left if left > 0 or size <= max_leaf else depth


@njit(cache=True, nogil=True)
def bisect_segment(rows, order, segment, key, sums, stack):
    """Bisect one segment of ``order`` in place and put its halves, with their numbers, on the stack."""
    start, end, number, left = segment
    members = order[start:end].copy()
    place_halves(order, start, members, bisect(rows, members, stream_key(key, number), sums))
    middle = start + (members.size + 1) // 2
    stack.append((middle, end, 2 * number + 1, left - 1))
    stack.append((start, middle, 2 * number, left - 1))


@njit(cache=True, nogil=True)
def bisect_copy(rows, members, number, left, depth, max_leaf, key, numbers):
    """Bring the members of one node into the tree's order in a copy of their rows; arguments as in `bisect_below`."""
    own, n_own = copy_rows(rows, members, numbers)
    sums = np.zeros((n_own, 2), dtype=np.float32)
    order = np.arange(members.size)
    stack = [(0, members.size, number, left)]
    while stack:
        start, end, number, left = stack.pop()
        left = bisections_left(end - start, left, depth, max_leaf)
        if left > 0:
            bisect_segment(own, order, (start, end, number, left), key, sums, stack)
    return members[order]


@njit(cache=True, nogil=True)
def bisect_below(rows, n_features, order, start, end, number, left, depth, max_leaf, key, nonzeros_per_copy):
    """Bisect a segment of ``order`` and all below it in place: afterwards its members are in the tree's order.

    Parameters
    ----------
    rows : KernelCSR
        Representations (m, n_features), rows of unit length or empty.
    order : int64 (m,)
        Labels, ascending within the segment; kernels that run together have disjoint segments.
    start, end : int
        The segment.
    number : int
        Number of its node in the binary tree, in which the root is 1; with ``key`` (uint64) its random stream.
    left, depth, max_leaf : int
        See `bisections_left`.
    key : uint64
    nonzeros_per_copy : int
        A segment with at most so many non-zeros is copied, see `copy_rows`, and with it all below.
    """
    sums = np.zeros((n_features, 2), dtype=np.float32)
    numbers = np.full(n_features, NOT_SEEN, dtype=np.uint32)
    stack = [(start, end, number, left)]
    while stack:
        start, end, number, left = stack.pop()
        left = bisections_left(end - start, left, depth, max_leaf)
        if left == 0:
            continue
        nonzeros = 0
        for label in order[start:end]:
            nonzeros += rows.indptr[label + 1] - rows.indptr[label]
        if nonzeros > nonzeros_per_copy:
            bisect_segment(rows, order, (start, end, number, left), key, sums, stack)
        else:
            members = order[start:end].copy()
            order[start:end] = bisect_copy(rows, members, number, left, depth, max_leaf, key, numbers)
