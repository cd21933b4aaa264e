"""The S nearest training instances of a query: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.bits import bits_set
from xmlc.models.nearest._best import keep, take_best, worst_kept
from xmlc.models.nearest._index import LENGTH_STEPS, WORD_BITS
from xmlc.models.nearest._memory import prefetch

AHEAD = 8  # rows that memory is asked for before they are needed
CHUNK = 1024  # instances whose counts and products stay in the level-1 cache
GROUP_WIDTH = 64  # groups side by side
SUM_UNIT = 2.0**-30  # of an accumulator: a sum of products, whose lowest bits count how many
FLAT = 3  # the number of shared features at which the second line bounds best
POWERS = 4096  # steps of the table of powers of J
ROUNDING = 1e-6  # more than float32 loses in a sum of three numbers that are at most 1
BOUNDS_ONLY = {"contract", "nnan", "nsz"}  # what may be rounded otherwise: bounds have slack
SLACK = np.float32(1 + 1e-5)  # and more than it loses in the few products after that


class SearchScratch(NamedTuple):
    """Room that a thread needs: O(d + block of instances + S); zero where a query expects zero."""

    query: np.ndarray  # float32 (d,), by place, all zero between queries
    query_words: np.ndarray  # uint64 (W,)
    sums: np.ndarray  # int32 (block of instances,), all zero between blocks
    bounds: np.ndarray  # float32 (block of instances, and a chunk of groups more)
    counts: np.ndarray  # int32 (CHUNK,): frequent features shared
    products: np.ndarray  # float32 (CHUNK,): a bound of their product
    lines: np.ndarray  # float32 (W, 4): see `concave_lines`
    groups: np.ndarray  # float32 (2, block of instances): largest bound of each group, and a copy to order
    candidates: np.ndarray  # int64 (block of instances, and one more)
    best: np.ndarray  # uint64 (S,): a heap of keys, the worst in front
    powers: np.ndarray  # float32 (POWERS + 1,): an upper bound of J**beta for each step of J
    beta: float  # for which the powers were made


def search_scratch(index, S: int, beta: float) -> SearchScratch:
    """Make the room for one thread."""
    rows = min(index.block_rows, index.sizes.size)
    padded = -(-rows // (GROUP_WIDTH * 64)) * GROUP_WIDTH * 64
    powers = ((np.arange(POWERS + 1) + 1) / POWERS) ** beta
    return SearchScratch(
        np.zeros(index.places.size, dtype=np.float32),
        np.zeros(index.words.shape[0], dtype=np.uint64),
        np.zeros(rows, dtype=np.int32),
        np.zeros(padded, dtype=np.float32),
        np.zeros(CHUNK, dtype=np.int32),
        np.zeros(CHUNK, dtype=np.float32),
        np.zeros((index.words.shape[0], 4), dtype=np.float32),
        np.zeros((2, padded), dtype=np.float32),
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
    S, beta = scratch.best.size, scratch.beta
    neighbours = np.full((end - start, S), -1, dtype=np.int32)
    similarities = np.zeros((end - start, S), dtype=np.float32)
    n_products = np.zeros(end - start, dtype=np.int64)
    n = index.sizes.size
    for i in range(start, end):
        features, values = x.indices[x.indptr[i] : x.indptr[i + 1]], x.data[x.indptr[i] : x.indptr[i + 1]]
        query = open_query(features, values, index, scratch)
        n_best = 0
        for block in range(index.block_starts.size):
            first = block * index.block_rows
            n_rows = min(index.block_rows, n - first)
            add_postings(features, values, index, block, query[2], scratch.sums)
            bound_similarities(index, first, n_rows, features.size, query, beta, scratch)
            n_best, n_found = keep_best(index, first, n_rows, features.size, query, n_best, beta, scratch)
            n_products[i - start] += n_found
            scratch.sums[:n_rows] = 0
        close_query(features, index, scratch)
        take_best(scratch.best, n_best, neighbours[i - start], similarities[i - start])
    return neighbours, similarities, n_products


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
    squares = -np.sort(-(values.astype(np.float64) ** 2))
    lengths = np.zeros(max(squares.size, FLAT) + 2)
    total = 0.0
    for c in range(1, lengths.size):
        total += squares[c - 1] if c <= squares.size else 0.0
        lengths[c] = np.sqrt(total) * (1 + 1e-6) / LENGTH_STEPS
    slope = lengths[FLAT + 1] - lengths[FLAT]
    lines[0], lines[1], lines[2], lines[3] = lengths[1], slope, lengths[FLAT] - FLAT * slope, lengths[-1]


@njit(cache=True, nogil=True)
def close_query(features, index, scratch):
    """Leave the room as it was found."""
    for p in range(features.size):
        scratch.query[index.places[features[p]]] = 0
    scratch.query_words[:] = 0


@njit(cache=True, nogil=True)
def add_postings(features, values, index, block, count_mask, sums):
    """Add the query's lists to the sums of a block: product and count in one addition, 4 bytes per posting.

    A posting is multiplied as it is: the instance's number in its lower half counts for less than a step of its value.
    """
    n_frequent = index.words.shape[0] * WORD_BITS
    starts = index.list_starts[block]
    base = index.block_starts[block]
    for p in range(features.size):
        place = index.places[features[p]]
        if place < n_frequent or place - n_frequent >= index.steps.size:
            continue
        j = place - n_frequent
        weight = np.int64(np.rint(values[p] * np.float64(index.steps[j]) / SUM_UNIT * 65536))
        for posting in index.postings[base + starts[j] : base + starts[j + 1]]:
            product = np.int32((weight * np.int64(np.int32(posting))) >> 32)
            sums[posting & np.uint32(0xFFFF)] += (product & ~count_mask) + np.int32(1)


@njit(cache=True, nogil=True)
def bound_similarities(index, first, n_rows, n_features, query, beta, scratch):
    """Write an upper bound of the similarity to each instance of a block; 0 for one that shares no feature.

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


