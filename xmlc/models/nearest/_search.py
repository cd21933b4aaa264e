"""The S nearest training instances of a query, N(1; x), ..., N(S; x) of swnn2018, Section 3.3: kernels.

For each block of instances: the postings of the query's rarer features are added to one integer per instance; words of
bits say which of the frequent features, which would have most of the postings, it shares, and bound what they add; from
both comes an upper bound of each similarity, and only those whose bound reaches the S-th best are computed.

Measured on one thread of an AMD EPYC (Zen 4, level-2 cache of 1 MB), S = 75, beta = 1: a posting takes 0.75 ns (a bare
scatter update of this kind 0.55), bounds take 0.9 ns per instance with one word, a similarity 0.1 to 0.3 µs. On
tib-core-26k (41,902 instances, 92 features each) 29 % of the postings are touched and 94 similarities computed per
query, on delicious 36 % and 96. Of 128 µs on tib-core-26k postings take 41, bounds 38 and similarities 36.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels import elementwise
from xmlc.kernels.arrays import unowned
from xmlc.kernels.bits import bits_set
from xmlc.kernels.float32 import fma
from xmlc.kernels.heaps import offer, take_best, worst_kept
from xmlc.kernels.powers import power
from xmlc.kernels.prefetch import prefetch
from xmlc.models.nearest._index import LENGTH_STEPS, WORD_BITS, NeighbourIndex

HISTOGRAM_BARS = 512
GROUPS_PER_NEIGHBOUR = 4  # with fewer groups than so many times S, their maxima say little about the S best
LOWER = np.float32(0.75)  # of the first mark: the S-th best is seldom less similar
AHEAD = 4  # rows that are prefetched before they are needed
# Not `whole`; a plain False has a type of its own, for which `compare` would be compiled again.
CLOSER_FIRST = np.bool_(False)


class SearchScratch(NamedTuple):
    """Memory of a thread: O(d + block of instances + S); zero where a query expects zero."""

    query: np.ndarray  # float32 (d,), by place, all zero between queries
    query_words: np.ndarray  # uint64 (W,)
    sums: np.ndarray  # int32 (block of instances,), all zero between blocks
    lists: np.ndarray  # int64 (number of lists, 3): start, end and weight of those of the query
    terms: np.ndarray  # int32 (TERMS,): what postings add to the sums
    bounds: np.ndarray  # float32 (block of instances, to full chunks)
    counts: np.ndarray  # int32 (CHUNK,): frequent features shared
    products: np.ndarray  # float32 (CHUNK,): a bound of their product
    lines: np.ndarray  # float32 (W or 1, 4): see `concave_lines`
    halves: np.ndarray  # float32 (CHUNK,): room for `group_maxima`
    groups: np.ndarray  # float32 (groups of a block of instances,): largest bound of each
    histogram: np.ndarray  # int32 (HISTOGRAM_BARS,)
    upper: np.ndarray  # int64 (block of instances, and one more): candidates that are compared first
    lower: np.ndarray  # int64 (the same): those that are compared after
    best: np.ndarray  # uint64 (S,): a heap of keys, the worst in front
    powers: np.ndarray  # float32 (POWERS + 1,): an upper bound of J**beta for each step of J
    beta: float  # for which the powers were made


def search_scratch(index: NeighbourIndex, S: int, beta: float) -> SearchScratch:
    """Make the memory for one thread."""
    rows = min(index.block_rows, index.sizes.size)
    padded = -(-rows // CHUNK) * CHUNK
    powers = elementwise.power((np.arange(POWERS + 1) + 1) / POWERS, beta)
    return SearchScratch(
        np.zeros(index.places.size, dtype=np.float32),
        np.zeros(index.words.shape[0], dtype=np.uint64),
        np.zeros(rows, dtype=np.int32),
        np.empty((index.steps.size, 3), dtype=np.int64),
        np.zeros(TERMS, dtype=np.int32),
        np.zeros(padded, dtype=np.float32),
        np.zeros(CHUNK, dtype=np.int32),
        np.zeros(CHUNK, dtype=np.float32),
        np.zeros((index.words.shape[0], 4), dtype=np.float32),
        np.zeros(CHUNK, dtype=np.float32),
        np.zeros(padded // GROUP, dtype=np.float32),
        np.zeros(HISTOGRAM_BARS, dtype=np.int32),
        np.zeros(padded + 1, dtype=np.int64),
        np.zeros(padded + 1, dtype=np.int64),
        np.zeros(S, dtype=np.uint64),
        np.nextafter(powers.astype(np.float32), np.float32(np.inf)),
        beta,
    )


@njit(cache=True, nogil=True)
def nearest_instances(x, start, end, index, scratch):
    """Find the S nearest training instances with a positive similarity, for queries ``start .. end - 1``.

    Parameters
    ----------
    x : KernelCSR
        Queries of unit length without explicit zeros.
    index : NeighbourIndex
    scratch : SearchScratch
        As `search_scratch` makes it, which also says S and beta.

    Returns
    -------
    neighbours : int32 (end - start, S)
        Nearest first, of equally similar ones the smaller number; -1 where there are no more.
    similarities : float32 (end - start, S)
    n_products : int64 (end - start,)
        Training instances whose similarity was computed.
    """
    index, scratch = unowned(index), unowned(scratch)
    S, beta = scratch.best.size, scratch.beta
    neighbours = np.full((end - start, S), -1, dtype=np.int32)
    similarities = np.zeros((end - start, S), dtype=np.float32)
    n_products = np.zeros(end - start, dtype=np.int64)
    n = index.sizes.size
    for i in range(start, end):
        features, values = x.indices[x.indptr[i] : x.indptr[i + 1]], x.data[x.indptr[i] : x.indptr[i + 1]]
        query = open_query(features, values, index, scratch)
        n_best = np.int64(0)  # a plain 0 has a type of its own, for which all that it goes to is compiled again
        for block in range(index.block_starts.size):
            first = block * index.block_rows
            n_rows = min(index.block_rows, n - first)
            add_postings(features, values, index, block, query[2], scratch)
            bound_similarities(index, first, n_rows, features.size, query, beta, scratch)
            n_best, n_found = keep_best(index, first, n_rows, features.size, query, n_best, beta, scratch)
            n_products[i - start] += n_found
            scratch.sums[:n_rows] = 0
        close_query(features, index, scratch)
        take_best(scratch.best, n_best, neighbours[i - start], similarities[i - start])
    return neighbours, similarities, n_products


@njit(cache=True, nogil=True)
def keep_best(index, first, n_rows, n_features, query, n_best, beta, scratch):
    """Compute similarities, the most promising first, until no other can be among the S best.

    At least S bounds reach the S-th largest of the groups' maxima: those come first, and set a mark that few others
    reach.
    """
    S, bounds, upper, lower = scratch.best.size, scratch.bounds, scratch.upper, scratch.lower
    maxima = scratch.groups[: (n_rows + GROUP - 1) // GROUP]
    mark = worst_kept(scratch.best, n_best, S)
    high = mark
    if n_rows > S:
        few = maxima.size < GROUPS_PER_NEIGHBOUR * S
        high = max(high, below_kth_largest(bounds[:n_rows] if few else maxima, S, scratch.histogram))
    low = max(LOWER * high, mark)
    n_found = collect(bounds, maxima, low, upper, lower)
    n_upper, n_lower = split(lower[:n_found], bounds, high, upper)
    n_best, n_first = compare(upper[:n_upper], first, index, n_features, query, n_best, beta, n_best < S, scratch)
    n_upper, _ = split(lower[:n_lower], bounds, worst_kept(scratch.best, n_best, S), upper)
    n_best, n_second = compare(upper[:n_upper], first, index, n_features, query, n_best, beta, CLOSER_FIRST, scratch)
    mark, n_third = worst_kept(scratch.best, n_best, S), 0
    if mark < low:
        n_found = collect(bounds, maxima, mark, upper, lower)
        _, n_lower = split(lower[:n_found], bounds, low, upper)
        n_best, n_third = compare(lower[:n_lower], first, index, n_features, query, n_best, beta, CLOSER_FIRST, scratch)
    return n_best, n_first + n_second + n_third


@njit(cache=True, nogil=True)
def compare(candidates, first, index, n_features, query_parts, n_best, beta, whole, scratch):
    """Keep the best of the candidates; return how many are kept, and how many similarities were computed.

    Those of the first round are taken ``whole``. Of a later one, the bound is first made closer by its frequent
    features, which stand at the front of its row. The similarity is float32 of a float64 number: J**beta times the
    product of the two rows, see `row_product`.
    """
    row_starts, row_places, row_values, words = index.row_starts, index.row_places, index.row_values, index.words
    query, best, (_, error, count_mask) = scratch.query, scratch.best, query_parts
    n_products = 0
    for k in range(candidates.size):
        i = candidates[k]
        if k + AHEAD < candidates.size:
            ask_for_row(row_places, row_values, row_starts, first + candidates[k + AHEAD], whole)
        mark = worst_kept(best, n_best, best.size)
        if scratch.bounds[i] < mark:
            continue
        start, end = row_starts[first + i], row_starts[first + i + 1]
        shared, n_frequent = np.int64(scratch.sums[i] & count_mask), np.uint64(0)
        for w in range(words.shape[0]):
            shared += np.int64(bits_set(words[w, first + i] & scratch.query_words[w]))
            n_frequent += bits_set(words[w, first + i])
        jaccard = shared / (n_features + end - start - shared)
        factor = jaccard if beta == 1.0 else (1.0 if beta == 0.0 else power(jaccard, beta))
        if not whole:
            product = np.float64(scratch.sums[i]) * SUM_UNIT + error
            for p in range(np.uint64(start), np.uint64(start) + n_frequent):
                product += np.float64(row_values[p]) * np.float64(query[row_places[p]])
            if product * factor * SLACK < mark:
                continue
        n_products += 1
        similarity = np.float32(factor * row_product(row_places, row_values, start, end, query))
        n_best = offer(best, n_best, similarity, first + i)
    return n_best, n_products


@njit(cache=True, nogil=True)
def ask_for_row(places, values, starts, i, whole):
    """Prefetch the front of a row, or all of it, before it is needed."""
    end = starts[i + 1] if whole else min(starts[i] + 16, starts[i + 1])
    for p in range(starts[i], end, 16):
        prefetch(places, p)
        prefetch(values, p)


@njit(cache=True, nogil=True)
def row_product(places, values, start, end, query):
    """Return the inner product of a row and the query laid out, float64.

    The p-th feature of the row goes into sum p modulo 4, the four become (0 + 1) + (2 + 3): a fixed order that keeps
    four additions under way. 8 bytes per non-zero, and the query's value from a cache.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    # Unsigned places need no look at whether they count from the end.
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    p, end = np.uint64(start), np.uint64(end)
    while p + four <= end:
        a += np.float64(values[p]) * np.float64(query[places[p]])
        b += np.float64(values[p + one]) * np.float64(query[places[p + one]])
        c += np.float64(values[p + two]) * np.float64(query[places[p + two]])
        d += np.float64(values[p + three]) * np.float64(query[places[p + three]])
        p += four
    if p < end:
        a += np.float64(values[p]) * np.float64(query[places[p]])
    if p + one < end:
        b += np.float64(values[p + one]) * np.float64(query[places[p + one]])
    if p + two < end:
        c += np.float64(values[p + two]) * np.float64(query[places[p + two]])
    return (a + b) + (c + d)


