"""Thresholds from out-of-fold estimates, without a separate validation set."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, InvalidParameterError, shown
from xmlc.core.parallel import run_tasks
from xmlc.kernels.checks import check_same_instances
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.csr import CSR, as_estimates, as_labels, entries_above, per_label
from xmlc.kernels.domains import N_JOBS, SEED, SHARE, whole
from xmlc.kernels.estimator import Estimator, check_hyperparameters, hyperparameters, param
from xmlc.kernels.frames import n_rows, rows_of
from xmlc.thresholds.bounds import lower_bounds, priors
from xmlc.thresholds.methods import apply_thresholds
from xmlc.thresholds.sweeps import tune


@hyperparameters
class OutOfFold(Estimator):
    """A model trained on all instances, with thresholds learned from out-of-fold estimates.

    The papers set a fifth of the training set aside for thresholds (plt2016, Section 6.2). Here it
    is divided into folds instead: a copy of the model that is trained on all other folds estimates
    the labels of each fold, and the thresholds are learned from all these estimates. Finally, the
    model is trained on all instances. This costs ``folds`` more models, each on (folds - 1) / folds
    of the instances.

    Parameters
    ----------
    estimator : object
        A model of this package, of scikit-learn, or a custom one, which stays unchanged. It needs
        ``fit(X, Y)`` and ``predict_proba(X)``, which returns a matrix of shape (n, m) or, like some
        models of scikit-learn, a list with an array of shape (n, 2) for each label. A parameter
        ``threshold`` of ``predict_proba`` is set to the minimum probability.
    method : str or object
        A name for `xmlc.thresholds.tune`, such as ``"fta"``, ``"sto"`` or ``"ofo"``, which tries a
        grid with the papers' lower bounds, or a threshold method such as ``OFO(b=50)``.
        ``lower_bounds=None`` of such a method means those of the shares of the labels in Y, and 0
        no bounds.
    measure : str or None
        Measure that chooses the grid point, as in `xmlc.thresholds.tune`, such as
        ``"macro_f_present"``. None uses the method's default, which is macro-F with 0/0 = 1.
    folds : int
        At least 2.
    threshold : float
        Minimum probability: estimates up to it are dropped, and no threshold is below it.
    random_state : int
        Seed of the folds.
    n_jobs : int or None
        Number of threads, without effect on the result. Each trains the model of one fold at a
        time, which may use several threads itself.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    estimator_ : object
        The model that is trained on all instances.
    n_labels_ : int
    feature_names_in_, n_features_in_
        Forwarded from ``estimator_``.
    estimates_ : csr_array of float32, shape (n, m)
        Out-of-fold estimates of the training set, to which any threshold method can be fitted
        without training the model again.

    See Also
    --------
    tune : Chooses thresholds on a validation set.
    fit_in_one_pass : Learns thresholds from a fitted model.

    Notes
    -----
    The models of the folds see fewer instances than ``estimator_``, whose estimates may therefore
    be a little higher.

    Examples
    --------
    >>> from xmlc.models import BinaryRelevance
    >>> from xmlc.thresholds import OutOfFold
    >>> X, Y = [[0.0], [1.0]] * 10, [[1, 0], [0, 1]] * 10
    >>> model = OutOfFold(BinaryRelevance(C=1.0), "fta").fit(X, Y)
    >>> model.predict([[0.1], [0.9]]).toarray().astype(int).tolist()
    [[1, 0], [0, 1]]
    >>> model.predict_proba([[0.1]], threshold=0.5).toarray().round(2)
    array([[0.84, 0.  ]], dtype=float32)
    """

    estimator: Any
    method: Any = "fta"
    measure: str | None = None
    folds: int = param(whole(2, 10_000), default=5)
    threshold: float = param(SHARE, default=1e-4)
    random_state: int = param(SEED, default=0)
    n_jobs: int | None = param(N_JOBS, default=1)

    def fit(self, X: Any, Y: Any) -> Self:
        """Estimate the labels of each fold, learn the thresholds, and fit the model to all.

        Parameters
        ----------
        X : sparse or dense array or frame, shape (n, d), or list of n texts
            Instances, in a form that the estimator accepts.
        Y : sparse or dense boolean array, shape (n, m)
            Label sets, in a form that the estimator accepts.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            If there are fewer instances than folds, the numbers of instances differ, an estimate is
            not in 0 .. 1, or a hyperparameter is out of its range.
        """
        check_hyperparameters(self)
        for name in ("fit", "predict_proba"):
            if isinstance(self.estimator, type) or not hasattr(self.estimator, name):
                said = (
                    f"found {shown(self.estimator)}, expected an estimator with the method {name}"
                )
                raise InvalidParameterError(
                    f"estimator: {said}. Use PLT() or a classifier of scikit-learn."
                )
        truth = as_labels(Y, "Y", X, "OutOfFold.fit(X, Y)")
        n_instances = n_rows(X)
        check_same_instances(n_instances, truth.shape[0])
        if n_instances < self.folds:
            remedy = f"Use at most {n_instances} folds."
            raise InvalidDataError(
                f"found folds={self.folds} for {n_instances} instances. {remedy}"
            )
        fold_of = (
            random_permutation(n_instances, self.random_state, Stream.OUT_OF_FOLD) % self.folds
        )

        def estimate(fold: int) -> CSR:
            model = unfitted(self.estimator)
            others = np.flatnonzero(fold_of != fold)
            model.fit(rows_of(X, others), rows_of(Y, others))
            return estimates_above(
                model, rows_of(X, np.flatnonzero(fold_of == fold)), self.threshold, truth.shape[1]
            )

        tasks = [(fold,) for fold in range(self.folds)]
        parts = run_tasks(estimate, tasks, self.n_jobs, title="out-of-fold estimates", unit="folds")
        # OFO depends on the order of the instances, and ``parts`` are sorted by fold
        places = np.argsort(np.argsort(fold_of, kind="stable"), kind="stable")
        self.estimates_ = as_estimates(
            sparse.csr_array(sparse.vstack(parts, format="csr"))[places], np.float32
        )
        if isinstance(self.method, str):
            tuned = tune(
                self.method,
                self.estimates_,
                truth,
                min_probability=self.threshold,
                measure=self.measure,
            )
            learned = tuned.thresholds
        else:
            method = unfitted(self.method)
            if getattr(method, "lower_bounds", 0) is None:
                method.lower_bounds = lower_bounds(priors(truth))
            learned = method.fit(self.estimates_, truth).thresholds_
        self.thresholds_ = np.maximum(learned, np.float32(self.threshold))
        self.estimator_ = unfitted(self.estimator)
        self.estimator_.fit(X, Y)
        self.n_labels_ = truth.shape[1]
        return self

    def predict_proba(self, X: Any, threshold: float | np.ndarray | None = None) -> CSR:
        """Return the model's estimates above a threshold.

        Parameters
        ----------
        X
            As for `fit`.
        threshold : float, ndarray of shape (m,), or None
            None is the hyperparameter.

        Returns
        -------
        csr_array of float32, shape (n, m)

        Raises
        ------
        XmlcError
            The estimator is not fitted, or an argument has a wrong shape or an invalid value.
        """
        self._check_learned("estimator_")
        if threshold is None:
            threshold = self.threshold
        return estimates_above(self.estimator_, X, threshold, self.n_labels_)

    def predict(self, X: Any) -> CSR:
        """Return the labels whose estimates exceed their thresholds.

        Parameters
        ----------
        X
            As for `fit`.

        Returns
        -------
        csr_array of bool, shape (n, m)

        Raises
        ------
        XmlcError
            As for `predict_proba`.
        """
        self._check_learned("estimator_")
        return apply_thresholds(self.predict_proba(X, self.thresholds_), self.thresholds_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Return the feature names of the model, if it stores them."""
        return self.estimator_.feature_names_in_

    @property
    def n_features_in_(self) -> int:
        """Return the number of features of the model, if it stores it."""
        return int(self.estimator_.n_features_in_)


