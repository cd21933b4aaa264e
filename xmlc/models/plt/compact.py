"""Weights of a label tree without the small ones: which are dropped, and how the rows that stay are joined."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import run_pieces
from xmlc.models.plt.weights import CompactNodeWeights

LARGEST_UINT16_DEGREE = 1 << 16
LARGEST_BLOCK = np.iinfo(np.uint32).max
WEIGHTS_PER_PIECE = 1 << 22


class DenseBlocks(NamedTuple):
    """The weights of some neighbouring blocks: four fields of `NodeWeights`, of these blocks alone."""

    feature_starts: np.ndarray
    features: np.ndarray
    weight_starts: np.ndarray
    weights: np.ndarray


class Rows(NamedTuple):
    """Sparse rows of some blocks, block after block and by feature within each.

    Attributes
    ----------
    blocks : int64 (rows,)
    features : uint32 (rows,)
    sizes : uint32 (rows,)
        How many weights each row has.
    siblings : uint16 or uint32, weights : float32
        As in `CompactNodeWeights`.
    """

    blocks: np.ndarray
    features: np.ndarray
    sizes: np.ndarray
    siblings: np.ndarray
    weights: np.ndarray


def sibling_type(degrees: np.ndarray) -> type:
    """Return the type in which the siblings of blocks of these sizes are numbered."""
    return np.uint16 if degrees.max(initial=1) <= LARGEST_UINT16_DEGREE else np.uint32


def kept_rows(
    dense: DenseBlocks, degrees: np.ndarray, begin: int, cut: float, sibling_type: type, n_jobs: int | None
) -> list[Rows]:
    """Return the weights w with abs(w) > cut of the dense blocks from block ``begin`` on, as parts one after another.

    Parameters
    ----------
    dense : DenseBlocks
    degrees : int64
        Number of siblings of each.
    """
    piece = dense.weight_starts[1:] // WEIGHTS_PER_PIECE
    bounds = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), degrees.size]

    kept = run_pieces(weights_above, [(dense, degrees, np.float32(cut), *block) for block in pairwise(bounds)], n_jobs)
    row_blocks = np.repeat(np.arange(begin, begin + degrees.size), np.diff(dense.feature_starts))
    parts = []
    for rows, siblings, own in kept:
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        sizes = np.diff(starts, append=rows.size).astype(np.uint32)
        own_rows = rows[starts]
        parts.append(Rows(row_blocks[own_rows], dense.features[own_rows], sizes, siblings.astype(sibling_type), own))
    return parts


def join_rows(children: np.ndarray, label: np.ndarray, bias: np.ndarray, parts: list[Rows]) -> CompactNodeWeights:
    """Put the sparse rows of a whole tree together; ``parts`` is emptied, so that only one array is there twice."""
    columns = {name: list(pieces) for name, pieces in zip(Rows._fields, zip(*parts, strict=True), strict=True)}
    parts.clear()
    siblings, weights, features, sizes, blocks = (
        _joined(columns.pop(name)) for name in ("siblings", "weights", "features", "sizes", "blocks")
    )
    n_blocks = children.size
    entries = np.bincount(blocks, weights=sizes, minlength=n_blocks).astype(np.int64)  # exact below 2**53
    if entries.max(initial=0) > LARGEST_BLOCK:
        raise XmlcError(
            f"the children of one node keep {entries.max()} weights, expected at most {LARGEST_BLOCK}; "
            "raise the cut or lower the arity"
        )
    feature_starts, entry_starts = starts_of(np.bincount(blocks, minlength=n_blocks)), starts_of(entries)
    row_starts = np.zeros(features.size + n_blocks, dtype=np.uint32)
    places = np.arange(features.size) + blocks + 1
    row_starts[places] = np.cumsum(sizes, dtype=np.int64) - entry_starts[blocks]
    return CompactNodeWeights(
        children, label, feature_starts, features, entry_starts, row_starts, siblings, weights, bias
    )


def _joined(pieces: Sequence[np.ndarray]) -> np.ndarray:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Return where each of some runs of so many entries starts, and the end of the last."""
    return np.concatenate(([0], np.cumsum(counts)))


@njit(cache=True, nogil=True)
def weights_above(dense, degrees, cut, start, end):
    """Return the weights w with abs(w) > cut of the dense blocks ``start .. end - 1``, and NaN, so that it is found.

    Arguments as for `kept_rows`.

    Returns
    -------
    rows : int64, siblings : uint32, kept : float32
        The row of each weight, its place there, and the weight.
    """
    (feature_starts, _, weight_starts, weights), count = dense, 0
    for weight in weights[weight_starts[start] : weight_starts[end]]:
        count += not abs(weight) <= cut
    rows, siblings = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.uint32)
    kept, count = np.empty(count, dtype=np.float32), 0
    for block in range(start, end):
        place = weight_starts[block]
        for row in range(feature_starts[block], feature_starts[block + 1]):
            for c in range(degrees[block]):
                if not abs(weights[place]) <= cut:
                    rows[count], siblings[count], kept[count] = row, c, weights[place]
                    count += 1
                place += 1
    return rows, siblings, kept
