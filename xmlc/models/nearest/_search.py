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
from xmlc.kernels.arrays import borrowed, row_of, unowned
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
    squares: np.ndarray  # float64 (WORD_BITS + FLAT + 1,): room for `concave_lines`
    lines: np.ndarray  # float32 (W or 1, 4): see `concave_lines`
    halves: np.ndarray  # float32 (CHUNK,): room for `group_maxima`
    groups: np.ndarray  # float32 (groups of a block of instances,): largest bound of each
    histogram: np.ndarray  # int32 (HISTOGRAM_BARS,)
    upper: np.ndarray  # int64 (block of instances, and one more): candidates that are compared first
    lower: np.ndarray  # int64 (the same): those that are compared after
    best: np.ndarray  # uint64 (S,): a heap of keys, the worst in front
    powers: np.ndarray | None  # float32 (POWERS + 1,): an upper bound of J**beta for each step of J; None for beta 0, 1
    beta: float  # for which the powers were made


def search_scratch(index: NeighbourIndex, S: int, beta: float) -> SearchScratch:
    """Make the memory for one thread."""
    rows = min(index.block_rows, index.sizes.size)
    padded = -(-rows // CHUNK) * CHUNK
    powers = None  # with which numba compiles no powers
    if beta not in (0, 1):
        powers = elementwise.power((np.arange(POWERS + 1) + 1) / POWERS, beta).astype(np.float32)
        powers = np.nextafter(powers, np.float32(np.inf))
    return SearchScratch(
        np.zeros(index.places.size, dtype=np.float32),
        np.zeros(index.words.shape[0], dtype=np.uint64),
        np.zeros(rows, dtype=np.int32),
        np.empty((index.steps.size, 3), dtype=np.int64),
        np.zeros(TERMS, dtype=np.int32),
        np.zeros(padded, dtype=np.float32),
        np.zeros(CHUNK, dtype=np.int32),
        np.zeros(CHUNK, dtype=np.float32),
        np.zeros(WORD_BITS + FLAT + 1),
        np.zeros((index.words.shape[0], 4), dtype=np.float32),
        np.zeros(CHUNK, dtype=np.float32),
        np.zeros(padded // GROUP, dtype=np.float32),
        np.zeros(HISTOGRAM_BARS, dtype=np.int32),
        np.zeros(padded + 1, dtype=np.int64),
        np.zeros(padded + 1, dtype=np.int64),
        np.zeros(S, dtype=np.uint64),
        powers,
        beta,
    )


@njit(cache=True, nogil=True)
def nearest_instances(x, first_query, index, scratch, neighbours, similarities, n_products):
    """Find the S nearest training instances with a positive similarity, for q queries.

    Parameters
    ----------
    x : KernelCSR
        Queries of unit length without explicit zeros, of which those from ``first_query`` on are meant.
    index : NeighbourIndex
    scratch : SearchScratch
        As `search_scratch` makes it, which also says beta.
    neighbours : int32 (q, S), all -1, similarities : float32 (q, S), all zero
        Written: nearest first, of equally similar ones the smaller number; the rest stays where there are no more.
    n_products : int64 (q,)
        Written: training instances whose similarity was computed.
    """
    # The kernels below take the arrays that they need: with named tuples of 30 compilation takes twice as long.
    indptr, indices, data = unowned(x)
    (
        places, row_starts, row_places, row_values, sizes, words, lengths, largest, steps, list_starts, block_starts,
        postings, block_rows,
    ) = unowned(index)  # fmt: skip
    (
        query, query_words, sums, lists, terms, bounds, counts, products, squares, lines, halves, maxima, histogram,
        upper, lower, best, powers, beta,
    ) = unowned(scratch)  # fmt: skip
    n, n_words = sizes.size, words.shape[0]
    for q in range(n_products.size):
        start, end = indptr[first_query + q], indptr[first_query + q + 1]
        features, values = borrowed(indices, start, end), borrowed(data, start, end)
        own_largest, error, count_mask = open_query(features, values, places, steps, query, query_words, squares, lines)
        n_best = np.int64(0)  # a plain 0 has a type of its own, for which all that it goes to is compiled again
        for block in range(block_starts.size):
            first = block * block_rows
            n_rows = block_rows if block_rows < n - first else n - first
            own_lists = row_of(list_starts, block)
            add_postings(
                features, values, places, n_words, steps, own_lists, block_starts[block], postings, ~count_mask, lists,
                terms, sums,
            )  # fmt: skip
            for here in range(0, n_rows, CHUNK):
                start, end = first + here, first + here + (CHUNK if here + CHUNK < n_rows else n_rows - here)
                bound_frequent(start, end, words, lengths, query_words, lines, counts, products)
                bound_chunk(
                    borrowed(sums, here, n_rows), counts, products, borrowed(sizes, start, end),
                    borrowed(largest, start, end), features.size, own_largest, error, count_mask, beta, powers,
                    borrowed(bounds, here, here + CHUNK),
                )  # fmt: skip
                group_maxima(
                    borrowed(bounds, here, here + CHUNK), halves,
                    borrowed(maxima, here // GROUP, (here + CHUNK) // GROUP),
                )  # fmt: skip
            n_best, n_found = keep_best(
                first, n_rows, bounds, maxima, histogram, upper, lower, features.size, error, count_mask, beta, powers,
                sums, words, query_words, row_starts, row_places, row_values, query, best, n_best,
            )  # fmt: skip
            n_products[q] += n_found
            for i in range(n_rows):
                sums[i] = 0
        for p in range(features.size):
            query[places[features[p]]] = 0
        for w in range(n_words):
            query_words[w] = 0
        take_best(best, n_best, row_of(neighbours, q), row_of(similarities, q))


@njit(cache=True, nogil=True, error_model="numpy")
def keep_best(
    first, n_rows, bounds, maxima, histogram, upper, lower, n_features, error, count_mask, beta, powers,
    sums, words, query_words, row_starts, row_places, row_values, query, best, n_best,
):  # fmt: skip
    """Compute similarities, the most promising first, until no other can be among the S best.

    At least S bounds reach the S-th largest of the groups' maxima: those come first, and set a mark that few others
    reach. If there are not S best ones yet, they are taken whole. Otherwise the bound of a candidate is first made
    closer by its frequent features, which stand at the front of its row. The similarity is float32 of a float64 number:
    J**beta times the product of the two rows, see `row_product`.

    Returns
    -------
    n_best : int
        How many are kept.
    n_products : int
        How many similarities were computed.
    """
    S, n_groups = best.size, (n_rows + GROUP - 1) // GROUP
    bounds, maxima = borrowed(bounds, 0, n_groups * GROUP), borrowed(maxima, 0, n_groups)  # 0 behind the last instance
    high = mark = worst_kept(best, n_best, S)
    if n_rows > S:
        few = maxima.size < GROUPS_PER_NEIGHBOUR * S
        edge = below_kth_largest(bounds if few else maxima, S, histogram)
        high = edge if edge > high else high
    low, whole, n_products = LOWER * high if LOWER * high > mark else mark, n_best < S, 0
    n_lower = collect(bounds, maxima, low, upper, lower)
    for turn in range(3):
        # First those whose bound reaches the high mark, then the others above the low one, then the rest.
        candidates = upper
        if turn == 0:
            n_candidates, n_lower = split(borrowed(lower, 0, n_lower), bounds, high, upper)
        else:
            whole, mark = False, worst_kept(best, n_best, S)
            if turn == 1:
                n_candidates, _ = split(borrowed(lower, 0, n_lower), bounds, mark, upper)
            else:
                if mark >= low:
                    break
                n_lower = collect(bounds, maxima, mark, upper, lower)
                _, n_candidates = split(borrowed(lower, 0, n_lower), bounds, low, upper)
                candidates = lower
        for k in range(n_candidates):
            i = candidates[k]
            if k + AHEAD < n_candidates:
                ask_for_row(row_places, row_values, row_starts, first + candidates[k + AHEAD], whole)
            mark = worst_kept(best, n_best, S)
            if bounds[i] < mark:
                continue
            start, end = row_starts[first + i], row_starts[first + i + 1]
            shared, n_frequent = np.int64(sums[i] & count_mask), np.uint64(0)
            for w in range(words.shape[0]):
                shared += np.int64(bits_set(words[w, first + i] & query_words[w]))
                n_frequent += bits_set(words[w, first + i])
            jaccard = shared / (n_features + end - start - shared)
            factor = jaccard if beta == 1.0 else (1.0 if powers is None else power(jaccard, beta))
            if not whole:
                product = np.float64(sums[i]) * SUM_UNIT + error
                for p in range(np.uint64(start), np.uint64(start) + n_frequent):
                    product += np.float64(row_values[p]) * query[row_places[p]]
                if product * factor * SLACK < mark:
                    continue
            n_products += 1
            similarity = np.float32(factor * row_product(row_places, row_values, start, end, query))
            n_best = offer(best, n_best, similarity, first + i)
    return n_best, n_products


@njit(cache=True, nogil=True)
def ask_for_row(places, values, starts, i, whole):
    """Prefetch the front of a row, or all of it, before it is needed."""
    start, end = starts[i], starts[i + 1]
    for p in range(start, end if whole or end < start + 16 else start + 16, 16):
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
        a += np.float64(values[p]) * query[places[p]]
        b += np.float64(values[p + one]) * query[places[p + one]]
        c += np.float64(values[p + two]) * query[places[p + two]]
        d += np.float64(values[p + three]) * query[places[p + three]]
        p += four
    if p < end:
        a += np.float64(values[p]) * query[places[p]]
    if p + one < end:
        b += np.float64(values[p + one]) * query[places[p + one]]
    if p + two < end:
        c += np.float64(values[p + two]) * query[places[p + two]]
    return (a + b) + (c + d)


# Upper bounds of a query's similarities to all instances of a block: kernels.


CHUNK = 1024  # instances whose counts and products stay in the level-1 cache
TERMS = np.int64(64)  # postings whose terms are computed before they are added; an int has a type of its own
SUM_UNIT = 2.0**-30  # of an accumulator: a sum of products, whose lowest bits count how many
FLAT = 3  # the number of shared features at which the second line bounds best
POWERS = 4096  # steps of the table of powers of J
ROUNDING = 1e-6  # more than float32 loses in terms whose sum is at most 1, and in a sum of three numbers like that
# Nothing is rounded otherwise: no bound is NaN and no sign of a zero counts, so that minima are single instructions.
NO_NAN_NO_SIGN = {"nnan", "nsz"}
SLACK = np.float32(1 + 1e-5)  # more than float32 loses in a few products


@njit(cache=True, nogil=True)
def open_query(features, values, places, steps, query, query_words, squares, lines):
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
    n_frequent = query_words.size * WORD_BITS
    largest, error, n_lists = np.float32(0), ROUNDING, 0
    for p in range(features.size):
        place, value = places[features[p]], values[p]
        query[place] = value
        if place < n_frequent:
            query_words[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
            largest = abs(value) if abs(value) > largest else largest
        elif place - n_frequent < steps.size:
            error += abs(value) * np.float64(steps[place - n_frequent])
            n_lists += 1
    for w in range(query_words.size):
        if query_words[w] != 0:
            end = WORD_BITS * (w + 1)
            concave_lines(
                borrowed(query, WORD_BITS * w, end if end < query.size else query.size), squares, row_of(lines, w)
            )
    count_mask = np.int32(1)
    while count_mask < n_lists:
        count_mask = np.int32(2 * count_mask + 1)
    return largest, np.float32(error + n_lists * (count_mask + 3) * SUM_UNIT), count_mask


@njit(cache=True, nogil=True)
def concave_lines(values, squares, lines):
    """Bound the length of any c of 64 values by the least of lines in c.

    Two of them: slope of that through the origin; slope and height of that through FLAT and FLAT + 1; and the length
    of all.

    The largest length of c values, the root of the sum of the c largest squares, is concave in c, so that a line
    through two neighbouring points is nowhere below it at a whole number.
    """
    n = 0
    for k in range(squares.size):
        squares[k] = 0
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
def add_postings(features, values, places, n_words, steps, starts, base, postings, keep_bits, lists, terms, sums):
    """Add the query's lists to the sums of a block: product and count in one addition, 4 bytes per posting.

    A posting is multiplied as it is: the instance's number in its lower half counts for less than a step of its value.
    What float32 loses is within `ROUNDING`. The fronts of all lists are prefetched before the first is read.
    """
    n_frequent = n_words * WORD_BITS
    n_lists = 0
    for p in range(features.size):
        place = places[features[p]]
        if place < n_frequent or place - n_frequent >= steps.size:
            continue
        j = place - n_frequent
        start, end = base + starts[j], base + starts[j + 1]
        if start < end:
            prefetch(postings, start)
            prefetch(postings, start + 16 if start + 16 < end else end - 1)
            weight = np.rint(values[p] * np.float64(steps[j]) / SUM_UNIT * 65536)
            lists[n_lists, 0], lists[n_lists, 1], lists[n_lists, 2] = start, end, weight
            n_lists += 1
    for k in range(n_lists):
        start, end, factor = lists[k, 0], lists[k, 1], np.float32(lists[k, 2] * 2.0**-32)
        whole = start + (end - start) // TERMS * TERMS
        for here in range(start, whole, TERMS):
            add_terms(borrowed(postings, here, here + TERMS), TERMS, factor, keep_bits, terms, sums)
        add_terms(borrowed(postings, whole, end), end - whole, factor, keep_bits, terms, sums)


@njit(cache=True, nogil=True, fastmath=NO_NAN_NO_SIGN, forceinline=True)
def add_terms(postings, n, factor, keep_bits, terms, sums):
    """Add postings, see `add_postings`: their terms come first, by vector instructions if their number is known."""
    for k in range(n):
        terms[k] = (np.int32(np.float32(np.int32(postings[k])) * factor) & keep_bits) + np.int32(1)
    for k in range(n):
        sums[postings[k] & np.uint32(0xFFFF)] += terms[k]


@njit(cache=True, nogil=True, fastmath=NO_NAN_NO_SIGN)
def bound_frequent(start, end, words, lengths, query_words, lines, counts, products):
    """Count the frequent features that a query shares with each instance of a chunk, and bound their product.

    By Cauchy's inequality the product within one word is at most the length of the instance's features in it times that
    of those of the query's that are shared, see `concave_lines`. Compiles to vector instructions: 8 bytes of scratch
    for each instance, and 10 of the index for each word.
    """
    for i in range(end - start):
        counts[i], products[i] = 0, 0
    for w in range(query_words.size):
        if query_words[w] == 0:
            continue
        query_word, own = query_words[w], borrowed(row_of(words, w), start, end)
        own_lengths = borrowed(row_of(lengths, w), start, end)
        steep, flat, height, whole = lines[w, 0], lines[w, 1], lines[w, 2], lines[w, 3]
        for i in range(own.size):
            count = np.int32(bits_set(own[i] & query_word))
            counts[i] += count
            c = np.float32(count)
            bound = min(min(steep * c, fma(flat, c, height)), whole)
            products[i] = fma(bound, np.float32(own_lengths[i]), products[i])


@njit(cache=True, nogil=True, error_model="numpy", fastmath=NO_NAN_NO_SIGN)
def bound_chunk(sums, counts, products, sizes, largests, n_features, largest, error, count_mask, beta, powers, bounds):
    """Write an upper bound of the similarity to each instance of a chunk; 0 behind the last one.

    It comes from sums of postings and bounds of the frequent features' products. The latter are also at most their
    number times the largest magnitude of each side, which is close where all values are the same. It is 0 for an
    instance that shares no feature, or whose similarity is negative. Compiles to vector instructions.
    """
    size, largest, unit = np.float32(n_features), largest / np.float32(LENGTH_STEPS), np.float32(SUM_UNIT)
    if beta == 1.0:
        for i in range(sizes.size):
            frequent = min(products[i], np.float32(counts[i]) * (largest * np.float32(largests[i])))
            shared = np.float32(np.int32((sums[i] & count_mask) + counts[i]))
            product = fma(np.float32(sums[i]), unit, frequent) + error
            jaccard = shared / max(size + np.float32(sizes[i]) - shared, np.float32(1))
            bounds[i] = max(product * jaccard * SLACK, np.float32(0))
    else:
        for i in range(sizes.size):
            frequent = min(products[i], np.float32(counts[i]) * (largest * np.float32(largests[i])))
            shared = np.float32(np.int32((sums[i] & count_mask) + counts[i]))
            product = fma(np.float32(sums[i]), unit, frequent) + error
            factor = np.float32(1)
            if powers is not None:
                # Where an instance has more features than its size can say, the quotient would exceed 1.
                jaccard = min(shared / max(size + np.float32(sizes[i]) - shared, np.float32(1)), np.float32(1))
                factor = powers[np.int32(jaccard * np.float32(POWERS))]
            bounds[i] = max(product * factor * SLACK, np.float32(0)) if shared > 0 else np.float32(0)
    for i in range(sizes.size, bounds.size):
        bounds[i] = 0


# The most promising of many bounds: kernels.
#
# The bounds of a block form groups of neighbours, one cache line each, so that few lines are read again.


GROUP = 16  # bounds in a group: the float32 of a cache line
LEAST = np.float32(1e-45)  # the least positive float32
SMALL = np.float32(1e-35)  # above it the number of bars, divided by it, is no infinite float32


@njit(cache=True, nogil=True)
def group_maxima(bounds, halves, maxima):
    """Write the maximum of each group of bounds.

    Half of them drop out four times over, which compiles to vector instructions; ``halves`` is room for as many.
    """
    n = bounds.size
    quarter = borrowed(halves, n // 2, n // 2 + n // 4)
    larger_of_pairs(bounds, borrowed(halves, 0, n // 2))
    larger_of_pairs(halves, quarter)
    larger_of_pairs(quarter, borrowed(halves, 0, n // 8))
    larger_of_pairs(halves, maxima)


@njit(cache=True, nogil=True)
def larger_of_pairs(values, larger):
    """Write the larger of each two neighbours."""
    for i in range(larger.size):
        one, other = values[2 * i], values[2 * i + 1]
        larger[i] = one if one > other else other


@njit(cache=True, nogil=True)
def below_kth_largest(values, k, counts):
    """Return a number that at least k of more than k values reach, and not many more: an edge of a histogram.

    ``counts`` is room for the histogram, whose bars have equal widths. Linear, without a branch per value. 0, which all
    reach, where all values are below `SMALL`.
    """
    largest = np.float32(0)
    for value in values:
        largest = value if value > largest else largest
    if largest < SMALL:
        return np.float32(0)
    for bar in range(counts.size):
        counts[bar] = 0
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
    start = start if start > LEAST else LEAST
    n_groups, n_found = 0, 0
    for g in range(maxima.size):
        groups[n_groups] = g
        n_groups += maxima[g] >= start
    for g in borrowed(groups, 0, n_groups):
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
