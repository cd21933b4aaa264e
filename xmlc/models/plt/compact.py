"""Sparse rows of the weights of a label tree, without the small ones."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from xmlc.core.appendable import Appendable
from xmlc.core.errors import InvalidDataError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import cost_blocks, run_tasks

WEIGHT_THRESHOLD = 0.1  # what weight_threshold="auto" tries
LARGEST_UINT16_DEGREE = 1 << 16
LARGEST_BLOCK = np.iinfo(np.uint32).max
WEIGHTS_PER_TASK = 1 << 22


Auto = Literal["auto"]


class DenseBlocks(NamedTuple):
    """The dense weights of some contiguous blocks, with fields as in `NodeWeights`."""

    feature_starts: np.ndarray
    features: np.ndarray
    weight_starts: np.ndarray
    weights: np.ndarray


def sibling_type(degrees: np.ndarray) -> type:
    """Return the smallest dtype for sibling numbers, uint16 or uint32."""
    if degrees.max(initial=1) <= LARGEST_UINT16_DEGREE:
        return np.uint16
    return np.uint32


def threshold_of(given: float | Auto | None, unit_norm: bool) -> float | Auto | None:
    """Return None for "auto" unless instances have unit length, else the given threshold."""
    if given == "auto" and not unit_norm:
        return None
    return given


def append_rows(
    appendable: Appendable,
    dense: DenseBlocks,
    degrees: np.ndarray,
    threshold: float,
    sibling_type: type,
    n_jobs: int | None,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Append the dense weights w with abs(w) > threshold to the arrays of `CompactNodeWeights`.

    ``degrees``, int64, has the number of siblings of each block. The result has, for each range of
    contiguous blocks, two int64 arrays: how many features and weights every block keeps.

    Raises
    ------
    XmlcError
        A block keeps more weights than 32 bits can count.
    """
    blocks = cost_blocks(np.diff(dense.weight_starts), WEIGHTS_PER_TASK)
    counts = []
    tasks = [(dense, degrees, np.float32(threshold), *block) for block in blocks]
    for n_features, n_weights, features, row_starts, siblings, weights in run_tasks(
        rows_above, tasks, n_jobs
    ):
        if n_weights.max(initial=0) > LARGEST_BLOCK:
            expected = f"expected at most {LARGEST_BLOCK}. Raise weight_threshold or lower arity."
            raise InvalidDataError(
                f"PLT: found {n_weights.max()} weights in the children of one node, {expected}"
            )
        siblings = siblings.astype(sibling_type)
        appendable.append(
            features=features, row_starts=row_starts, siblings=siblings, weights=weights
        )
        counts.append((n_features, n_weights))
    return counts


def rows_are_smaller(dense: DenseBlocks, degrees: np.ndarray, threshold: float) -> bool:
    """Return whether sparse rows of the weights above a threshold are smaller than ``dense``."""
    _, _, features, _, _, weights = rows_above(
        dense, degrees, np.float32(threshold), 0, degrees.size
    )
    # bytes of a weight, and of a row besides its weights
    entry = 4 + np.dtype(sibling_type(degrees)).itemsize
    row = 8
    size = entry * weights.size + row * features.size + 4 * degrees.size
    return bool(size < dense.features.nbytes + dense.weights.nbytes)


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Return the starts of consecutive ranges, and the end of the last one."""
    return np.concatenate(([0], np.cumsum(counts)))


@njit
def rows_above(dense, degrees, threshold, start, end):
    """Return the dense weights of blocks ``start .. end - 1`` above a threshold, as sparse rows.

    A weight that is NaN is kept, so that later checks find it. The result has the numbers of
    features and of weights that each block keeps, int64 (end - start,), and ``features``,
    ``row_starts``, ``siblings`` (uint32) and ``weights`` as in `CompactNodeWeights`.
    """
    feature_starts, dense_features, weight_starts, weights = dense
    n_rows = feature_starts[end] - feature_starts[start]
    place = weight_starts[start]
    n_weights = weight_starts[end] - place
    n_features = np.zeros(end - start, dtype=np.int64)
    counts = np.zeros(end - start, dtype=np.int64)
    features = np.empty(n_rows, dtype=np.uint32)
    row_starts = np.zeros(n_rows + end - start, dtype=np.uint32)
    siblings = np.empty(n_weights, dtype=np.uint32)
    kept = np.empty(n_weights, dtype=np.float32)
    row = np.int64(0)
    count = np.int64(0)
    for block in range(start, end):
        first = count
        for f in range(feature_starts[block], feature_starts[block + 1]):
            before = count
            for c in range(degrees[block]):
                if not abs(weights[place]) <= threshold:
                    siblings[count] = c
                    kept[count] = weights[place]
                    count += 1
                place += 1
            if count > before:
                features[row] = dense_features[f]
                row_starts[row + block - start + 1] = count - first
                row += 1
                n_features[block - start] += 1
        counts[block - start] = count - first
    starts = row_starts[: row + end - start]
    return (
        n_features,
        counts,
        features[:row].copy(),
        starts.copy(),
        siblings[:count].copy(),
        kept[:count].copy(),
    )
