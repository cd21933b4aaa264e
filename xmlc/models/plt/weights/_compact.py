"""Compact node weights: the weights above a cut, a block's rows stored sparse."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from xmlc.errors import XmlcError
from xmlc.models.plt.weights._kept import count_kept, fill_kept, keep_entries
from xmlc.models.plt.weights._searches import OwnWeights
from xmlc.runtime.parallel import run_pieces

WEIGHTS_PER_PIECE = 1 << 22
LARGEST_UINT16_DEGREE = 1 << 16
LARGEST_BLOCK = np.iinfo(np.uint32).max


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


class _Arrays(NamedTuple):
    children: np.ndarray
    label: np.ndarray
    feature_starts: np.ndarray
    features: np.ndarray
    entry_starts: np.ndarray
    row_starts: np.ndarray
    siblings: np.ndarray
    weights: np.ndarray
    bias: np.ndarray


class CompactNodeWeights(_Arrays, OwnWeights):
    """What `NodeWeights` holds, without the weights that do not matter: the rows of a block are stored sparse.

    A row is the weights of one feature for the siblings of a block; a weight takes 6 bytes here, and a row 8 more.

    Attributes
    ----------
    children : int64 (n_nodes + 1,), label : int32 (n_nodes,)
        As in `NodeWeights`.
    feature_starts : int64 (n_nodes + 2,)
        Where the features of each block start.
    features : uint32
        Features of each block that have a weight there, ascending.
    entry_starts : int64 (n_nodes + 2,)
        Where the weights of each block start.
    row_starts : uint32 (features.size + n_nodes + 1,)
        Where the weights of each feature start, counted from the start of its block's; a block of q features has
        q + 1 of them, so that those of block b stand from ``feature_starts[b] + b`` on.
    siblings : uint16, or uint32 where a node has more than 65,536 children
        The number of the child within its block that a weight belongs to, ascending within a row.
    weights : float32
        The weights, row after row.
    bias : float32 (n_nodes,)
        Weight of the constant feature of each node.
    """

    __slots__ = ()

    def drop(self, cut: float, n_jobs: int | None = None) -> CompactNodeWeights:
        """Drop the weights w with abs(w) <= cut, on one thread; errors as for `NodeWeights.drop`."""
        check_cut(cut)
        kept_features, kept_weights = (np.empty(self.feature_starts.size - 1, dtype=np.int64) for _ in range(2))
        rest = self._replace(features=self.features.copy(), siblings=self.siblings.copy(), weights=self.weights.copy())
        row_starts = np.empty_like(self.row_starts)
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
        return join_compact(self.children, self.label, self.bias, [part])

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Return all arrays."""
        return self._asdict(), {}

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> Self:
        """Return the weights of these arrays."""
        return cls(**arrays)


def compact_blocks(
    features: np.ndarray,
    feature_starts: np.ndarray,
    weights: np.ndarray,
    weight_starts: np.ndarray,
    degrees: np.ndarray,
    cut: float,
    n_jobs: int | None,
) -> CompactBlocks:
    """Drop weights of some dense blocks, see `NodeWeights.drop`; arrays as for `fill_kept`, errors as there."""
    check_cut(cut)
    piece = weight_starts[1:] // WEIGHTS_PER_PIECE
    pieces = np.split(np.arange(degrees.size), np.flatnonzero(np.diff(piece)) + 1)
    dense = (weights, weight_starts, degrees)
    kept_features, kept_weights = np.zeros(degrees.size, dtype=np.int64), np.zeros(degrees.size, dtype=np.int64)
    limit = np.float32(cut)
    run_pieces(count_kept, [(*dense, blocks, limit, kept_features, kept_weights) for blocks in pieces], n_jobs)
    kept = empty_blocks(kept_features, kept_weights, int(degrees.max(initial=1)))
    starts = [np.concatenate(([0], np.cumsum(counts))) for counts in (kept_features, kept_weights)]
    outputs = (starts[0], kept.features, starts[1], kept.row_starts, kept.siblings, kept.weights)
    run_pieces(fill_kept, [(features, feature_starts, *dense, blocks, limit, *outputs) for blocks in pieces], n_jobs)
    return kept


def empty_blocks(kept_features: np.ndarray, kept_weights: np.ndarray, largest_degree: int) -> CompactBlocks:
    """Allocate the arrays for what `count_kept` counted in each block.

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
    return CompactBlocks(
        kept_features,
        kept_weights,
        features=np.empty(kept_features.sum(), dtype=np.uint32),
        row_starts=np.zeros(kept_features.sum() + kept_features.size, dtype=np.uint32),
        siblings=np.empty(kept_weights.sum(), dtype=sibling_type(largest_degree)),
        weights=np.empty(kept_weights.sum(), dtype=np.float32),
    )


def sibling_type(largest_degree: int) -> type:
    """Return the type in which the siblings of the largest block are numbered."""
    return np.uint16 if largest_degree <= LARGEST_UINT16_DEGREE else np.uint32


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
