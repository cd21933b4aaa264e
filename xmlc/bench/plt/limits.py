"""The bare accesses to rows of weights in training a PLT, and the instances that they are made for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xmlc.bench.plt._access import LANES, read_and_write_rows, read_and_write_squares
from xmlc.csr import KernelCSR
from xmlc.models.plt.training import Reach, gather_rows

# What a pass of each solver does at the least, and how many numbers of a row belong to a sibling.
PATTERNS: dict[str, tuple[Callable[..., None], int]] = {
    "adagrad": (read_and_write_squares, 2),
    "batch": (read_and_write_rows, 1),
}
Instances = tuple[np.ndarray, np.ndarray, np.ndarray]  # ends (int64), ids (uint32) and values (float32)


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
