"""Upper bounds of a query's similarities to all instances of a block: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.bits import bits_set
from xmlc.kernels.float32 import fma
from xmlc.kernels.prefetch import prefetch
from xmlc.models.nearest._building import LENGTH_STEPS, WORD_BITS
from xmlc.models.nearest._select import GROUP, group_maxima
from xmlc.runtime.kernel_cache import njit

CHUNK = 1024  # instances whose counts and products stay in the level-1 cache
TERMS = 64  # postings whose terms are computed before they are added
SUM_UNIT = 2.0**-30  # of an accumulator: a sum of products, whose lowest bits count how many
FLAT = 3  # the number of shared features at which the second line bounds best
POWERS = 4096  # steps of the table of powers of J
ROUNDING = 1e-6  # more than float32 loses in terms whose sum is at most 1, and in a sum of three numbers like that
# Nothing is rounded otherwise: no bound is NaN and no sign of a zero counts, so that minima are single instructions.
NO_NAN_NO_SIGN = {"nnan", "nsz"}
SLACK = np.float32(1 + 1e-5)  # more than float32 loses in a few products


@njit(cache=True, nogil=True)
def open_query(features, values, index, scratch):
    """Lay a query out.

    Returns
    -------
    largest : float32
        Largest magnitude of its frequent features.
    error : float32
        What rounding may cost a sum of postings, at most.
    count_mask : int32
        The lowest bits of a sum, which count its postings.
    """
    n_frequent = index.words.shape[0] * WORD_BITS
    largest, error, n_lists = np.float32(0), ROUNDING, 0
    for p in range(features.size):
        place, value = index.places[features[p]], values[p]
        scratch.query[place] = value
        if place < n_frequent:
            scratch.query_words[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
            largest = max(largest, abs(value))
        elif place - n_frequent < index.steps.size:
            error += abs(value) * np.float64(index.steps[place - n_frequent])
            n_lists += 1
    for w in range(scratch.query_words.size):
        if scratch.query_words[w] != 0:
            concave_lines(scratch.query[WORD_BITS * w : WORD_BITS * (w + 1)], scratch.lines[w])
    count_mask = np.int32(1)
    while count_mask < n_lists:
        count_mask = np.int32(2 * count_mask + 1)
    return largest, np.float32(error + n_lists * (count_mask + 3) * SUM_UNIT), count_mask


@njit(cache=True, nogil=True)
def concave_lines(values, lines):
    """Bound the length of any c of 64 values by the least of lines in c.

    Two of them: slope of that through the origin; slope and height of that through FLAT and FLAT + 1; and the length
    of all.

    The largest length of c values, the root of the sum of the c largest squares, is concave in c, so that a line
    through two neighbouring points is nowhere below it at a whole number.
    """
    squares, n = np.zeros(values.size + FLAT + 1), 0
    for value in values:  # most are zero
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
    lines[0], lines[1], lines[2], lines[3] = steep, slope, low - FLAT * slope, length_of(total)


@njit(cache=True, nogil=True)
def length_of(total):
    """Return the length whose square is ``total``, in units of an instance's lengths, and a little more."""
    return np.sqrt(total) * (1 + 1e-6) / LENGTH_STEPS


@njit(cache=True, nogil=True)
def close_query(features, index, scratch):
    """Leave the room as it was found."""
    for p in range(features.size):
        scratch.query[index.places[features[p]]] = 0
    scratch.query_words[:] = 0


@njit(cache=True, nogil=True)
def add_postings(features, values, index, block, count_mask, scratch):
    """Add the query's lists to the sums of a block: product and count in one addition, 4 bytes per posting.

    A posting is multiplied as it is: the instance's number in its lower half counts for less than a step of its value.
    What float32 loses is within `ROUNDING`. The fronts of all lists are prefetched before the first is read.
    """
    n_frequent = index.words.shape[0] * WORD_BITS
    starts, base = index.list_starts[block], index.block_starts[block]
    n_lists = 0
    for p in range(features.size):
        place = index.places[features[p]]
        if place < n_frequent or place - n_frequent >= index.steps.size:
            continue
        j = place - n_frequent
        start, end = base + starts[j], base + starts[j + 1]
        if start < end:
            prefetch(index.postings, start)
            prefetch(index.postings, min(start + 16, end - 1))
            weight = np.rint(values[p] * np.float64(index.steps[j]) / SUM_UNIT * 65536)
            scratch.lists[n_lists, 0], scratch.lists[n_lists, 1], scratch.lists[n_lists, 2] = start, end, weight
            n_lists += 1
    for k in range(n_lists):
        start, end, weight = scratch.lists[k]
        factor, keep_bits = np.float32(weight * 2.0**-32), ~count_mask
        whole = start + (end - start) // TERMS * TERMS
        for here in range(start, whole, TERMS):
            add_terms(index.postings[here : here + TERMS], TERMS, factor, keep_bits, scratch.terms, scratch.sums)
        add_terms(index.postings[whole:end], end - whole, factor, keep_bits, scratch.terms, scratch.sums)


