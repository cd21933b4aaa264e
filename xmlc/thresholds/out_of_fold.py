"""Thresholds from out-of-fold estimates: no training instance is set aside for them."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, InvalidParameterError, shown
from xmlc.core.parallel import run_pieces
from xmlc.kernels.checks import check_same_instances
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.csr import as_estimates, as_labels, with_values, without_zeros
from xmlc.kernels.domains import COMMON, SHARE, whole
from xmlc.kernels.estimator import Estimator, check_hyperparameters, hyperparameters, not_fitted
from xmlc.kernels.frames import n_rows, rows_of
from xmlc.thresholds.bounds import lower_bounds, priors
from xmlc.thresholds.methods import apply_thresholds, limits_of
from xmlc.thresholds.sweeps import tune


@hyperparameters
class OutOfFold(Estimator):
    """A model of all training instances, with thresholds from the estimates of models that had not seen them.

    The papers set a fifth of the training set aside, on which thresholds are tuned (plt2016, Section 6.2). Here the
    training set is cut into folds. Each is estimated by a copy of the model that learned the others, the thresholds are
    learned from all these estimates together, and the model is fitted once more, to everything. Such stacked estimates
    are those of Wolpert (Stacked generalization, Neural Networks 1992), without his second model. It costs ``folds``
    trainings more, each of (folds - 1) / folds of the instances.

    Parameters
    ----------
    estimator : object
        A model with ``fit(X, Y)`` and ``predict_proba(X)``, of this package, scikit-learn or yours; it is not changed.
        ``predict_proba`` returns a sparse or dense matrix of shape (n, m), or a list with an array of shape (n, 2) for
        each label, as some of scikit-learn's models do; the floor goes to its parameter ``threshold``, if it has one.
    method : str or object
        A name that `xmlc.thresholds.tune` takes, such as ``"fta"``, ``"sto"`` or ``"ofo"``: its grid is tried, with the
        papers' lower bounds, and the best by ``measure`` on the out-of-fold estimates is taken. Or a threshold method,
        such as ``OFO(b=50)``; where its ``lower_bounds`` are None, they come from the shares of the labels in Y (0 for
        none).
    measure : str or None
        As of `xmlc.thresholds.tune`, such as ``"macro_f_present"``; None: the method's own, macro-F with 0/0 = 1.
    folds : int
        At least 2.
    threshold : float
        Floor of the estimates that are kept; no threshold is below it.
    random_state : int
        Seed of the folds.
    n_jobs : int or None
        Folds learned at the same time, in threads; the result does not depend on it. Each may have threads of its own.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    estimator_ : object
        The model of all instances.
    n_labels_ : int
    feature_names_in_, n_features_in_
        Those of ``estimator_``.
    estimates_ : csr_array of float32, shape (n, m)
        Out-of-fold estimates of the training set: any method can be fitted to them, without another training.

    Notes
    -----
    The models of the folds have learned fewer instances than the last one, whose estimates may be a little higher.

    Examples
    --------
    >>> from xmlc.models import BinaryRelevance
    >>> from xmlc.thresholds import OutOfFold
    >>> X, Y = [[0.0], [1.0]] * 10, [[1, 0], [0, 1]] * 10
    >>> model = OutOfFold(BinaryRelevance(C=1.0), "fta").fit(X, Y)
    >>> model.predict([[0.1], [0.9]]).toarray().astype(int).tolist()
    [[1, 0], [0, 1]]
    """

    estimator: Any
    domains: ClassVar = {**COMMON, "folds": whole(2, 10_000), "threshold": SHARE}

    method: Any = "fta"
    measure: str | None = None
    folds: int = 5
    threshold: float = 1e-4
    random_state: int = 0
    n_jobs: int | None = 1

    def fit(self, X: Any, Y: Any) -> Self:
        """Estimate fold after fold, learn the thresholds, and fit the model to all instances.

        Parameters
        ----------
        X : sparse or dense array or frame, shape (n, d), or list of n texts
            As the estimator takes it.
        Y : sparse or dense boolean array, shape (n, m)
            Label sets, likewise.

        Raises
        ------
        XmlcError
            There are fewer instances than folds, the numbers of instances differ, an estimate is no probability, or a
            hyperparameter is out of its range.
        """
        check_hyperparameters(self)
        for name in ("fit", "predict_proba"):
            if isinstance(self.estimator, type) or not hasattr(self.estimator, name):
                said = f"estimator: found {shown(self.estimator)}, expected one with {name}"
                raise InvalidParameterError(f"{said}, such as PLT() or a classifier of scikit-learn")
        truth, n_instances = as_labels(Y, "Y", X, "OutOfFold.fit(X, Y)"), n_rows(X)
        check_same_instances(n_instances, truth.shape[0])
        if n_instances < self.folds:
            raise InvalidDataError(f"folds={self.folds}: found {n_instances} instances; use at most this many folds")
        fold_of = random_permutation(n_instances, self.random_state, Stream.OUT_OF_FOLD) % self.folds

        def estimate(fold: int) -> sparse.csr_array:
            others, model = np.flatnonzero(fold_of != fold), unfitted(self.estimator)
            model.fit(rows_of(X, others), rows_of(Y, others))
            return estimates_above(model, rows_of(X, np.flatnonzero(fold_of == fold)), self.threshold, truth.shape[1])

        pieces = [(fold,) for fold in range(self.folds)]
        parts = run_pieces(estimate, pieces, self.n_jobs, title="out-of-fold estimates", unit="folds")
        # The rows of the parts stand fold after fold, and go back to their places: OFO follows the order of the rows.
        places = np.argsort(np.argsort(fold_of, kind="stable"), kind="stable")
        self.estimates_ = as_estimates(sparse.csr_array(sparse.vstack(parts, format="csr"))[places])
        self.thresholds_ = np.maximum(self._learned(truth), np.float32(self.threshold))
        self.estimator_ = unfitted(self.estimator)
        self.estimator_.fit(X, Y)
        self.n_labels_ = truth.shape[1]
        return self

    def _learned(self, Y: sparse.csr_array) -> np.ndarray:
        if isinstance(self.method, str):
            floor, measure = self.threshold, self.measure
            return tune(self.method, self.estimates_, Y, priors(Y), floor=floor, measure=measure).thresholds
        method = unfitted(self.method)
        if getattr(method, "lower_bounds", 0) is None:
            method.lower_bounds = lower_bounds(priors(Y))
        thresholds: np.ndarray = method.fit(self.estimates_, Y).thresholds_
        return thresholds

    def predict_proba(self, X: Any, threshold: float | np.ndarray | None = None) -> sparse.csr_array:
        """Return the estimates above a threshold, by default the floor: float32 CSR of shape (n, m)."""
        if not hasattr(self, "estimator_"):
            raise not_fitted(self)
        floor = self.threshold if threshold is None else threshold
        return estimates_above(self.estimator_, X, floor, self.n_labels_)

    def predict(self, X: Any) -> sparse.csr_array:
        """Return the label sets, boolean CSR of shape (n, m): the labels whose estimates exceed their thresholds."""
        if not hasattr(self, "estimator_"):
            raise not_fitted(self)
        return apply_thresholds(self.predict_proba(X, self.thresholds_), self.thresholds_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, where the model has them: it compares them, or takes columns by name."""
        names: np.ndarray = self.estimator_.feature_names_in_
        return names

    @property
    def n_features_in_(self) -> int:
        """Number of features, where the model has it."""
        return int(self.estimator_.n_features_in_)


