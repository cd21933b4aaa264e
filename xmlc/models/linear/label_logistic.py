"""One regularised logistic regression for each label: common code of binary relevance and classifier chains."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.growing import check_finite
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import run_pieces
from xmlc.kernels.arrays import copy_into
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.csr import Matrix, kernel_csr
from xmlc.kernels.estimator import hyperparameters
from xmlc.kernels.stored import Field
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.domains import br
from xmlc.models.linear._logistic import MAX_STEPS, TOLERANCE, Problem, solve_path

C_GRID = (5e-5, 5e-4, 5e-3, 5e-2, 5e-1, 5.0)
SURE, NEVER = 30.0, -1000.0  # score of a label that all training instances carry; of one that none does: estimate 0
MAX_WEIGHTS = 250_000_000  # 2 GB: weights are dense in labels x features
PIECE = 32  # labels that a thread takes at a time: four for each lane, so that few lanes wait for the last label


@hyperparameters
class LabelLogistic(SparseProbabilityEstimator):
    """Base of the estimators that have one L2-regularised logistic regression for each label.

    Each is solved to a tight optimum by truncated Newton steps in float64, see `xmlc.models.linear._logistic`; the
    result is the same bits on any processor and any number of threads.

    Parameters
    ----------
    C : float or None
        Weight of the loss against half the squared length of a label's weights; the constant is not regularised. None
        chooses it by cross-validation, as gfm2011 (Section 4) does: the value of the smallest mean log loss.
    C_grid : sequence of float
        The values to choose from, ascending. By default 1 / (2 C), the weight of the squared length itself, is a power
        of ten.
    folds : int
        Folds of the cross-validation; 3 in gfm2011.
    common : bool
        One C for all labels, by the mean of their losses, or one for each label.
    standardize : bool
        Regularise the weights of features that are scaled to standard deviation 1 in the training set. The weights are
        stored for the features as they come. gfm2011 does not say, but its BR rows are those of scaled features.
    random_state : int
        Seed of the folds.
    n_jobs : int or None
        Threads of training and prediction; the result does not depend on it.

    Attributes
    ----------
    weights_ : ndarray of float32, shape (m, d)
    constants_ : ndarray of float32, shape (m,)
    C_ : ndarray of float64, shape (m,)
        The C of each label; NaN where all training instances agree and nothing was learned.
    losses_ : ndarray of float64, shape (m, folds, len(C_grid))
        Log loss of each label on each fold; NaN where a fold's training part knows one class only. Only with C=None.
    decrements_ : ndarray of float64, shape (m,)
        Squared Newton decrement, which is twice what another step could gain, relative to the objective, at which the
        training of each label ended; NaN where nothing was learned.
    """

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("weights_", np.float32, ("n_labels", "n_features")),
        Field("constants_", np.float32, ("n_labels",)),
        Field("C_", np.float64, ("n_labels",)),
        Field("decrements_", np.float64, ("n_labels",)),
        Field("losses_", np.float64, ("n_labels", None, None), optional=True),
    )
    domains = br.DOMAINS

    _: KW_ONLY
    C: float | None = None
    C_grid: Sequence[float] = C_GRID
    folds: int = 3
    common: bool = True
    standardize: bool = True
    random_state: int = 0
    n_jobs: int | None = None

    def fit(self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None) -> Self:
        """Choose C unless it is given, then train one logistic regression for each label.

        A weight multiplies the losses of its instance, in training and in the choice of C, and counts in standard
        deviations: except for the folds, this is training on repeated rows.

        Parameters are those of `xmlc.models.base.SparseProbabilityEstimator.fit`.

        Raises
        ------
        XmlcError
            A hyperparameter is out of its range, or the weights of all labels would not fit into memory.
        """
        data = self._weighted_data(X, Y, sample_weight)
        self._check_size()
        problem = self._problem(*data)
        self.C_ = self._choose(problem) if self.C is None else np.full(self.n_labels_, self.C, dtype=np.float64)
        self._learn(problem)
        self.C_[np.isnan(self.decrements_)] = np.nan
        check_finite(self._state()[0].values())
        return self

    def _choose(self, problem: Problem) -> np.ndarray:
        """Return the C of each label by cross-validation, and store the losses."""
        grid = np.asarray(self.C_grid, dtype=np.float64)
        fold_of = random_permutation(problem.n_instances, self.random_state, Stream.LOGISTIC_FOLD) % self.folds
        pieces = []
        for fold in range(self.folds):
            training = fold_of != fold
            if 0 < training.sum() < training.size:
                pieces += [(fold, labels) for labels in blocks_of(problem, training)]

        def losses_of(fold: int, labels: np.ndarray) -> np.ndarray:
            training, held_out = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            return solve_path(problem, labels, np.tile(grid, (labels.size, 1)), training, held_out).losses

        self.losses_ = np.full((self.n_labels_, self.folds, grid.size), np.nan)
        title = f"{type(self).__name__}: C"
        costs = [labels.size for _, labels in pieces]
        found = run_pieces(losses_of, pieces, self.n_jobs, costs, title=title, unit="labels")
        for (fold, labels), losses in zip(pieces, found, strict=True):
            self.losses_[labels, fold] = losses
        return grid[best_indices(self.losses_, self.common)]

    def _learn(self, problem: Problem) -> None:
        """Learn every label's classifier, with weights for all columns of the problem."""
        everywhere = np.ones(problem.n_instances, dtype=bool)
        counts = positives(problem, everywhere)
        self.constants_ = np.where(counts > 0, SURE, NEVER).astype(np.float32)
        self.decrements_ = np.full(self.n_labels_, np.nan)
        self.weights_ = np.zeros((self.n_labels_, problem.scale.size), dtype=np.float32)
        rows = np.arange(problem.n_instances)

        def learn(labels: np.ndarray) -> None:
            found = solve_path(problem, labels, self.C_[labels, np.newaxis], rows)
            self.weights_[labels] = found.weights * problem.scale
            self.constants_[labels] = found.constants
            self.decrements_[labels] = found.decrements

        pieces = [(labels,) for labels in blocks_of(problem, everywhere)]
        costs = [labels.size for (labels,) in pieces]
        run_pieces(learn, pieces, self.n_jobs, costs, title=type(self).__name__, unit="labels")
        unsolved = int((self.decrements_ > TOLERANCE).sum())
        if unsolved:
            warnings.warn(
                f"{type(self).__name__}: {unsolved} of {self.n_labels_} labels were not solved after {MAX_STEPS} "
                "Newton steps, see decrements_; a smaller C or standardize=True helps",
                RuntimeWarning,
                stacklevel=3,
            )

    def _problem(self, X: sparse.csr_array, Y: sparse.csr_array, weights: np.ndarray) -> Problem:
        """Return the solver's input of a training set."""
        return make_problem(X, Y, self.standardize, 1.0, np.full(Y.shape[1], X.shape[1]), weights)

    def _scores(self, X: sparse.csr_array, weights_by_feature: np.ndarray) -> np.ndarray:
        """Return the scores of all labels from the features, float64 (n, m); the weights are float32 (d, m)."""
        return linear_scores(*kernel_csr(X), weights_by_feature, self.constants_)

    def _check_size(self) -> None:
        if self.n_labels_ * self.n_features_in_ > MAX_WEIGHTS:
            raise XmlcError(
                f"{type(self).__name__} has a weight for each of {self.n_labels_} labels x {self.n_features_in_} "
                f"features, more than the {MAX_WEIGHTS} it is made for; use a tree, such as xmlc.models.PLT"
            )