@njit(cache=True, nogil=True, fastmath=BOUNDS_ONLY)
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
        products[i] += min(min(steep * c, flat * c + height), whole) * np.float32(lengths[i])


@njit(cache=True, nogil=True, error_model="numpy", fastmath=BOUNDS_ONLY)
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
            product = np.float32(sums[i]) * unit + frequent + error
            bounds[i] = product * (shared / max(size + np.float32(sizes[i]) - shared, np.float32(1))) * SLACK
    else:
        for i in range(sums.size):
            frequent = min(products[i], np.float32(counts[i]) * (largest * np.float32(largests[i])))
            shared = np.float32(np.int32((sums[i] & count_mask) + counts[i]))
            product = np.float32(sums[i]) * unit + frequent + error
            power = np.float32(1)
            if beta != 0.0:
                jaccard = shared / max(size + np.float32(sizes[i]) - shared, np.float32(1))
                power = powers[np.int32(jaccard * np.float32(POWERS))]
            bounds[i] = product * power * SLACK if shared > 0 else np.float32(0)


@njit(cache=True, nogil=True)
def keep_best(index, first, n_rows, n_features, query, n_best, beta, scratch):
    """Compute similarities, the most promising first, until no other can be among the S best.

    The instances of a block form groups. At least S bounds reach the S-th largest of the groups' maxima: those come
    first, and set a mark that few others reach.
    """
    S = scratch.best.size
    group = 1
    while group < 64 and group * 8 * S <= n_rows:
        group *= 2
    n_groups = group_maxima(scratch.bounds, n_rows, group, scratch.groups[0])
    largest = scratch.groups[0][:n_groups]
    scratch.groups[1][:n_groups] = largest
    high = kth_largest(scratch.groups[1][:n_groups], S) if n_groups > S else np.float32(0)
    n_products = 0
    end = np.float32(np.inf)
    for start in (high, np.float32(0)):
        start = max(start, worst_kept(scratch.best, n_best, S))
        n_found = collect(scratch.bounds, largest, group, start, end, scratch.candidates)
        n_best, n_computed = compare(
            scratch.candidates[:n_found],
            first,
            index.row_starts[first:],
            index.row_places,
            index.row_values,
            index.words,
            (scratch.query, scratch.query_words, n_features, query[1], query[2]),
            scratch.sums,
            scratch.bounds,
            scratch.best,
            n_best,
            beta,
            end > high,
        )
        n_products += n_computed
        end = high
    return n_best, n_products


