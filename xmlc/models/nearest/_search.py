"""The S nearest training instances of a query: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.bits import bits_set
from xmlc.models.nearest._best import keep, take_best, worst_kept

CHUNK = 1024  # instances whose counts stay in the level-1 cache
GROUP_WIDTH = 64  # groups side by side
COUNT_BITS = 20  # of an accumulator; the rest is a sum of products in units of 2**-40
COUNT_MASK = (1 << COUNT_BITS) - 1
SUM_UNIT = 2.0**-40
POWERS = 4096  # steps of the table of powers of J
ROUNDING = 1e-6  # more than float32 loses in a sum of three numbers that are at most 1
SLACK = np.float32(1 + 1e-5)  # and more than it loses in the few products after that


class SearchScratch(NamedTuple):
    """Room that a thread needs: O(d + block of instances + S); zero where a query expects zero."""

    query: np.ndarray  # float32 (d,), by place, all zero between queries
    query_words: np.ndarray  # uint64 (W,)
    sums: np.ndarray  # int64 (block of instances,), all zero between blocks
    bounds: np.ndarray  # float32 (block of instances, and a chunk of groups more)
    counts: np.ndarray  # int32 (CHUNK,)
    groups: np.ndarray  # float32 (2, block of instances): largest bound of each group, and a copy to order
    candidates: np.ndarray  # int64 (block of instances,)
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
        np.zeros(rows, dtype=np.int64),
        np.zeros(padded, dtype=np.float32),
        np.zeros(CHUNK, dtype=np.int32),
        np.zeros((2, padded), dtype=np.float32),
        np.zeros(rows, dtype=np.int64),
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
        frequent = open_query(features, values, index, scratch)
        n_best = 0
        for block in range(index.block_starts.size):
            first = block * index.block_rows
            n_rows = min(index.block_rows, n - first)
            add_postings(features, values, index, block, scratch.sums)
            bound_similarities(index, first, n_rows, features.size, frequent, beta, scratch)
            n_best, n_found = keep_best(index, first, n_rows, features.size, frequent[2], n_best, beta, scratch)
            n_products[i - start] += n_found
            scratch.sums[:n_rows] = 0
        close_query(features, index, scratch)
        take_best(scratch.best, n_best, neighbours[i - start], similarities[i - start])
    return neighbours, similarities, n_products


@njit(cache=True, nogil=True)
def open_query(features, values, index, scratch):
    """Lay a query out; return length and largest magnitude of its frequent part, and what rounding may cost a sum."""
    n_frequent = index.words.shape[0] * 64
    square, largest, error = 0.0, np.float32(0), ROUNDING
    for p in range(features.size):
        place, value = index.places[features[p]], values[p]
        scratch.query[place] = value
        if place < n_frequent:
            scratch.query_words[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
            square += np.float64(value) ** 2
            largest = max(largest, abs(value))
        elif place - n_frequent < index.steps.size:
            error += 0.5 * (abs(value) * np.float64(index.steps[place - n_frequent]) + 32768 * SUM_UNIT)
    return np.float32(np.sqrt(square) * (1 + 1e-6)), largest, np.float32(error)


@njit(cache=True, nogil=True)
def close_query(features, index, scratch):
    """Leave the room as it was found."""
    for p in range(features.size):
        scratch.query[index.places[features[p]]] = 0
    scratch.query_words[:] = 0


@njit(cache=True, nogil=True)
def add_postings(features, values, index, block, sums):
    """Add the query's lists to the sums of a block: product and count in one 64-bit addition, 4 bytes per posting."""
    n_frequent = index.words.shape[0] * 64
    starts = index.list_starts[block]
    for p in range(features.size):
        place = index.places[features[p]]
        if place < n_frequent or place - n_frequent >= index.steps.size:
            continue
        j = place - n_frequent
        weight = np.int64(np.rint(values[p] * np.float64(index.steps[j]) / SUM_UNIT)) << COUNT_BITS
        base = index.block_starts[block]
        for posting in index.postings[base + starts[j] : base + starts[j + 1]]:
            sums[posting & np.uint32(0xFFFF)] += weight * np.int64(np.int32(posting) >> 16) + 1


@njit(cache=True, nogil=True)
def bound_similarities(index, first, n_rows, n_features, frequent, beta, scratch):
    """Write an upper bound of the similarity to each instance of a block; 0 for one that shares no feature.

    The work goes by chunks of instances: 28 bytes of the index and 12 of the scratch each, and 8 per word.
    """
    for start in range(first, first + n_rows, CHUNK):
        end = min(start + CHUNK, first + n_rows)
        counts = scratch.counts[: end - start]
        count_frequent(index.words[:, start:end], scratch.query_words, counts)
        bound_chunk(
            scratch.sums[start - first : end - first],
            counts,
            index.sizes[start:end],
            index.frequent_lengths[start:end],
            index.frequent_largest[start:end],
            (np.float32(n_features), *frequent),
            beta,
            scratch.powers,
            scratch.bounds[start - first : end - first],
        )