@njit(cache=True, nogil=True, fastmath=NO_NAN_NO_SIGN, inline="always")
def add_terms(postings, n, factor, keep_bits, terms, sums):
    """Add postings, see `add_postings`: their terms come first, by vector instructions if their number is known."""
    for k in range(n):
        terms[k] = (np.int32(np.float32(np.int32(postings[k])) * factor) & keep_bits) + np.int32(1)
    for k in range(n):
        sums[postings[k] & np.uint32(0xFFFF)] += terms[k]


@njit(cache=True, nogil=True)
def bound_similarities(index, first, n_rows, n_features, query, beta, scratch):
    """Write an upper bound of the similarity to each instance of a block, and the largest of each group.

    It is 0 for an instance that shares no feature, or whose similarity is negative.

    The work goes by chunks of instances: 4 bytes of the index and 8 of the scratch each, and 10 per word.
    """
    for start in range(first, first + n_rows, CHUNK):
        end = min(start + CHUNK, first + n_rows)
        counts, products = scratch.counts[: end - start], scratch.products[: end - start]
        counts[:] = 0
        products[:] = 0
        for w in range(scratch.query_words.size):
            if scratch.query_words[w] != 0:
                words, lengths = index.words[w][start:end], index.lengths[w][start:end]
                bound_word(words, lengths, scratch.query_words[w], scratch.lines[w], counts, products)
        bound_chunk(
            scratch.sums[start - first : end - first],
            counts,
            products,
            index.sizes[start:end],
            index.largest[start:end],
            (np.float32(n_features), *query),
            beta,
            scratch.powers,
            scratch.bounds[start - first : end - first],
        )
        here = start - first
        scratch.bounds[end - first : here + CHUNK] = 0
        groups = scratch.groups[here // GROUP : (here + CHUNK) // GROUP]
        group_maxima(scratch.bounds[here : here + CHUNK], scratch.halves, groups)


@njit(cache=True, nogil=True, fastmath=NO_NAN_NO_SIGN)
def bound_word(words, lengths, query_word, lines, counts, products):
    """Add the frequent features of one word that a query shares with each instance, and a bound of their product.

    By Cauchy's inequality it is at most the length of the instance's features in this word times that of those of the
    query's that are shared, see `concave_lines`. Compiles to vector instructions.
    """
    steep, flat, height, whole = lines[0], lines[1], lines[2], lines[3]
    for i in range(words.size):
        count = np.int32(bits_set(words[i] & query_word))
        counts[i] += count
        c = np.float32(count)
        bound = min(min(steep * c, fma(flat, c, height)), whole)
        products[i] = fma(bound, np.float32(lengths[i]), products[i])


@njit(cache=True, nogil=True, error_model="numpy", fastmath=NO_NAN_NO_SIGN)
def bound_chunk(sums, counts, products, sizes, largests, query, beta, powers, bounds):
    """Bound the similarities of a chunk from sums of postings and bounds of the frequent features' products.

    The latter are also at most their number times the largest magnitude of each side, which is close where all values
    are the same. Compiles to vector instructions.
    """
    size, largest, error, count_mask = query
    largest, unit = largest / np.float32(LENGTH_STEPS), np.float32(SUM_UNIT)
    if beta == 1.0:
        for i in range(sums.size):
            frequent = min(products[i], np.float32(counts[i]) * (largest * np.float32(largests[i])))
            shared = np.float32(np.int32((sums[i] & count_mask) + counts[i]))
            product = fma(np.float32(sums[i]), unit, frequent) + error
            jaccard = shared / max(size + np.float32(sizes[i]) - shared, np.float32(1))
            bounds[i] = max(product * jaccard * SLACK, np.float32(0))
    else:
        for i in range(sums.size):
            frequent = min(products[i], np.float32(counts[i]) * (largest * np.float32(largests[i])))
            shared = np.float32(np.int32((sums[i] & count_mask) + counts[i]))
            product = fma(np.float32(sums[i]), unit, frequent) + error
            power = np.float32(1)
            if beta != 0.0:
                jaccard = shared / max(size + np.float32(sizes[i]) - shared, np.float32(1))
                power = powers[np.int32(jaccard * np.float32(POWERS))]
            bounds[i] = max(product * power * SLACK, np.float32(0)) if shared > 0 else np.float32(0)
