"""One regularised logistic regression for each label: what binary relevance and classifier chains share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from xmlc.counter_random import random_permutation
from xmlc.errors import XmlcError
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.parallel import run_pieces

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

C_GRID = (5e-5, 5e-4, 5e-3, 5e-2, 5e-1, 5.0)
FOLD_STREAM = 0xCF01D  # keeps the folds apart from other uses of the seed
SURE = 30.0  # score of a label that all training instances carry, minus that of one that none does: exp(-30) is 1e-13
MAX_WEIGHTS = 250_000_000  # 2 GB: weights are dense in labels x features
MAX_ITERATIONS = 5000
TOLERANCE, ROUGH_TOLERANCE = 1e-6, 1e-4  # of the gradient: for what is kept, and for what only chooses C
ROUNDING = 1e-12  # keeps the logarithm of an estimate of 0 or 1 finite


class LabelLogistic(SparseProbabilityEstimator):
    """Base of the estimators that have one L2-regularised logistic regression (scikit-learn's) for each label.

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
        Threads of predictions; the result does not depend on it. Training has one: scikit-learn's solver holds the
        interpreter's lock most of the time, and two threads took 1.6 times as long as one.

    Attributes
    ----------
    weights_ : ndarray of float32, shape (m, d)
    constants_ : ndarray of float32, shape (m,)
    C_ : ndarray of float64, shape (m,)
        The C of each label; NaN where all training instances agree and nothing was learned.
    losses_ : ndarray of float64, shape (m, folds, len(C_grid))
        Log loss of each label on each fold; NaN where a fold's training part knows one class only. Only with C=None.
    """

    def __init__(
        self,
        C: float | None = None,
        C_grid: Sequence[float] = C_GRID,
        folds: int = 3,
        common: bool = True,
        standardize: bool = True,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.C_grid = C_grid
        self.folds = folds
        self.common = common
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: object, Y: object) -> Self:
        """Choose C unless it is given, then train one logistic regression for each label.

        Parameters
        ----------
        X : CSR, shape (n, d)
        Y : boolean CSR, shape (n, m)

        Raises
        ------
        XmlcError
            A hyperparameter is out of its range, or the weights of all labels would not fit into memory.
        """
        X, Y = self._training_data(X, Y)
        self._check_hyperparameters()
        # lbfgs computes in the type of its input; float32 would end it early.
        X, labels = X.astype(np.float64), Y.astype(np.float64).tocsc()
        # On vectors this short BLAS's own threads take five times as long as one.
        with threadpool_limits(limits=1, user_api="blas"):
            self._choose_and_learn(X, labels)
        counts = np.diff(labels.indptr)
        self.C_[(counts == 0) | (counts == X.shape[0])] = np.nan
        return self

    def _choose_and_learn(self, X: sparse.csr_array, labels: sparse.csc_array) -> None:
        """Choose C unless it is given, then learn every label's classifier."""
        numbers = [(j,) for j in range(self.n_labels_)]
        titles: dict[str, Any] = {"unit": "labels", "n_jobs": 1}
        self.C_ = np.full(self.n_labels_, self.C, dtype=np.float64)
        if self.C is None:
            fold_of = random_permutation(X.shape[0], self.random_state, FOLD_STREAM) % self.folds
            title = f"{type(self).__name__}: C"
            losses = run_pieces(lambda j: self._losses(X, labels, j, fold_of), numbers, title=title, **titles)
            self.losses_ = np.stack(losses)
            self.C_ = np.asarray(self.C_grid, dtype=np.float64)[best_places(self.losses_, self.common)]
        title = type(self).__name__
        learned = run_pieces(lambda j: self._learn(X, labels, j), numbers, title=title, **titles)
        self._set_weights([weights for weights, _ in learned])
        self.constants_ = np.array([constant for _, constant in learned], dtype=np.float32)

    def _inputs(self, X: sparse.csr_array, labels: sparse.csc_array, j: int) -> tuple[sparse.csr_array, np.ndarray]:
        """Return what label j's classifier sees of the training set, and what its columns have been multiplied with."""
        scale = scales(X) if self.standardize else np.ones(X.shape[1])
        return sparse.csr_array(X * scale), scale

    def _set_weights(self, weights: list[np.ndarray]) -> None:
        """Store what each label's classifier has learned."""
        self.weights_ = np.stack(weights).astype(np.float32)

    def _learn(self, X: sparse.csr_array, labels: sparse.csc_array, j: int) -> tuple[np.ndarray, float]:
        """Return weights, for columns as they come, and constant of label j's classifier."""
        Z, scale = self._inputs(X, labels, j)
        weights, constant = fit_label(Z, column(labels, j), self.C_[j])
        return weights * scale, constant

    def _losses(self, X: sparse.csr_array, labels: sparse.csc_array, j: int, fold_of: np.ndarray) -> np.ndarray:
        """Return the log losses of label j on each fold for each C of the grid."""
        Z, y = self._inputs(X, labels, j)[0], column(labels, j)
        losses = np.full((self.folds, len(self.C_grid)), np.nan)
        for fold in range(self.folds):
            held_out = fold_of == fold
            if held_out.any() and 0 < y[~held_out].sum() < (~held_out).sum():
                losses[fold] = path_losses(Z[~held_out], y[~held_out], Z[held_out], y[held_out], self.C_grid)
        return losses

    def _check_hyperparameters(self) -> None:
        if self.C is not None and not self.C > 0:
            raise XmlcError(f"C={self.C}: expected a number above 0, or None to choose it by cross-validation")
        grid = np.asarray(self.C_grid, dtype=np.float64)
        if grid.size == 0 or not (grid > 0).all() or (np.diff(grid) <= 0).any():
            raise XmlcError(f"C_grid={list(self.C_grid)}: expected ascending numbers above 0")
        if self.folds < 2:
            raise XmlcError(f"folds={self.folds}: expected at least 2")
        if self.n_labels_ * self.n_features_in_ > MAX_WEIGHTS:
            raise XmlcError(
                f"{type(self).__name__} has a weight for each of {self.n_labels_} labels x {self.n_features_in_} "
                f"features, more than the {MAX_WEIGHTS} it is made for; use a tree, such as xmlc.models.PLT"
            )


def column(labels: sparse.csc_array, j: int) -> np.ndarray:
    """Return which instances carry label j, bool of shape (n,)."""
    y = np.zeros(labels.shape[0], dtype=bool)
    y[labels.indices[labels.indptr[j] : labels.indptr[j + 1]]] = True
    return y


def logistic(C: float, tol: float) -> LogisticRegression:
    """Return scikit-learn's logistic regression as it is used for every label; L2 is its default."""
    from sklearn.linear_model import LogisticRegression  # takes a second, which only training has to spend

    return LogisticRegression(C=C, tol=tol, max_iter=MAX_ITERATIONS, warm_start=True)


def scales(X: sparse.csr_array) -> np.ndarray:
    """Return what each feature is multiplied with to have standard deviation 1 (divisor n - 1); 1 for a constant.

    Features are scaled and not shifted, and stay sparse: a shift would only change the constant, which is not
    regularised.
    """
    n, squares = X.shape[0], X.power(2).sum(axis=0)
    variances = (squares - X.sum(axis=0) ** 2 / n) / max(n - 1, 1)
    # The variance of a constant is a rounding, of either sign.
    return 1 / np.sqrt(np.where(variances > 1e-12 * squares / n, variances, 1.0))


def fit_label(X: sparse.csr_array, y: np.ndarray, C: float) -> tuple[np.ndarray, float]:
    """Return weights and constant of one label's classifier.

    Parameters
    ----------
    X : CSR of float64, shape (n, d)
    y : ndarray of bool, shape (n,)
    C : float
    """
    if not 0 < y.sum() < y.size:
        return np.zeros(X.shape[1]), SURE if y.all() else -SURE
    model = logistic(C, TOLERANCE).fit(X, y)
    return model.coef_[0], float(model.intercept_[0])


def path_losses(
    X: sparse.csr_array, y: np.ndarray, X_held_out: sparse.csr_array, y_held_out: np.ndarray, grid: Sequence[float]
) -> np.ndarray:
    """Return the mean log loss on held-out instances for each C, each fit starting from the one before.

    Parameters
    ----------
    X, X_held_out : CSR of float64, shapes (n, d), (n_held_out, d)
    y, y_held_out : ndarray of bool, shapes (n,), (n_held_out,)
    grid : sequence of float
        Ascending.

    Returns
    -------
    ndarray of float64, shape (len(grid),)
    """
    from sklearn.exceptions import ConvergenceWarning

    model, losses = logistic(grid[0], ROUGH_TOLERANCE), []
    for C in grid:
        with warnings.catch_warnings():
            # Of the weakest regularisation; its loss is large already when the iterations end.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(C=C).fit(X, y)
        estimates = np.clip(model.predict_proba(X_held_out)[:, 1], ROUNDING, 1 - ROUNDING)
        losses.append(-np.log(np.where(y_held_out, estimates, 1 - estimates)).mean())
    return np.array(losses)


def best_places(losses: np.ndarray, common: bool) -> np.ndarray:
    """Return for each label the place on the grid with the smallest mean loss over folds.

    Parameters
    ----------
    losses : ndarray of float64, shape (m, folds, size of the grid)
        NaN where a label could not be learned on a fold.
    common : bool
        One place for all labels, by the mean of their losses.

    Returns
    -------
    ndarray of int64, shape (m,)
        A label without losses gets the first place, the strongest regularisation.
    """
    known = ~np.isnan(losses)
    sums, counts = np.where(known, losses, 0.0).sum(axis=1), known.sum(axis=1)
    if common:
        # Every label weighs the same, however many of its folds are known.
        means = (sums / np.maximum(counts, 1)).sum(axis=0)
        return np.full(len(losses), int(means.argmin()))
    return (sums / np.maximum(counts, 1)).argmin(axis=1)
