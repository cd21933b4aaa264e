"""The index of a training set: what is kept of it so that its nearest instances are found quickly."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from xmlc.csr import kernel_csr

WORD_BITS = 64
POSTING_STEPS = 32767  # a posting holds its value as a multiple of the feature's step, in 16 bits with sign
LENGTH_STEPS = 65000  # lengths of at most 1, and a little more by rounding, as 16 bits without sign
MOST_WORDS = 16
BLOCK_ROWS = 1 << 16  # instances of one block: its numbers fit 16 bits, its accumulators (512 KB) a level-2 cache


class NeighbourIndex(NamedTuple):
    """Training instances of unit length, row by row and feature by feature.

    Features go by their place in the descending order of document frequency (of equal ones the smaller number first).
    The first 64 W, W = ``words.shape[0]``, are *frequent*: who has them is a bit in a word. Each of the others has a
    list of postings in every block of instances.

    Attributes
    ----------
    places : ndarray of uint32, shape (d,)
        Place of each feature; features without any instance come last.
    row_starts : ndarray of int64, shape (n + 1,)
    row_places : ndarray of uint32, shape (nnz,)
        Features of each instance, ascending: the frequent ones come first.
    row_values : ndarray of float32, shape (nnz,)
    sizes : ndarray of uint16, shape (n,)
        Number of features of each instance, 65,535 if it has more.
    words : ndarray of uint64, shape (W, n)
        Bit b of ``words[w, i]``: instance i has the feature in place 64 w + b.
    lengths : ndarray of uint16, shape (W, n)
        Euclidean length of each instance's features in each word, in units of 1 / 65,000, rounded up.
    largest : ndarray of uint16, shape (n,)
        Largest magnitude of each instance's frequent features, in the same way.
    steps : ndarray of float32, shape (n_lists,)
        Of each feature that has lists, the largest magnitude divided by 32767.
    list_starts : ndarray of uint32, shape (n_blocks, n_lists + 1)
        Where the lists of a block start, from ``block_starts`` on.
    block_starts : ndarray of int64, shape (n_blocks,)
    postings : ndarray of uint32, shape (nnz of the features with lists,)
        Instance's number in its block (lower 16 bits) and value in steps, rounded down (upper 16 bits, signed).
    block_rows : int
        Instances in a block, at most 65,536; the last may have fewer.
    """

    places: np.ndarray
    row_starts: np.ndarray
    row_places: np.ndarray
    row_values: np.ndarray
    sizes: np.ndarray
    words: np.ndarray
    lengths: np.ndarray
    largest: np.ndarray
    steps: np.ndarray
    list_starts: np.ndarray
    block_starts: np.ndarray
    postings: np.ndarray
    block_rows: int


def build_index(
    X: sparse.csr_array, n_words: int | None = None, block_rows: int = BLOCK_ROWS, with_lists: bool = True
) -> NeighbourIndex:
    """Index instances of unit length without explicit zeros.

    Parameters
    ----------
    X : csr_array of float32, shape (n, d)
    n_words : int, optional
        Words of frequent features per instance; by default as many as `words_that_pay`.
    block_rows : int
    with_lists : bool
        Without, there are neither frequent features nor lists: enough for who knows which rows to look at.
    """
    n, d = X.shape
    frequencies = np.bincount(X.indices, minlength=d)
    by_frequency = np.argsort(-frequencies, kind="stable")
    places = np.empty(d, dtype=np.uint32)
    places[by_frequency] = np.arange(d, dtype=np.uint32)
    if not with_lists:
        n_words = 0
    n_words = words_that_pay(frequencies[by_frequency], n) if n_words is None else n_words
    # There and back again in linear time: the rows come out in ascending order of places.
    columns = sparse.csr_array((X.data, places.view(np.int32)[X.indices], X.indptr), shape=X.shape).tocsc()
    rows = kernel_csr(columns.tocsr())
    n_lists = max(int(np.count_nonzero(frequencies)) - n_words * WORD_BITS, 0) if with_lists else 0
    lists = lists_by_block(rows, n_words * WORD_BITS if with_lists else d, n_lists, block_rows)
    sizes = np.minimum(np.diff(rows.indptr), np.iinfo(np.uint16).max).astype(np.uint16)
    by_row = (rows.indptr, rows.indices, rows.data, sizes)
    parts: tuple[Any, ...] = (places, *by_row, *frequent_part(rows, n_words), *lists, block_rows)
    return NeighbourIndex(*parts)


def words_that_pay(frequencies: np.ndarray, n: int) -> int:
    """Return how many words of frequent features make the search fastest, from frequencies in descending order.

    A word costs each query a look at all n instances, and saves the postings of its 64 features in as many queries as
    have them, which is as often as the training instances have them. Measured, that is even where the 64 occur in
    one of ten instances, in the root mean square.
    """
    n_words = 0
    while n_words < MOST_WORDS:
        shares = frequencies[n_words * WORD_BITS : (n_words + 1) * WORD_BITS] / n
        if np.sqrt((shares * shares).sum() / WORD_BITS) < 1 / 10:
            break
        n_words += 1
    return n_words


@njit(cache=True, nogil=True)
def frequent_part(rows, n_words):
    """Return words, lengths and largest magnitudes of the frequent features, see `NeighbourIndex`; one pass."""
    n = rows.indptr.size - 1
    words = np.zeros((n_words, n), dtype=np.uint64)
    lengths = np.zeros((n_words, n), dtype=np.uint16)
    squares = np.zeros(n_words)
    largest = np.zeros(n, dtype=np.uint16)
    for i in range(n):
        squares[:] = 0
        most = np.float32(0)
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            place = rows.indices[p]
            if place < n_words * 64:
                words[place >> 6, i] |= np.uint64(1) << np.uint64(place & 63)
                squares[place >> 6] += np.float64(rows.data[p]) ** 2
                most = max(most, abs(rows.data[p]))
        for w in range(n_words):
            lengths[w, i] = np.uint16(np.ceil(np.sqrt(squares[w]) * LENGTH_STEPS))
        largest[i] = np.uint16(np.ceil(most * LENGTH_STEPS))
    return words, lengths, largest


@njit(cache=True, nogil=True)
def lists_by_block(rows, first, n_lists, block_rows):
    """Return ``steps, list_starts, block_starts, postings`` of the features from place ``first`` on; three passes."""
    n = rows.indptr.size - 1
    n_blocks = max((n + block_rows - 1) // block_rows, 1)
    counts = np.zeros((n_blocks, n_lists + 1), dtype=np.uint32)
    steps = np.zeros(n_lists, dtype=np.float32)
    for i in range(n):
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            if rows.indices[p] >= first:
                counts[i // block_rows, rows.indices[p] - first + 1] += 1
                steps[rows.indices[p] - first] = max(steps[rows.indices[p] - first], abs(rows.data[p]))
    steps *= np.float32((1 + 1e-6) / POSTING_STEPS)  # so that no quotient exceeds the steps by rounding
    block_starts = np.zeros(n_blocks, dtype=np.int64)
    for block in range(n_blocks):
        for j in range(n_lists):
            counts[block, j + 1] += counts[block, j]
        if block + 1 < n_blocks:
            block_starts[block + 1] = block_starts[block] + counts[block, n_lists]
    postings = np.empty(block_starts[-1] + np.int64(counts[-1, n_lists]), dtype=np.uint32)
    ends = counts.copy()
    for i in range(n):
        block = i // block_rows
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            if rows.indices[p] >= first:
                j = rows.indices[p] - first
                step = np.float64(steps[j])
                # A step that underflowed to nothing leaves nothing to round to.
                value = np.int32(np.floor(rows.data[p] / step)) if step > 0 else np.int32(0)
                number = np.uint32(i - block * block_rows)
                postings[block_starts[block] + ends[block, j]] = (np.uint32(value) << np.uint32(16)) | number
                ends[block, j] += 1
    return steps, counts, block_starts, postings