# Upper bounds of a query's similarities to all instances of a block: kernels.


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
    """Leave the memory as it was found."""
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
            factor = np.float32(1)
            if beta != 0.0:
                jaccard = shared / max(size + np.float32(sizes[i]) - shared, np.float32(1))
                factor = powers[np.int32(jaccard * np.float32(POWERS))]
            bounds[i] = max(product * factor * SLACK, np.float32(0)) if shared > 0 else np.float32(0)


# The most promising of many bounds: kernels.
#
# The bounds of a block form groups of neighbours, one cache line each, so that few lines are read again.


GROUP = 16  # bounds in a group: the float32 of a cache line
LEAST = np.float32(1e-45)  # the least positive float32


@njit(cache=True, nogil=True)
def group_maxima(bounds, halves, maxima):
    """Write the maximum of each group of bounds.

    Half of them drop out four times over, which compiles to vector instructions; ``halves`` is room for as many.
    """
    n = bounds.size
    larger_of_pairs(bounds, halves[: n // 2])
    larger_of_pairs(halves[: n // 2], halves[n // 2 : n // 2 + n // 4])
    larger_of_pairs(halves[n // 2 : n // 2 + n // 4], halves[: n // 8])
    larger_of_pairs(halves[: n // 8], maxima)


@njit(cache=True, nogil=True)
def larger_of_pairs(values, larger):
    """Write the larger of each two neighbours."""
    for i in range(larger.size):
        one, other = values[2 * i], values[2 * i + 1]
        larger[i] = one if one > other else other


@njit(cache=True, nogil=True)
def below_kth_largest(values, k, counts):
    """Return a number that at least k of more than k values reach, and not many more: an edge of a histogram.

    ``counts`` is room for the histogram, whose bars have equal widths. Linear, without a branch per value.
    """
    largest = values.max()
    if not largest > 0:
        return np.float32(0)
    counts[:] = 0
    scale = np.float32((counts.size - 1) / largest)
    for value in values:
        counts[np.int32(value * scale)] += 1
    bar, n_above = counts.size, 0
    while n_above < k:
        bar -= 1
        n_above += counts[bar]
    # A little lower, because the product above was rounded.
    return np.float32(bar * (1 - 1e-6) / scale)


@njit(cache=True, nogil=True)
def collect(bounds, maxima, start, groups, found):
    """Write who has a positive bound of at least ``start``, return how many.

    ``groups`` is room for the numbers of groups. Written without branches, which would be guessed wrong often.
    """
    start = max(start, LEAST)
    n_groups, n_found = 0, 0
    for g in range(maxima.size):
        groups[n_groups] = g
        n_groups += maxima[g] >= start
    for g in groups[:n_groups]:
        for i in range(g * GROUP, g * GROUP + GROUP):
            found[n_found] = i
            n_found += bounds[i] >= start
    return n_found


@njit(cache=True, nogil=True)
def split(candidates, bounds, mark, upper):
    """Move candidates whose bound reaches a mark to ``upper``; return the numbers moved and left in front."""
    n_upper, n_lower = 0, 0
    for k in range(candidates.size):
        i = candidates[k]
        upper[n_upper], candidates[n_lower] = i, i
        n_upper += bounds[i] >= mark
        n_lower += bounds[i] < mark
    return n_upper, n_lower