def best_indices(losses: np.ndarray, common: bool) -> np.ndarray:
    """Return for each label the index of the grid's value with the smallest mean loss over folds.

    Parameters
    ----------
    losses : ndarray of float64, shape (m, folds, size of the grid)
        NaN where a label could not be learned on a fold.
    common : bool
        One value for all labels, by the mean of their losses.

    Returns
    -------
    ndarray of int64, shape (m,)
        A label without losses gets index 0, the strongest regularisation.
    """
    known = ~np.isnan(losses)
    sums, counts = sum(np.where(known, losses, 0.0).transpose(1, 0, 2)), np.count_nonzero(known, axis=1)
    if common:
        # Every label weighs the same, however many of its folds are known.
        return np.full(len(losses), int(sum(sums / np.maximum(counts, 1)).argmin()))
    return (sums / np.maximum(counts, 1)).argmin(axis=1)


def blocks_of(problem: Problem, training: np.ndarray) -> list[np.ndarray]:
    """Cut the labels that can be learned from some instances into pieces of work that take about equally long.

    Parameters
    ----------
    problem : Problem
    training : ndarray of bool, shape (n,)

    Returns
    -------
    list of ndarray
        Labels, at most `PIECE` each; first those of which positives and negatives are many: they take the most steps,
        and what is begun last must be short, or the other lanes wait for it.
    """
    labels = learnable(problem, training)
    counts = positives(problem, training)[labels]
    rarer = np.minimum(counts, int(training.sum()) - counts)
    labels = labels[np.argsort(-rarer, kind="stable")]
    n_blocks = -(-labels.size // PIECE)
    return [labels[i::n_blocks].copy() for i in range(n_blocks)]


# The problem as the solver takes it.


def make_problem(
    X: sparse.csr_array,
    Y: sparse.csr_array,
    standardize: bool,
    label_scale: float,
    widths: np.ndarray,
    weights: np.ndarray | None = None,
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
    weights : ndarray of float32, shape (n,), optional
        Of the instances; None: all 1.
    """
    importance = np.ones(X.shape[0]) if weights is None else weights.astype(np.float64)
    n_features, by_label = X.shape[1], Y.tocsc()
    columns = sparse.csr_array(X.astype(np.float64))
    if (widths > n_features).any():
        columns = sparse.csr_array(sparse.hstack([columns, Y.astype(np.float64)], format="csr"))
    scale = scales(columns, importance) if standardize else np.ones(columns.shape[1])
    scale[n_features:] *= label_scale
    variances = _variances(columns, importance)[0] * (scale * scale)
    return Problem(
        indptr=columns.indptr.astype(np.int64),
        indices=columns.indices.astype(np.uint32),
        data=columns.data * scale[columns.indices],
        label_rows=by_label.indices.astype(np.int64),
        label_starts=by_label.indptr.astype(np.int64),
        scale=scale,
        variances=variances,
        widths=widths.astype(np.int64),
        importance=importance,
    )


def positives(problem: Problem, among: np.ndarray) -> np.ndarray:
    """Count the instances of each label for which ``among``, bool of shape (n,), is true."""
    counted = np.concatenate(([0], np.cumsum(among[problem.label_rows])))
    return counted[problem.label_starts[1:]] - counted[problem.label_starts[:-1]]


def learnable(problem: Problem, training: np.ndarray) -> np.ndarray:
    """Return the labels with positives and negatives among the instances where ``training``, bool (n,), is true."""
    counts = positives(problem, training)
    return np.flatnonzero((counts > 0) & (counts < training.sum()))


def scales(X: sparse.csr_array, importance: np.ndarray) -> np.ndarray:
    """Return the factor that gives each feature standard deviation 1, see `_variances`; 1 for a constant.

    Features are scaled and not shifted, and stay sparse: a shift would only change the constant, which is not
    regularised.
    """
    variances, squares = _variances(X, importance)
    # The variance of a constant is a rounding.
    return 1 / np.sqrt(np.where(variances > 1e-12 * squares, variances, 1.0))


def _variances(X: sparse.csr_array, importance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance of each column and the mean of its squares, with instances of some weights.

    The divisor of a variance is n - 1, where n is the sum of the weights, or n / 2 if that is more.
    """
    d, columns, n, own = X.shape[1], X.indices, math.fsum(importance), np.repeat(importance, np.diff(X.indptr))

    def sums(values: np.ndarray) -> np.ndarray:
        return np.bincount(columns, weights=values, minlength=d)  # adds the values of a column in their order

    counts, means, squares = sums(own), sums(own * X.data) / n, sums(own * (X.data * X.data)) / n
    deviations = X.data - means[columns]
    # What is not stored is 0.
    return (sums(own * (deviations * deviations)) + (n - counts) * means * means) / max(n - 1, n / 2), squares


@njit(cache=True, nogil=True)
def linear_scores(indptr, indices, data, weights, constants):
    """Return the scores of all labels, float64 (n, m), each summed in the order of the instance's features.

    Reads 4 bytes per non-zero and label, one row of ``weights`` for each non-zero.

    Parameters
    ----------
    indptr : int64 (n + 1,), indices : uint32, data : float32
        Instances in CSR.
    weights : float32 (d, m)
    constants : float32 (m,)
    """
    n, m = indptr.size - 1, constants.size
    scores = np.empty((n, m))
    for i in range(n):
        row = scores[i]
        copy_into(row, constants)
        for place in range(indptr[i], indptr[i + 1]):
            value, weights_of = np.float64(data[place]), weights[indices[place]]
            for j in range(m):
                row[j] += value * np.float64(weights_of[j])
    return scores
