"""How long the machine needs at the least to touch what training and prediction of a PLT touch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from xmlc.bench.plt._access import LANES, read_and_write_rows, read_and_write_squares, read_rows
from xmlc.bench.plt.pairs import block_degrees, training_reach
from xmlc.csr import KernelCSR, kernel_csr
from xmlc.kernels.counter_random import mix64
from xmlc.models.plt.training import Reach, gather_rows
from xmlc.passport import timed
from xmlc.trees import LabelTree

CACHED_BYTES = 1 << 14  # of rows: half a first cache
DRAM_BYTES = 1 << 29  # more than any cache
NONZEROS = 1 << 23  # of instances, counted at each of their blocks, that the measured accesses are for
PATTERNS: dict[str, tuple[Callable[..., None], int]] = {  # and how many numbers of a row belong to a sibling
    "read": (read_rows, 1),
    "read, add": (read_and_write_rows, 1),
    "read, AdaGrad": (read_and_write_squares, 2),
}
PLACES = ("cached", "blocks", "DRAM")  # where rows are
Instances = tuple[np.ndarray, np.ndarray, np.ndarray]  # ends (int64), ids (uint32) and values (float32)


def access_limits(
    X: sparse.csr_array, Y: sparse.csr_array, tree: LabelTree, rounds: int
) -> dict[str, dict[str, float]]:
    """Measure how long the machine needs, at the least, for each (non-zero, node) that training or prediction reaches.

    The non-zeros of the training set, block by block as they are reached in training, each touch a row of the block's
    siblings: rows of the blocks' own sizes, rows that fit the first cache, and rows scattered over more memory than any
    cache. Siblings are rounded up to a multiple of 16, and counted so. About `NONZEROS` of them are taken.

    Parameters
    ----------
    tree : LabelTree
        As trained.
    rounds : int
        The best counts.

    Returns
    -------
    dict of dict
        Nanoseconds per pair by pattern (`PATTERNS`) and by where rows are: "cached", "blocks", "DRAM".
    """
    x = kernel_csr(X)
    groups = by_width(x, training_reach(X, Y, tree), block_degrees(tree), X.shape[1], NONZEROS)
    pairs = sum(width * ids.size for width, (_, ids, _) in groups.items())
    limits: dict[str, dict[str, float]] = {}
    for pattern, (kernel, numbers) in PATTERNS.items():
        seconds = dict.fromkeys(PLACES, 0.0)
        for width, (ends, ids, values) in groups.items():
            for where, found in _placements(ids, 4 * width * numbers).items():
                seconds[where] += _best_seconds(kernel, (ends, found, values), width, numbers, rounds)
        limits[pattern] = {where: 1e9 * value / max(pairs, 1) for where, value in seconds.items()}
    return limits


def _best_seconds(kernel: Callable[..., None], instances: Instances, width: int, numbers: int, rounds: int) -> float:
    ends, ids, values = instances
    rows = np.full((int(ids.max(initial=0)) + 1) * width * numbers, 1e-3, dtype=np.float32)
    sums = np.zeros(width, dtype=np.float32)
    kernel(ends[:2], ids, values, rows, sums)
    return min(timed(lambda: kernel(*instances, rows, sums))[1] for _ in range(rounds))


def _placements(ids: np.ndarray, row_bytes: int) -> dict[str, np.ndarray]:
    """Return which row each non-zero touches, uint32, if there are few rows, those of the blocks, or very many."""
    few, many = (np.uint64(max(size // row_bytes, 1)) for size in (CACHED_BYTES, DRAM_BYTES))
    anywhere = mix64.py_func(np.arange(ids.size, dtype=np.uint64)) % many  # a feature is elsewhere the next time
    return {"cached": ids % np.uint32(few), "blocks": ids, "DRAM": anywhere.astype(np.uint32)}


def by_width(
    x: KernelCSR, reach: Reach, degrees: np.ndarray, n_features: int, most: int | None = None
) -> dict[int, Instances]:
    """Gather the instances that reach each block, features renumbered; blocks of equally wide rows one after the other.

    Parameters
    ----------
    x : KernelCSR
    reach : Reach
    degrees : int64
        Classifiers of each block, see `block_degrees`.
    n_features : int
    most : int, optional
        About so many non-zeros are taken, counted at each of their blocks: the first instances' of every block.

    Returns
    -------
    dict
        By width, a multiple of 16: ends (int64), ids (uint32) and values (float32).
    """
    local = np.empty(n_features, dtype=np.uint32)
    touched = np.diff(x.indptr)[reach.block_positions].sum()
    n_rows = reach.order.size if most is None else int(np.ceil(reach.order.size * min(1.0, most / max(touched, 1))))
    widths = -(-degrees // LANES) * LANES
    gathered: dict[int, list[Instances]] = {}
    for block in np.flatnonzero((degrees > 0) & (np.diff(reach.block_starts) > 0)):
        rows = reach.block_positions[reach.block_starts[block] : reach.block_starts[block + 1]].astype(np.int64)
        kept = rows[rows < n_rows]
        if kept.size:
            features = np.unique(np.concatenate([x.indices[x.indptr[row] : x.indptr[row + 1]] for row in rows]))
            local[features] = np.arange(features.size, dtype=np.uint32)
            gathered.setdefault(int(widths[block]), []).append(gather_rows(*x, kept, local))
    return {width: _joined(parts) for width, parts in gathered.items()}


def _joined(parts: list[Instances]) -> Instances:
    counts = np.concatenate([np.diff(ends) for ends, _, _ in parts])
    ends = np.concatenate(([0], np.cumsum(counts)))
    return ends, np.concatenate([ids for _, ids, _ in parts]), np.concatenate([values for *_, values in parts])
