"""Find the S nearest training instances of a query x.

In swnn2018 (Section 3.3), the S nearest instances are called N(1; x), ..., N(S; x).

`nearest_instances` computes an upper bound of the similarity of each instance
(`xmlc.models.nearest._bounds`), one block of training instances after the other. `search_block`
then computes similarities, highest bounds first. It skips an instance whose bound is below the S-th
best similarity. Without bounds and blocks, all similarities would be computed, with the same
result.

The following times were measured on one thread of an AMD EPYC (Zen 4, level-2 cache of 1 MB) with S
= 75 and beta = 1:

Adding a posting takes 0.75 ns. A random memory update without any other work takes 0.55 ns.
Computing a bound takes 0.9 ns with one word per instance. Computing a similarity takes 0.1 to 0.3
µs. On the dataset tib-core-26k (41,902 instances, 92 features each), a query reads 29 % of the
postings and computes 94 similarities. On the dataset delicious, a query reads 36 % of the postings
and computes 96 similarities. A query on tib-core-26k takes 128 µs: 41 µs for postings, 38 µs for
bounds and 36 µs for similarities.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import bits_set, prefetch, row_of_csr, sort, unchecked_view, unowned
from xmlc.kernels.float64 import power
from xmlc.kernels.heaps import offer
from xmlc.kernels.top_k import FREE, key_estimate, key_number, rank_key
from xmlc.models.nearest._bounds import GROUP, SLACK, SUM_UNIT, bound_block, open_query

LEAST = np.float32(1e-45)  # The smallest positive float32 number.
# If the largest value is at least SMALL, the scale of the histogram is a finite float32.
SMALL = np.float32(1e-35)
HISTOGRAM_BARS = 512
# With fewer than 4 groups per neighbour, group maxima hardly help to find the S best bounds.
GROUPS_PER_NEIGHBOUR = 4
# `search_block` first uses the limit ``high``, then LOWER * ``high``. The S-th best similarity is
# seldom below LOWER * ``high``.
LOWER = np.float32(0.75)
AHEAD = 4  # While one row is read, the row of the candidate 4 places later is prefetched.


@njit(error_model="numpy")
def nearest_instances(
    x, first_query, index, scratch, beta, powers, neighbours, similarities, n_products
):
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
        Result of `search_scratch`.
    beta : float
        Exponent of the Jaccard similarity.
    powers : float32 (POWERS + 1,) or None
        Result of `powers_of`.
    neighbours : int32 (q, S), similarities : float32 (q, S)
        Before the call, all neighbours are -1 and all similarities 0. Receive each query's
        neighbours, nearest first, and the neighbours' similarities. If similarities are equal, the
        instance with the smaller number is first. If a query has fewer than S neighbours, the
        remaining entries stay -1 and 0.
    n_products : int64 (q,)
        Receives for each query the number of training instances whose similarity was computed.
    """
    x = unowned(x)
    index = unowned(index)
    scratch = unowned(scratch)
    S = neighbours.shape[1]
    best = np.full(S, FREE)  # a heap of keys, the worst key first
    for q in range(n_products.size):
        features, values = row_of_csr(x, first_query + q)
        query = open_query(features, values, index, scratch)
        for block in range(index.block_starts.size):
            first = block * index.block_rows
            n_rows = min(index.block_rows, index.sizes.size - first)
            bound_block(query, block, n_rows, index, scratch, beta, powers)
            n_products[q] += search_block(query, first, n_rows, index, scratch, beta, powers, best)
            for i in range(n_rows):
                scratch.sums[i] = 0
        for feature in features:
            scratch.query[index.places[feature]] = 0
        for w in range(scratch.words.size):
            scratch.words[w] = 0
        sort(best)
        for r in range(S):
            key = best[S - 1 - r]
            best[S - 1 - r] = FREE
            if key != FREE:
                neighbours[q, r] = key_number(key)
                similarities[q, r] = key_estimate(key)


