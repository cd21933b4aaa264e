"""What SWNN reads and writes to build its index and to search it, and hardly anything else: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.bits import bits_set
from xmlc.kernels.sums import dot
from xmlc.models.nearest._search import row_product
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def scatter_rows(x, places, cursors, start, end, row_places, row_values, postings):
    """Write rows ``start .. end - 1`` by row and by feature, in two passes: 16 bytes read and 16 written per non-zero.

    The first counts each feature's non-zeros, the second scales a row to unit length. Left out are sums of the counts,
    the order of the features within a row, and bits and lengths of the frequent features.

    Parameters
    ----------
    x : KernelCSR
    places : uint32 (d,)
    cursors : int64 (d,)
        Where the next posting of each feature goes; moved on.
    row_places : uint32 (nnz,), row_values : float32 (nnz,), postings : uint32 (nnz,)
        Written.

    Returns
    -------
    uint32 (d,)
        The counts.
    """
    counts = np.zeros(places.size, dtype=np.uint32)
    for p in range(np.uint64(x.indptr[start]), np.uint64(x.indptr[end])):
        counts[x.indices[p]] += np.uint32(1)
    for i in range(start, end):
        first, last = np.uint64(x.indptr[i]), np.uint64(x.indptr[i + 1])
        scale = np.float32(1 / np.sqrt(max(dot(x.data[first:last], x.data[first:last]), np.float32(1e-30))))
        for p in range(first, last):
            feature, value = x.indices[p], x.data[p] * scale
            row_places[p], row_values[p] = places[feature], value
            postings[cursors[feature]] = (np.uint32(np.int32(value * np.float32(32767))) << np.uint32(16)) | np.uint32(
                i
            )
            cursors[feature] += 1
    return counts


@njit(cache=True, nogil=True)
def read_for_queries(x, start, end, index, neighbours, label_starts, labels, query, sums, votes):
    """Read what a search for queries ``start .. end - 1`` must read, in its order.

    Per query: its postings, which are added to scattered integers; 12 bytes of the index and 4 of sums for each
    instance and word, of which the sums are cleared; the rows and the label sets of the S nearest, given in advance.
    Left out are float bounds of frequent features' products, the choice of the instances to compare with, the rows of
    those that turn out not to be among the S nearest, and the order of neighbours and labels.

    Parameters
    ----------
    x : KernelCSR
    index : NeighbourIndex
    neighbours : int32 (queries, S)
    label_starts : int64 (n + 1,), labels : uint32
    query : float32 (d,), sums : int32 (block of instances,), votes : float64 (m,)
        All zero, and left so but for ``votes``.

    Returns
    -------
    float64
        Depends on all that was read.
    """
    n_frequent, n, checked = index.words.shape[0] * 64, index.sizes.size, 0.0
    for i in range(start, end):
        features, values = x.indices[x.indptr[i] : x.indptr[i + 1]], x.data[x.indptr[i] : x.indptr[i + 1]]
        query_word = np.uint64(0)
        for p in range(features.size):
            query[index.places[features[p]]] = values[p]
            query_word |= np.uint64(1) << np.uint64(index.places[features[p]] & 63)
        for block in range(index.block_starts.size):
            first, starts = block * index.block_rows, index.list_starts[block]
            own = index.postings[index.block_starts[block] :]
            for feature in features:
                j = np.int64(index.places[feature]) - n_frequent
                if 0 <= j < index.steps.size:
                    for posting in own[starts[j] : starts[j + 1]]:
                        sums[posting & np.uint32(0xFFFF)] += np.int32(posting) >> 16
            n_rows = min(index.block_rows, n - first)
            checked += read_sums(sums[:n_rows], index.sizes[first : first + n_rows])
            for w in range(index.words.shape[0]):
                here = slice(first, first + n_rows)
                checked += read_words(index.words[w][here], index.lengths[w][here], query_word)
            sums[:n_rows] = 0
        for neighbour in neighbours[i]:
            if neighbour >= 0:
                row = index.row_starts[neighbour], index.row_starts[neighbour + 1]
                product = row_product(index.row_places, index.row_values, row[0], row[1], query)
                checked += product
                for label in labels[label_starts[neighbour] : label_starts[neighbour + 1]]:
                    votes[label] += product
        for feature in features:
            query[index.places[feature]] = 0
    return checked


@njit(cache=True, nogil=True)
def read_sums(sums, sizes):
    """Read each instance's sum and size; compiles to vector instructions."""
    total = np.int32(0)
    for i in range(sums.size):
        total = max(total, sums[i] - np.int32(sizes[i]))
    return total


@njit(cache=True, nogil=True)
def read_words(words, lengths, query_word):
    """Count each instance's shared frequent features, times their length; compiles to vector instructions."""
    total = np.int64(0)
    for i in range(words.size):
        total += np.int64(bits_set(words[i] & query_word)) * np.int64(lengths[i])
    return total
