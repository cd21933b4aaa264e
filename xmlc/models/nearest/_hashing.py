"""Tables in which instances with similar supports meet: kernels of the approximate search.

Each support is hashed once: every feature falls into the bin of one table, and the feature with the smallest hash there
says in which bucket of the table the instance is. A bin without a feature borrows that of another (densified one
permutation hashing: Shrivastava, "Optimal densification for fast and accurate minwise hashing", ICML 2017), so that two
instances meet in a table with a probability that is about the Jaccard similarity of their supports. A bucket keeps a
uniform sample of those that fell into it (a reservoir).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from xmlc.csr import kernel_csr
from xmlc.kernels import float64
from xmlc.kernels.counter_random import mix64, random_below, random_bits, stream_key
from xmlc.kernels.heaps import offer, take_best
from xmlc.kernels.streams import Stream
from xmlc.models.nearest._index import NeighbourIndex
from xmlc.models.nearest._search import row_product
from xmlc.runtime.kernel_cache import njit
from xmlc.runtime.parallel import run_pieces


class SupportTables(NamedTuple):
    """Hash tables of supports.

    Attributes
    ----------
    starts : ndarray of int64, shape (n_tables, 2**bucket_bits + 1)
        Where the buckets of a table start in ``members``.
    members : ndarray of uint32, shape (at most n_tables * n,)
        Training instances, bucket by bucket.
    seed : int
    """

    starts: np.ndarray
    members: np.ndarray
    seed: int


class NearScratch(NamedTuple):
    """Room that a thread needs, O(d + n); zero where a query expects zero."""

    query: np.ndarray  # float32 (d,), by place, all zero between queries
    hits: np.ndarray  # uint16 (n,), all zero between queries
    met: np.ndarray  # uint32 (n + 1,): instances with hits
    buckets: np.ndarray  # int64 (n_tables,)
    best: np.ndarray  # uint64 (S,): a heap of keys
    beta: float


def build_tables(
    X: sparse.csr_array, n_tables: int, bucket_bits: int, reservoir: int, seed: int, n_jobs: int | None
) -> SupportTables:
    """Hash the supports of instances; bit-identical on any number of threads.

    Parameters
    ----------
    X : csr_array of float32, shape (n, d)
    n_tables, bucket_bits, reservoir : int
        Number of tables, logarithm of their buckets, and how many a bucket keeps at most.
    """
    x = kernel_csr(X)
    buckets = buckets_of(x, n_tables, bucket_bits, seed)
    pieces = [(buckets[k], 1 << bucket_bits, reservoir, seed, k) for k in range(n_tables)]
    tables = run_pieces(fill_table, pieces, n_jobs)
    sizes = np.array([members.size for _, members in tables], dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    starts = np.stack([starts + offset for (starts, _), offset in zip(tables, offsets, strict=True)])
    return SupportTables(starts, np.concatenate([members for _, members in tables]), seed)


def near_scratch(index: NeighbourIndex, tables: SupportTables, S: int, beta: float) -> NearScratch:
    """Make the room for one thread."""
    n = index.sizes.size
    return NearScratch(
        np.zeros(index.places.size, dtype=np.float32),
        np.zeros(n, dtype=np.uint16),
        np.empty(n + 1, dtype=np.uint32),
        np.empty(tables.starts.shape[0], dtype=np.int64),
        np.zeros(S, dtype=np.uint64),
        beta,
    )


@njit(cache=True, nogil=True)
def buckets_of(x, n_tables, bucket_bits, seed):
    """Return the bucket of each instance in each table, int64 (n_tables, n); -1 for those without features."""
    n = x.indptr.size - 1
    buckets = np.full((n_tables, n), -1, dtype=np.int64)
    mine = np.empty(n_tables, dtype=np.int64)
    for i in range(n):
        if x.indptr[i] < x.indptr[i + 1]:
            hash_support(x.indices[x.indptr[i] : x.indptr[i + 1]], bucket_bits, seed, mine)
            buckets[:, i] = mine
    return buckets


@njit(cache=True, nogil=True)
def hash_support(features, bucket_bits, seed, buckets):
    """Write the bucket of a support, which is not empty, in each table."""
    n_tables = buckets.size
    key, borrow = stream_key(seed, Stream.NEAREST_HASH.value), stream_key(seed, Stream.NEAREST_BORROW.value)
    smallest = np.full(n_tables, np.uint64(0xFFFFFFFFFFFFFFFF), dtype=np.uint64)
    for feature in features:
        bits = random_bits(key, feature)
        table = np.int64(((bits >> np.uint64(32)) * np.uint64(n_tables)) >> np.uint64(32))
        # What is compared must not be what chose the table.
        smallest[table] = min(smallest[table], mix64(bits))
    for table in range(n_tables):
        source, attempt = table, 0
        while smallest[source] == np.uint64(0xFFFFFFFFFFFFFFFF):
            source = random_below(borrow, (table << 20) + attempt, n_tables)
            attempt += 1
        buckets[table] = np.int64(mix64(smallest[source]) >> np.uint64(64 - bucket_bits))


@njit(cache=True, nogil=True)
def fill_table(buckets, n_buckets, reservoir, seed, table):
    """Sample at most ``reservoir`` instances of each bucket; return starts (n_buckets + 1,) and members."""
    counts = np.zeros(n_buckets, dtype=np.int64)
    for bucket in buckets:
        if bucket >= 0:
            counts[bucket] += 1
    starts = np.zeros(n_buckets + 1, dtype=np.int64)
    for b in range(n_buckets):
        starts[b + 1] = starts[b] + min(counts[b], reservoir)
    members = np.empty(starts[n_buckets], dtype=np.uint32)
    counts[:] = 0
    key = stream_key(seed, table)
    for i in range(buckets.size):
        b = buckets[i]
        if b >= 0:
            counts[b] += 1
            place = counts[b] - 1 if counts[b] <= reservoir else random_below(key, i, counts[b])
            if place < reservoir:
                members[starts[b] + place] = i
    return starts, members


@njit(cache=True, nogil=True)
def near_instances(x, start, end, index, tables, n_candidates, bucket_bits, scratch):
    """Find S near training instances for queries ``start .. end - 1``: see `nearest_instances` for what is returned.

    The ``n_candidates`` that the query meets in most tables are compared with it; of those that it meets equally
    often, in whatever order they are met. Similarities are exact.
    """
    S, beta, n_tables = scratch.best.size, scratch.beta, scratch.buckets.size
    neighbours = np.full((end - start, S), -1, dtype=np.int32)
    similarities = np.zeros((end - start, S), dtype=np.float32)
    n_products = np.zeros(end - start, dtype=np.int64)
    for i in range(start, end):
        features, values = x.indices[x.indptr[i] : x.indptr[i + 1]], x.data[x.indptr[i] : x.indptr[i + 1]]
        if features.size == 0:
            continue
        for p in range(features.size):
            scratch.query[index.places[features[p]]] = values[p]
        hash_support(features, bucket_bits, tables.seed, scratch.buckets)
        n_met = meet(tables.starts, tables.members, scratch.buckets, scratch.hits, scratch.met)
        least, n_ties = least_hits(scratch.hits, scratch.met[:n_met], n_tables, n_candidates)
        n_best = 0
        for row in scratch.met[:n_met]:
            hits = scratch.hits[row]
            scratch.hits[row] = 0
            if hits > least or (hits == least and n_ties > 0):
                n_ties -= hits == least
                n_products[i - start] += 1
                first, last = index.row_starts[row], index.row_starts[row + 1]
                product = row_product(index.row_places, index.row_values, first, last, scratch.query)
                shared = count_shared(index.row_places[first:last], scratch.query)
                jaccard = shared / (features.size + last - first - shared)
                power = jaccard if beta == 1.0 else (1.0 if beta == 0.0 else float64.power(jaccard, beta))
                n_best = offer(scratch.best, n_best, np.float32(power * product), np.int64(row))
        for feature in features:
            scratch.query[index.places[feature]] = 0
        take_best(scratch.best, n_best, neighbours[i - start], similarities[i - start])
    return neighbours, similarities, n_products


@njit(cache=True, nogil=True)
def meet(starts, members, buckets, hits, met):
    """Count in how many tables each instance is met; return how many instances are."""
    n_met = 0
    for table in range(buckets.size):
        for row in members[starts[table, buckets[table]] : starts[table, buckets[table] + 1]]:
            # Written without a branch, which would be guessed wrong again and again.
            met[n_met] = row
            n_met += hits[row] == 0
            hits[row] += np.uint16(1)
    return n_met


@njit(cache=True, nogil=True)
def least_hits(hits, met, n_tables, n_candidates):
    """Return the number of hits that the last of the candidates has, and how many with just this number are taken."""
    counts = np.zeros(n_tables + 1, dtype=np.int64)
    for row in met:
        counts[hits[row]] += 1
    least, n_above = n_tables, 0
    while least > 1 and n_above + counts[least] < n_candidates:
        n_above += counts[least]
        least -= 1
    return least, n_candidates - n_above


@njit(cache=True, nogil=True)
def count_shared(places, query):
    """Count the features of a row that the query laid out has."""
    shared = 0
    for place in places:
        shared += query[place] != 0
    return shared