@njit(cache=True, nogil=True, error_model="numpy")
def bound_chunk(sums, counts, sizes, lengths, largests, query, beta, powers, bounds):
    """Bound the similarities of a chunk; compiles to vector instructions.

    The product is the sum of the postings and, over the frequent features that both have, at most |q| |x| and at most
    their number times the largest magnitude of each: the first is close for weighted features, the second for binary.
    """
    size, length, largest, error = query
    unit = np.float32(SUM_UNIT)
    for i in range(sums.size):
        of_lengths = length * lengths[i]
        of_counts = np.float32(counts[i]) * (largest * largests[i])
        shared = np.float32(np.int32(sums[i] & COUNT_MASK) + counts[i])
        product = np.float32(sums[i] >> COUNT_BITS) * unit + min(of_lengths, of_counts) + error
        jaccard = shared / max(size + sizes[i] - shared, np.float32(1))
        if beta == 1.0:
            bounds[i] = product * jaccard * SLACK
        elif beta == 0.0:
            bounds[i] = product * SLACK if shared > 0 else np.float32(0)
        else:
            power = powers[np.int32(jaccard * np.float32(POWERS))]
            bounds[i] = product * power * SLACK if shared > 0 else np.float32(0)


@njit(cache=True, nogil=True)
def count_frequent(words, query_words, counts):
    """Count the frequent features that the query shares with each of at most CHUNK instances; W words each."""
    counts[:] = 0
    for w in range(query_words.size):
        word = query_words[w]
        if word != 0:
            of_instances = words[w]
            for i in range(of_instances.size):
                counts[i] += np.int32(bits_set(of_instances[i] & word))


@njit(cache=True, nogil=True)
def keep_best(index, first, n_rows, n_features, error, n_best, beta, scratch):
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
            index.sizes[first:],
            index.words[:, first:],
            (scratch.query, scratch.query_words, n_features, error),
            scratch.sums,
            scratch.bounds,
            scratch.best,
            n_best,
            beta,
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
            for k in range(group):
                bound = bounds[base + k * GROUP_WIDTH]
                if bound > 0 and start <= bound < end:
                    found[n_found] = base + k * GROUP_WIDTH
                    n_found += 1
    return n_found


@njit(cache=True, nogil=True)
def compare(
    candidates, first, row_starts, row_places, row_values, sizes, words, query_parts, sums, bounds, best, n_best, beta
):
    """Keep the best of the candidates; return how many are kept, and how many similarities were computed.

    A candidate's bound is first made closer by its frequent features, which stand at the front of its row. The
    similarity is float32 of a float64 number: J**beta times the product of the two rows, see `row_product`.
    """
    query, query_words, n_features, error = query_parts
    n_frequent = words.shape[0] * 64
    n_products = 0
    for i in candidates:
        mark = worst_kept(best, n_best, best.size)
        if bounds[i] < mark:
            continue
        shared = sums[i] & COUNT_MASK
        for w in range(words.shape[0]):
            shared += np.int64(bits_set(words[w, i] & query_words[w]))
        jaccard = shared / (n_features + np.int64(sizes[i]) - shared)
        power = jaccard if beta == 1.0 else (1.0 if beta == 0.0 else jaccard**beta)
        start, end = row_starts[i], row_starts[i + 1]
        product = np.float64(sums[i] >> COUNT_BITS) * SUM_UNIT + error
        for p in range(start, end):
            if row_places[p] >= n_frequent:
                break
            product += row_values[p] * query[row_places[p]]
        if product * power * SLACK < mark:
            continue
        n_products += 1
        n_best = keep(best, n_best, np.float32(power * row_product(row_places, row_values, start, end, query)), first + i)
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
def row_product(places, values, start, end, query):
    """Return the inner product of a row and the query laid out, float64.

    The p-th feature of the row goes into sum p modulo 4, the four become (0 + 1) + (2 + 3): a fixed order that keeps
    four additions under way. 8 bytes per non-zero, and the query's value from a cache.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    p = start
    while p + 4 <= end:
        a += np.float64(values[p]) * np.float64(query[places[p]])
        b += np.float64(values[p + 1]) * np.float64(query[places[p + 1]])
        c += np.float64(values[p + 2]) * np.float64(query[places[p + 2]])
        d += np.float64(values[p + 3]) * np.float64(query[places[p + 3]])
        p += 4
    if p < end:
        a += np.float64(values[p]) * np.float64(query[places[p]])
    if p + 1 < end:
        b += np.float64(values[p + 1]) * np.float64(query[places[p + 1]])
    if p + 2 < end:
        c += np.float64(values[p + 2]) * np.float64(query[places[p + 2]])
    return (a + b) + (c + d)
