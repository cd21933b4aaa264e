"""The S nearest training instances of a query: kernels.

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

from xmlc.kernels import elementwise, float64
from xmlc.kernels.arrays import unowned
from xmlc.kernels.bits import bits_set
from xmlc.kernels.heaps import offer, take_best, worst_kept
from xmlc.kernels.prefetch import prefetch
from xmlc.models.nearest._bounds import (
    CHUNK,
    POWERS,
    SLACK,
    SUM_UNIT,
    TERMS,
    add_postings,
    bound_similarities,
    close_query,
    open_query,
)
from xmlc.models.nearest._index import NeighbourIndex
from xmlc.models.nearest._select import GROUP, below_kth_largest, collect, split
from xmlc.runtime.kernel_cache import njit

HISTOGRAM_BARS = 512
GROUPS_PER_NEIGHBOUR = 4  # with fewer groups than so many times S, their maxima say little about the S best
LOWER = np.float32(0.75)  # of the first mark: the S-th best is seldom less similar
AHEAD = 4  # rows that are prefetched before they are needed
# Not `whole`; a plain False has a type of its own, for which `compare` would be compiled again.
CLOSER_FIRST = np.bool_(False)


class SearchScratch(NamedTuple):
    """Room that a thread needs: O(d + block of instances + S); zero where a query expects zero."""

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
    """Make the room for one thread."""
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
        power = jaccard if beta == 1.0 else (1.0 if beta == 0.0 else float64.power(jaccard, beta))
        if not whole:
            product = np.float64(scratch.sums[i]) * SUM_UNIT + error
            for p in range(np.uint64(start), np.uint64(start) + n_frequent):
                product += np.float64(row_values[p]) * np.float64(query[row_places[p]])
            if product * power * SLACK < mark:
                continue
        n_products += 1
        similarity = np.float32(power * row_product(row_places, row_values, start, end, query))
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
