"""Compact weights of pieces of blocks, each made by itself, put together block by block."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed, copy_into
from xmlc.models.plt.weights._compact import CompactBlocks, empty_blocks
from xmlc.runtime.kernel_cache import njit
from xmlc.runtime.parallel import run_pieces

_Piece = tuple[int, int, CompactBlocks]  # its first sibling, and its number among those of which something is kept
NOWHERE = -1  # a piece of a block that has others: what they keep together is copied in its stead


def join_pieces(
    parts: list[tuple[np.ndarray, np.ndarray, CompactBlocks]],
    begin: int,
    end: int,
    largest_degree: int,
    n_features: int,
    n_jobs: int | None,
) -> CompactBlocks:
    """Put together what pieces of the blocks ``begin .. end - 1`` keep; a block without a piece keeps nothing.

    Parameters
    ----------
    parts : list of tuple
        Blocks of some pieces and their first siblings, int64, and what the pieces keep, as if each was a block.
    begin, end : int
    largest_degree : int
        Siblings of a block, at most.
    n_features : int
        Features of the instances.
    n_jobs : int or None
        Threads, see `run_pieces`.

    Raises
    ------
    XmlcError
        A block keeps more weights than a uint32 can count.
    """
    pieces_of = np.bincount(np.concatenate([blocks - begin for blocks, _, _ in parts]), minlength=end - begin)
    sources, split = [], dict[int, list[_Piece]]()
    for blocks, bases, kept in parts:
        is_split = pieces_of[blocks - begin] > 1
        sources.append((np.where(is_split, NOWHERE, blocks - begin), kept))
        for i in np.flatnonzero(is_split):
            split.setdefault(int(blocks[i]) - begin, []).append((int(bases[i]), int(i), kept))
    merged = run_pieces(_merge_block, [(pieces, n_features) for pieces in split.values()], n_jobs)
    sources += [(np.array([block]), kept) for block, kept in zip(split, merged)]
    kept_features, kept_weights = np.zeros(end - begin, dtype=np.int64), np.zeros(end - begin, dtype=np.int64)
    for places, kept in sources:
        chosen = places != NOWHERE
        kept_features[places[chosen]] = kept.kept_features[chosen]
        kept_weights[places[chosen]] = kept.kept_weights[chosen]
    joined = empty_blocks(kept_features, kept_weights, largest_degree)
    starts = [_starts(counts) for counts in (kept_features, kept_weights)]
    run_pieces(copy_blocks, [(*kept, places, *starts, *joined[2:]) for places, kept in sources], n_jobs)
    return joined


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(counts)))


def _merge_block(pieces: list[_Piece], n_features: int) -> CompactBlocks:
    """Put the pieces of one block together, in the order of their siblings."""
    columns: tuple[list[np.ndarray], ...] = [], [], [], []
    for _, i, kept in sorted(pieces, key=lambda piece: piece[0]):
        rows, entries = _starts(kept.kept_features)[i : i + 2], _starts(kept.kept_weights)[i : i + 2]
        row_starts = kept.row_starts[rows[0] + i : rows[1] + i + 1]
        own = slice(*entries)
        found = (kept.features[slice(*rows)], np.diff(row_starts), kept.siblings[own], kept.weights[own])
        for column, array in zip(columns, found):
            column.append(array)
    features, sizes, siblings, weights = (np.concatenate(column) for column in columns)
    features, row_starts, siblings, weights = merge_rows(features, sizes, siblings, weights, n_features)
    return CompactBlocks(np.array([features.size]), np.array([weights.size]), features, row_starts, siblings, weights)


@njit(cache=True, nogil=True)
def merge_rows(features, sizes, siblings, weights, n_features):
    """Join rows of the same feature, in the order in which they stand.

    Parameters
    ----------
    features, sizes : uint32 (rows,)
        The feature of each row, and how many weights it has.
    siblings : uint16 or uint32, weights : float32
        The rows, one after the other.
    n_features : int

    Returns
    -------
    features, row_starts, siblings, weights
        Of one block, as in `CompactBlocks`.
    """
    places = np.zeros(n_features, dtype=np.int64)  # how many weights a feature has, then where its next one goes
    for row in range(features.size):
        places[features[row]] += sizes[row]
    n_rows = np.count_nonzero(places)
    own_features, row_starts = np.empty(n_rows, dtype=np.uint32), np.zeros(n_rows + 1, dtype=np.uint32)
    own_siblings, own_weights = np.empty_like(siblings), np.empty_like(weights)
    row, place = 0, 0
    for feature in range(n_features):
        if places[feature] > 0:
            own_features[row] = feature
            place, places[feature] = place + places[feature], place
            row += 1
            row_starts[row] = place
    source = 0
    for row in range(features.size):
        for _ in range(sizes[row]):
            place = places[features[row]]
            own_siblings[place], own_weights[place] = siblings[source], weights[source]
            places[features[row]] = place + 1
            source += 1
    return own_features, row_starts, own_siblings, own_weights


@njit(cache=True, nogil=True)
def copy_blocks(
    kept_features, kept_weights, features, row_starts, siblings, weights, places, feature_starts, entry_starts,
    out_features, out_row_starts, out_siblings, out_weights,
):  # fmt: skip
    """Copy blocks to their places among all.

    Parameters
    ----------
    kept_features, kept_weights, features, row_starts, siblings, weights
        Some blocks, see `CompactBlocks`.
    places : int64
        The number of each of them among all, or `NOWHERE`.
    feature_starts, entry_starts : int64
        Where the features and weights of all blocks start.
    out_features, out_row_starts, out_siblings, out_weights
        All blocks; these are written.
    """
    row, entry = 0, 0
    for i in range(places.size):
        last_row, last_entry = row + kept_features[i], entry + kept_weights[i]
        if places[i] != NOWHERE:
            first = feature_starts[places[i]]
            copy_into(out_features[first:], borrowed(features, row, last_row))
            copy_into(out_row_starts[first + places[i] :], borrowed(row_starts, row + i, last_row + i + 1))
            first = entry_starts[places[i]]
            copy_into(out_siblings[first:], borrowed(siblings, entry, last_entry))
            copy_into(out_weights[first:], borrowed(weights, entry, last_entry))
        row, entry = last_row, last_entry
