"""Build the index of a training set. The search for the nearest instances of a query reads this index."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.appendable import give_back
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.indices import VALUES_PER_TASK, Malformed
from xmlc.kernels.stored import Field

MOST_WORDS = 16
WORD_BITS = 64
POSTING_STEPS = 32767  # A posting stores a value as a signed 16-bit multiple of the feature's step.
# The number of an instance within its block fits into 16 bits. The sums and bounds of a block (512 KB) fit into a
# level-2 cache.
BLOCK_ROWS = 1 << 16
# A block has at most 2**32 - 1 postings, because the starts of lists are uint32.
MOST_POSTINGS = np.iinfo(np.uint32).max
TASKS = 8  # Large training sets are divided into at least 8 tasks, so that each thread gets several tasks.
LEAST_ROWS = 256  # Usual minimum number of instances per task.


class NeighbourIndex(NamedTuple):
    """Hold the index of a training set. Instances have unit length, and are stored by row and by feature.

    The place of a feature is its rank by document frequency, most frequent first. If frequencies are equal, the feature
    with the smaller number is first. With W = ``words.shape[0]``, the features in the first 64 W places are called
    *frequent*. Each instance has W words of 64 bits, with one bit for each frequent feature. Every feature that is not
    frequent has a list of postings in each block of instances.

    Attributes
    ----------
    places : ndarray of uint32, shape (d,)
        Place of each feature: its rank by document frequency. Features without instances come last.
    row_starts : ndarray of int64, shape (n + 1,)
        Start of each instance in ``row_places`` and ``row_values``.
    row_places : ndarray of uint32, shape (nnz,)
        Places of each instance's features, ascending, so that frequent features come first.
    row_values : ndarray of float32, shape (nnz,)
        Value of each feature of each instance, in the order of ``row_places``.
    sizes : ndarray of uint16, shape (n,)
        Number of features of each instance, capped at 65,535.
    words : ndarray of uint64, shape (W, n)
        Bit b of ``words[w, i]`` is set if instance i has the feature in place 64 w + b.
    lengths : ndarray of uint16, shape (W, n)
        Euclidean length of each instance's features in each word, in units of 1 / 65,000, rounded up.
    largest : ndarray of uint16, shape (n,)
        Largest magnitude of each instance's frequent features, in units of 1 / 65,000, rounded up.
    steps : ndarray of float32, shape (n_lists,)
        Largest magnitude among the values of each feature that has lists, divided by 32767.
    list_starts : ndarray of uint32, shape (n_blocks, n_lists + 1)
        Start of each list of a block, relative to the block's entry in ``block_starts``.
    block_starts : ndarray of int64, shape (n_blocks,)
        Start of each block in ``postings``.
    postings : ndarray of uint32, shape (nnz of the features with lists,)
        A posting contains the instance's number in the block (lower 16 bits) and the feature's value in steps, rounded
        down (upper 16 bits, signed).
    block_rows : int
        Number of instances per block, at most 65,536. The last block may have fewer instances.
    """

    places: Annotated[np.ndarray, Field("places", np.uint32, ("n_features",), below="n_features")]
    row_starts: Annotated[np.ndarray, Field("row_starts", np.int64, ("n + 1",), starts="values")]
    row_places: Annotated[
        np.ndarray, Field("row_places", np.uint32, ("values",), below="n_features", ascending="row_starts")
    ]
    row_values: Annotated[np.ndarray, Field("row_values", np.float32, ("values",), within=(-2, 2))]
    sizes: Annotated[np.ndarray, Field("sizes", np.uint16, ("n",))]
    words: Annotated[np.ndarray, Field("words", np.uint64, ("words", "n"))]
    lengths: Annotated[np.ndarray, Field("lengths", np.uint16, ("words", "n"))]
    largest: Annotated[np.ndarray, Field("largest", np.uint16, ("n",))]
    steps: Annotated[np.ndarray, Field("steps", np.float32, ("lists",), within=(0, 2 / POSTING_STEPS))]
    list_starts: Annotated[np.ndarray, Field("list_starts", np.uint32, ("blocks", "lists + 1"))]
    block_starts: Annotated[np.ndarray, Field("block_starts", np.int64, ("blocks",))]
    postings: Annotated[np.ndarray, Field("postings", np.uint32, (None,))]
    block_rows: int


def check_index(index: NeighbourIndex) -> None:
    """Check what the fields of `NeighbourIndex` cannot say: that its parts agree in their sizes.

    Raises
    ------
    Malformed
        A part of the index disagrees with another part.
    """
    n = index.sizes.size
    n_blocks = index.block_starts.size
    if not 1 <= index.block_rows <= BLOCK_ROWS or n_blocks != -(-n // index.block_rows):
        found = f"found {index.block_rows} instances per block and {n_blocks} blocks"
        raise Malformed("block_rows", f"{found}, expected blocks of {n} instances")
    used = np.diff(index.row_starts)
    _check_same(index.sizes, np.minimum(used, np.iinfo(np.uint16).max), "sizes")
    if n == 0 or (index.words.shape[0] - 1) * WORD_BITS > index.places.size:
        found = f"found {index.words.shape[0]} words of {n} instances"
        raise Malformed("words", f"{found}, expected words of {index.places.size} features")
    shared = np.bincount(index.places, minlength=1)
    if shared.max() > 1:
        raise Malformed("places", f"found {shared.max()} features in place {shared.argmax()}, expected one")
    starts = index.list_starts
    if (starts[:, 0] != 0).any() or (starts[:, 1:] < starts[:, :-1]).any():
        raise Malformed("list_starts", "found starts that do not begin with 0 or decrease, expected ascending starts")
    ends = np.cumsum(starts[:, -1], dtype=np.int64)
    _check_same(index.block_starts, np.concatenate(([0], ends[:-1])), "block_starts")
    if index.postings.size != ends[-1]:
        raise Malformed("postings", f"found {index.postings.size} postings, expected {ends[-1]}")
    frequent = np.zeros(n, dtype=np.int64)
    for word in index.words:
        for start, end in row_blocks(n, BLOCK_ROWS):
            frequent[start:end] += np.unpackbits(word[start:end, None].view(np.uint8), axis=1).sum(
                axis=1, dtype=np.int64
            )
    if (wrong := np.flatnonzero(frequent > used)).size:
        found = f"found {frequent[wrong[0]]} frequent features of instance {wrong[0]}"
        raise Malformed("words", f"{found}, expected at most {used[wrong[0]]}")
    for block in range(n_blocks):
        own = index.postings[index.block_starts[block] : ends[block]]
        rows = min(index.block_rows, n - block * index.block_rows)
        for start, end in row_blocks(own.size, VALUES_PER_TASK):
            part = own[start:end]
            if (part & np.uint32(0xFFFF)).max() >= rows:
                raise Malformed("postings", f"found an instance beyond the {rows} instances of block {block}")
            give_back(part)


def _check_same(values: np.ndarray, expected: np.ndarray, field: str) -> None:
    if (wrong := np.flatnonzero(values != expected)).size:
        first = wrong[0]
        raise Malformed(field, f"found {values[first]} in entry {first}, expected {expected[first]}")


def build_index(
    X: sparse.csr_array, n_words: int | None = None, block_rows: int = BLOCK_ROWS, n_jobs: int | None = None
) -> NeighbourIndex:
    """Return the index of a training set, whose instances have unit length and no stored zeros.

    The index is bit-identical for any number of threads.

    Parameters
    ----------
    X : csr_array of float32, shape (n, d)
        Instances.
    n_words : int, optional
        Number W of 64-bit words per instance, which contain the frequent features. The default is the result of
        `words_that_pay`.
    block_rows : int
        Number of instances per block.
    n_jobs : int or None
        Number of threads.
    """
    (n, d), x = X.shape, kernel_csr(X)
    while np.diff(x.indptr[np.r_[0:n:block_rows, n]]).max(initial=0) > MOST_POSTINGS:
        block_rows //= 2
    tasks = index_tasks(n, block_rows)
    counts, magnitudes = np.zeros((len(tasks), d), dtype=np.uint32), np.zeros((len(tasks), d), dtype=np.float32)
    run_tasks(lambda k, start, end: count_in_task(*x, start, end, counts[k], magnitudes[k]), tasks, n_jobs)
    frequencies = counts.sum(axis=0, dtype=np.int64)
    # Features are sorted by descending frequency, and features with the same frequency by their number. The sort keys
    # have the smallest possible dtype, because NumPy sorts 16-bit integers in linear time.
    order = np.argsort((n - frequencies).astype(np.min_scalar_type(n)), kind="stable").astype(np.uint32)
    places = np.empty_like(order)
    places[order] = np.arange(order.size, dtype=np.uint32)
    n_used = int(np.count_nonzero(frequencies))
    n_words = words_that_pay(frequencies[order], n) if n_words is None else n_words
    first = n_words * WORD_BITS
    blocks = np.array([start // block_rows for _, start, _ in tasks])
    list_starts, cursors = start_lists(counts, order[first:n_used], blocks)
    # Because of the factor 1 + 1e-6, rounding never makes the quotient of a value and its step larger than
    # POSTING_STEPS.
    steps = magnitudes.max(axis=0)[order[first:n_used]] * np.float32((1 + 1e-6) / POSTING_STEPS)
    block_starts = np.concatenate(([0], np.cumsum(list_starts[:, -1], dtype=np.int64)))
    row_starts, row_places, row_values = x.indptr.copy(), np.empty_like(x.indices), np.empty_like(x.data)
    postings = np.empty(block_starts[-1], dtype=np.uint32)
    words, lengths = np.zeros((n_words, n), dtype=np.uint64), np.zeros((n_words, n), dtype=np.uint16)
    largest = np.zeros(n, dtype=np.uint16)

    def write(k: int, start: int, end: int) -> None:
        block, a, b = blocks[k], x.indptr[start], x.indptr[end]
        entries, runs = np.empty(b - a, dtype=np.uint64), np.empty((n_used + 1, 2), dtype=np.uint32)
        n_runs = by_feature(*x, start, end, counts[k], order[:n_used], np.empty_like(counts[k]), entries, runs)
        targets = (x.indptr[start:end] - a).astype(np.uint32)
        own, shift = postings[block_starts[block] : block_starts[block + 1]], start - block * block_rows
        rows = (targets, row_places[a:b], row_values[a:b])
        write_task(entries, runs[: n_runs + 1], first, steps, cursors[k], shift, *rows, own)
        if n_words:
            write_frequent(row_starts, row_places, row_values, start, end, words, lengths, largest)

    run_tasks(write, tasks, n_jobs)
    sizes = np.minimum(np.diff(row_starts), np.iinfo(np.uint16).max).astype(np.uint16)
    return NeighbourIndex(
        places,
        row_starts,
        row_places,
        row_values,
        sizes,
        words,
        lengths,
        largest,
        steps,
        list_starts,
        block_starts[:-1].copy(),
        postings,
        block_rows,
    )


def index_tasks(n: int, block_rows: int) -> list[tuple[int, int, int]]:
    """Divide the instances of each block into tasks, and return the number, start and end of each task."""
    of_block = -(-TASKS // -(-n // block_rows))
    rows = max(-(-min(block_rows, n) // of_block), LEAST_ROWS)
    tasks = [
        (start + a, start + b)
        for start in range(0, n, block_rows)
        for a, b in row_blocks(min(block_rows, n - start), rows)
    ]
    return [(k, start, end) for k, (start, end) in enumerate(tasks)]


def words_that_pay(frequencies: np.ndarray, n: int) -> int:
    """Return the number of words per instance with which searches are fastest.

    ``frequencies`` must be in descending order.

    Each additional word costs every query one read per instance. Each additional word also saves every query the
    postings of 64 features. The function assumes that features are as frequent in queries as in training instances. In
    measurements, cost and saving of a word were equal if the root mean square of its 64 document frequencies was 10 %
    of the instances.
    """
    n_words = 0
    while n_words < MOST_WORDS:
        shares = frequencies[n_words * WORD_BITS : (n_words + 1) * WORD_BITS] / n
        if math.sqrt(math.fsum(shares * shares) / WORD_BITS) < 1 / 10:
            break
        n_words += 1
    return n_words


def start_lists(counts: np.ndarray, listed: np.ndarray, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the start of each list within its block, and the start of each task's postings within each list.

    Parameters
    ----------
    counts : ndarray of uint32, shape (tasks, d)
        For each task and feature, the number of instances of the task that have the feature.
    listed : ndarray of uint32, shape (n_lists,)
        Features that have lists.
    blocks : ndarray of int, shape (tasks,)
        Block of each task, ascending.

    Returns
    -------
    list_starts : ndarray of uint32, shape (n_blocks, n_lists + 1)
        See `NeighbourIndex`.
    cursors : ndarray of uint32, shape (tasks, n_lists)
        For each task and list, the index of the task's first posting, relative to the start of the block's postings.
    """
    starts = np.zeros((blocks[-1] + 1, listed.size + 1), dtype=np.uint32)
    cursors = np.empty((blocks.size, listed.size), dtype=np.uint32)
    for block, own, before in zip(blocks, counts, cursors):
        before[:] = starts[block, 1:]
        starts[block, 1:] += own[listed]
    np.cumsum(starts, axis=1, dtype=np.uint32, out=starts)
    for block, before in zip(blocks, cursors):
        before += starts[block, :-1]
    return starts, cursors


