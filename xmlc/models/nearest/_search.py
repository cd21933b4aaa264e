"""Find the S nearest training instances of a query x.

In swnn2018 (Section 3.3), the S nearest instances are called N(1; x), ..., N(S; x).

The search processes one block of training instances after the other. For each rare feature, the index has a list of
postings. A posting contains an instance and the instance's value of the feature. The search adds the product of this
value and the query's value to an integer sum of the instance. Frequent features have no postings, because most postings
would belong to them.
Words of 64 bits contain the frequent features that an instance shares with the query. The words also give an upper
bound of the inner product over the shared frequent features. The sum of postings and the bound for frequent features
give an upper bound of each similarity. A similarity is computed only if its upper bound reaches the S-th best
similarity.

The following times were measured on one thread of an AMD EPYC (Zen 4, level-2 cache of 1 MB) with S = 75 and beta = 1:

Adding a posting takes 0.75 ns. A random memory update without any other work takes 0.55 ns. Computing a bound takes 0.9
ns with one word per instance. Computing a similarity takes 0.1 to 0.3 µs. On the dataset tib-core-26k (41,902
instances, 92 features each), a query reads 29 % of the postings and computes 94 similarities. On the dataset delicious,
a query reads 36 % of the postings and computes 96 similarities. A query on tib-core-26k takes 128 µs: 41 µs for
postings, 38 µs for bounds and 36 µs for similarities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels import elementwise
from xmlc.kernels.arrays import bits_set, prefetch, row_of, sort, unchecked_view, unowned
from xmlc.kernels.float64 import power
from xmlc.kernels.heaps import offer
from xmlc.kernels.top_k import FREE, key_estimate, key_number, rank_key
from xmlc.models.nearest._bounds import (
    CHUNK,
    FLAT,
    POWERS,
    SLACK,
    SUM_UNIT,
    TERMS,
    add_postings,
    bound_chunk,
    bound_frequent,
    open_query,
)
from xmlc.models.nearest._index import WORD_BITS, NeighbourIndex

GROUP = 16  # A group of 16 bounds fills one cache line.
LEAST = np.float32(1e-45)  # The smallest positive float32 number.
SMALL = np.float32(1e-35)  # If the largest value is at least SMALL, the scale of the histogram is a finite float32.
HISTOGRAM_BARS = 512
GROUPS_PER_NEIGHBOUR = 4  # With fewer than 4 groups per neighbour, group maxima hardly help to find the S best bounds.
# `keep_nearest` first uses the limit ``high``, then LOWER * ``high``. The S-th best similarity is seldom below LOWER *
# ``high``.
LOWER = np.float32(0.75)
AHEAD = 4  # While one row is read, the row of the candidate 4 places later is prefetched.


class SearchScratch(NamedTuple):
    """Hold the scratch memory of one thread, which takes O(d + instances of a block + S) bytes."""

    query: np.ndarray  # Values of the query's features by place, float32 (d,), all zero between queries.
    query_words: np.ndarray  # Bits of the query's frequent features, uint64 (W,), all zero between queries.
    lines: np.ndarray  # Result of `concave_lines` for each word of the query, float32 (W, 4).
    lists: np.ndarray  # Posting lists of the query's features, int64 (number of lists,).
    factors: np.ndarray  # Factor for the postings of each list, float32 (number of lists,).
    squares: np.ndarray  # Scratch for `concave_lines`, float64 (WORD_BITS + FLAT + 1,).
    terms: np.ndarray  # Terms that `add_terms` adds to the sums, int32 (TERMS,).
    sums: np.ndarray  # Sum of postings of each instance, int32 (block of instances,), all zero between blocks.
    counts: np.ndarray  # Number of shared frequent features of each instance, int32 (CHUNK,).
    products: np.ndarray  # Bound of each instance's inner product over the frequent features, float32 (CHUNK,).
    bounds: np.ndarray  # Upper bounds of similarities, float32 (block of instances, padded to full chunks).
    maxima: np.ndarray  # Largest bound of each group of bounds, float32 (groups of a block,).
    histogram: np.ndarray  # Histogram of bounds, int32 (HISTOGRAM_BARS,).
    groups: np.ndarray  # Scratch for numbers of groups, int64 (groups of a block + 1,).
    candidates: np.ndarray  # Scratch for numbers of candidate instances, int64 (block of instances + 1,).
    best: np.ndarray  # Heap of keys with the worst key in front, int64 (S,), all `FREE` between queries.
    powers: np.ndarray | None  # Upper bounds of J**beta, float32 (POWERS + 1,), or None if beta is 0 or 1.
    beta: float  # Exponent for which ``powers`` was computed.


def search_scratch(index: NeighbourIndex, S: int, beta: float) -> SearchScratch:
    """Allocate and return the scratch memory of one thread."""
    rows, n_words, n_lists = min(index.block_rows, index.sizes.size), index.words.shape[0], index.steps.size
    padded = -(-rows // CHUNK) * CHUNK
    powers = None  # If ``powers`` is None, numba compiles no code for powers.
    if beta not in (0, 1):
        powers = elementwise.power((np.arange(POWERS + 1) + 1) / POWERS, beta).astype(np.float32)
        powers = np.nextafter(powers, np.float32(np.inf))
    return SearchScratch(
        query=np.zeros(index.places.size, dtype=np.float32),
        query_words=np.zeros(n_words, dtype=np.uint64),
        lines=np.zeros((n_words, 4), dtype=np.float32),
        lists=np.empty(n_lists, dtype=np.int64),
        factors=np.empty(n_lists, dtype=np.float32),
        squares=np.empty(WORD_BITS + FLAT + 1),
        terms=np.empty(TERMS, dtype=np.int32),
        sums=np.zeros(rows, dtype=np.int32),
        counts=np.empty(CHUNK, dtype=np.int32),
        products=np.empty(CHUNK, dtype=np.float32),
        bounds=np.empty(padded, dtype=np.float32),
        maxima=np.empty(padded // GROUP, dtype=np.float32),
        histogram=np.empty(HISTOGRAM_BARS, dtype=np.int32),
        groups=np.empty(padded // GROUP + 1, dtype=np.int64),
        candidates=np.empty(padded + 1, dtype=np.int64),
        best=np.full(S, FREE),
        powers=powers,
        beta=beta,
    )


class Block(NamedTuple):
    """Hold the sums of postings and the upper bounds of similarities of the instances of a block."""

    first: int  # Number of the block's first instance in the training set.
    sums: np.ndarray  # Sums of postings, int32, in units of SUM_UNIT. The lowest bits of a sum count its postings.
    bounds: np.ndarray  # Upper bounds of the similarities, float32, padded with zeros to full groups.
    maxima: np.ndarray  # Largest bound of each group, float32.


@njit
def nearest_instances(x, first_query, index, scratch, neighbours, similarities, n_products):
    """Find for each of q queries the S nearest training instances with a positive similarity.

    Parameters
    ----------
    x : KernelCSR
        Queries of unit length without stored zeros.
    first_query : int
        Row number in ``x`` of the first of the q queries.
    index : NeighbourIndex
        The training instances.
    scratch : SearchScratch
        Result of `search_scratch`, which also contains beta.
    neighbours : int32 (q, S), similarities : float32 (q, S)
        Before the call, all neighbours are -1 and all similarities 0. Receive each query's neighbours, nearest first,
        and the neighbours' similarities. If similarities are equal, the instance with the smaller number is first. If a
        query has fewer than S neighbours, the remaining entries stay -1 and 0.
    n_products : int64 (q,)
        Receives for each query the number of training instances whose similarity was computed.
    """
    x, index, room = unowned(x), unowned(index), unowned(scratch)
    n, S, sums, bounds, maxima = index.sizes.size, room.best.size, room.sums, room.bounds, room.maxima
    for q in range(n_products.size):
        start, end = x.indptr[first_query + q], x.indptr[first_query + q + 1]
        features, values = unchecked_view(x.indices, start, end), unchecked_view(x.data, start, end)
        query = open_query(
            features, values, index.places, index.steps, room.query, room.query_words, room.lines, room.lists,
            room.factors, room.squares,
        )  # fmt: skip
        for block in range(index.block_starts.size):
            first = block * index.block_rows
            n_rows = min(index.block_rows, n - first)
            n_groups = (n_rows + GROUP - 1) // GROUP
            starts, base = row_of(index.list_starts, block), index.block_starts[block]
            postings = unchecked_view(index.postings, base, base + np.int64(starts[starts.size - 1]))
            add_postings(query, starts, postings, room.terms, sums)
            for here in range(0, n_rows, CHUNK):
                there = min(here + CHUNK, n_rows)
                start, end, own_bounds = first + here, first + there, unchecked_view(bounds, here, here + CHUNK)
                bound_frequent(query, start, end, index.words, index.lengths, room.counts, room.products)
                bound_chunk(
                    query, unchecked_view(sums, here, there), room.counts, room.products,
                    unchecked_view(index.sizes, start, end), unchecked_view(index.largest, start, end),
                    room.beta, room.powers, own_bounds,
                )  # fmt: skip
                group_maxima(own_bounds, unchecked_view(maxima, here // GROUP, (here + CHUNK) // GROUP))
            known = Block(first, sums, unchecked_view(bounds, 0, n_groups * GROUP), unchecked_view(maxima, 0, n_groups))
            high = np.float32(0)
            if n_rows > S:
                few = n_groups < GROUPS_PER_NEIGHBOUR * S
                high = below_kth_largest(known.bounds if few else known.maxima, S, room.histogram)
            n_products[q] += keep_nearest(query, known, high, index, room)
            for i in range(n_rows):
                sums[i] = 0
        for feature in features:
            room.query[index.places[feature]] = 0
        for w in range(room.query_words.size):
            room.query_words[w] = 0
        sort(room.best)
        for r in range(S):
            key = room.best[S - 1 - r]
            room.best[S - 1 - r] = FREE
            if key != FREE:
                neighbours[q, r], similarities[q, r] = key_number(key), key_estimate(key)


@njit
def keep_nearest(query, block, high, index, room):
    """Compute a block's similarities, highest bounds first, until no other instance can be among the S best.

    Parameters
    ----------
    query : Query
        Query that is compared with the instances of the block.
    block : Block
        Sums and bounds of the block.
    high : float32
        Limit that at least S bounds of the block reach, or 0. The instances whose bounds reach the limit are compared
        with the query first. Few other instances have a bound that reaches the S-th best similarity.
    index : NeighbourIndex
        The training instances.
    room : SearchScratch
        Scratch memory, including the heap of the best instances.

    Returns
    -------
    int
        Number of similarities computed.
    """
    candidates, best = room.candidates, room.best
    worst = worst_kept(best)
    high, whole, below, n_products = max(high, worst), worst == 0, np.float32(np.inf), 0
    for least in (high, LOWER * high, np.float32(0)):
        start = max(least, worst_kept(best))
        if start >= below:
            break
        n_candidates = collect(block.bounds, block.maxima, start, below, room.groups, candidates)
        own = unchecked_view(candidates, 0, n_candidates)
        n_products += compare_with_rows(own, whole, query, block, index, room.beta, room.powers, best)
        whole, below = False, least
    return n_products


@njit
def worst_kept(best):
    """Return the smallest similarity in a heap of keys, or 0 if the heap is not full."""
    return max(key_estimate(best[0]), np.float32(0))


@njit(error_model="numpy")
def compare_with_rows(candidates, whole, query, block, index, beta, powers, best):
    """Compute similarities of the candidates whose bounds reach the S-th best similarity, and keep the S best.

    If ``whole`` is true, fewer than S neighbours are known, and all similarities are computed directly. If ``whole`` is
    false, the kernel first tightens a candidate's bound with the frequent features at the start of the candidate's row.
    The similarity is J**beta times the inner product of candidate and query (`row_product`), computed in float64 and
    rounded to float32. The kernel returns the number of similarities computed.
    """
    starts, places, values, words = index.row_starts, index.row_places, index.row_values, index.words
    n_products, sums, bounds, laid_out, query_words = 0, block.sums, block.bounds, query.values, query.words
    for k in range(candidates.size):
        i = candidates[k]
        if k + AHEAD < candidates.size:
            prefetch_row(places, values, starts, block.first + candidates[k + AHEAD], whole)
        mark = worst_kept(best)
        if bounds[i] < mark:
            continue
        start, end = starts[block.first + i], starts[block.first + i + 1]
        shared, n_frequent = np.int64(sums[i] & query.count_mask), np.uint64(0)
        for w in range(words.shape[0]):
            shared += np.int64(bits_set(words[w, block.first + i] & query_words[w]))
            n_frequent += bits_set(words[w, block.first + i])
        jaccard = shared / (query.n_features + end - start - shared)
        factor = jaccard if beta == 1.0 else (1.0 if powers is None else power(jaccard, beta))
        if not whole:
            product = np.float64(sums[i]) * SUM_UNIT + query.error
            for p in range(np.uint64(start), np.uint64(start) + n_frequent):
                product += np.float64(values[p]) * laid_out[places[p]]
            if product * factor * SLACK < mark:
                continue
        n_products += 1
        similarity = np.float32(factor * row_product(places, values, start, end, laid_out))
        if similarity > 0:
            offer(best, rank_key(block.first + i, similarity))
    return n_products


@njit
def prefetch_row(places, values, starts, i, whole):
    """Prefetch the first 16 entries of a row, or the whole row if ``whole`` is true."""
    start, end = starts[i], starts[i + 1]
    for p in range(start, end if whole or end < start + 16 else start + 16, 16):
        prefetch(places, p)
        prefetch(values, p)


@njit
def row_product(places, values, start, end, query):
    """Return the inner product of a row and a query as float64.

    ``query`` contains the query's value of the feature in each place.

    The product for entry p of the row is added to partial sum number p modulo 4. The four partial sums are added as (0
    + 1) + (2 + 3). Because of the partial sums, the processor can perform four additions at a time. The kernel reads 8
    bytes per non-zero, and the query's value from a cache.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    # For unsigned indices, numba generates no code that handles negative indices.
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


