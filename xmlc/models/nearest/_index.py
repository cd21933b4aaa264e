"""The index of a training set, in which a search finds a query's nearest instances."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.appendable import give_back
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import row_blocks
from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.indices import Malformed
from xmlc.kernels.stored import Field

MOST_WORDS = 16
WORD_BITS = 64
POSTING_STEPS = 32767  # a posting stores a value as a signed 16-bit multiple of the feature's step
# numbers of a block's instances fit into 16 bits, its sums and bounds (512 KB) into a level-2 cache
BLOCK_ROWS = 1 << 16
# The starts of lists are uint32.
MOST_POSTINGS = np.iinfo(np.uint32).max
# Lengths up to 1 (plus a rounding error) are stored as 16-bit multiples of 1 / 65,000.
LENGTH_STEPS = 65000


class NeighbourIndex(NamedTuple):
    """The index of a training set: instances of unit length, by row and by feature.

    The place of a feature is its rank by document frequency, most frequent first, then by number.
    The features in the first 64 W places are *frequent*, and each instance has a bit for each of
    them, in W words of 64 bits. Any other feature has a list of postings in each block of
    instances.

    Attributes
    ----------
    places : ndarray
        Place of each feature. Features without instances come last.
    row_starts, row_places, row_values : ndarray
        The instances in CSR form, with ascending places.
    sizes : ndarray
        Number of features of each instance, capped at 65,535.
    words : ndarray
        Bit b of ``words[w, i]`` is set if instance i has the feature in place 64 w + b.
    lengths : ndarray
        Euclidean length of each instance's features in each word, in units of 1 / 65,000, rounded
        up.
    largest : ndarray
        Largest magnitude of each instance's frequent features, in the same units, rounded up.
    steps : ndarray
        Largest magnitude of each feature that has lists, divided by 32767.
    list_starts : ndarray
        Start of each list of a block, relative to ``block_starts``.
    block_starts : ndarray
        Start of each block in ``postings``.
    postings : ndarray
        The instance's number in the block (lower 16 bits) and the feature's value in steps, rounded
        down (upper 16 bits, signed).
    block_rows : int
        Instances per block, at most 65,536, or fewer in the last one.
    """

    places: Annotated[np.ndarray, Field("places", np.uint32, ("n_features",), below="n_features")]
    row_starts: Annotated[np.ndarray, Field("row_starts", np.int64, ("n + 1",), starts="values")]
    row_places: Annotated[
        np.ndarray,
        Field("row_places", np.uint32, ("values",), below="n_features", ascending="row_starts"),
    ]
    row_values: Annotated[np.ndarray, Field("row_values", np.float32, ("values",), within=(-2, 2))]
    sizes: Annotated[np.ndarray, Field("sizes", np.uint16, ("n",))]
    words: Annotated[np.ndarray, Field("words", np.uint64, ("words", "n"))]
    lengths: Annotated[np.ndarray, Field("lengths", np.uint16, ("words", "n"))]
    largest: Annotated[np.ndarray, Field("largest", np.uint16, ("n",))]
    steps: Annotated[
        np.ndarray, Field("steps", np.float32, ("lists",), within=(0, 2 / POSTING_STEPS))
    ]
    list_starts: Annotated[np.ndarray, Field("list_starts", np.uint32, ("blocks", "lists + 1"))]
    block_starts: Annotated[np.ndarray, Field("block_starts", np.int64, ("blocks",))]
    postings: Annotated[np.ndarray, Field("postings", np.uint32, (None,))]
    block_rows: int


def check_index(index: NeighbourIndex) -> None:
    """Check more than the fields of `NeighbourIndex` can, so that a search stays inside its arrays.

    Raises `Malformed` if a part of the index disagrees with another part.
    """
    n = index.sizes.size
    starts = index.list_starts
    ends = np.cumsum(starts[:, -1], dtype=np.int64)
    if n == 0 or not 1 <= index.block_rows <= BLOCK_ROWS or ends.size != -(-n // index.block_rows):
        found = f"found {index.block_rows} instances per block and {ends.size} blocks"
        raise Malformed("block_rows", f"{found}, expected blocks of {n} instances")
    if (index.words.shape[0] - 1) * WORD_BITS > index.places.size:
        expected = f"expected words of {index.places.size} features"
        raise Malformed("words", f"found {index.words.shape[0]} words of {n} instances, {expected}")
    if np.unique(index.places).size < index.places.size:
        raise Malformed("places", "found two features in one place")
    if (starts[:, 0] != 0).any() or (starts[:, 1:] < starts[:, :-1]).any():
        raise Malformed(
            "list_starts",
            "found starts that do not begin with 0 or decrease, expected ascending starts",
        )
    if (
        not np.array_equal(index.block_starts, ends - starts[:, -1])
        or index.postings.size != ends[-1]
    ):
        raise Malformed("postings", f"found {index.postings.size} postings, expected {ends[-1]}")
    lengths = np.diff(index.row_starts)
    for block, (start, end) in enumerate(row_blocks(n, index.block_rows)):
        words = np.ascontiguousarray(index.words[:, start:end].T)
        n_frequent = np.unpackbits(words.view(np.uint8), axis=1).sum(axis=1, dtype=np.int64)
        if (n_frequent > lengths[start:end]).any():
            raise Malformed(
                "words",
                f"found an instance of block {block} with more frequent features than features",
            )
        postings = index.postings[index.block_starts[block] : ends[block]]
        if (postings & np.uint32(0xFFFF)).max(initial=0) >= end - start:
            raise Malformed(
                "postings", f"found an instance beyond the {end - start} instances of block {block}"
            )
        give_back(postings)


def build_index(
    X: sparse.csr_array, n_words: int | None = None, block_rows: int = BLOCK_ROWS
) -> NeighbourIndex:
    """Return the index of instances of unit length without stored zeros.

    ``n_words`` is W, by default the result of `words_that_pay`.
    """
    n, d = X.shape
    x = kernel_csr(X)
    while np.diff(x.indptr[np.r_[0:n:block_rows, n]]).max(initial=0) > MOST_POSTINGS:
        block_rows //= 2
    frequencies = np.zeros(d, dtype=np.int64)
    magnitudes = np.zeros(d, dtype=np.float32)
    describe_features(x.indices, x.data, frequencies, magnitudes)
    order = np.argsort(-frequencies, kind="stable")
    places = np.empty(d, dtype=np.uint32)
    places[order] = np.arange(d)
    if n_words is None:
        n_words = words_that_pay(frequencies[order], n)
    first = min(n_words * WORD_BITS, d)
    listed = order[first : np.count_nonzero(frequencies)]
    # With the factor 1 + 1e-6, rounding never makes a value larger than POSTING_STEPS steps.
    steps = magnitudes[listed] * np.float32((1 + 1e-6) / POSTING_STEPS)
    row_places = np.empty_like(x.indices)
    row_values = np.empty_like(x.data)
    list_starts = []
    postings = []
    for start, end in row_blocks(n, block_rows):
        a = x.indptr[start]
        b = x.indptr[end]
        own = (x.data[a:b], places[x.indices[a:b]], x.indptr[start : end + 1] - a)
        by_place = sparse.csr_array(own, shape=(end - start, d)).tocsc()
        rows = by_place.tocsr()  # each row in ascending order of places
        row_places[a:b] = rows.indices
        row_values[a:b] = rows.data
        starts = by_place.indptr[first : first + listed.size + 1]
        list_starts.append((starts - starts[0]).astype(np.uint32))
        unit = np.repeat(steps.astype(np.float64), np.diff(starts))
        # If a step underflows to 0, the value is too small for a posting.
        in_steps = np.divide(
            by_place.data[starts[0] :], unit, out=np.zeros_like(unit), where=unit > 0
        )
        whole = np.floor(in_steps).astype(np.int32).view(np.uint32)
        postings.append(whole << np.uint32(16) | by_place.indices[starts[0] :].astype(np.uint32))
    ends = np.cumsum([lists.size for lists in postings])
    words = np.zeros((n_words, n), dtype=np.uint64)
    lengths = np.zeros((n_words, n), dtype=np.uint16)
    largest = np.zeros(n, dtype=np.uint16)
    if n_words > 0:
        describe_rows(x.indptr, row_places, row_values, words, lengths, largest)
    return NeighbourIndex(
        places=places,
        row_starts=x.indptr.copy(),
        row_places=row_places,
        row_values=row_values,
        sizes=np.minimum(np.diff(x.indptr), np.iinfo(np.uint16).max).astype(np.uint16),
        words=words,
        lengths=lengths,
        largest=largest,
        steps=steps,
        list_starts=np.array(list_starts),
        block_starts=np.append(0, ends[:-1]),
        postings=np.concatenate(postings),
        block_rows=block_rows,
    )


def words_that_pay(frequencies: np.ndarray, n: int) -> int:
    """Return the number of words per instance with which searches are fastest.

    Each further word costs every query one read per instance, and saves it the postings of 64
    features. Both were equal, when measured, if the root mean square of the 64 document
    frequencies, which descend, was 10 % of the instances. This assumes equally frequent features in
    queries.
    """
    n_words = 0
    while n_words < MOST_WORDS:
        shares = frequencies[n_words * WORD_BITS : (n_words + 1) * WORD_BITS] / n
        if math.sqrt(math.fsum(shares * shares) / WORD_BITS) < 1 / 10:
            break
        n_words += 1
    return n_words


@njit
def describe_features(features, values, frequencies, magnitudes):
    for p in range(features.size):
        feature = features[p]
        frequencies[feature] += 1
        magnitudes[feature] = max(magnitudes[feature], abs(values[p]))


@njit
def describe_rows(row_starts, row_places, row_values, words, lengths, largest):
    """Write words, lengths and largest magnitudes of the frequent features (see `NeighbourIndex`),
    all zero before the call.
    """
    for i in range(largest.size):
        magnitude = np.float32(0)
        word = np.uint32(0)
        square = 0.0
        for p in range(row_starts[i], row_starts[i + 1]):
            place = row_places[p]
            value = abs(row_values[p])
            if place >= words.shape[0] * WORD_BITS:
                break
            if place >> 6 != word:
                lengths[word, i] = np.uint16(np.ceil(np.sqrt(square) * LENGTH_STEPS))
                word = place >> 6
                square = 0.0
            words[word, i] |= np.uint64(1) << np.uint64(place & 63)
            square += np.float64(value) * np.float64(value)
            magnitude = max(magnitude, value)
        lengths[word, i] = np.uint16(np.ceil(np.sqrt(square) * LENGTH_STEPS))
        largest[i] = np.uint16(np.ceil(magnitude * LENGTH_STEPS))