# The kernels below build the index, one task at a time. A task is a range of instances within one block. A counting
# sort arranges the non-zeros of the task by feature, in memory that fits into a cache. One pass over the sorted
# non-zeros writes them to their rows and lists of postings. Because of the sort, each row is in ascending order of its
# features' places, and each list in ascending order of instances. The index does not depend on the division into tasks.


LENGTH_STEPS = 65000  # Lengths up to 1 (plus a rounding error) are stored as 16-bit multiples of 1 / 65,000.


@njit
def count_in_task(indptr, indices, data, start, end, counts, largest):
    """Among instances ``start .. end - 1``, count the instances of each feature and find its largest magnitude.

    The kernel reads 8 bytes per non-zero.

    Parameters
    ----------
    indptr, indices, data
        Arrays of the `KernelCSR`.
    start, end : int
        Range of the instances.
    counts : uint32 (d,), largest : float32 (d,)
        All zero before the call, then overwritten with the number of instances and the largest magnitude of each
        feature.
    """
    for p in range(np.uint64(indptr[start]), np.uint64(indptr[end])):
        feature, magnitude = indices[p], abs(data[p])
        counts[feature] += np.uint32(1)
        largest[feature] = magnitude if magnitude > largest[feature] else largest[feature]


@njit
def by_feature(indptr, indices, data, start, end, counts, order, ends, entries, runs):
    """Sort a task's non-zeros by the place of the feature, then by instance.

    Return the number of features that occur in the task.

    Parameters
    ----------
    indptr, indices, data
        Arrays of the `KernelCSR`.
    start, end : int
        Range of the task's instances.
    counts : uint32 (d,)
        Number of instances of the task that have each feature.
    order : uint32 (number of features with non-zeros,)
        The features in the order of their places, most frequent first.
    ends : uint32 (d,)
        Scratch.
    entries : uint64 (nnz of the task,)
        Receives the sorted non-zeros. The upper half of an entry is the instance, relative to ``start``. The lower half
        of an entry contains the bits of the value.
    runs : uint32 (order.size + 1, 2)
        Receives one row for each feature that occurs in the task, in ascending order of the features' places. A row
        contains the place of the feature and the index of its first entry. An additional last row marks the end of the
        entries. Features without entries have no row, because most features of sparse data occur in few tasks.
    """
    n_runs, begin = 0, np.uint32(0)
    for place in range(order.size):
        count = counts[order[place]]
        ends[order[place]] = begin
        runs[n_runs, 0], runs[n_runs, 1] = place, begin
        n_runs += count > 0
        begin += count
    runs[n_runs, 0], runs[n_runs, 1] = order.size, begin
    for i in range(start, end):
        row = np.uint64(i - start) << np.uint64(32)
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            feature = indices[p]
            entry = ends[feature]
            entries[entry] = row | np.uint64(np.float32(data[p]).view(np.uint32))
            ends[feature] = entry + np.uint32(1)
    return n_runs


