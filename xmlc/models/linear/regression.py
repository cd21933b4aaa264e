"""Logistic regressions of many labels on the same instances: the problem as the solver takes it, and its solution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from xmlc.models.linear._linear import column_variances
from xmlc.models.linear._logistic import solve_labels


@dataclass(frozen=True)
class Problem:
    """The training set in the form that the solver takes, shared by all labels and folds.

    Attributes
    ----------
    rows : tuple of ndarray (int64, uint32, float64)
        indptr, indices and data of the scaled features, CSR of shape (n, width).
    label_rows, label_starts : ndarray of int64
        CSC of the label matrix: the instances of each label, ascending.
    scale, variances : ndarray of float64, shape (width,)
        What each column was multiplied with, and its variance since.
    widths : ndarray of int64, shape (m,)
        How many columns each label's classifier sees, from the first on.
    """

    rows: tuple[np.ndarray, np.ndarray, np.ndarray]
    label_rows: np.ndarray
    label_starts: np.ndarray
    scale: np.ndarray
    variances: np.ndarray
    widths: np.ndarray

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return self.rows[0].size - 1

    def positives(self, among: np.ndarray) -> np.ndarray:
        """Count the instances of each label for which ``among``, bool of shape (n,), is true."""
        counted = np.concatenate(([0], np.cumsum(among[self.label_rows])))
        return counted[self.label_starts[1:]] - counted[self.label_starts[:-1]]


@dataclass(frozen=True)
class Solution:
    """What the solver found for some labels.

    Attributes
    ----------
    weights : ndarray of float64, shape (labels, width)
    constants : ndarray of float64, shape (labels,)
    losses : ndarray of float64, shape (labels, values of C)
        Mean log loss on held-out instances.
    decrements : ndarray of float64, shape (labels,)
        Squared Newton decrements relative to the objective, see `xmlc.models.linear._logistic`.
    passes : int
        How often all training rows were gone through, for up to eight labels at a time.
    """

    weights: np.ndarray
    constants: np.ndarray
    losses: np.ndarray
    decrements: np.ndarray
    passes: int


def solve(
    problem: Problem, labels: np.ndarray, grid: np.ndarray, rows: np.ndarray, held_out: np.ndarray | None = None
) -> Solution:
    """Return the logistic regressions of some labels for the last C of each one's path; see `solve_labels`.

    Parameters
    ----------
    problem : Problem
    labels : ndarray of int64, shape (labels,)
        Each has positives and negatives among ``rows``.
    grid : ndarray of float64, shape (labels, values of C)
        Each solution starts from that for the C before.
    rows : ndarray of int64
        Instances to train on.
    held_out : ndarray of int64, optional
        Instances to compute losses on.
    """
    held_out = np.empty(0, dtype=np.int64) if held_out is None else held_out
    weights, constants = np.zeros((labels.size, problem.scale.size)), np.zeros(labels.size)
    losses, decrements = np.full(grid.shape, np.nan), np.zeros(labels.size)
    passes = solve_labels(
        problem.rows,
        rows,
        held_out,
        problem.label_rows,
        problem.label_starts,
        labels,
        problem.widths,
        problem.variances,
        grid,
        weights,
        constants,
        losses,
        decrements,
    )
    return Solution(weights, constants, losses, decrements, int(passes))


def make_problem(
    X: sparse.csr_array, Y: sparse.csr_array, standardize: bool, label_scale: float, widths: np.ndarray
) -> Problem:
    """Return a training set in the form that the solver takes.

    Parameters
    ----------
    X : canonical CSR, shape (n, d)
    Y : canonical boolean CSR, shape (n, m)
        Columns beyond the d-th are labels, if any of ``widths`` says so.
    standardize : bool
        Scale all columns to standard deviation 1.
    label_scale : float
        Labels as features are multiplied with this, after that.
    widths : ndarray of int64, shape (m,)
    """
    n_features, by_label = X.shape[1], Y.tocsc()
    columns = sparse.csr_array(X.astype(np.float64))
    if (widths > n_features).any():
        columns = sparse.csr_array(sparse.hstack([columns, Y.astype(np.float64)], format="csr"))
    scale = scales(columns) if standardize else np.ones(columns.shape[1])
    scale[n_features:] *= label_scale
    variances = _variances(columns)[0] * (scale * scale)
    rows = columns.indptr.astype(np.int64), columns.indices.astype(np.uint32), columns.data * scale[columns.indices]
    label_rows, label_starts = by_label.indices.astype(np.int64), by_label.indptr.astype(np.int64)
    return Problem(rows, label_rows, label_starts, scale, variances, widths.astype(np.int64))


def learnable(problem: Problem, training: np.ndarray) -> np.ndarray:
    """Return the labels with positives and negatives among the instances where ``training``, bool (n,), is true."""
    counts = problem.positives(training)
    return np.flatnonzero((counts > 0) & (counts < training.sum()))


def scales(X: sparse.csr_array) -> np.ndarray:
    """Return what each feature is multiplied with to have standard deviation 1 (divisor n - 1); 1 for a constant.

    Features are scaled and not shifted, and stay sparse: a shift would only change the constant, which is not
    regularised.
    """
    variances, squares = _variances(X)
    # The variance of a constant is a rounding.
    return 1 / np.sqrt(np.where(variances > 1e-12 * squares, variances, 1.0))


def _variances(X: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance of each column, with divisor n - 1, and the mean of its squares."""
    return column_variances(X.indices.astype(np.uint32), X.data.astype(np.float64), X.shape[0], X.shape[1])
