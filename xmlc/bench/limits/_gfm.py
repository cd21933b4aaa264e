"""What GFM reads and multiplies for each instance, and hardly anything else: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.inference._kernels.counting import compact_samples, counting_room
from xmlc.inference._kernels.gfm import best_size
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def places_of(indptr, labels, n_samples, place):
    """Find where in its instance's table of counts each one belongs, and the extent of the table and of F.

    Parameters
    ----------
    indptr : int64 (n * n_samples + 1,), labels : uint32
        The samples.
    n_samples : int
    place : int32 (m,)
        All -1, and left so.

    Returns
    -------
    places : uint32 (ones,)
        Of each one, its label's place among the instance's.
    rows : uint32 (n * n_samples,)
        Where the row of the table begins that has the counts of a sample's size.
    shapes : int64 (n, 3)
        Sizes with mass, labels that were drawn, and the columns of F that GFM computes.
    """
    room, n = counting_room(indptr, n_samples, place), (indptr.size - 1) // n_samples
    places, rows = np.empty(labels.size, dtype=np.uint32), np.zeros(n * n_samples, dtype=np.uint32)
    shapes = np.empty((n, 3), dtype=np.int64)
    for i in range(n):
        P, sizes, p_empty, ids = compact_samples(indptr, labels, i * n_samples, n_samples, room)
        shapes[i] = sizes.size, ids.size, best_size(P, sizes, p_empty, False, np.empty(0))[2]
        place[ids] = np.arange(ids.size)
        for r in range(i * n_samples, (i + 1) * n_samples):
            rows[r] = ids.size * np.searchsorted(sizes, indptr[r + 1] - indptr[r])
            for e in range(indptr[r], indptr[r + 1]):
                places[e] = place[labels[e]]
        place[ids] = -1
    return places, rows, shapes


@njit(cache=True, nogil=True)
def count_and_multiply(indptr, places, rows, shapes, n_samples, start, end):
    """Count the ones of instances ``start .. end - 1`` by label and size, and add the products of their columns of F.

    Left out are which labels and sizes there are and their order, which `places_of` says, the weights of the sizes
    (one stands for all), and all that is done with a column: its largest entries, their sum, its bounds.

    Returns
    -------
    float64
        The sum of all products, so that none can be left out.
    """
    largest, longest = 0, 0
    for i in range(start, end):
        largest, longest = max(largest, shapes[i, 0] * shapes[i, 1]), max(longest, shapes[i, 1])
    room, F = np.empty(largest), np.zeros(longest)
    share = 1.0 / n_samples
    for i in range(start, end):
        n_sizes, n_labels, n_columns = shapes[i]
        room[: n_sizes * n_labels] = 0.0
        for r in range(i * n_samples, (i + 1) * n_samples):
            row = rows[r]
            for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
                room[row + places[e]] += share
        P, f = room[: n_sizes * n_labels].reshape(n_sizes, n_labels), F[:n_labels]
        for k in range(n_columns):
            add_rows(P, share / (k + 1), f)
    return F.sum()


@njit(cache=True, nogil=True)
def add_rows(P, weight, f):
    """Add the weighted rows of a matrix to ``f``, four at a time."""
    whole = P.shape[0] & ~3
    for s in range(0, whole, 4):
        a, b, c, d = P[s], P[s + 1], P[s + 2], P[s + 3]
        for i in range(f.size):
            f[i] = (((f[i] + weight * a[i]) + weight * b[i]) + weight * c[i]) + weight * d[i]
    for s in range(whole, P.shape[0]):
        row = P[s]
        for i in range(f.size):
            f[i] += weight * row[i]
