"""One regularised logistic regression per label, for binary relevance and classifier chains."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.appendable import check_finite
from xmlc.core.errors import InvalidDataError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.kernels.arrays import copy_into
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.csr import Matrix, kernel_csr
from xmlc.kernels.domains import FLAG, N_JOBS, POSITIVE, POSITIVE_OR_NONE, SEED, Ascending, whole
from xmlc.kernels.estimator import hyperparameters, param
from xmlc.kernels.stored import FINITE, Field
from xmlc.models.base import SparseProbabilityEstimator, all_or_nothing
from xmlc.models.linear._logistic import MAX_STEPS, TOLERANCE, Problem, Solution, solve_path

C_GRID = (5e-5, 5e-4, 5e-3, 5e-2, 5e-1, 5.0)
SURE = 30.0  # the score of a label that all training instances have
NEVER = -1000.0  # the score of a label that no training instance has
# A float64 array of them takes at most 2 GB.
MAX_WEIGHTS = 250_000_000
# scores or drawn values that one task of a prediction computes
CELLS = 4_000_000
# four labels for each of the eight lanes, so that lanes seldom wait
LABELS_PER_TASK = 32


@hyperparameters
class LabelLogistic(SparseProbabilityEstimator):
    """The base class of estimators that train an L2-regularised logistic regression for each label.

    Truncated Newton steps in float64 solve each regression to a tight optimum
    (`xmlc.models.linear._logistic`), so the result is bit-identical on any processor and any number
    of threads.

    Parameters
    ----------
    C : float or None
        Weight of the loss, relative to half the squared norm of a label's weights without the
        constant. None selects the value of ``C_grid`` with the smallest mean log loss in
        cross-validation, as in gfm2011 (Section 4).
    C_grid : sequence of float
        Candidate values of C, ascending. By default, 1 / (2 C) is a power of ten.
    folds : int
        Number of folds of the cross-validation, 3 in gfm2011.
    common : bool
        Choose one C for all labels, by the mean of their losses, instead of one for each.
    standardize : bool
        Scale each feature to standard deviation 1 for training. The stored weights apply to
        unscaled features. gfm2011 does not mention it, but its results for BR match scaled ones.
    random_state : int
        Seed of the cross-validation folds.
    n_jobs : int or None
        Number of threads.

    Attributes
    ----------
    weights_ : ndarray of float32, shape (m, d)
    constants_ : ndarray of float32, shape (m,)
    C_ : ndarray of float64, shape (m,)
        NaN for a label that is not trained because all or no instances have it.
    losses_ : ndarray of float64, shape (m, folds, len(C_grid))
        Log losses on each fold, stored only with C=None, and NaN if all or none of the instances in
        the other folds have the label.
    decrements_ : ndarray of float64, shape (m,)
        Squared Newton decrement at the end of training, relative to the objective: twice the
        decrease that a further Newton step would bring. NaN for a label that is not trained.

    See Also
    --------
    xmlc.models.BinaryRelevance, xmlc.models.ProbabilisticClassifierChain

    Examples
    --------
    >>> from xmlc.models import BinaryRelevance
    >>> BinaryRelevance().fit([[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3).C_.tolist()
    [5.0, 5.0, 5.0]
    """

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("weights_", np.float32, ("n_labels", "n_features"), within=FINITE),
        Field("constants_", np.float32, ("n_labels",), within=FINITE),
        Field("C_", np.float64, ("n_labels",)),
        Field("decrements_", np.float64, ("n_labels",)),
        Field("losses_", np.float64, ("n_labels", None, None), optional=True),
    )

    _: KW_ONLY
    C: float | None = param(POSITIVE_OR_NONE, default=None)
    C_grid: Sequence[float] = param(Ascending(POSITIVE), default=C_GRID)
    folds: int = param(whole(2, 10_000), default=3)
    common: bool = param(FLAG, default=True)
    standardize: bool = param(FLAG, default=True)
    random_state: int = param(SEED, default=0)
    n_jobs: int | None = param(N_JOBS, default=None)

    @all_or_nothing
    def fit(self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None) -> Self:
        """Train one logistic regression for each label, and choose C first if it is None.

        Weights multiply the instances' losses in training and in the choice of C, and count in the
        standard deviations of features. Weight w has the same effect as w equal rows, except that
        the folds differ.

        See `xmlc.models.base.SparseProbabilityEstimator.fit` for the parameters.

        Raises
        ------
        XmlcError
            A hyperparameter is out of its range, or there would be more than ``MAX_WEIGHTS``
            weights.
        """
        X, Y, weights = self._weighted_data(X, Y, sample_weight)
        if self.n_labels_ * self.n_features_in_ > MAX_WEIGHTS:
            found = (
                f"{type(self).__name__}: found {self.n_labels_} labels x {self.n_features_in_} "
                "features"
            )
            expected = f"at most {MAX_WEIGHTS} weights. Use a tree, such as xmlc.models.PLT."
            raise InvalidDataError(f"{found}, expected {expected}")
        problem = self._problem(X, Y, weights)
        if self.C is None:
            self.C_ = self._choose(problem)
        else:
            self.C_ = np.full(self.n_labels_, self.C, dtype=np.float64)
        self._learn(problem)
        self._split_weights()
        self.C_[np.isnan(self.decrements_)] = np.nan
        check_finite(self._state()[0].values())
        return self

    def _choose(self, problem: Problem) -> np.ndarray:
        grid = np.asarray(self.C_grid, dtype=np.float64)
        fold_of = (
            random_permutation(problem.importance.size, self.random_state, Stream.LOGISTIC_FOLD)
            % self.folds
        )
        self.losses_ = np.full((self.n_labels_, self.folds, grid.size), np.nan)

        def keep(fold: int, labels: np.ndarray, solution: Solution) -> None:
            self.losses_[labels, fold] = solution.losses

        sets = [fold_of != fold for fold in range(self.folds)]
        self._solve(
            problem, sets, np.tile(grid, (self.n_labels_, 1)), keep, f"{type(self).__name__}: C"
        )
        return grid[best_indices(self.losses_, self.common)]

    def _learn(self, problem: Problem) -> None:
        everywhere = np.ones(problem.importance.size, dtype=bool)
        self.weights_ = np.zeros((self.n_labels_, problem.scale.size), dtype=np.float32)
        self.constants_ = np.where(positives(problem, everywhere) > 0, SURE, NEVER).astype(
            np.float32
        )
        self.decrements_ = np.full(self.n_labels_, np.nan)

        def keep(_: int, labels: np.ndarray, solution: Solution) -> None:
            self.weights_[labels] = solution.weights * problem.scale
            self.constants_[labels] = solution.constants
            self.decrements_[labels] = solution.decrements

        self._solve(problem, [everywhere], self.C_[:, np.newaxis], keep, type(self).__name__)
        unsolved = int((self.decrements_ > TOLERANCE).sum())
        if unsolved:
            found = (
                f"{unsolved} of {self.n_labels_} labels did not converge in {MAX_STEPS} Newton "
                "steps"
            )
            advice = "(see decrements_). Use a smaller C or standardize=True."
            warnings.warn(f"{type(self).__name__}: {found} {advice}", RuntimeWarning, stacklevel=3)

    def _solve(
        self,
        problem: Problem,
        sets: Sequence[np.ndarray],
        grid: np.ndarray,
        keep: Callable[[int, np.ndarray, Solution], None],
        title: str,
    ) -> None:
        """Train all labels on each of some ``sets`` of instances, bool (n,), for ``grid``, (m,
        values of C).

        For each task, ``keep`` receives the number of the set, some labels and their `Solution`,
        with the losses on the instances outside the set.
        """

        def solve(number: int, labels: np.ndarray) -> None:
            rows = np.flatnonzero(sets[number])
            held_out = np.flatnonzero(~sets[number])
            keep(number, labels, solve_path(problem, labels, grid[labels], rows, held_out))

        tasks = list[tuple[int, np.ndarray]]()
        for number, training in enumerate(sets):
            tasks += [(number, labels) for labels in blocks_of(problem, training)]
        costs = [labels.size for _, labels in tasks]
        run_tasks(solve, tasks, self.n_jobs, costs, title=title, unit="labels")

    def _split_weights(self) -> None:
        """Take the weights of labels as features, if there are any, out of ``weights_``."""

    def _problem(self, X: sparse.csr_array, Y: sparse.csr_array, weights: np.ndarray) -> Problem:
        return make_problem(X, Y, self.standardize, 1.0, np.full(Y.shape[1], X.shape[1]), weights)

    def _by_blocks(
        self,
        X: sparse.csr_array,
        cells_per_row: int,
        use: Callable[[np.ndarray, int], tuple[np.ndarray, ...]],
    ) -> list[np.ndarray]:
        """Join the results of ``use(scores, first)`` for each block of instances.

        ``scores``, float64 (n, m), are linear scores of the instances from number ``first`` on.
        """
        weights = np.ascontiguousarray(self.weights_.T)

        def block(start: int, end: int) -> tuple[np.ndarray, ...]:
            return use(linear_scores(*kernel_csr(X[start:end]), weights, self.constants_), start)

        blocks = row_blocks(X.shape[0], max(CELLS // cells_per_row, 1)) or [(0, 0)]
        found = run_tasks(block, blocks, self.n_jobs)
        self.inner_products_ = np.full(X.shape[0], self.n_labels_, dtype=np.int64)
        return [np.concatenate(part) for part in zip(*found, strict=True)]


def best_indices(losses: np.ndarray, common: bool) -> np.ndarray:
    """Return for each label the index in ``C_grid`` with the smallest mean loss over the folds.

    ``losses``, (m, folds, size of the grid), are NaN on a fold if the label could not be trained on
    the others. A label without any has index 0, the strongest regularisation. With ``common``, all
    labels have the index for the mean of their losses.
    """
    known = ~np.isnan(losses)
    sums = sum(np.where(known, losses, 0.0).transpose(1, 0, 2))
    means = sums / np.maximum(np.count_nonzero(known, axis=1), 1)
    if not common:
        return means.argmin(axis=1)
    # each label's mean has the same weight, even if it has no loss in some folds
    return np.full(len(losses), sum(means).argmin())


def blocks_of(problem: Problem, training: np.ndarray) -> list[np.ndarray]:
    """Divide labels into tasks of at most `LABELS_PER_TASK` that take about the same time.

    Labels with many positives and many negatives take the most steps, so they come first in a task,
    because other lanes are idle during the last label. Labels without positives or negatives among
    the ``training`` instances, bool (n,), are left out.
    """
    counts = positives(problem, training)
    rarer = np.minimum(counts, int(training.sum()) - counts)
    labels = np.flatnonzero(rarer)
    labels = labels[np.argsort(-rarer[labels], kind="stable")]
    n_blocks = -(-labels.size // LABELS_PER_TASK)
    return [labels[i::n_blocks].copy() for i in range(n_blocks)]


# functions that prepare a `Problem` for the solver


def make_problem(
    X: sparse.csr_array,
    Y: sparse.csr_array,
    standardize: bool,
    label_scale: float,
    widths: np.ndarray,
    weights: np.ndarray,
) -> Problem:
    """Return a training set as a `Problem` for the solver.

    ``X`` and ``Y`` are canonical. Label sets follow the features as columns, times ``label_scale``
    after scaling, if any of ``widths``, int64 (m,), exceeds d: the numbers of first columns that
    the labels' classifiers use. ``weights`` are float32 (n,).
    """
    importance = weights.astype(np.float64)
    n_features = X.shape[1]
    columns = sparse.csr_array(X.astype(np.float64))
    if (widths > n_features).any():
        columns = sparse.csr_array(sparse.hstack([columns, Y.astype(np.float64)], format="csr"))
    variances, scale = spreads(columns, importance)
    if not standardize:
        scale[:] = 1
    scale[n_features:] *= label_scale
    by_label = Y.tocsc()
    return Problem(
        indptr=columns.indptr.astype(np.int64),
        indices=columns.indices.astype(np.uint32),
        data=columns.data * scale[columns.indices],
        label_rows=by_label.indices.astype(np.int64),
        label_starts=by_label.indptr.astype(np.int64),
        scale=scale,
        variances=variances * (scale * scale),
        widths=widths.astype(np.int64),
        importance=importance,
    )


def positives(problem: Problem, among: np.ndarray) -> np.ndarray:
    """Count each label's positives among the instances that ``among``, bool (n,), marks."""
    counted = np.concatenate(([0], np.cumsum(among[problem.label_rows])))
    return np.diff(counted[problem.label_starts])


def spreads(X: sparse.csr_array, importance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted variance of each column, and the factor for standard deviation 1.

    The divisor of a variance is the larger of n - 1 and n / 2, with the sum n of the weights.
    Constant columns have the factor 1. Features are not shifted, so that they stay sparse: a shift
    would only change the constant of the regression, which is not regularised.
    """
    n = math.fsum(importance)
    own = np.repeat(importance, np.diff(X.indptr))

    def sums(values: np.ndarray) -> np.ndarray:
        # `bincount` adds in a fixed order
        return np.bincount(X.indices, weights=values, minlength=X.shape[1])

    means = sums(own * X.data) / n
    squares = sums(own * (X.data * X.data)) / n
    deviations = X.data - means[X.indices]
    # An entry that is not stored is 0, so its squared deviation is the squared mean.
    total = sums(own * (deviations * deviations)) + (n - sums(own)) * means * means
    variances = total / max(n - 1, n / 2)
    # Rounding errors may give a constant feature a variance other than 0.
    return variances, 1 / np.sqrt(np.where(variances > 1e-12 * squares, variances, 1.0))


@njit
def linear_scores(indptr, indices, data, weights, constants):
    """Return the linear scores of all labels, float64 (n, m), summed in the order of the features.

    ``weights`` are float32 (d, m), for a single instance a view of the transposed array, which is
    fast enough.
    """
    n = indptr.size - 1
    scores = np.empty((n, constants.size))
    for i in range(n):
        row = scores[i]
        copy_into(row, constants)
        for place in range(indptr[i], indptr[i + 1]):
            value = np.float64(data[place])
            own = weights[indices[place]]
            for j in range(row.size):
                row[j] += value * np.float64(own[j])
    return scores
