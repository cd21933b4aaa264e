"""Find the true labels among the k best labels of each instance."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, shown
from xmlc.kernels.csr import (
    CSR,
    Matrix,
    as_csr,
    as_labels,
    kernel_csr,
    top_k_of,
)


def checked_k(k: object) -> int:
    """Return ``k`` as an int, or raise an error if it is not a whole number of at least 1."""
    if not isinstance(k, Integral) or k < 1:
        raise InvalidDataError(
            f"found k={shown(k)}, expected a whole number of at least 1, such as 5"
        )
    return int(k)


def _ranking(labels: object, shape: tuple[int, int], k: int) -> np.ndarray:
    """Return the k top labels, int32 of shape (n, k), the smaller label first at equal scores."""
    n, m = shape
    k = checked_k(k)
    if sparse.issparse(labels):
        return _best(labels, shape, k)
    try:
        labels = np.asarray(labels)
    except ValueError:
        raise InvalidDataError(
            "labels: found rows of different lengths. Fill missing ranks with -1."
        ) from None
    if labels.ndim != 2 or labels.shape[0] != n:
        expected = (
            f"one row for each of {n} instances, best label first. Pass the result of "
            "predict_top_k."
        )
        raise InvalidDataError(f"labels: found shape {labels.shape}, expected {expected}")
    if k > labels.shape[1]:
        raise InvalidDataError(
            f"found k={k}, expected at most {labels.shape[1]}. Fill missing ranks with -1."
        )
    if labels.dtype.kind not in "iu":
        raise InvalidDataError(
            f"labels: found {labels.dtype}, expected whole numbers, or scores as a sparse matrix"
        )
    expected = f"expected distinct labels from 0 to {m - 1}, and -1 for missing ranks"
    ordered = np.sort(labels, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        row, column = np.argwhere(twice)[0]
        hint = ""
        if labels.shape == shape:
            hint = ". Pass the scores of a prediction matrix as a sparse matrix."
        raise InvalidDataError(
            f"labels: found label {ordered[row, column]} twice in row {row}, {expected}{hint}"
        )
    if n and (ordered[:, 0].min() < -1 or ordered[:, -1].max() >= m):
        row, column = np.argwhere((labels < -1) | (labels >= m))[0]
        raise InvalidDataError(
            f"labels: found {labels[row, column]} in row {row}, column {column}, {expected}"
        )
    return np.ascontiguousarray(labels[:, :k], dtype=np.int32)


def _best(scores: Any, shape: tuple[int, int], k: int) -> np.ndarray:
    """Return the labels with the k highest stored scores, int32 of shape (n, min(k, m))."""
    if scores.dtype == bool:
        raise InvalidDataError(
            "labels: found label sets without an order, expected a ranking, scores or estimates"
        )
    scores = as_csr(scores, np.float64, "scores")
    if scores.shape != shape:
        expected = f"{shape[0]} instances and {shape[1]} labels, as in Y"
        raise InvalidDataError(f"scores: found shape {scores.shape}, expected {expected}")
    unknown = np.flatnonzero(np.isnan(scores.data))
    if unknown.size:
        row = int(np.searchsorted(scores.indptr, unknown[0], side="right")) - 1
        raise InvalidDataError(
            f"scores: found NaN in row {row}, label {scores.indices[unknown[0]]}, expected numbers"
        )
    return top_k_of(scores, min(k, max(shape[1], 1)))[0]


def matched(Y: Matrix, labels: object, k: int) -> tuple[CSR, np.ndarray, np.ndarray]:
    """Return the truth, the k top labels, and a bool array that marks the true ones among them."""
    from xmlc.metrics._counts import match_ranking

    Y = as_labels(Y, "Y", labels, "the truth, then the ranking: f(Y, labels, k)")
    truth = kernel_csr(Y)
    ranked = _ranking(labels, Y.shape, k)
    return Y, ranked, match_ranking(truth.indptr, truth.indices, ranked)


def hits_at_k(Y: Matrix, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Mark the hits among the k top labels, and count the true labels of each instance.

    Returns
    -------
    relevant : ndarray of bool, shape (n, k)
        Or (n, m) for sparse scores if m is below k.
    n_true : ndarray of int, shape (n,)

    Raises
    ------
    XmlcError
        If the ranking has another number of instances, rows of different lengths or fewer than k
        columns, an entry is neither a label nor -1, a score is NaN, or a row contains a label twice
        (as in a dense matrix of predictions).
    """
    Y, _, relevant = matched(Y, labels, k)
    return relevant, np.diff(Y.indptr)
