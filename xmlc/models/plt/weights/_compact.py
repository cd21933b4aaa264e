"""Compact node weights: the weights above a cut, a block's rows stored sparse."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.errors import XmlcError
from xmlc.models.plt.weights._nodes import CompactNodeWeights, NodeWeights
from xmlc.runtime.parallel import run_pieces

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


class CompactBlocks(NamedTuple):
    """Some blocks one after the other, their kept weights stored sparse; fields as in `CompactNodeWeights`.

    Attributes
    ----------
    kept_features, kept_weights : int64
        How many features and weights each block keeps.
    features, row_starts, siblings, weights : ndarray
    """

    kept_features: np.ndarray
    kept_weights: np.ndarray
    features: np.ndarray
    row_starts: np.ndarray
    siblings: np.ndarray
    weights: np.ndarray


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
    degrees = np.concatenate(([1], np.diff(nodes.children)))
    places = (nodes.features, nodes.feature_starts, nodes.weights, nodes.weight_starts)
    return join_compact(nodes.children, nodes.label, nodes.bias, [compact_blocks(*places, degrees, cut, n_jobs)])


def drop_more(nodes: CompactNodeWeights, cut: float) -> CompactNodeWeights:
    """Drop the weights w with abs(w) <= cut from weights that are sparse already; errors as for `compact_nodes`."""
    check_cut(cut)
    kept_features, kept_weights = (np.empty(nodes.feature_starts.size - 1, dtype=np.int64) for _ in range(2))
    rest = nodes._replace(features=nodes.features.copy(), siblings=nodes.siblings.copy(), weights=nodes.weights.copy())
    row_starts = np.empty_like(nodes.row_starts)
    keep_entries(rest, np.float32(cut), kept_features, kept_weights, row_starts)
    n_rows, n_entries = kept_features.sum(), kept_weights.sum()
    part = CompactBlocks(
        kept_features,
        kept_weights,
        features=rest.features[:n_rows].copy(),
        row_starts=row_starts[: n_rows + kept_features.size].copy(),
        siblings=rest.siblings[:n_entries].copy(),
        weights=rest.weights[:n_entries].copy(),
    )
    return join_compact(nodes.children, nodes.label, nodes.bias, [part])


def compact_blocks(
    features: np.ndarray,
    feature_starts: np.ndarray,
    weights: np.ndarray,
    weight_starts: np.ndarray,
    degrees: np.ndarray,
    cut: float,
    n_jobs: int | None,
) -> CompactBlocks:
    """Drop weights of some dense blocks, see `compact_nodes`; arrays as for `fill_kept`, errors as there."""
    check_cut(cut)
    piece = weight_starts[1:] // WEIGHTS_PER_PIECE
    pieces = np.split(np.arange(degrees.size), np.flatnonzero(np.diff(piece)) + 1)
    dense = (weights, weight_starts, degrees)
    kept_features, kept_weights = np.zeros(degrees.size, dtype=np.int64), np.zeros(degrees.size, dtype=np.int64)
    limit = np.float32(cut)
    run_pieces(count_kept, [(*dense, blocks, limit, kept_features, kept_weights) for blocks in pieces], n_jobs)
    kept = room_for(kept_features, kept_weights, int(degrees.max(initial=1)))
    starts = [np.concatenate(([0], np.cumsum(counts))) for counts in (kept_features, kept_weights)]
    outputs = (starts[0], kept.features, starts[1], kept.row_starts, kept.siblings, kept.weights)
    run_pieces(fill_kept, [(features, feature_starts, *dense, blocks, limit, *outputs) for blocks in pieces], n_jobs)
    return kept


def room_for(kept_features: np.ndarray, kept_weights: np.ndarray, largest_degree: int) -> CompactBlocks:
    """Make room for what `count_kept` counted in each block.

    Raises
    ------
    XmlcError
        A block keeps more weights than a uint32 can count.
    """
    if kept_weights.max(initial=0) > LARGEST_BLOCK:
        raise XmlcError(
            f"the children of one node keep {kept_weights.max()} weights, expected at most {LARGEST_BLOCK}; "
            "raise the cut or lower the arity"
        )
    sibling = np.uint16 if largest_degree <= LARGEST_UINT16_DEGREE else np.uint32
    return CompactBlocks(
        kept_features,
        kept_weights,
        features=np.empty(kept_features.sum(), dtype=np.uint32),
        row_starts=np.zeros(kept_features.sum() + kept_features.size, dtype=np.uint32),
        siblings=np.empty(kept_weights.sum(), dtype=sibling),
        weights=np.empty(kept_weights.sum(), dtype=np.float32),
    )


def join_compact(
    children: np.ndarray, label: np.ndarray, bias: np.ndarray, parts: list[CompactBlocks]
) -> CompactNodeWeights:
    """Put the blocks of a whole tree together; ``parts`` is emptied, so that only one array is there twice."""
    columns = {name: list(pieces) for name, pieces in zip(CompactBlocks._fields, zip(*parts), strict=True)}
    parts.clear()
    joined = {}
    for name in CompactBlocks._fields:
        pieces = columns.pop(name)
        joined[name] = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        del pieces
    feature_starts, entry_starts = (
        np.concatenate(([0], np.cumsum(joined.pop(name)))) for name in ("kept_features", "kept_weights")
    )
    return CompactNodeWeights(
        children=children, label=label, bias=bias, feature_starts=feature_starts, entry_starts=entry_starts, **joined
    )


def check_cut(cut: float) -> None:
    """Refuse a cut that is negative or no number."""
    if not cut >= 0:
        raise XmlcError(f"cut={cut}: expected a number of at least 0, below which weights are dropped")