def unfitted(estimator: Any) -> Any:
    """Return an unfitted copy of an estimator."""
    if isinstance(estimator, Estimator):
        return estimator.unfitted()
    try:
        from sklearn.base import clone
    except ImportError:
        return deepcopy(estimator)
    return clone(estimator, safe=False)  # deep-copies an object without hyperparameters


def estimates_above(model: Any, X: Any, threshold: float | np.ndarray, n_labels: int) -> CSR:
    """Return the estimates of any model strictly above a threshold, CSR (n, m)."""
    if "threshold" in inspect.signature(model.predict_proba).parameters:
        return as_estimates(model.predict_proba(X, threshold=threshold), np.float32)
    found = model.predict_proba(X)
    if isinstance(found, list) or (
        n_labels == 1 and isinstance(found, np.ndarray) and hasattr(model, "classes_")
    ):
        found = of_positive_class(model, found)
    spe = as_estimates(found, np.float32)
    return entries_above(
        spe, per_label(threshold, spe.shape[1], np.float32, "threshold", "probability")
    )


def of_positive_class(model: Any, found: Any) -> np.ndarray:
    """Return the positive-class estimates of a scikit-learn model with a column per class, (n, m).

    ``found`` is the result of ``predict_proba``: an array per label, or the array itself for a
    single label. A label without negative or without positive instances has only one class in
    ``classes_``.
    """
    classes = model.classes_
    if not isinstance(found, list):
        found = [found]
        classes = [classes]
    return np.column_stack(
        [own[:, np.asarray(of) == 1].max(axis=1, initial=0.0) for own, of in zip(found, classes)]
    )