# The kernels below select the highest bounds. Each group of neighbouring bounds fills one cache line. Because groups
# with a low maximum are skipped, few cache lines are read again.


@njit
def group_maxima(bounds, maxima):
    """Write the maximum of each group of bounds to ``maxima``."""
    for g in range(maxima.size):
        largest = np.float32(0)
        for bound in unchecked_view(bounds, g * GROUP, (g + 1) * GROUP):
            largest = bound if bound > largest else largest
        maxima[g] = largest


@njit
def below_kth_largest(values, k, counts):
    """Return a limit that k or slightly more values reach. The limit is an edge of a bar in a histogram of the values.

    ``values`` must contain more than k values. ``counts`` is scratch for the histogram, whose bars have equal widths.
    The time is linear in the number of values, without a branch per value. If all values are below `SMALL`, the result
    is 0, which all values reach.
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
    # Because ``value * scale`` was rounded, the returned limit is slightly below the edge of the histogram's bar.
    return np.float32(bar * (1 - 1e-6) / scale)


@njit
def collect(bounds, maxima, start, end, groups, found):
    """Write to ``found`` the instances whose bound is positive and in [start, end), and return their number.

    ``groups`` is a scratch array for the numbers of groups. The loops have no branches, because branches would often be
    mispredicted.
    """
    start = start if start > LEAST else LEAST
    n_groups, n_found = 0, 0
    for g in range(maxima.size):
        groups[n_groups] = g
        n_groups += maxima[g] >= start
    for g in unchecked_view(groups, 0, n_groups):
        for i in range(g * GROUP, g * GROUP + GROUP):
            found[n_found] = i
            n_found += (bounds[i] >= start) & (bounds[i] < end)
    return n_found
