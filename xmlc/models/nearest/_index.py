"""The index of a training set: what is kept of it so that its nearest instances are found quickly."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.csr import kernel_csr
from xmlc.gate.stored import Field
from xmlc.models.nearest._building import (
    POSTING_STEPS,
    WORD_BITS,
    count_features,
    order_by_frequency,
    start_lists,
    write_frequent,
    write_piece,
)
from xmlc.runtime.parallel import row_blocks, run_pieces

MOST_WORDS = 16
BLOCK_ROWS = 1 << 16  # instances of one block: its numbers fit 16 bits, its accumulators (512 KB) a level-2 cache
PIECES = 8  # of the instances, at least, unless they are few: each thread gets several
LEAST_ROWS = 256  # instances of a piece
INDEX_FIELDS = (  # of a stored one
    Field("places", np.uint32, ("n_features",), below="n_features"),
    Field("row_starts", np.int64, ("n + 1",), starts="values"),
    Field("row_places", np.uint32, ("values",), below="n_features"),
    Field("row_values", np.float32, ("values",)),
    Field("sizes", np.uint16, ("n",)),
    Field("words", np.uint64, ("words", "n")),
    Field("lengths", np.uint16, ("words", "n")),
    Field("largest", np.uint16, ("n",)),
    Field("steps", np.float32, ("lists",), finite=True),
    Field("list_starts", np.uint32, ("blocks", "lists + 1")),
    Field("block_starts", np.int64, ("blocks",)),
    Field("postings", np.uint32, (None,)),
)


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
    X: sparse.csr_array,
    n_words: int | None = None,
    block_rows: int = BLOCK_ROWS,
    n_jobs: int | None = None,
) -> NeighbourIndex:
    """Index instances of unit length without explicit zeros; the same bits on any number of threads.

    Parameters
    ----------
    X : csr_array of float32, shape (n, d)
    n_words : int, optional
        Words of frequent features per instance; by default as many as `words_that_pay`.
    block_rows : int
    n_jobs : int or None
        Threads.
    """
    (n, d), x = X.shape, kernel_csr(X)
    pieces = index_pieces(n, block_rows)
    counts, magnitudes = np.zeros((len(pieces), d), dtype=np.uint32), np.zeros((len(pieces), d), dtype=np.float32)
    run_pieces(lambda k, start, end: count_features(x, start, end, counts[k], magnitudes[k]), pieces, n_jobs)
    frequencies = counts.sum(axis=0, dtype=np.int64)
    places, order = order_by_frequency(frequencies, n)
    n_used = int(np.count_nonzero(frequencies))
    n_words = words_that_pay(frequencies[order], n) if n_words is None else n_words
    first = n_words * WORD_BITS
    n_blocks, blocks = -(-n // block_rows), np.array([start // block_rows for _, start, _ in pieces])
    list_starts, cursors = start_lists(counts, order[first:n_used], blocks, n_blocks)
    # The factor keeps quotients from exceeding the steps by rounding.
    steps = magnitudes.max(axis=0)[order[first:n_used]] * np.float32((1 + 1e-6) / POSTING_STEPS)
    block_starts = np.concatenate(([0], np.cumsum(list_starts[:, -1], dtype=np.int64)))
    row_starts, row_places, row_values = x.indptr.copy(), np.empty_like(x.indices), np.empty_like(x.data)
    postings = np.empty(block_starts[-1], dtype=np.uint32)
    words, lengths = np.zeros((n_words, n), dtype=np.uint64), np.zeros((n_words, n), dtype=np.uint16)
    largest = np.zeros(n, dtype=np.uint16)

    def write(k: int, start: int, end: int) -> None:
        block = blocks[k]
        own, shift = postings[block_starts[block] : block_starts[block + 1]], start - block * block_rows
        by_place = (counts[k], order[:n_used], first, steps, cursors[k])
        write_piece(x, start, end, shift, *by_place, row_places, row_values, own)
        write_frequent(row_starts, row_places, row_values, start, end, words, lengths, largest)

    run_pieces(write, pieces, n_jobs)
    sizes = np.minimum(np.diff(row_starts), np.iinfo(np.uint16).max).astype(np.uint16)
    by_row = (row_starts, row_places, row_values, sizes, words, lengths, largest)
    lists = (steps, list_starts, block_starts[:-1].copy(), postings)
    parts: tuple[Any, ...] = (places, *by_row, *lists, block_rows)
    return NeighbourIndex(*parts)


def index_pieces(n: int, block_rows: int) -> list[tuple[int, int, int]]:
    """Cut instances into pieces, none of which reaches into two blocks: number, start and end of each."""
    of_block = -(-PIECES // -(-n // block_rows))
    rows = max(-(-min(block_rows, n) // of_block), LEAST_ROWS)
    pieces = [
        (start + a, start + b)
        for start in range(0, n, block_rows)
        for a, b in row_blocks(min(block_rows, n - start), rows)
    ]
    return [(k, start, end) for k, (start, end) in enumerate(pieces)]


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
