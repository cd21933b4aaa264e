"""Upper bounds of a query's similarities to all instances of a block (`bound_block`). Kernels.

The index has a list of postings, pairs of an instance and its value, for each rare feature.
`add_postings` adds the product of this value and the query's to an integer sum of the instance.
Frequent features, to which most postings would belong, are bits in words of 64 bits instead, and
`bound_frequent` counts those that instance and query share, and bounds their inner product. From
both, `bound_chunk` makes an upper bound of the similarity.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels import elementwise
from xmlc.kernels.arrays import bits_set, prefetch, row_of, unchecked_view
from xmlc.kernels.float32 import fma
from xmlc.models.nearest._index import LENGTH_STEPS, WORD_BITS, NeighbourIndex

CHUNK = 1024  # counts and products of a chunk fit into the level-1 cache
# terms that `add_terms` computes at once, an int64 because numba gives a plain int another type
TERMS = np.int64(64)
# Unit of the integer sums of postings, whose lowest bits count the postings.
SUM_UNIT = 2.0**-30
FLAT = 3  # the second line of `concave_lines` is exact for 3 or 4 shared features
SMALLEST_NORMAL = 2.0**-126  # smaller positive float32 numbers have fewer digits
GROUP = 16  # bounds that fill one cache line
POWERS = 4096  # steps of the table of J**beta
# bounds the float32 error of adding up terms whose sum is at most 1, and then three such sums
ROUNDING = 1e-6
# make a minimum a single instruction, because no bound is NaN and signs of zeros do not matter
NO_NAN_NO_SIGN = {"nnan", "nsz"}
# covers the float32 error of a few products
SLACK = np.float32(1 + 1e-5)


class SearchScratch(NamedTuple):
    """The scratch memory of a thread, kept because its allocation takes longer than a search."""

    # values of the query's features by place, float32 (d,), zero between queries
    query: np.ndarray
    # bits of the query's frequent features, uint64 (W,), zero between queries
    words: np.ndarray
    lines: np.ndarray  # `concave_lines` of each word of the query, float32 (W, 4)
    lists: np.ndarray  # of the query's features, int64 (number of lists,)
    factors: np.ndarray  # for the postings of each list, float32 (number of lists,)
    # sum of postings of each instance, int32 (block of instances,), zero between blocks
    sums: np.ndarray
    # bounds of similarities, float32 (block of instances, padded to full chunks)
    bounds: np.ndarray
    maxima: np.ndarray  # largest bound of each group, float32 (groups of a block,)
    groups: np.ndarray  # numbers of groups, int64 (groups of a block + 1,)
    # numbers of candidate instances, int64 (block of instances + 1,)
    candidates: np.ndarray
    votes: np.ndarray  # for each label, float64 (m,), zero between instances
    seen: np.ndarray  # labels that have votes, uint32 (m + 1,)


def search_scratch(index: NeighbourIndex, n_labels: int) -> SearchScratch:
    n_rows = min(index.block_rows, index.sizes.size)
    n_words = index.words.shape[0]
    n_lists = index.steps.size
    padded = -(-n_rows // CHUNK) * CHUNK
    return SearchScratch(
        query=np.zeros(index.places.size, dtype=np.float32),
        words=np.zeros(n_words, dtype=np.uint64),
        lines=np.zeros((n_words, 4), dtype=np.float32),
        lists=np.empty(n_lists, dtype=np.int64),
        factors=np.empty(n_lists, dtype=np.float32),
        sums=np.zeros(n_rows, dtype=np.int32),
        bounds=np.empty(padded, dtype=np.float32),
        maxima=np.empty(padded // GROUP, dtype=np.float32),
        groups=np.empty(padded // GROUP + 1, dtype=np.int64),
        candidates=np.empty(padded + 1, dtype=np.int64),
        votes=np.zeros(n_labels),
        seen=np.empty(n_labels + 1, dtype=np.uint32),
    )


@lru_cache
def powers_of(beta: float) -> np.ndarray | None:
    """Return upper bounds of J**beta for each step of J, float32 (POWERS + 1,).

    For beta 0 or 1 this is None, for which numba compiles no code for powers.
    """
    if beta in (0, 1):
        return None
    powers = elementwise.power((np.arange(POWERS + 1) + 1) / POWERS, beta).astype(np.float32)
    return np.nextafter(powers, np.float32(np.inf))


class Query(NamedTuple):
    """A query, with what kernels derive from it once per search."""

    # value of the feature in each place, float32 (d,), 0 if the query lacks it
    values: np.ndarray
    words: np.ndarray  # bits of the frequent features, uint64 (W,)
    # `concave_lines` of each word, float32 (W, 4), invalid for a word that is 0
    lines: np.ndarray
    lists: np.ndarray  # posting lists of the features, int64
    factors: np.ndarray  # for the postings of each list, float32
    n_features: int
    largest: float  # largest magnitude of the frequent features, float32
    error: float  # bound of the rounding error of a sum of postings, float32
    count_mask: int  # mask of the bits of a sum that count its postings, int32


@njit(inline="always")
def open_query(features, values, index, scratch):
    laid_out = scratch.query
    words = scratch.words
    n_frequent = words.size * WORD_BITS
    largest = np.float32(0)
    error = ROUNDING
    n_lists = 0
    for p in range(features.size):
        place = index.places[features[p]]
        value = values[p]
        laid_out[place] = value
        if place < n_frequent:
            words[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
            largest = max(largest, abs(value))
        elif place - n_frequent < index.steps.size:
            step = np.float64(index.steps[place - n_frequent])
            error += abs(value) * step
            scratch.lists[n_lists] = place - n_frequent
            scratch.factors[n_lists] = np.rint(value * step / SUM_UNIT * 65536) * 2.0**-32
            n_lists += 1
    for w in range(words.size):
        if words[w] != 0:
            end = min(WORD_BITS * (w + 1), laid_out.size)
            concave_lines(unchecked_view(laid_out, WORD_BITS * w, end), row_of(scratch.lines, w))
    count_mask = np.int32(1)
    while count_mask < n_lists:
        count_mask = np.int32(2 * count_mask + 1)
    error = np.float32(error + n_lists * (count_mask + 3) * SUM_UNIT)
    lists = unchecked_view(scratch.lists, 0, n_lists)
    factors = unchecked_view(scratch.factors, 0, n_lists)
    return Query(
        laid_out, words, scratch.lines, lists, factors, features.size, largest, error, count_mask
    )


@njit(inline="always")
def bound_block(query, block, n_rows, index, scratch, beta, powers):
    """Write upper bounds of the query's similarities to the instances of a block.

    ``scratch.bounds`` receives them, padded with zeros to full chunks, ``scratch.maxima`` the
    largest bound of each group, and ``scratch.sums`` the sums of postings.
    """
    terms = np.empty(TERMS, dtype=np.int32)
    counts = np.empty(CHUNK, dtype=np.int32)
    products = np.empty(CHUNK, dtype=np.float32)
    starts = row_of(index.list_starts, block)
    base = index.block_starts[block]
    postings = unchecked_view(index.postings, base, base + np.int64(starts[starts.size - 1]))
    add_postings(query, starts, postings, terms, scratch.sums)
    for here in range(0, n_rows, CHUNK):
        there = min(here + CHUNK, n_rows)
        start = block * index.block_rows + here
        end = block * index.block_rows + there
        sums = unchecked_view(scratch.sums, here, there)
        sizes = unchecked_view(index.sizes, start, end)
        largests = unchecked_view(index.largest, start, end)
        bounds = unchecked_view(scratch.bounds, here, here + CHUNK)
        bound_frequent(query, start, end, index.words, index.lengths, counts, products)
        bound_chunk(query, sums, counts, products, sizes, largests, beta, powers, bounds)
        for g in range(CHUNK // GROUP):
            largest = np.float32(0)
            for bound in unchecked_view(bounds, g * GROUP, (g + 1) * GROUP):
                largest = max(largest, bound)
            scratch.maxima[here // GROUP + g] = largest


@njit
def concave_lines(values, lines):
    """Write linear functions of c to ``lines`` that bound the length of any c of the 64 values.

    Entry 0 is the slope of the line through the origin, entries 1 and 2 the slope and intercept of
    the line through the lengths for c = FLAT and c = FLAT + 1, and entry 3 the length of all
    values. The largest length, the root of the sum of the c largest squares, is concave in c. So a
    line through its values for c and c + 1 bounds it for any whole number.
    """
    squares = np.zeros(WORD_BITS + FLAT + 1)
    n = 0
    for value in values:  # insertion sort is fast because most values are zero
        square = np.float64(value) * np.float64(value)
        place = n
        if square > 0:
            while place > 0 and squares[place - 1] < square:
                squares[place] = squares[place - 1]
                place -= 1
            squares[place] = square
            n += 1
    steep = length_of(squares[0])
    total = squares[0]
    for k in range(1, FLAT):
        total += squares[k]
    low = length_of(total)
    total += squares[FLAT]
    slope = length_of(total) - low
    for k in range(FLAT + 1, n):
        total += squares[k]
    lines[0] = not_subnormal(steep)
    lines[1] = not_subnormal(slope)
    lines[2] = not_subnormal(low - FLAT * slope)
    lines[3] = not_subnormal(length_of(total))


@njit(inline="always")
def length_of(total):
    """Return sqrt(``total``) / LENGTH_STEPS, increased by more than the rounding error."""
    return np.sqrt(total) * (1 + 1e-6) / LENGTH_STEPS


@njit(inline="always")
def not_subnormal(bound):
    """Return a bound, raised to `SMALLEST_NORMAL` if it is positive and smaller.

    The rounding of smaller numbers to float32 can undo the increase of `length_of`.
    """
    if bound > 0:
        return max(bound, SMALLEST_NORMAL)
    return bound


@njit
def add_postings(query, starts, postings, terms, sums):
    """Add the postings of the query's lists to the sums of a block, all starts prefetched first.

    One integer addition updates both the sum of an instance and its number of postings. A posting
    is multiplied as one integer, although its lower half is the number of the instance, because
    this changes the value by less than one step. `ROUNDING` covers the float32 error. ``terms``,
    int32 (TERMS,), is scratch.
    """
    keep_bits = ~query.count_mask
    for j in query.lists:
        start = np.int64(starts[j])
        end = np.int64(starts[j + 1])
        if start < end:
            prefetch(postings, start)
            prefetch(postings, min(start + 16, end - 1))
    for k in range(query.lists.size):
        start = np.int64(starts[query.lists[k]])
        end = np.int64(starts[query.lists[k] + 1])
        factor = query.factors[k]
        whole = start + (end - start) // TERMS * TERMS
        for here in range(start, whole, TERMS):
            add_terms(
                unchecked_view(postings, here, here + TERMS), TERMS, factor, keep_bits, terms, sums
            )
        add_terms(unchecked_view(postings, whole, end), end - whole, factor, keep_bits, terms, sums)


@njit(fastmath=NO_NAN_NO_SIGN, forceinline=True)
def add_terms(postings, n, factor, keep_bits, terms, sums):
    """Add the first ``n`` postings of a list, vectorised if ``n`` is a constant."""
    for k in range(n):
        terms[k] = (np.int32(np.float32(np.int32(postings[k])) * factor) & keep_bits) + np.int32(1)
    for k in range(n):
        sums[postings[k] & np.uint32(0xFFFF)] += terms[k]


@njit(fastmath=NO_NAN_NO_SIGN)
def bound_frequent(query, start, end, words, lengths, counts, products):
    """Count the frequent features that a query shares with each instance of a chunk, and bound
    their inner product.

    Within a word, Cauchy's inequality bounds it by two lengths: that of the instance's features in
    the word, times a bound for the shared features of the query (`concave_lines`).
    """
    for i in range(end - start):
        counts[i] = 0
        products[i] = 0
    for w in range(query.words.size):
        query_word = query.words[w]
        if query_word == 0:
            continue
        own = unchecked_view(row_of(words, w), start, end)
        own_lengths = unchecked_view(row_of(lengths, w), start, end)
        steep = query.lines[w, 0]
        flat = query.lines[w, 1]
        height = query.lines[w, 2]
        whole = query.lines[w, 3]
        for i in range(own.size):
            count = np.int32(bits_set(own[i] & query_word))
            counts[i] += count
            c = np.float32(count)
            bound = min(min(steep * c, fma(flat, c, height)), whole)
            products[i] = fma(bound, np.float32(own_lengths[i]), products[i])


@njit(error_model="numpy", fastmath=NO_NAN_NO_SIGN)
def bound_chunk(query, sums, counts, products, sizes, largests, beta, powers, bounds):
    """Write upper bounds of the query's similarities to the instances of a chunk, float32 (CHUNK,).

    The inner product is at most the sum of the postings plus the smaller of two bounds for the
    frequent features: ``products``, and the number of shared ones times the largest magnitudes of
    query and instance, which is tight if all values are equal. The result is 0 without a shared
    feature, for a negative similarity, and after the last instance.

    ``counts`` and ``products`` are the results of `bound_frequent`, ``powers`` that of `powers_of`.
    """
    largest = query.largest / np.float32(LENGTH_STEPS)
    error = query.error
    count_mask = query.count_mask
    size = np.float32(query.n_features)
    unit = np.float32(SUM_UNIT)
    one = np.float32(1)
    for i in range(sizes.size):
        frequent = min(products[i], np.float32(counts[i]) * (largest * np.float32(largests[i])))
        shared = np.float32(np.int32((sums[i] & count_mask) + counts[i]))
        product = fma(np.float32(sums[i]), unit, frequent) + error
        jaccard = shared / max(size + np.float32(sizes[i]) - shared, one)
        if powers is None:
            factor = one
            if beta == 1.0:
                factor = jaccard
        else:
            # Stored sizes are capped at 65,535, so ``jaccard`` could exceed 1.
            factor = powers[np.int32(min(jaccard, one) * np.float32(POWERS))]
        bound = max(product * factor * SLACK, np.float32(0))
        # the compiler makes no vectors of an if statement
        bounds[i] = bound if shared > 0 else np.float32(0)
    for i in range(sizes.size, bounds.size):
        bounds[i] = 0
