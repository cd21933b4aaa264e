"""Define the base class of all estimators, with sparse estimates, label sets and scikit-learn's
interface.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.appendable import NOT_FINITE, NotFiniteError
from xmlc.core.errors import InvalidDataError, InvalidParameterError, XmlcError, shown
from xmlc.core.files import atomic_folder
from xmlc.core.parallel import row_blocks
from xmlc.core.progress import Progress
from xmlc.kernels.checks import check_same_instances, sample_weights, weights_of_labels
from xmlc.kernels.csr import (
    NO_WEIGHTS,
    KernelCSR,
    Matrix,
    as_features,
    as_labels,
    assembled,
    kernel_csr,
    per_label,
    top_k_of,
    validated,
)
from xmlc.kernels.estimator import Hyperparameters, check_hyperparameters
from xmlc.kernels.frames import label_names
from xmlc.kernels.instance import one_instance
from xmlc.kernels.unit_length import unit_rows
from xmlc.models.label_sets import estimates_of_sets
from xmlc.models.storage import StoredEstimator

if TYPE_CHECKING:
    from xmlc.thresholds.label_sets import SetMeasure

MOST_RANKED = 1000  # k may be as large as 1000 even if the model has fewer labels
# The estimators whose `rank_one` has been called, so that its kernels are compiled.
ANSWERED: set[type] = set()


Learn = TypeVar("Learn", bound=Callable[..., Any])


def all_or_nothing(learn: Learn) -> Learn:
    """Decorate a method that learns to restore the estimator after an error or interruption.

    The method may replace attributes, but must not change arrays of an earlier call in place. If it
    has no argument ``sample_weight``, None is accepted, and weights are refused.
    """
    takes_weights = "sample_weight" in signature(learn).parameters

    @wraps(learn)
    def restoring(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not takes_weights and kwargs.pop("sample_weight", None) is not None:
            name = type(self).__name__
            raise InvalidParameterError(
                f"{name}: found sample_weight, expected none. {name} does not support weights."
            )
        before = dict(vars(self))
        try:
            return learn(self, *args, **kwargs)
        except BaseException as error:
            vars(self).clear()
            vars(self).update(before)
            if isinstance(error, NotFiniteError):
                raise not_finite(
                    self, signature(learn).bind(self, *args, **kwargs).arguments["X"]
                ) from None
            raise

    return cast("Learn", restoring)


def not_finite(model: object, X: Matrix) -> InvalidDataError:
    """Return the error that training on X leads to weights that are not finite."""
    sizes = abs(as_features(X).data)
    found = (
        f"absolute values of X are from {sizes.min(initial=np.inf):g} to {sizes.max(initial=0):g}"
    )
    return InvalidDataError(f"{type(model).__name__}: {NOT_FINITE} The {found}.")


class SparseProbabilityEstimator(StoredEstimator):
    """Serve as the base class of all estimators, which return sparse probability estimates (SPE).

    A subclass implements ``fit``, which calls ``_training_data``, and ``predict_proba``. The names
    of learned attributes end in an underscore. `predict_top_k` sorts all estimates, unless a
    subclass overrides it.

    `xmlc.models.storage.StoredEstimator` describes how a model is saved and loaded.

    Attributes
    ----------
    n_features_in_ : int
        Number of features d in the training set.
    feature_names_in_, label_names_in_ : ndarray of object, shape (d,) and (m,)
        Names of the columns of X and of Y in training, if X or Y was a data frame with strings as
        column names. A data frame in a prediction must have the same names in the same order.
    n_labels_ : int
        Number of labels m in the training set.
    classes_ : ndarray, shape (m,)
        The names of the labels, or the numbers of the labels if labels have no names.
    inner_products_ : ndarray of int64, shape (n,), or None
        Number of inner products for each instance in the last prediction. It is None if the model
        does not count them.
    certified_ : ndarray of bool, shape (n,), or None
        Whether a beam search proved each instance's last ranking exact, or None if there was no
        beam search.
    """

    #: Number of training instances with each label, int64 (m,), and of all training instances.
    label_counts_: np.ndarray | None = None
    n_counted_: int = 0
    # Numbers of the instances that `fit` held out, and their estimates. They are not saved.
    _held_out: tuple[np.ndarray, sparse.csr_array] | None = None
    inner_products_: np.ndarray | None = None
    certified_: np.ndarray | None = None
    #: Whether the estimates for an instance are the same whatever the other instances in X are.
    _BY_INSTANCE: ClassVar[bool] = True
    #: Whether the first use compiles kernels, so that the workflow fits a copy to a few rows before
    #: it measures times.
    compiles: ClassVar[bool] = True
    #: Whether, with default hyperparameters, estimates are close to the labels' conditional
    #: probabilities.
    calibrated: ClassVar[bool] = True
    unit_norm: bool  # the method `_kernel_form` needs the attributes ``unit_norm`` and ``n_jobs``
    n_jobs: int | None

    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Learn from a training set.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
            Instances.
        Y : sparse or dense boolean array, shape (n, m)
            Label sets of the instances.
        sample_weight : array-like of float, shape (n,), optional
            Weight of each instance, from 0 to 1e30. Only some estimators accept weights. An
            instance of weight 2 has the same effect as two equal instances. Instances of weight 0
            are ignored. A label is ignored if only instances of weight 0 have the label.

        Raises
        ------
        XmlcError
            A value in the data or a hyperparameter is out of range. After any error or
            interruption, the estimator is in the same state as before the call.
        """
        raise XmlcError(f"{type(self).__name__}: found no method fit. See docs/extending.md.")

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the probability estimates that are strictly greater than a threshold.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        threshold : float or ndarray of shape (m,)
            One threshold for all labels, or one threshold for each label. Thresholds are from 0 to
            1.

        Returns
        -------
        csr_array of float32, shape (n, m)
            The sparse probability estimates, with sorted indices. The call also sets
            ``inner_products_``.
        """
        raise XmlcError(
            f"{type(self).__name__}: found no method predict_proba. See docs/extending.md."
        )

    def estimate_blocks(
        self,
        X: sparse.csr_array,
        threshold: float | np.ndarray,
        rows: int,
        then: Callable[[sparse.csr_array], None],
    ) -> None:
        """Call ``then`` with the estimates of each block of about ``rows`` instances."""
        if not self._BY_INSTANCE or X.shape[0] <= rows:
            return then(self.predict_proba(X, threshold))
        asked = self._for_requests()
        products = list[Any]()
        for start, end in row_blocks(X.shape[0], rows):
            then(asked.predict_proba(X[start:end], threshold))
            products.append(asked.inner_products_)
        if products[0] is None:
            self.inner_products_ = None
        else:
            self.inner_products_ = np.concatenate(products)

    def predict_top_k(
        self, X: Matrix, k: int, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of each instance, or those of largest weighted estimate.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        k : int
            Number of labels for each instance.
        label_weights : array-like of float, shape (m,), optional
            Weight of each label, from 0 to 1e38. Labels are ranked by estimate times weight. A
            label of weight 0 is never returned.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Labels, best first. Ties go to the smaller label. If fewer than k labels are found, the
            rest of a row is -1.
        scores : ndarray of float32, shape (n, k)
            Estimates of the labels in ``labels``, times the label weights if given. A missing label
            has the score 0.
        """
        k = self._check_k(k)
        weights = self._label_weights(label_weights)
        return top_k_of(self.predict_proba(X), k, weights)

    def rank_one(
        self,
        indices: ArrayLike,
        values: ArrayLike,
        k: int = 5,
        label_weights: ArrayLike | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of a single instance, for online serving.

        The result is bit-identical to the result of `predict_top_k` for a matrix with this single
        row. Several threads may call `rank_one` at once, because it changes no attribute of the
        estimator, not even ``inner_products_``.

        Parameters
        ----------
        indices : array-like of int, shape (q,)
            Distinct column numbers of the instance's features, possibly none. The call is fastest
            if they ascend.
        values : array-like of float, shape (q,)
            Value of each feature in ``indices``.
        k, label_weights
            As for `predict_top_k`.

        Returns
        -------
        labels : ndarray of int32, shape (k,)
            Labels, best first. If fewer than k labels are found, the other entries are -1.
        scores : ndarray of float32, shape (k,)
            Estimates of the labels in ``labels``, times the label weights if given. A missing label
            has the score 0.

        Raises
        ------
        XmlcError
            ``indices`` and ``values`` do not describe an instance, or k or a label weight is out of
            range.

        Examples
        --------
        >>> from xmlc.models import SparseWeightedNearestNeighbors
        >>> model = SparseWeightedNearestNeighbors()
        >>> _ = model.fit([[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3)
        >>> model.rank_one([0], [0.5], 2)[0].tolist()
        [0, 2]
        """
        self._check_fitted()
        x = one_instance(indices, values, self.n_features_in_)
        k = self._check_k(k)
        weights = self._label_weights(label_weights)
        if type(self) in ANSWERED:
            labels, scores = self._rank_row(x, k, weights)
        else:
            with Progress(1, "ranking", shown=False):  # reports the compilation of kernels
                labels, scores = self._rank_row(x, k, weights)
            ANSWERED.add(type(self))
        return labels[0], scores[0]

    def _rank_row(
        self, x: KernelCSR, k: int, label_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the result of `predict_top_k` for one checked instance, and change no attribute.

        Estimators override `_rank_row` to avoid the overhead of matrices, batches and threads.
        """
        asked = self._for_requests()
        X = self._as_matrix(x)
        if label_weights.size:
            return asked.predict_top_k(X, k, label_weights)
        return asked.predict_top_k(X, k)  # A class of a user may rank without weights.

    def _estimate_row(self, x: KernelCSR, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the result of `predict_proba` for one instance, and change no attribute."""
        spe = self._for_requests().predict_proba(self._as_matrix(x), threshold)
        return spe.indices, spe.data

    def _as_matrix(self, x: KernelCSR) -> sparse.csr_array:
        """Return a checked instance as a matrix."""
        return validated(assembled(x.data, x.indices.view(np.int32), x.indptr, self.n_features_in_))

    def warm_up(self) -> Self:
        """Compile or load the code that predicts one instance, so that no later request waits."""
        asked = self._for_requests()
        asked.rank_one([0], [1.0])
        X = sparse.csr_array(([np.float32(1)], ([0], [0])), shape=(1, self.n_features_in_))
        asked.predict_top_k(X, 1)
        asked.predict_proba(X, 0.5)
        return self

    def predict(
        self,
        X: Matrix,
        thresholds: float | np.ndarray | None = None,
        measure: SetMeasure = "instance_f",
    ) -> sparse.csr_array:
        """Return the label set of each instance.

        By default, the set of an instance has the largest expected F-measure
        (`xmlc.inference.meuf`). This label set is computed from the estimates above 1e-4, under the
        assumption that labels are independent. If each training instance has a label, empty label
        sets are not considered.

        For "macro_f" and "micro_f", `xmlc.thresholds.LabelSets` chooses thresholds from the
        estimates of all instances in X and the labels' shares of the training set. The set of an
        instance therefore depends on the other instances in X. For requests that come one by one,
        see `docs/label_sets.md`.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        thresholds : float or ndarray of shape (m,), optional
            One threshold for all labels, or one threshold for each label. A label is predicted if
            its estimate exceeds the label's threshold. A threshold of 0.5 minimises the expected
            Hamming loss.
        measure : {"instance_f", "macro_f", "micro_f"}
            The F-measure that the sets maximise: the mean over instances, the mean over labels, or
            the F-measure of all pairs of instance and label. Only without ``thresholds``.

        Returns
        -------
        csr_array of bool, shape (n, m)
            The predicted label sets. The stored entries of the matrix are the predicted labels.
        """
        if thresholds is None:
            spe = estimates_of_sets(self, X, measure)
        elif measure != "instance_f":
            found = f"found thresholds and measure={measure!r}, expected only one of them"
            raise InvalidParameterError(f"{type(self).__name__}.predict: {found}")
        else:
            spe = self.predict_proba(X, thresholds)
        return sparse.csr_array(
            (np.ones(spe.nnz, dtype=bool), spe.indices, spe.indptr), shape=spe.shape
        )

    def score(self, X: Matrix, y: Matrix) -> float:
        """Return the precision of the top-ranked label, P@1 (`xmlc.metrics.precision_at_k`).

        scikit-learn's searches and cross-validation maximise P@1 unless you pass ``scoring``. `xmlc
        tune` also maximises P@1. The method `score` of scikit-learn's own classifiers returns the
        share of completely correct label sets. With many labels, almost no label set is completely
        correct. P@1 needs no thresholds.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        y : sparse or dense boolean array, shape (n, m)
            Label sets of the instances.
        """
        self._check_names(y, "label")
        Y = as_labels(y)
        first = self.predict_top_k(X, 1)[0][:, 0]
        check_same_instances(first.size, Y.shape[0])
        known = np.flatnonzero(first >= 0)
        return float(Y[known, first[known]].sum()) / max(Y.shape[0], 1)

    @property
    def classes_(self) -> np.ndarray:
        """Return the names of the labels, or their numbers if they have no names, shape (m,)."""
        self._check_fitted()
        return getattr(self, "label_names_in_", np.arange(self.n_labels_))

    def name_labels(self, names: object) -> Self:
        """Set the names of the labels in `classes_`, which `save` writes with the model.

        A data frame of label sets sets the names, too.

        Parameters
        ----------
        names : sequence of str, length m, or MultiLabelBinarizer
            The names in the order of the labels, or a fitted ``MultiLabelBinarizer`` whose
            ``classes_`` are the names.

        Raises
        ------
        XmlcError
            The number of different names is not equal to the number of labels.
        """
        self._check_fitted()
        self.label_names_in_ = label_names(names, self.n_labels_)
        return self

    def fit_to_disk(
        self, path: str | Path, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn and write the model to a folder, with less memory than `fit` followed by `save`.

        Forests and label trees write each part of the model when the part is finished, and release
        the memory. On return, the arrays of a forest or label tree are memory maps of the written
        files. All other estimators call `fit` and then write the model. The model is bit-identical
        to the result of `fit`.

        Parameters
        ----------
        path : str or Path
            Folder of the model, as for `save`.
        X, Y, sample_weight
            As for `fit`.

        Raises
        ------
        XmlcError
            As for `fit` and `save`. After an error, an existing folder is unchanged, and no new
            folder exists.
        """
        with atomic_folder(path) as folder:
            try:
                self._into = folder
                self._fit_rows(X, Y, sample_weight)
            finally:
                self._into = None
            self._write(folder)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags for a multi-label classifier that accepts sparse instances."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(
                required=True, two_d_labels=True, multi_output=True, single_output=False
            ),
            classifier_tags=ClassifierTags(multi_class=False, multi_label=True),
            input_tags=InputTags(sparse=True),
        )

    def _fit_rows(self, X: Any, Y: Any, sample_weight: Any, rows: np.ndarray | None = None) -> Self:
        """Learn all or some rows of a training set.

        Without weights, the estimator may be one that accepts none.
        """
        given: Any = {}
        if sample_weight is not None:
            given["sample_weight"] = sample_weight
        if rows is not None:
            X = X[rows]
            Y = Y[rows]
            given = {name: weights[rows] for name, weights in given.items()}
        return self.fit(X, Y, **given)

    def _selected(self) -> Hyperparameters:
        """Return the hyperparameters that `fit` selected, so that another `fit` can use them."""
        return {}

    def _training_data(self, X: Matrix, Y: Matrix) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Check hyperparameters and data, note the shape of the data, and return matrices."""
        check_hyperparameters(self)
        self.check_together()
        if Y is None:
            # the tests of scikit-learn for estimators expect these exact words in the error message
            raise InvalidDataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Pass "
                "label sets."
            )
        names_of = (X, Y)
        X = as_features(X)
        Y = as_labels(Y, "Y", X, f"{type(self).__name__}.fit(X, Y)")
        check_same_instances(X.shape[0], Y.shape[0])
        if X.shape[0] == 0 or Y.shape[1] == 0:
            found = f"{X.shape[0]} instances and {Y.shape[1]} labels"
            raise InvalidDataError(
                f"X and Y: found {found}, expected at least one of each. Check X and Y."
            )
        self._remember_names(names_of[0])
        self._remember_names(names_of[1], "label")
        self.n_features_in_ = X.shape[1]
        self.n_labels_ = Y.shape[1]
        self._note_labels(Y)
        return X, Y

    def _note_labels(self, Y: sparse.csr_array, more: bool = False) -> None:
        """Record how often each label occurs, and whether all instances have labels.

        With ``more``, the label sets add to those of earlier calls, if their counts are known.
        """
        labelled = bool(np.diff(Y.indptr).all())
        self.all_labelled_ = labelled and (self.all_labelled_ or not more)
        if not more:
            self.label_counts_ = np.zeros(0, dtype=np.int64)
            self.n_counted_ = 0
        known = self.label_counts_
        if known is not None:
            counts = np.bincount(Y.indices, minlength=max(Y.shape[1], known.size))
            counts[: known.size] += known
            self.label_counts_ = counts
            self.n_counted_ += Y.shape[0]

    def _weighted_data(
        self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None
    ) -> tuple[sparse.csr_array, sparse.csr_array, np.ndarray]:
        """Return checked training data and float32 weights, without instances of weight 0."""
        X, Y = self._training_data(X, Y)
        if sample_weight is None:
            return X, Y, np.ones(X.shape[0], dtype=np.float32)
        weights = sample_weights(sample_weight, X.shape[0])
        kept = np.flatnonzero(weights)
        if kept.size == weights.size:
            return X, Y, weights
        Y = Y[kept]
        self._note_labels(Y)
        return X[kept], Y, weights[kept]

    def _instances(self, X: Matrix) -> sparse.csr_array:
        """Check the instances to predict, and return them in canonical form."""
        self._check_fitted()
        self._check_names(X)
        X = as_features(X)
        if X.shape[1] != self.n_features_in_:
            said = (
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features"
            )
            raise InvalidDataError(
                f"{said} as input. Make X with the vectorizer or reader of the training data."
            )
        return X

    def _for_requests(self, **params: Any) -> Self:
        """Return a shallow copy without feature names, with other values of some hyperparameters.

        A prediction with the copy does not change attributes of the original estimator. The copy
        belongs to one call, so its ``inner_products_`` are those of this call, whatever other
        threads predict.
        """
        # `copy.copy` would call `__getstate__`, which copies arrays in some estimators
        asked = type(self).__new__(type(self))
        # Another thread may set an attribute at the same time, so the dictionary is copied before
        # it is searched.
        own = vars(self).copy()
        for name in ("feature_names_in_", "inner_products_", "certified_"):
            own.pop(name, None)
        vars(asked).update(own | params)
        return asked

    def _only_row(self, X: Matrix) -> KernelCSR | None:
        """Return a single instance in the form of `_rank_row`, or None if X is no single one."""
        if getattr(X, "shape", None) != (1, self.n_features_in_):
            return None
        X = as_features(X)
        return one_instance(X.indices, X.data, self.n_features_in_)

    def _kernel_form(self, X: sparse.csr_array) -> KernelCSR:
        """Return instances as arrays for the kernels.

        If ``unit_norm`` is true, each instance is scaled to unit length.
        """
        return kernel_csr(unit_rows(X, self.n_jobs) if self.unit_norm else X)

    def _label_thresholds(self, threshold: float | np.ndarray) -> np.ndarray:
        """Return one float32 threshold per label, given a number or an array of shape (m,)."""
        self._check_fitted()
        return per_label(threshold, self.n_labels_, np.float32, "threshold", "probability")

    def _label_weights(self, given: ArrayLike | None) -> np.ndarray:
        """Return one float64 weight per label, or `NO_WEIGHTS` if no label weights are given."""
        if given is None:
            return NO_WEIGHTS
        return weights_of_labels(given, self.n_labels_)

    def _check_k(self, k: int) -> int:
        """Check the argument k and return k as an int.

        Raise an error if k is below 1, or exceeds both the number of labels and 1000.
        """
        self._check_fitted()
        most = max(self.n_labels_, MOST_RANKED)
        if not isinstance(k, int | np.integer) or not 1 <= k <= most:
            raise InvalidDataError(
                f"found k={shown(k)}, expected a whole number of labels from 1 to {most}"
            )
        return int(k)