@njit(error_model="numpy")
def write_task(entries, runs, first, steps, cursors, shift, targets, row_places, row_values, postings):
    """Write the rows and the postings of a task.

    Parameters
    ----------
    entries, runs
        See `by_feature`.
    first : int
        The smallest place of a feature that has lists. Features in places below ``first`` are frequent, see
        `NeighbourIndex`.
    steps : float32 (n_lists,)
        See `NeighbourIndex`.
    cursors : uint32 (n_lists,)
        Starts of the task's postings in each list, see `start_lists`.
    shift : int
        Number of the task's first instance within its block.
    targets : uint32 (instances,)
        Start of each row in ``row_places`` and ``row_values``. Overwritten.
    row_places : uint32 (nnz,), row_values : float32 (nnz,)
        Receive the places and values of the task's rows.
    postings : uint32 (number of postings of the block,)
        Receives the task's postings.
    """
    for k in range(runs.shape[0] - 1):
        place, is_listed, step, posting = runs[k, 0], runs[k, 0] >= first, 0.0, np.uint64(0)
        if is_listed:
            step, posting = np.float64(steps[place - first]), np.uint64(cursors[place - first])
        for e in range(runs[k, 1], runs[k + 1, 1]):
            row, value = np.uint32(entries[e] >> np.uint64(32)), np.uint32(entries[e]).view(np.float32)
            target = targets[row]
            row_places[target], row_values[target] = place, value
            targets[row] = target + np.uint32(1)
            if is_listed:
                # If a step underflows to 0, the value is too small for a posting and is rounded to 0.
                whole = np.int32(np.floor(value / step)) if step > 0 else np.int32(0)
                postings[posting] = (np.uint32(whole) << np.uint32(16)) | (row + np.uint32(shift))
                posting += np.uint64(1)


