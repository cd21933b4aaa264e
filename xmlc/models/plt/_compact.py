"""Compact node weights: the weights above a cut, a block's rows stored sparse."""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.errors import XmlcError
from xmlc.models.plt._nodes import CompactNodeWeights, NodeWeights
from xmlc.parallel import run_pieces

WEIGHTS_PER_PIECE = 1 << 22
LARGEST_UINT16_DEGREE = 1 << 16
LARGEST_BLOCK = np.iinfo(np.uint32).max


@njit(cache=True, nogil=True)
def count_kept(weights, weight_starts, degrees, blocks, cut, kept_features, kept_weights):
    """Count what is left of some blocks when the weights w with abs(w) <= cut are dropped.

    The two passes, this and `fill_kept`, look at no more than the blocks they are given and write nothing else, so
    that any share of the blocks can be made compact as soon as it is trained, on any thread. The numbers in
    ``blocks`` index all arrays given; whoever holds a few blocks only numbers them from 0.

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
        mine = weights[weight_starts[block] : weight_starts[block + 1]]
        rows, entries = 0, 0
        for start in range(0, mine.size, max(degree, 1)):
            kept = 0
            for weight in mine[start : start + degree]:
                kept += abs(weight) > cut
            entries += kept
            rows += kept > 0
        kept_features[block], kept_weights[block] = rows, entries


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
        See `CompactNodeWeights`; the places of the blocks given are overwritten.
    """
    for block in blocks:
        degree = degrees[block]
        ids = features[feature_starts[block] : feature_starts[block + 1]]
        mine = weights[weight_starts[block] : weight_starts[block + 1]]
        base, row = out_entry_starts[block], out_feature_starts[block]
        kept = 0
        out_row_starts[row + block] = 0
        for f in range(ids.size):
            before = kept
            values = mine[f * degree : (f + 1) * degree]
            for c in range(values.size):
                if abs(values[c]) > cut:
                    out_siblings[base + kept], out_weights[base + kept] = c, values[c]
                    kept += 1
            if kept > before:
                out_features[row] = ids[f]
                row += 1
                out_row_starts[row + block] = kept


def compact_nodes(nodes: NodeWeights, cut: float, n_jobs: int | None = None) -> CompactNodeWeights:
    """Drop the weights w with abs(w) <= cut, and the features that are left without any.

    Parameters
    ----------
    nodes : NodeWeights
    cut : float
        At least 0; with 0 nothing but zeros is dropped, and the estimates stay the same bits.
    n_jobs : int or None
        Threads, see `run_pieces`.

    Raises
    ------
    XmlcError
        ``cut`` is negative or no number, or a block keeps more than 2**32 - 1 weights.
    """
    check_cut(cut)
    degrees = np.concatenate(([1], np.diff(nodes.children)))
    sizes = np.diff(nodes.weight_starts)
    pieces = np.split(np.arange(degrees.size), np.flatnonzero(np.diff(np.cumsum(sizes) // WEIGHTS_PER_PIECE)) + 1)
    dense = (nodes.weights, nodes.weight_starts, degrees)
    kept_features, kept_weights = np.zeros(degrees.size, dtype=np.int64), np.zeros(degrees.size, dtype=np.int64)
    cut = np.float32(cut)
    run_pieces(count_kept, [(*dense, blocks, cut, kept_features, kept_weights) for blocks in pieces], n_jobs)
    compact = empty_compact(nodes.children, nodes.label, nodes.bias, kept_features, kept_weights)
    outputs = (
        compact.feature_starts, compact.features, compact.entry_starts, compact.row_starts, compact.siblings,
        compact.weights,
    )  # fmt: skip
    features = (nodes.features, nodes.feature_starts)
    run_pieces(fill_kept, [(*features, *dense, blocks, cut, *outputs) for blocks in pieces], n_jobs)
    return compact


def empty_compact(
    children: np.ndarray, label: np.ndarray, bias: np.ndarray, kept_features: np.ndarray, kept_weights: np.ndarray
) -> CompactNodeWeights:
    """Make room for compact weights.

    Parameters
    ----------
    children, label, bias
        As in `CompactNodeWeights`, which gets them.
    kept_features, kept_weights : int64 (n_nodes + 1,)
        What `count_kept` says of each block.

    Raises
    ------
    XmlcError
        A block keeps more weights than a uint32 can count.
    """
    if kept_weights.max() > LARGEST_BLOCK:
        raise XmlcError(
            f"the children of one node keep {kept_weights.max()} weights, expected at most {LARGEST_BLOCK}; "
            "raise the cut or lower the arity"
        )
    largest = np.diff(children).max(initial=1)
    sibling = np.uint16 if largest <= LARGEST_UINT16_DEGREE else np.uint32
    feature_starts = np.concatenate(([0], np.cumsum(kept_features)))
    entry_starts = np.concatenate(([0], np.cumsum(kept_weights)))
    return CompactNodeWeights(
        children=children,
        label=label,
        feature_starts=feature_starts,
        features=np.empty(feature_starts[-1], dtype=np.uint32),
        entry_starts=entry_starts,
        row_starts=np.zeros(feature_starts[-1] + kept_features.size, dtype=np.uint32),
        siblings=np.empty(entry_starts[-1], dtype=sibling),
        weights=np.empty(entry_starts[-1], dtype=np.float32),
        bias=bias,
    )


def check_cut(cut: float) -> None:
    """Refuse a cut that is negative or no number."""
    if not cut >= 0:
        raise XmlcError(f"cut={cut}: expected a number of at least 0, below which weights are dropped")
