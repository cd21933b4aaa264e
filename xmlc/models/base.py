"""The base class of all estimators: sparse estimates, label sets and scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

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
from xmlc.models.restoring import all_or_nothing as all_or_nothing
from xmlc.models.storage import StoredEstimator

if TYPE_CHECKING:
    from xmlc.thresholds.label_sets import SetMeasure

MOST_RANKED = 1000  # limit of k for a model of fewer labels
# Estimators whose `rank_one` has been called, so its kernels are compiled.
ANSWERED: set[type] = set()


class SparseProbabilityEstimator(StoredEstimator):
    """The base class of all estimators, which return sparse probability estimates (SPE).

    A subclass implements ``fit``, which begins with ``_training_data``, and ``predict_proba``. Its
    learned attributes end with an underscore, so that `xmlc.models.storage.StoredEstimator` can
    save them. `predict_top_k` sorts all estimates unless it is overridden.

    Attributes
    ----------
    n_features_in_, n_labels_ : int
        Number of features d and of labels m.
    feature_names_in_, label_names_in_ : ndarray of object, shape (d,) and (m,)
        Columns of X and Y, if these were data frames with strings as column names. A data frame in
        a prediction must have the same names in the same order.
    classes_ : ndarray, shape (m,)
        Names of the labels, or their numbers if they have none.
    inner_products_ : ndarray of int64, shape (n,), or None
        Number of inner products for each instance in the last prediction, if the model counts them.
    certified_ : ndarray of bool, shape (n,), or None
        Whether a beam search proved each instance's last ranking exact.

    See Also
    --------
    xmlc.models : The estimators.
    xmlc.models.wrapped.Wrapped : Makes one of another library's estimator.

    Examples
    --------
    >>> import tempfile
    >>> from xmlc.models import BinaryRelevance
    >>> X, Y = [[0.0], [1.0]] * 3, [[1, 0], [0, 1]] * 3
    >>> model = BinaryRelevance(C=1.0).fit(X, Y).name_labels(["off", "on"]).warm_up()
    >>> model.predict_proba([[1.0]], threshold=0.4).toarray().round(2)
    array([[0.  , 0.76]], dtype=float32)
    >>> labels, scores = model.predict_top_k([[1.0]], k=2, label_weights=[4.0, 1.0])
    >>> model.classes_[labels].tolist()
    [['off', 'on']]
    >>> model.rank_one([0], [1.0], k=1)[0].tolist()
    [1]
    >>> model.predict([[1.0]]).toarray().astype(int).tolist()
    [[0, 1]]
    >>> model.score(X, Y)
    1.0
    >>> model.fit_to_disk(f"{tempfile.mkdtemp()}/model", X, Y)
    BinaryRelevance(C=1.0)
    """

    #: Numbers of training instances with each label, int64 (m,), and of all training instances.
    label_counts_: np.ndarray | None = None
    n_counted_: int = 0
    # Rows that `fit` held out, and their estimates. Not saved.
    _held_out: tuple[np.ndarray, sparse.csr_array] | None = None
    inner_products_: np.ndarray | None = None
    certified_: np.ndarray | None = None
    #: Whether the estimates for an instance do not depend on the other rows of X.
    _BY_INSTANCE: ClassVar[bool] = True
    #: Whether the first use compiles kernels, so that the workflow fits a few rows before it
    #: measures.
    compiles: ClassVar[bool] = True
    #: Whether, by default, estimates are close to the labels' conditional probabilities.
    calibrated: ClassVar[bool] = True
    unit_norm: bool  # `_kernel_form` needs these two
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
            Weights from 0 to 1e30, which only some estimators accept. Weight 2 counts an instance
            twice, and weight 0 leaves it out, with a label that only such instances have.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            A value in the data or a hyperparameter is out of range. After an error or interruption,
            the estimator is as before the call.

        See Also
        --------
        fit_to_disk
        """
        raise XmlcError(f"{type(self).__name__}: found no method fit. See docs/extending.md.")

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the probability estimates that are strictly greater than a threshold.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        threshold : float or ndarray of shape (m,)
            One threshold from 0 to 1 for all labels, or one for each.

        Returns
        -------
        csr_array of float32, shape (n, m)
            The estimates, with sorted indices. The call also sets ``inner_products_``.

        Raises
        ------
        XmlcError
            The estimator is not fitted, or an argument has a wrong shape or an invalid value.

        See Also
        --------
        predict_top_k, predict
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
        """Find the k labels of each instance with the largest estimates, weighted if you like.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        k : int
        label_weights : array-like of float, shape (m,), optional
            Factors of the estimates, from 0 to 1e38. Labels of weight 0 are never returned.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Labels, best first, then -1 if fewer than k are found. Ties go to the smaller label.
        scores : ndarray of float32, shape (n, k)
            Their weighted estimates, 0 for a missing label.

        Raises
        ------
        XmlcError
            As for `predict_proba`.

        See Also
        --------
        rank_one, predict
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

        The result is bit-identical to `predict_top_k`. Several threads may call `rank_one` at once,
        because it changes no attribute, not even ``inner_products_``.

        Parameters
        ----------
        indices : array-like of int, shape (q,)
            Distinct column numbers of the instance's features, possibly none, fastest if they
            ascend.
        values : array-like of float, shape (q,)
        k, label_weights
            As for `predict_top_k`.

        Returns
        -------
        labels : ndarray of int32, shape (k,)
        scores : ndarray of float32, shape (k,)
            A row of the result of `predict_top_k`.

        Raises
        ------
        XmlcError
            ``indices`` and ``values`` are no instance, or k or a label weight is out of range.

        See Also
        --------
        predict_top_k, warm_up
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

        Estimators override it to avoid the overhead of matrices, batches and threads.
        """
        asked = self._for_requests()
        X = self._as_matrix(x)
        if label_weights.size:
            return asked.predict_top_k(X, k, label_weights)
        return asked.predict_top_k(X, k)  # a user's class may rank without weights

    def _estimate_row(self, x: KernelCSR, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the result of `predict_proba` for one instance, and change no attribute."""
        spe = self._for_requests().predict_proba(self._as_matrix(x), threshold)
        return spe.indices, spe.data

    def _as_matrix(self, x: KernelCSR) -> sparse.csr_array:
        return validated(assembled(x.data, x.indices.view(np.int32), x.indptr, self.n_features_in_))

    def warm_up(self) -> Self:
        """Compile or load the code that predicts one instance, so that no later request waits.

        Returns
        -------
        self

        See Also
        --------
        rank_one, xmlc.compile_kernels
        """
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

        By default, this is the set with the largest expected F-measure (`xmlc.inference.meuf`),
        computed from the estimates above 1e-4 as if labels were independent. It can be empty only
        if some training instance has no label.

        For "macro_f" and "micro_f", `xmlc.thresholds.LabelSets` chooses thresholds from the
        estimates of all instances in X and the labels' shares of the training set. So a set depends
        on the other rows of X. For requests that come one by one, see `docs/label_sets.md`.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        thresholds : float or ndarray of shape (m,), optional
            One threshold for all labels, or one for each, which the estimates of a set's labels
            exceed. With 0.5, a set minimises the expected Hamming loss.
        measure : {"instance_f", "macro_f", "micro_f"}
            Without ``thresholds``, the F-measure that the sets maximise: the mean over instances or
            over labels, or that of all pairs of both.

        Returns
        -------
        csr_array of bool, shape (n, m)
            The stored entries are the predicted labels.

        Raises
        ------
        XmlcError
            As for `predict_proba`, or ``measure`` is unknown.

        See Also
        --------
        xmlc.thresholds.LabelSets : Thresholds for the same three measures.
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

        It is maximised by `xmlc tune`, and by scikit-learn's searches and cross-validation unless
        you pass ``scoring``. The score of scikit-learn's own classifiers, the share of completely
        correct label sets, is almost 0 with many labels.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        y : sparse or dense boolean array, shape (n, m)
            Label sets of the instances.

        Returns
        -------
        float

        Raises
        ------
        XmlcError
            As for `predict_top_k`, or X and y differ in length.

        See Also
        --------
        xmlc.metrics : Other measures.
        """
        self._check_names(y, "label")
        Y = as_labels(y)
        first = self.predict_top_k(X, 1)[0][:, 0]
        check_same_instances(first.size, Y.shape[0])
        known = np.flatnonzero(first >= 0)
        return float(Y[known, first[known]].sum()) / max(Y.shape[0], 1)

    @property
    def classes_(self) -> np.ndarray:
        """Names of the labels, or their numbers if they have none, shape (m,)."""
        self._check_fitted()
        return getattr(self, "label_names_in_", np.arange(self.n_labels_))

    def name_labels(self, names: object) -> Self:
        """Set the names of the labels in `classes_`, which `save` writes with the model, as a data
        frame of label sets in `fit` does.

        Parameters
        ----------
        names : sequence of str, length m, or MultiLabelBinarizer
            Names in the order of the labels, or the ``MultiLabelBinarizer`` that made Y.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            The number of different names is not equal to the number of labels.

        See Also
        --------
        classes_, xmlc.TextClassifier
        """
        self._check_fitted()
        self.label_names_in_ = label_names(names, self.n_labels_)
        return self

    def fit_to_disk(
        self, path: str | Path, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn and write the model to a folder, with less memory than `fit` followed by `save`.

        Forests and label trees write each part as soon as it is finished, and end with memory maps
        as arrays, while other estimators call `fit`, then write. Either way, the model is
        bit-identical to the result of `fit`.

        Parameters
        ----------
        path : str or Path
            Folder of the model, as for `save`.
        X, Y, sample_weight
            As for `fit`.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            As for `fit` and `save`. After an error, the folder is as before.

        See Also
        --------
        fit, save
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
            # scikit-learn's tests of estimators expect these words
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

        With ``more``, add to the counts of earlier calls, if they are known.
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
        """Return a shallow copy with ``params`` and without feature names, for one call, so that
        other threads do not change its ``inner_products_``.
        """
        # `copy.copy` would call `__getstate__`, which copies arrays in some estimators
        asked = type(self).__new__(type(self))
        # a copy of the dictionary, because another thread may set an attribute meanwhile
        own = vars(self).copy()
        for name in ("feature_names_in_", "inner_products_", "certified_"):
            own.pop(name, None)
        vars(asked).update(own | params)
        return asked

    def _only_row(self, X: Matrix) -> KernelCSR | None:
        if getattr(X, "shape", None) != (1, self.n_features_in_):
            return None
        X = as_features(X)
        return one_instance(X.indices, X.data, self.n_features_in_)

    def _kernel_form(self, X: sparse.csr_array) -> KernelCSR:
        return kernel_csr(unit_rows(X, self.n_jobs) if self.unit_norm else X)

    def _label_thresholds(self, threshold: float | np.ndarray) -> np.ndarray:
        self._check_fitted()
        return per_label(threshold, self.n_labels_, np.float32, "threshold", "probability")

    def _label_weights(self, given: ArrayLike | None) -> np.ndarray:
        if given is None:
            return NO_WEIGHTS
        return weights_of_labels(given, self.n_labels_)

    def _check_k(self, k: int) -> int:
        self._check_fitted()
        most = max(self.n_labels_, MOST_RANKED)
        if not isinstance(k, int | np.integer) or not 1 <= k <= most:
            raise InvalidDataError(
                f"found k={shown(k)}, expected a whole number of labels from 1 to {most}"
            )
        return int(k)