def unfitted(estimator: Any) -> Any:
    """Return a copy of an estimator that has learned nothing."""
    if isinstance(estimator, Estimator):
        return estimator.unfitted()
    try:
        from sklearn.base import clone
    except ImportError:
        return deepcopy(estimator)
    return clone(estimator, safe=False)  # what has no hyperparameters is copied


def estimates_above(model: Any, X: Any, threshold: float | np.ndarray, n_labels: int) -> sparse.csr_array:
    """Return the estimates of any model that are strictly greater than a threshold, CSR of shape (n, m)."""
    if "threshold" in inspect.signature(model.predict_proba).parameters:
        return as_estimates(model.predict_proba(X, threshold=threshold))
    found = model.predict_proba(X)
    if isinstance(found, list) or (n_labels == 1 and isinstance(found, np.ndarray) and hasattr(model, "classes_")):
        found = of_positive_class(model, found)
    spe = as_estimates(found)
    limits = limits_of(spe, threshold, "threshold", "probability")
    above = spe.data.astype(limits.dtype, copy=False) > limits[spe.indices]
    return without_zeros(with_values(spe, np.where(above, spe.data, spe.dtype.type(0))))


def of_positive_class(model: Any, found: Any) -> np.ndarray:
    """Return estimates, shape (n, m), of models of scikit-learn that give a column for each class of a label.

    Parameters
    ----------
    model : object
        Its ``classes_`` are those of each label: of one without negative or positive instances only one.
    found : list of ndarray, shape (n, classes of the label); of a single label the array itself
    """
    classes = model.classes_
    if not isinstance(found, list):
        found, classes = [found], [classes]
    return np.column_stack([own[:, np.asarray(of) == 1].max(axis=1, initial=0.0) for own, of in zip(found, classes)])