@njit
def write_frequent(row_starts, row_places, row_values, start, end, words, lengths, largest):
    """Write the words, lengths and largest magnitudes of the frequent features (see `NeighbourIndex`).

    Parameters
    ----------
    row_starts, row_places, row_values
        Rows of the index. Only the frequent features at the start of a row are read.
    start, end : int
        Range of the instances.
    words : uint64 (W, n), lengths : uint16 (W, n), largest : uint16 (n,)
        All zero before the call, then overwritten with the arrays of `NeighbourIndex` that have these names.
    """
    for i in range(start, end):
        most, word, square = np.float32(0), np.uint32(0), 0.0
        for p in range(row_starts[i], row_starts[i + 1]):
            place, value = row_places[p], abs(row_values[p])
            if place >= words.shape[0] * WORD_BITS:
                break
            if place >> 6 != word:
                lengths[word, i] = np.uint16(np.ceil(np.sqrt(square) * LENGTH_STEPS))
                word, square = place >> 6, 0.0
            words[word, i] |= np.uint64(1) << np.uint64(place & 63)
            square += np.float64(value) * np.float64(value)
            most = value if value > most else most
        lengths[word, i] = np.uint16(np.ceil(np.sqrt(square) * LENGTH_STEPS))
        largest[i] = np.uint16(np.ceil(most * LENGTH_STEPS))
