"""Provide kernels that compute upper bounds of a query's similarities to all instances of a block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import bits_set, prefetch, row_of, unchecked_view
from xmlc.kernels.float32 import fma
from xmlc.models.nearest._index import LENGTH_STEPS, WORD_BITS

CHUNK = 1024  # The counts and products of 1024 instances fit into the level-1 cache.
# `add_terms` computes 64 terms at once. The constant is an int64, because numba gives a plain int another type.
TERMS = np.int64(64)
SUM_UNIT = 2.0**-30  # Integer sums of postings have the unit 2**-30. The lowest bits of a sum count the sum's postings.
FLAT = 3  # The second line of `concave_lines` is exact for 3 or 4 shared features.
SMALLEST_NORMAL = 2.0**-126  # Smaller positive float32 numbers have fewer digits.
POWERS = 4096  # The table of J**beta divides the range of the Jaccard similarity J into 4096 steps.
# `ROUNDING` bounds the float32 error of adding up terms whose sum is at most 1, and then adding three such sums.
ROUNDING = 1e-6
# All operations that `ROUNDING` does not cover are exact. Because no bound is NaN and signs of zeros do not matter,
# these compiler flags make a minimum a single instruction.
NO_NAN_NO_SIGN = {"nnan", "nsz"}
SLACK = np.float32(1 + 1e-5)  # A bound times this factor covers the float32 error of a few products.


class Query(NamedTuple):
    """Hold a query and the numbers that kernels derive from the query once per search."""

    # The query's value of the feature in each place, float32 (d,), 0 if the query lacks the feature.
    values: np.ndarray
    words: np.ndarray  # Bits of the query's frequent features, uint64 (W,).
    # Lines from `concave_lines` for each word, float32 (W, 4). The row of a word that is 0 is invalid.
    lines: np.ndarray
    lists: np.ndarray  # Posting lists of the query's features, int64.
    factors: np.ndarray  # Factor for the postings of each list in ``lists``, float32.
    n_features: int
    largest: float  # Largest magnitude of the query's frequent features, float32.
    error: float  # Upper bound of the rounding error of a sum of postings, float32.
    count_mask: int  # Mask of the lowest bits of a sum, which count the sum's postings, int32.


@njit
def open_query(features, values, places, steps, laid_out, words, lines, lists, factors, squares):
    """Return the `Query` with the given features and values.

    Parameters
    ----------
    features : uint32, values : float32
        Features and values of the query.
    places, steps
        See `NeighbourIndex`.
    laid_out, words, lines, lists, factors
        Memory for the arrays of the `Query`. ``laid_out`` and ``words`` are all zero before the call.
    squares : float64 (WORD_BITS + FLAT + 1,)
        Scratch for `concave_lines`.

    Returns
    -------
    Query
        The arrays of the `Query` are views of the given arrays.
    """
    n_frequent = words.size * WORD_BITS
    largest, error, n_lists = np.float32(0), ROUNDING, 0
    for p in range(features.size):
        place, value = places[features[p]], values[p]
        laid_out[place] = value
        if place < n_frequent:
            words[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
            largest = abs(value) if abs(value) > largest else largest
        elif place - n_frequent < steps.size:
            step = np.float64(steps[place - n_frequent])
            error += abs(value) * step
            lists[n_lists] = place - n_frequent
            factors[n_lists] = np.rint(value * step / SUM_UNIT * 65536) * 2.0**-32
            n_lists += 1
    for w in range(words.size):
        if words[w] != 0:
            end = WORD_BITS * (w + 1)
            own = unchecked_view(laid_out, WORD_BITS * w, end if end < laid_out.size else laid_out.size)
            concave_lines(own, squares, row_of(lines, w))
    count_mask = np.int32(1)
    while count_mask < n_lists:
        count_mask = np.int32(2 * count_mask + 1)
    error = np.float32(error + n_lists * (count_mask + 3) * SUM_UNIT)
    lists, factors = unchecked_view(lists, 0, n_lists), unchecked_view(factors, 0, n_lists)
    return Query(laid_out, words, lines, lists, factors, features.size, largest, error, count_mask)


@njit
def concave_lines(values, squares, lines):
    """Write three linear functions of c to ``lines``, which bound the Euclidean length of any c of the 64 values.

    Entry 0 is the slope of the line through the origin. Entries 1 and 2 are the slope and the intercept of the line
    through the lengths for c = FLAT and c = FLAT + 1. Entry 3 is the Euclidean length of all values, a constant bound.

    The largest length of c values is the root of the sum of the c largest squares, which is concave in c. A line
    through the largest lengths for c and c + 1 values is therefore an upper bound for any whole number of values.
    """
    n = 0
    for k in range(squares.size):
        squares[k] = 0
    for value in values:  # the insertion sort is fast because most values are zero
        square, place = np.float64(value) * np.float64(value), n
        if square > 0:
            while place > 0 and squares[place - 1] < square:
                squares[place] = squares[place - 1]
                place -= 1
            squares[place] = square
            n += 1
    steep, total = length_of(squares[0]), squares[0]
    for k in range(1, FLAT):
        total += squares[k]
    low, total = length_of(total), total + squares[FLAT]
    slope = length_of(total) - low
    for k in range(FLAT + 1, n):
        total += squares[k]
    lines[0] = not_subnormal(steep)
    lines[1] = not_subnormal(slope)
    lines[2] = not_subnormal(low - FLAT * slope)
    lines[3] = not_subnormal(length_of(total))


@njit
def length_of(total):
    """Return sqrt(``total``) / LENGTH_STEPS, increased by more than the rounding error."""
    return np.sqrt(total) * (1 + 1e-6) / LENGTH_STEPS


@njit
def not_subnormal(bound):
    """Return a bound, increased to `SMALLEST_NORMAL` if it is positive and smaller.

    The rounding of a smaller number to float32 can make it smaller by more than `length_of` has increased it.
    """
    return max(bound, SMALLEST_NORMAL) if bound > 0 else bound


@njit
def add_postings(query, starts, postings, terms, sums):
    """Add the postings of the query's lists to the sums of a block.

    One integer addition updates both the sum of an instance and its number of postings. The 4 bytes of a posting are
    multiplied as one integer. The instance's number in the lower half of a posting changes the value by less than one
    step. `ROUNDING` covers the float32 error of the products. The starts of all lists are prefetched before the first
    list is read.

    Parameters
    ----------
    query : Query
        Query whose posting lists are added.
    starts : uint32 (n_lists + 1,), postings : uint32
        The posting lists of the block.
    terms : int32 (TERMS,)
        Scratch.
    sums : int32 (instances of the block,)
        The sum of each instance of the block. The postings are added to these sums in place.
    """
    lists, factors, keep_bits = query.lists, query.factors, ~query.count_mask
    for j in lists:
        start, end = np.int64(starts[j]), np.int64(starts[j + 1])
        if start < end:
            prefetch(postings, start)
            prefetch(postings, start + 16 if start + 16 < end else end - 1)
    for k in range(lists.size):
        start, end = np.int64(starts[lists[k]]), np.int64(starts[lists[k] + 1])
        whole = start + (end - start) // TERMS * TERMS
        for here in range(start, whole, TERMS):
            add_terms(unchecked_view(postings, here, here + TERMS), TERMS, factors[k], keep_bits, terms, sums)
        add_terms(unchecked_view(postings, whole, end), end - whole, factors[k], keep_bits, terms, sums)


@njit(fastmath=NO_NAN_NO_SIGN, forceinline=True)
def add_terms(postings, n, factor, keep_bits, terms, sums):
    """Add the first ``n`` postings of a list (see `add_postings`).

    If ``n`` is a constant, the first loop is vectorised.
    """
    for k in range(n):
        terms[k] = (np.int32(np.float32(np.int32(postings[k])) * factor) & keep_bits) + np.int32(1)
    for k in range(n):
        sums[postings[k] & np.uint32(0xFFFF)] += terms[k]


@njit(fastmath=NO_NAN_NO_SIGN)
def bound_frequent(query, start, end, words, lengths, counts, products):
    """Count the frequent features that a query shares with each instance of a chunk.

    The kernel also bounds the inner product over the shared frequent features. Within one word, Cauchy's inequality
    bounds the inner product by the product of two lengths. The first length is the Euclidean length of the instance's
    features in the word. The second length bounds the Euclidean length of the shared features in the query
    (`concave_lines`). The inner loop compiles to vector instructions. Per instance, the loop uses 8 bytes of scratch
    memory, and 10 bytes of the index for each word.
    """
    query_words, lines = query.words, query.lines
    for i in range(end - start):
        counts[i], products[i] = 0, 0
    for w in range(query_words.size):
        if query_words[w] == 0:
            continue
        query_word, own = query_words[w], unchecked_view(row_of(words, w), start, end)
        own_lengths = unchecked_view(row_of(lengths, w), start, end)
        steep, flat, height, whole = lines[w, 0], lines[w, 1], lines[w, 2], lines[w, 3]
        for i in range(own.size):
            count = np.int32(bits_set(own[i] & query_word))
            counts[i] += count
            c = np.float32(count)
            bound = min(min(steep * c, fma(flat, c, height)), whole)
            products[i] = fma(bound, np.float32(own_lengths[i]), products[i])


@njit(error_model="numpy", fastmath=NO_NAN_NO_SIGN)
def bound_chunk(query, sums, counts, products, sizes, largests, beta, powers, bounds):
    """Write an upper bound of the query's similarity to each instance of a chunk.

    Entries of ``bounds`` after the last instance become 0.

    An instance's inner product with the query is at most the sum of its postings plus a bound for the frequent
    features. The bound for the frequent features is the smaller of the result of `bound_frequent` and a second bound.
    The second bound is the number of shared frequent features times the largest magnitudes of query and instance. The
    second bound is tight if all values of the frequent features are equal. The similarity bound is 0 for an instance
    that shares no feature with the query or whose similarity is negative. The loop compiles to vector instructions.

    Parameters
    ----------
    query : Query
        Query that is compared with the instances of the chunk.
    sums : int32, sizes : uint16, largests : uint16
        The sum of postings of each instance of the chunk, and its entries in ``sizes`` and ``largest`` of
        `NeighbourIndex`.
    counts, products
        Results of `bound_frequent`.
    beta : float
        Exponent of the Jaccard similarity.
    powers : float32 (POWERS + 1,) or None
        See `SearchScratch`.
    bounds : float32 (CHUNK,)
        Receives the upper bounds.
    """
    largest, error, count_mask = query.largest / np.float32(LENGTH_STEPS), query.error, query.count_mask
    size, unit, one = np.float32(query.n_features), np.float32(SUM_UNIT), np.float32(1)
    for i in range(sizes.size):
        frequent = min(products[i], np.float32(counts[i]) * (largest * np.float32(largests[i])))
        shared = np.float32(np.int32((sums[i] & count_mask) + counts[i]))
        product = fma(np.float32(sums[i]), unit, frequent) + error
        jaccard = shared / max(size + np.float32(sizes[i]) - shared, one)
        if powers is None:
            factor = jaccard if beta == 1.0 else one
        else:
            # Because stored sizes are capped at 65,535, ``jaccard`` could exceed 1 for an instance with more features.
            factor = powers[np.int32(min(jaccard, one) * np.float32(POWERS))]
        bounds[i] = max(product * factor * SLACK, np.float32(0)) if shared > 0 else np.float32(0)
    for i in range(sizes.size, bounds.size):
        bounds[i] = 0