@njit(inline="always")
def search_block(query, first, n_rows, index, scratch, beta, powers, best):
    """Compute a block's similarities, highest bounds first, until no other instance can be among
    the S best.

    The similarity is J**beta times the inner product of candidate and query (`row_product`),
    computed in float64 and rounded to float32. The S best are kept in ``best``. The function
    returns the number of similarities computed.
    """
    n_groups = (n_rows + GROUP - 1) // GROUP
    bounds = unchecked_view(scratch.bounds, 0, n_groups * GROUP)
    maxima = unchecked_view(scratch.maxima, 0, n_groups)
    candidates = scratch.candidates
    high = worst_kept(best)
    # if fewer than S neighbours are known, the first similarities are computed at once
    skips = high > 0
    if n_rows > best.size:
        likely = maxima
        if n_groups < GROUPS_PER_NEIGHBOUR * best.size:
            likely = bounds
        high = max(high, below_kth_largest(likely, best.size))
    below = np.float32(np.inf)
    n_products = 0
    for least in (high, LOWER * high, np.float32(0)):
        start = max(least, worst_kept(best))
        if start >= below:
            break
        n_candidates = collect(bounds, maxima, start, below, scratch.groups, candidates)
        for k in range(n_candidates):
            if k + AHEAD < n_candidates:
                prefetch_row(index, first + candidates[k + AHEAD], not skips)
            i = candidates[k]
            row = first + i
            worst = worst_kept(best)
            if bounds[i] < worst:
                continue
            n_shared = np.int64(scratch.sums[i] & query.count_mask)
            n_frequent = np.uint64(0)
            for w in range(query.words.size):
                word = index.words[w, row]
                n_shared += np.int64(bits_set(word & query.words[w]))
                n_frequent += bits_set(word)
            n_own = index.row_starts[row + 1] - index.row_starts[row]
            jaccard = n_shared / (query.n_features + n_own - n_shared)
            factor = 1.0
            if beta == 1.0:
                factor = jaccard
            elif powers is not None:
                factor = power(jaccard, beta)
            if skips and may_skip(query, index, row, n_frequent, scratch.sums[i], factor, worst):
                continue
            n_products += 1
            similarity = np.float32(factor * row_product(index, row, query.values))
            if similarity > 0:
                offer(best, rank_key(row, similarity))
        skips = True
        below = least
    return n_products


@njit(inline="always")
def worst_kept(best):
    """Return the smallest similarity in a heap of keys, or 0 if the heap is not full."""
    return max(key_estimate(best[0]), np.float32(0))


@njit
def may_skip(query, index, row, n_frequent, posting_sum, factor, worst):
    """Return whether a similarity must be below ``worst``, by a bound that is exact for the
    frequent features.
    """
    start = np.uint64(index.row_starts[row])
    product = np.float64(posting_sum) * SUM_UNIT + query.error
    for p in range(start, start + n_frequent):
        product += np.float64(index.row_values[p]) * query.values[index.row_places[p]]
    return product * factor * SLACK < worst


@njit
def prefetch_row(index, row, whole):
    """Prefetch the first 16 entries of a row, or the whole row if ``whole`` is true."""
    start = index.row_starts[row]
    end = index.row_starts[row + 1]
    if not whole:
        end = min(end, start + 16)
    for p in range(start, end, 16):
        prefetch(index.row_places, p)
        prefetch(index.row_values, p)


@njit
def row_product(index, row, query):
    """Return the inner product of a row and a query as float64.

    ``query`` contains the query's value of the feature in each place.

    The product for entry p of the row is added to partial sum number p modulo 4, and the partial
    sums are added as (0 + 1) + (2 + 3). The processor can perform four additions at a time, because
    the sums take turns. The kernel reads 8 bytes per non-zero, and the query's value from a cache.
    """
    # For unsigned indices, numba generates no code that handles negative indices.
    start = np.uint64(index.row_starts[row])
    end = np.uint64(index.row_starts[row + 1])
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    for p in range(start, end):
        total = a + np.float64(index.row_values[p]) * query[index.row_places[p]]
        a = b
        b = c
        c = d
        d = total
    if (end - start) & np.uint64(1):  # the sums have changed places an odd number of times
        return (d + a) + (b + c)
    return (a + b) + (c + d)


# The kernels below select the highest bounds. Each group of neighbouring bounds fills one cache
# line. Because groups with a low maximum are skipped, few cache lines are read again.


@njit
def below_kth_largest(values, k):
    """Return a limit that k or slightly more values reach.

    The limit is an edge of a bar in a histogram of the values.

    ``values`` must contain more than k values. The bars have equal widths. The time is linear in
    the number of values, without a branch per value. If all values are below `SMALL`, the result is
    0, which all values reach.
    """
    largest = np.float32(0)
    for value in values:
        largest = max(largest, value)
    if largest < SMALL:
        return np.float32(0)
    counts = np.zeros(HISTOGRAM_BARS, dtype=np.int32)
    scale = np.float32((counts.size - 1) / largest)
    for value in values:
        counts[np.int32(value * scale)] += 1
    bar = counts.size
    n_above = 0
    while n_above < k:
        bar -= 1
        n_above += counts[bar]
    # Because ``value * scale`` was rounded, the returned limit is slightly below the edge of the
    # histogram's bar.
    return np.float32(bar * (1 - 1e-6) / scale)


@njit
def collect(bounds, maxima, start, end, groups, found):
    """Write to ``found`` the instances whose bound is positive and in [start, end), and return
    their number.

    ``groups`` is a scratch array for the numbers of groups. The loops have no branches, because
    branches would often be mispredicted.
    """
    start = max(start, LEAST)
    n_groups = 0
    n_found = 0
    for g in range(maxima.size):
        groups[n_groups] = g
        n_groups += maxima[g] >= start
    for g in unchecked_view(groups, 0, n_groups):
        for i in range(g * GROUP, g * GROUP + GROUP):
            found[n_found] = i
            n_found += (bounds[i] >= start) & (bounds[i] < end)
    return n_found
