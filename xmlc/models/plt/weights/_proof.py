"""What proves that stored weights of a label tree are what the searches take them for."""

from __future__ import annotations

from typing import Any

import numpy as np

from xmlc.gate.fields import Malformed, check_indices, check_starts, field_of

MOST_HASHED = 1 << 34


def check_weights(arrays: dict[str, np.ndarray], n_features: int) -> None:
    """Prove that the arrays of one kind of weights fit one another, the tree and the features.

    One pass over features and starts; weights are numbers of any value.

    Raises
    ------
    Malformed
    """
    children = field_of(arrays, "children", np.int64, (None,))
    n_nodes = children.size - 1
    field_of(arrays, "bias", np.float32, (n_nodes,))
    if "table" in arrays:
        table = field_of(arrays, "table", np.float32, (None,))
        field_of(arrays, "scale", np.float64, (n_nodes,))
        if not 2 <= table.size <= MOST_HASHED or table.size & (table.size - 1):
            raise Malformed("table", f"has {table.size} weights, expected a power of two from 2 to 2**34")
        return
    degrees = np.concatenate(([1], np.diff(children)))
    features = field_of(arrays, "features", np.uint32, (None,))
    starts = field_of(arrays, "feature_starts", np.int64, (n_nodes + 2,))
    check_starts(starts, "feature_starts", features.size, "features")
    check_indices(features, "features", n_features, starts)
    if "weight_starts" in arrays:
        _check_dense(arrays, np.diff(starts) * degrees)
    else:
        _check_compact(arrays, starts, degrees)


def _check_dense(arrays: dict[str, np.ndarray], sizes: np.ndarray) -> None:
    weights = field_of(arrays, "weights", np.float32, (None,))
    starts = field_of(arrays, "weight_starts", np.int64, (sizes.size + 1,))
    check_starts(starts, "weight_starts", weights.size, "weights")
    _check_equal(np.diff(starts), sizes, "weight_starts", "weights, features times children")


def _check_compact(arrays: dict[str, np.ndarray], feature_starts: np.ndarray, degrees: np.ndarray) -> None:
    weights = field_of(arrays, "weights", np.float32, (None,))
    kind = np.uint16 if arrays["siblings"].dtype == np.uint16 else np.uint32
    siblings = field_of(arrays, "siblings", kind, (weights.size,))
    entry_starts = field_of(arrays, "entry_starts", np.int64, feature_starts.shape)
    check_starts(entry_starts, "entry_starts", weights.size, "weights")
    blocks = np.arange(degrees.size)
    rows = field_of(arrays, "row_starts", np.uint32, (int(feature_starts[-1]) + degrees.size,))
    first, last = feature_starts[:-1] + blocks, feature_starts[1:] + blocks
    _check_equal(rows[first], np.zeros(degrees.size), "row_starts", "as its first row's start")
    _check_equal(rows[last], np.diff(entry_starts), "row_starts", "weights")
    falls = np.flatnonzero(rows[1:] < rows[:-1]) + 1
    if np.setdiff1d(falls, first).size:
        raise Malformed("row_starts", f"entry {np.setdiff1d(falls, first)[0]} is less than the one before it")
    filled = np.flatnonzero(np.diff(entry_starts))
    if filled.size:
        largest = np.maximum.reduceat(siblings, entry_starts[filled])
        wrong = filled[largest >= degrees[filled]]
        if wrong.size:
            raise Malformed("siblings", f"block {wrong[0]} names a child beyond its {degrees[wrong[0]]}")


def _check_equal(found: Any, expected: np.ndarray, field: str, what: str) -> None:
    if not np.array_equal(found, expected):
        block = int(np.argmax(found != expected))
        raise Malformed(field, f"gives block {block} {found[block]} {what}, expected {int(expected[block])}")
