"""Drop the small weights of a label tree and store the other weights as sparse rows."""

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
    """Hold the dense weights of some contiguous blocks.

    The fields have the same meaning as in `NodeWeights`.
    """

    feature_starts: np.ndarray
    features: np.ndarray
    weight_starts: np.ndarray
    weights: np.ndarray


def sibling_type(degrees: np.ndarray) -> type:
    """Return the dtype of sibling numbers, uint16 or uint32, for blocks with ``degrees``
    siblings.
    """
    if degrees.max(initial=1) <= LARGEST_UINT16_DEGREE:
        return np.uint16
    return np.uint32


def threshold_of(given: float | Auto | None, unit_norm: bool) -> float | Auto | None:
    """Return the threshold to train with. "auto" presumes instances of unit length, and otherwise
    keeps all weights.
    """
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
    """Append the dense weights with absolute values above a threshold to the arrays of
    `CompactNodeWeights`.

    Parameters
    ----------
    appendable : Appendable
        Arrays with the weights of the previous blocks, extended in place.
    dense : DenseBlocks
        Weights of the blocks.
    degrees : int64
        Number of siblings in each block.
    threshold : float
        Weights w with abs(w) <= threshold are dropped.
    sibling_type : type
        Dtype of the sibling numbers, see `sibling_type`.
    n_jobs : int or None
        Number of threads, see `xmlc.core.threads.resolve_threads`.

    Returns
    -------
    list of pairs of ndarray of int64
        Two arrays for each range of contiguous blocks: the number of features and the number of
        weights that each block keeps.

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
    """Return whether sparse rows of the weights above a threshold take fewer bytes than the dense
    blocks.
    """
    _, _, features, _, _, weights = rows_above(
        dense, degrees, np.float32(threshold), 0, degrees.size
    )
    # a stored weight takes ``entry`` bytes, and a sparse row takes ``row`` bytes in addition
    entry = 4 + np.dtype(sibling_type(degrees)).itemsize
    row = 8
    size = entry * weights.size + row * features.size + 4 * degrees.size
    return bool(size < dense.features.nbytes + dense.weights.nbytes)


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Return the starts of consecutive ranges with the lengths ``counts``, and the end of the last
    range.
    """
    return np.concatenate(([0], np.cumsum(counts)))


@njit
def rows_above(dense, degrees, threshold, start, end):
    """Return the dense weights with absolute values above a threshold, as sparse rows.

    Weights that are NaN are kept, so that later checks find them.

    Parameters
    ----------
    dense : DenseBlocks
        Weights of the blocks.
    degrees : int64
        Number of siblings in each block.
    threshold : float32
        Weights w with abs(w) <= threshold are dropped.
    start, end : int
        The blocks to convert are ``start .. end - 1``.

    Returns
    -------
    n_features, n_weights : int64 (end - start,)
        The number of features and the number of weights that each block keeps.
    features, row_starts, siblings : uint32
        The sparse rows, as in `CompactNodeWeights`.
    weights : float32
        Weights of the sparse rows.
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