@njit(cache=True, nogil=True)
def collect(bounds, largest, group, start, end, found):
    """Write who has a positive bound in start <= bound < end, return how many."""
    n_found = 0
    for g in range(largest.size):
        if largest[g] > 0 and largest[g] >= start:
            base = (g // GROUP_WIDTH) * GROUP_WIDTH * group + g % GROUP_WIDTH
            for i in range(base, base + group * GROUP_WIDTH, GROUP_WIDTH):
                # Written without a branch, which would be guessed wrong again and again.
                found[n_found] = i
                n_found += (bounds[i] > 0) & (bounds[i] >= start) & (bounds[i] < end)
    return n_found


@njit(cache=True, nogil=True)
def compare(
    candidates, first, row_starts, row_places, row_values, words, query_parts, sums, bounds, best, n_best, beta, whole
):
    """Keep the best of the candidates; return how many are kept, and how many similarities were computed.

    A candidate's bound is first made closer by its frequent features, which stand at the front of its row. The
    similarity is float32 of a float64 number: J**beta times the product of the two rows, see `row_product`.
    """
    query, query_words, n_features, error, count_mask = query_parts
    n_frequent = np.uint32(words.shape[0] * WORD_BITS)
    n_products = 0
    for k in range(candidates.size):
        i = candidates[k]
        if k + AHEAD < candidates.size:
            ask_for_row(row_places, row_values, row_starts, candidates[k + AHEAD], whole)
        mark = worst_kept(best, n_best, best.size)
        if bounds[i] < mark:
            continue
        start, end = row_starts[i], row_starts[i + 1]
        shared = np.int64(sums[i] & count_mask)
        for w in range(words.shape[0]):
            shared += np.int64(bits_set(words[w, first + i] & query_words[w]))
        jaccard = shared / (n_features + end - start - shared)
        power = jaccard if beta == 1.0 else (1.0 if beta == 0.0 else jaccard**beta)
        product = np.float64(sums[i]) * SUM_UNIT + error
        for p in range(np.uint64(start), np.uint64(end)):
            if row_places[p] >= n_frequent:
                break
            product += np.float64(row_values[p]) * np.float64(query[row_places[p]])
        if product * power * SLACK < mark:
            continue
        n_products += 1
        similarity = np.float32(power * row_product(row_places, row_values, start, end, query))
        n_best = keep(best, n_best, similarity, first + i)
    return n_best, n_products


@njit(cache=True, nogil=True)
def group_maxima(bounds, n_rows, group, maxima):
    """Write the maximum of each group of bounds, return the number of groups.

    64 groups lie side by side, the members of one 64 places apart, so that the maximum is taken of vectors.
    """
    chunk = GROUP_WIDTH * group
    n_chunks = (n_rows + chunk - 1) // chunk
    bounds[n_rows : n_chunks * chunk] = 0
    for c in range(n_chunks):
        largest = maxima[c * GROUP_WIDTH : (c + 1) * GROUP_WIDTH]
        largest[:] = 0
        for k in range(group):
            these = bounds[c * chunk + k * GROUP_WIDTH : c * chunk + (k + 1) * GROUP_WIDTH]
            for g in range(GROUP_WIDTH):
                largest[g] = these[g] if these[g] > largest[g] else largest[g]
    return n_chunks * GROUP_WIDTH


@njit(cache=True, nogil=True)
def kth_largest(values, k):
    """Return the k-th largest value, 1 <= k <= size; reorders the values (quickselect, linear in the mean)."""
    low, high = 0, values.size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return values[k - 1]


@njit(cache=True, nogil=True)
def ask_for_row(places, values, starts, i, whole):
    """Ask memory for the front of a row, or for the whole, before it is needed."""
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
