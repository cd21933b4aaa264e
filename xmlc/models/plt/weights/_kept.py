"""What is left of blocks of weights when small weights are dropped: kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from xmlc.kernels.arrays import borrowed
from xmlc.kernels.bits import bits_set, lowest_bit
from xmlc.kernels.vectors import Lanes, Vectors
from xmlc.runtime.kernel_cache import njit

CHUNK = 64  # weights that are compared with the cut at a time: as many as a word has bits


@intrinsic
def _bits_above(typing_context: Any, weights: Any, start: Any, cut: Any) -> Any:
    """Return which of the 64 weights from ``start`` on have an absolute value above the cut: bits of a uint64."""

    def generate(context, builder, signature, arguments):
        vectors = Vectors(builder, CHUNK)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        size = Lanes(vectors, vectors.load(vectors.at(data, arguments[1]))).called("fabs")
        above = size.compared(">", Lanes(vectors, vectors.broadcast(arguments[2])))
        return builder.bitcast(above, ir.IntType(CHUNK))

    return types.uint64(weights, types.int64, types.float32), generate


@njit(cache=True, nogil=True)
def kept_bits(weights, start, end, cut):
    """Return which of ``weights[start:end]``, at most 64, have an absolute value above the cut, as bits of a uint64."""
    if start + CHUNK <= weights.size:
        bits = _bits_above(weights, start, cut)
        return bits if end - start == CHUNK else bits & ((np.uint64(1) << np.uint64(end - start)) - np.uint64(1))
    bits = np.uint64(0)
    for k in range(start, end):
        bits |= np.uint64(abs(weights[k]) > cut) << np.uint64(k - start)
    return bits


@njit(cache=True, nogil=True)
def count_rows(weights, n_rows, length, width, cut):
    """Count the rows that keep a weight w with abs(w) > cut, and those weights.

    Parameters
    ----------
    weights : float32, flat
        Row f, from ``f * length`` on, begins with ``width`` weights.
    n_rows, length, width : int
    cut : float32
    """
    rows, entries = 0, 0
    for f in range(n_rows):
        start, kept = f * length, 0
        for c in range(start, start + width, CHUNK):
            kept += np.int64(bits_set(kept_bits(weights, c, min(c + CHUNK, start + width), cut)))
        entries += kept
        rows += kept > 0
    return rows, entries


@njit(cache=True, nogil=True)
def fill_rows(ids, weights, length, width, base, cut, out_features, out_row_starts, out_siblings, out_weights):
    """Write what `count_rows` counted; parameters as there, and

    Parameters
    ----------
    ids : uint32
        The feature of each row.
    base : int
        The number of the first sibling.
    out_features, out_row_starts, out_siblings, out_weights
        See `CompactNodeWeights`; written from the beginning.
    """
    row, kept = 0, 0
    out_row_starts[0] = 0
    for f in range(ids.size):
        before, start = kept, f * length
        for chunk in range(0, width, CHUNK):
            bits = kept_bits(weights, start + chunk, start + min(chunk + CHUNK, width), cut)
            while bits != np.uint64(0):
                c = chunk + np.int64(lowest_bit(bits))
                bits &= bits - np.uint64(1)
                out_siblings[kept], out_weights[kept] = base + c, weights[start + c]
                kept += 1
        if kept > before:
            out_features[row] = ids[f]
            row += 1
            out_row_starts[row] = kept


@njit(cache=True, nogil=True)
def count_kept(weights, weight_starts, degrees, blocks, cut, kept_features, kept_weights):
    """Count what is left of some blocks when the weights w with abs(w) <= cut are dropped.

    The two passes, this and `fill_kept`, look at no more than the blocks they are given and write nothing else, so
    that any share of the blocks can be made compact on any thread. The numbers in ``blocks`` index all arrays given.

    Parameters
    ----------
    weights : float32, flat
        Dense blocks of (features, siblings), see `NodeWeights`.
    weight_starts : int64
        Where each block starts in ``weights``; one more than there are blocks.
    degrees : int64
        Number of siblings of each block.
    blocks : int64
        The blocks to count.
    cut : float32
    kept_features, kept_weights : int64, as many as there are blocks
        Overwritten for the blocks given: the features that keep a weight, and the weights kept.
    """
    for block in blocks:
        degree = degrees[block]
        mine = borrowed(weights, weight_starts[block], weight_starts[block + 1])
        n_rows = mine.size // max(degree, 1)
        kept_features[block], kept_weights[block] = count_rows(mine, n_rows, degree, degree, cut)


@njit(cache=True, nogil=True)
def fill_kept(
    features, feature_starts, weights, weight_starts, degrees, blocks, cut,
    out_feature_starts, out_features, out_entry_starts, out_row_starts, out_siblings, out_weights,
):  # fmt: skip
    """Write what `count_kept` counted.

    Parameters
    ----------
    features : uint32, feature_starts : int64
        Features of each dense block, and where they start.
    weights, weight_starts, degrees, blocks, cut
        As for `count_kept`.
    out_feature_starts, out_entry_starts : int64, one more than there are blocks
        Where the kept features and weights of each block start: sums of what was counted.
    out_features, out_row_starts, out_siblings, out_weights
        See `CompactNodeWeights`; the parts of the blocks given are overwritten.
    """
    for block in blocks:
        ids = features[feature_starts[block] : feature_starts[block + 1]]
        mine = borrowed(weights, weight_starts[block], weight_starts[block + 1])
        row, entry = out_feature_starts[block], out_entry_starts[block]
        outputs = (out_features[row:], out_row_starts[row + block :], out_siblings[entry:], out_weights[entry:])
        fill_rows(ids, mine, degrees[block], degrees[block], 0, cut, *outputs)


@njit(cache=True, nogil=True)
def keep_entries(nodes, cut, kept_features, kept_weights, row_starts):
    """Drop weights w with abs(w) <= cut from sparse rows, in place; what is left moves to the front.

    Parameters
    ----------
    nodes : CompactNodeWeights
        Its features, siblings and weights are overwritten.
    cut : float32
    kept_features, kept_weights : int64 (n_nodes + 1,)
        Overwritten: how many features and weights each block keeps.
    row_starts : uint32, as those of ``nodes``
        Overwritten with those of what is kept.
    """
    rows, entries, starts = 0, 0, 0
    for block in range(nodes.feature_starts.size - 1):
        first, end = nodes.feature_starts[block], nodes.feature_starts[block + 1]
        rows_before, entries_before = rows, entries
        row_starts[starts] = 0
        starts += 1
        for f in range(first, end):
            before = entries
            base = nodes.entry_starts[block]
            for entry in range(base + nodes.row_starts[f + block], base + nodes.row_starts[f + block + 1]):
                if abs(nodes.weights[entry]) > cut:
                    nodes.siblings[entries], nodes.weights[entries] = nodes.siblings[entry], nodes.weights[entry]
                    entries += 1
            if entries > before:
                nodes.features[rows] = nodes.features[f]
                rows += 1
                row_starts[starts] = entries - entries_before
                starts += 1
        kept_features[block], kept_weights[block] = rows - rows_before, entries - entries_before
