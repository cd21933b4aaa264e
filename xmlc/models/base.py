"""What all estimators share: sparse probability estimates, label sets, models on disk, what scikit-learn asks for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.errors import InvalidDataError, MissingFileError, XmlcError, shown
from xmlc.core.files import atomic_folder, checked_path, write_json
from xmlc.core.parallel import row_blocks
from xmlc.kernels.checks import check_same_instances, sample_weights, weights_of_labels
from xmlc.kernels.csr import (
    NO_WEIGHTS,
    KernelCSR,
    Malformed,
    Matrix,
    as_features,
    as_labels,
    assembled,
    kernel_csr,
    per_label,
    proven,
    top_k_of,
    unit_rows,
)
from xmlc.kernels.estimator import (
    Estimator,
    Hyperparameters,
    InvalidParameterError,
    check_hyperparameters,
    not_fitted,
)
from xmlc.kernels.stored import Field, check_fields, is_json, load_array, load_description, writeable_maps
from xmlc.models.fitting import all_or_nothing

DESCRIPTION = "model.json"
ENTRIES = {"estimator": str, "format": int, "hyperparameters": dict, "n_features": int, "n_labels": int, "arrays": list}
ENTRIES |= {"meta": dict}
NAMES = ("feature_names_in_", "label_names_in_")
# Attributes that are saved with the description, or are of the last prediction.
KEPT_ELSEWHERE = ("n_features_in_", "n_labels_", "labelled_", "inner_products_", "certified_", *NAMES)
MOST_RANKED = 1000  # labels of a ranking, where there are fewer labels


class SparseProbabilityEstimator(Estimator):
    """Base of the estimators that give sparse probability estimates (SPE).

    A subclass implements ``fit``, which calls ``_training_data``, and ``predict_proba``; learned attributes end in an
    underscore. Ranking then sorts all estimates; one that can rank with less overrides ``predict_top_k``. Saved are
    arrays, numbers, strings, truth values, None, and lists and dictionaries of these but arrays, and no attribute that
    begins with an underscore. One that learns more overrides ``_state``, which returns arrays by name and a dictionary
    for JSON, and ``_restore``, which is given both and sets the attributes again. ``FIELDS`` lists the arrays that a
    stored model has.

    Attributes
    ----------
    n_features_in_ : int
        Number of features d seen in ``fit``.
    feature_names_in_, label_names_in_ : ndarray of object, shape (d,) and (m,)
        Names of the columns of X and Y, where they were frames with names of text. Frames that are given later must
        have the same, in the same order.
    n_labels_ : int
        Number of labels m seen in ``fit``.
    classes_ : ndarray, shape (m,)
        The labels: names of text, where they have some, else numbers. Column j of label sets is label j.
    inner_products_ : ndarray of int64, shape (n,), or None
        Inner products that the last prediction computed for each instance; None where an estimator does not count them.
    certified_ : ndarray of bool, shape (n,), or None
        For which instances a beam search proved that the last ranking is exact; None where none searched.
    """

    MODEL_FORMAT = 1
    FIELDS: ClassVar[tuple[Field, ...]] = ()
    n_labels_: int
    labelled_: bool = False  # whether each instance of `fit` had a label: then no label set is empty
    inner_products_: np.ndarray | None = None
    certified_: np.ndarray | None = None
    #: Whether the estimates of an instance do not depend on those beside it.
    _BY_INSTANCE: ClassVar[bool] = True
    #: Whether it has kernels that a first call compiles, and keeps what this package can save.
    compiles: ClassVar[bool] = True
    #: Whether the estimates of a model with default settings are close to the frequencies of the labels among instances
    #: with the same features.
    calibrated: ClassVar[bool] = True
    _into: Path | None = None  # where `fit` writes arrays that it need not hold (`xmlc.core.growing`), in `fit_to`
    unit_norm: bool  # a hyperparameter of those that call `_kernel_form`, as the next
    n_jobs: int | None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            cls.fit = all_or_nothing(cls.fit)  # type: ignore[method-assign]
        ranks = vars(cls).get("predict_top_k")
        if ranks and "label_weights" not in signature(ranks).parameters:
            cls.predict_top_k = weighted_by_base(ranks)  # type: ignore[method-assign]

    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Learn from a training set.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
            Instances.
        Y : sparse or dense boolean array, shape (n, m)
            Their label sets.
        sample_weight : array-like of float, shape (n,), optional
            Only of estimators that take it: how much each instance counts, from 0 to 1e30. An instance of weight 2
            counts like two, and one of weight 0 is not learned, nor are labels that only such instances have.

        Raises
        ------
        XmlcError
            Data or a hyperparameter is out of its range. After this or any other error, an interruption too, the
            estimator is what it was before: not fitted, or with what it had learned.
        """
        raise XmlcError(
            f"{type(self).__name__} has no fit; expected a class that defines it, as docs/extending.md shows"
        )

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates strictly greater than a threshold.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        threshold : float or ndarray of shape (m,)
            One for all labels, or one for each, from 0 to 1.

        Returns
        -------
        csr_array of float32, shape (n, m)
            The sparse probability estimates, sorted indices. ``inner_products_`` counts what they cost.
        """
        raise XmlcError(
            f"{type(self).__name__} has no predict_proba; expected a class that defines it, as docs/extending.md shows"
        )

    def estimate_blocks(
        self, X: sparse.csr_array, threshold: float | np.ndarray, rows: int, then: Callable[[sparse.csr_array], None]
    ) -> None:
        """Call ``then`` with the estimates of `predict_proba`, those of about ``rows`` instances after the other."""
        if not self._BY_INSTANCE or X.shape[0] <= rows:
            return then(self.predict_proba(X, threshold))
        products = list[Any]()
        for start, end in row_blocks(X.shape[0], rows):
            then(self.predict_proba(X[start:end], threshold))
            products.append(self.inner_products_)
        self.inner_products_ = None if products[0] is None else np.concatenate(products)

    def predict_top_k(self, X: Matrix, k: int, label_weights: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of each instance, or those whose weighted estimates are largest.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        k : int
        label_weights : array-like of float, shape (m,), optional
            Labels rank by their estimates times these numbers, from 0 to 1e38. A label of weight 0 is never returned.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Best first, ties to the smaller label; -1 where there are fewer than k labels.
        scores : ndarray of float32, shape (n, k)
            Their estimates, times the weights if there are any; 0 where there is no label.
        """
        k = self._check_k(k)
        weights = self._label_weights(label_weights)
        return top_k_of(self.predict_proba(X), k, weights)

    def rank_one(
        self, indices: ArrayLike, values: ArrayLike, k: int = 5, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of a single instance: `predict_top_k` for online serving.

        The same bits as `predict_top_k` of a matrix with this instance alone. Nothing of the estimator is changed (nor
        ``inner_products_`` set), so that several threads may ask it at once.

        Parameters
        ----------
        indices : array-like of int, shape (q,)
            Features of the instance, each once; fastest in ascending order. There may be none.
        values : array-like of float, shape (q,)
            Their values.
        k, label_weights
            As for `predict_top_k`.

        Returns
        -------
        labels : ndarray of int32, shape (k,)
            Best first; -1 where there are fewer than k labels.
        scores : ndarray of float32, shape (k,)
            Their estimates, times the weights if there are any; 0 where there is no label.

        Raises
        ------
        XmlcError
            Indices and values are no instance, or k or the weights are out of their range.

        Examples
        --------
        >>> from xmlc.models import SparseWeightedNearestNeighbors
        >>> model = SparseWeightedNearestNeighbors().fit([[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3)
        >>> model.rank_one([0], [0.5], 2)[0].tolist()
        [0, 2]
        """
        x = self._one_instance(indices, values)
        X = proven(assembled(x.data, x.indices.view(np.int32), x.indptr, self.n_features_in_))
        labels, scores = self._for_requests().predict_top_k(X, k, label_weights)
        return labels[0], scores[0]

    def warm_up(self) -> Self:
        """Compile, or load, all that predictions of one instance need, so that no request waits for it.

        `rank_one`, `predict_top_k` and `predict_proba` with one threshold are called for a made-up instance.
        """
        asked = self._for_requests()
        asked.rank_one([0], [1.0])
        X = sparse.csr_array(([np.float32(1)], ([0], [0])), shape=(1, self.n_features_in_))
        asked.predict_top_k(X, 1)
        asked.predict_proba(X, 0.5)
        return self

    def predict(self, X: Matrix, thresholds: float | np.ndarray | None = None) -> sparse.csr_array:
        """Return the label set of each instance.

        By default it is the set of largest expected F-measure (`xmlc.inference.meuf`), computed from the estimates
        above 1e-4. They are taken as probabilities of independent labels. If each training instance has a label, it
        is the best set with at least one. If you have labelled instances, or want
        another measure, `xmlc.thresholds.LabelSets` finds better sets.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        thresholds : float or ndarray of shape (m,), optional
            One for all labels, or one for each: the labels with a greater estimate are predicted. 0.5 minimises the
            expected Hamming loss.

        Returns
        -------
        csr_array of bool, shape (n, m)
            The stored entries are the labels predicted.
        """
        spe = _label_sets().estimates_of_sets(self, X) if thresholds is None else self.predict_proba(X, thresholds)
        return sparse.csr_array((np.ones(spe.nnz, dtype=bool), spe.indices, spe.indptr), shape=spe.shape)

    def score(self, X: Matrix, y: Matrix) -> float:
        """Return the precision of the label that is ranked first, P@1 (`xmlc.metrics.precision_at_k`).

        What scikit-learn's searches and cross-validation maximise unless they are given ``scoring``, and `xmlc tune`
        too. scikit-learn's own classifiers return the share of label sets that are right in every label, which is close
        to 0 for all models of many labels and tells none from another; P@1 depends on no thresholds either.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        y : sparse or dense boolean array, shape (n, m)
            Their label sets.
        """
        self._check_names(y, "label")
        Y, first = as_labels(y), self.predict_top_k(X, 1)[0][:, 0]
        check_same_instances(first.size, Y.shape[0])
        known = np.flatnonzero(first >= 0)
        return float(Y[known, first[known]].sum()) / max(Y.shape[0], 1)

    @property
    def classes_(self) -> np.ndarray:
        """The labels, shape (m,): their names, if they have some, else their numbers; column j is label j."""
        self._check_fitted()
        return getattr(self, "label_names_in_", np.arange(self.n_labels_))

    def name_labels(self, names: object) -> Self:
        """Give the labels names for `classes_`, which are saved with the model, where Y was no frame.

        Parameters
        ----------
        names : sequence of str, length m, or MultiLabelBinarizer
            Of scikit-learn, fitted: its ``classes_``.

        Raises
        ------
        XmlcError
            There are more labels, or fewer.
        """
        self._check_fitted()
        given: Any = getattr(names, "classes_", names)
        found = np.array(list(given) if isinstance(given, Iterable) else [], dtype=object)
        if found.shape != (self.n_labels_,) or len({*found}) < found.size:
            said = f"found {len({*found})} different names, expected {self.n_labels_}: one for each label"
            raise InvalidDataError(f"{said}, or a fitted MultiLabelBinarizer")
        self.label_names_in_ = found
        return self

    def fit_to(self, path: str | Path, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a training set and write the model: `fit` and `save`, of which memory need not hold all.

        Forests and label trees write each part as soon as it is finished, and hold it no longer; the arrays of the
        model are then maps of its files. The bits are those of `fit`. Other estimators are fitted and saved.

        Parameters
        ----------
        path : str or Path
            Folder, as for `save`.
        X, Y, sample_weight
            As for `fit`.

        Raises
        ------
        XmlcError
            As `fit` and `save` do; then there is no such folder, or the one that was there before.
        """
        with atomic_folder(path) as folder:
            try:
                self._into = folder
                fit: Any = self.fit  # some take no weights
                fit(X, Y, sample_weight=sample_weight)
            finally:
                self._into = None
            self._write(folder)
        return self

    def save(self, path: str | Path) -> None:
        """Write the model as the folder ``path``: plain ``.npy`` arrays and a JSON file, no pickle.

        A folder there is replaced, and deleted with all that it holds, if this package wrote each of its files.

        Raises
        ------
        XmlcError
            The folder holds any other file, or is a symbolic link or the working directory, or the model has learned
            what cannot be saved; nothing is changed.
        """
        self._check_fitted()
        with atomic_folder(path) as folder:
            self._write(folder)

    def _write(self, folder: Path) -> None:
        """Write the arrays of a fitted model that are not there yet, and its description, into a folder."""
        arrays, meta = self._state()
        about = {"estimator": type(self).__name__, "format": self.MODEL_FORMAT}
        own, names = self.get_params(), self._hyperparameter_names()
        about |= {"hyperparameters": {name: own[name] for name in names}, "n_features": self.n_features_in_}
        about |= {"n_labels": self.n_labels_, "labelled": self.labelled_, "arrays": sorted(arrays), "meta": meta}
        about |= {name: list(getattr(self, name)) for name in NAMES if hasattr(self, name)}
        try:
            for name, array in arrays.items():
                if not (folder / f"{name}.npy").exists():  # `fit_to` has written it
                    np.save(folder / f"{name}.npy", array, allow_pickle=False)
            write_json(folder / DESCRIPTION, about)
        except (TypeError, ValueError) as error:
            raise XmlcError(f"{type(self).__name__} cannot be saved: {error}") from error

    @classmethod
    def load(cls, path: str | Path, trusted: bool = False) -> Self:
        """Read a model written by `save`; its arrays are memory-mapped.

        Parameters
        ----------
        path : str or Path
        trusted : bool
            Whether an estimator of another library, which joblib has stored, may be read: this runs code of the folder.

        Raises
        ------
        XmlcError
            The folder holds no model, one of another estimator or version, or a file that was changed since.
        """
        folder = checked_path(path)
        if not (folder / DESCRIPTION).exists():
            raise MissingFileError(
                f"{folder}: found no {DESCRIPTION}, expected a folder written by save; check the path"
            )
        try:
            content = cls._description(folder)
            model = cls(**content["hyperparameters"])
            check_hyperparameters(model)
            model.n_features_in_, model.n_labels_ = content["n_features"], content["n_labels"]
            model.labelled_ = content.get("labelled") is True
            vars(model).update({name: np.array(content[name], dtype=object) for name in NAMES if name in content})
            # Plain views of the mapped files: numba takes long to recognise numpy's class for them.
            arrays = {name: np.asarray(load_array(folder / f"{name}.npy")) for name in content["arrays"]}
            model._restore(arrays, content["meta"])
        except (Malformed, InvalidParameterError) as fault:
            raise XmlcError(f"{folder}: {fault}; train a model with this version of xmlc, and save it") from None
        model._read_parts(folder, trusted)
        return model

    @classmethod
    def _description(cls, folder: Path) -> dict[str, Any]:
        """Read what a folder says of its model, one of this class."""
        content = load_description(folder / DESCRIPTION, ENTRIES)
        found, version = content["estimator"], content["format"]
        if found != cls.__name__:
            raise XmlcError(
                f"{folder}: found a model of {found}, expected one of {cls.__name__}: load it by {found}.load"
            )
        if version != cls.MODEL_FORMAT:
            expected = f"expected {found}, format {cls.MODEL_FORMAT}"
            raise Malformed(DESCRIPTION, f"found a model of {found}, format {version}; {expected}")
        if sorted(content["hyperparameters"]) != cls._hyperparameter_names():
            listed = ", ".join(cls._hyperparameter_names())
            raise Malformed(DESCRIPTION, f"hyperparameters are {sorted(content['hyperparameters'])}, expected {listed}")
        return content

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state from a pickle; what joblib maps read-only is mapped as kernels take it."""
        self.__dict__.update(writeable_maps(state))

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: a classifier of label sets, of sparse instances."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags(multi_class=False, multi_label=True)
        tags.target_tags.required = tags.target_tags.two_d_labels = tags.target_tags.multi_output = True
        tags.target_tags.single_output, tags.input_tags.sparse = False, True
        return tags

    def _selected(self) -> Hyperparameters:
        """Return the values of hyperparameters that `fit` selected from the training set, to train with them again."""
        return {}

    def _is_fitted(self) -> bool:
        return hasattr(self, "n_labels_")

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            raise not_fitted(self)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the learned arrays, and what else is learned and JSON has."""
        arrays, meta, made = {}, {}, {*vars(self.unfitted())}  # by `__init__`
        for name, value in vars(self).items():
            elsewhere = name in KEPT_ELSEWHERE or name in self._hyperparameter_names()
            if elsewhere or name.startswith("_") or (name in made and not name.endswith("_")):
                continue
            is_array = isinstance(value, np.generic) or type(value) in (np.ndarray, np.memmap)
            if name.endswith("_") and is_array and not value.dtype.hasobject:
                arrays[name] = np.asarray(value)
            elif name.endswith("_") and is_json(value):
                meta[name] = value
            else:
                raise XmlcError(
                    f"{type(self).__name__} cannot be saved: attribute {name} is {type(value).__name__}; expected that "
                    "what fit keeps has a name that ends in _ and is an array, a number, a string, or a list or "
                    "dictionary of numbers and strings. Keep it as such, or write the methods _state and _restore"
                )
        return arrays, meta

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        """Set the learned state from what `_state` returned."""
        if self.FIELDS:
            self._check_arrays(arrays)
        self.__dict__.update(meta | {name: array if array.ndim else array[()] for name, array in arrays.items()})

    def _check_arrays(self, arrays: Mapping[str, np.ndarray], fields: Iterable[Field] | None = None) -> None:
        """Compare stored arrays with the list of those that such a model has."""
        fields = self.FIELDS if fields is None else fields
        check_fields(arrays, fields, n_features=self.n_features_in_, n_labels=self.n_labels_)

    def _read_parts(self, folder: Path, trusted: bool) -> None:
        """Read estimators that are parts of a stored model from their own folders."""

    def _training_data(self, X: Matrix, Y: Matrix) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Check hyperparameters and training data, remember the data's shape and return it in canonical form."""
        self._check_hyperparameters()
        if Y is None:
            raise InvalidDataError(  # in scikit-learn's words
                f"{type(self).__name__} requires y to be passed, but the target y is None; expected label sets"
            )
        given, X, Y = (X, Y), as_features(X), as_labels(Y, "Y", X, f"{type(self).__name__}.fit(X, Y)")
        check_same_instances(X.shape[0], Y.shape[0])
        if X.shape[0] == 0 or Y.shape[1] == 0:
            found = f"{X.shape[0]} instances, {Y.shape[1]} labels"
            raise InvalidDataError(
                f"nothing to learn from: {found}; expected at least one of each: check how X and Y are made"
            )
        self._remember_names(given[0])
        self._remember_names(given[1], "label")
        self.n_features_in_, self.n_labels_ = X.shape[1], Y.shape[1]
        self.labelled_ = bool(np.diff(Y.indptr).all())
        return X, Y

    def _check_hyperparameters(self) -> None:
        """Refuse hyperparameters outside their domains; a subclass may add checks of several together."""
        check_hyperparameters(self)

    def _weighted_data(
        self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None
    ) -> tuple[sparse.csr_array, sparse.csr_array, np.ndarray]:
        """Return what `_training_data` returns, and the weights, float32, without the instances of weight 0."""
        X, Y = self._training_data(X, Y)
        if sample_weight is None:
            return X, Y, np.ones(X.shape[0], dtype=np.float32)
        weights = sample_weights(sample_weight, X.shape[0])
        kept = np.flatnonzero(weights)
        return (X, Y, weights) if kept.size == weights.size else (X[kept], Y[kept], weights[kept])

    def _instances(self, X: Matrix) -> sparse.csr_array:
        """Check instances to predict and return them in canonical form."""
        self._check_fitted()
        self._check_names(X)
        X = as_features(X)
        if X.shape[1] != self.n_features_in_:
            raise InvalidDataError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input: make X with the vectorizer or reader that made the training data"
            )
        return X

    def _for_requests(self) -> Self:
        """Return a shallow copy, to which a prediction may write, for instances without names of features."""
        asked = type(self).__new__(type(self))  # not by copy, which does what pickles need
        vars(asked).update({name: value for name, value in vars(self).items() if name != "feature_names_in_"})
        return asked

    def _one_instance(self, indices: ArrayLike, values: ArrayLike) -> KernelCSR:
        """Check a single instance and return it as kernels take it."""
        self._check_fitted()
        indices, given = np.asarray(indices), np.asarray(values)
        integers, numbers = indices.dtype.kind in "iu" or not indices.size, given.dtype.kind in "biuf"
        if indices.ndim != 1 or indices.shape != given.shape or not integers or not numbers:
            raise InvalidDataError(
                f"found indices of shape {indices.shape} and type {indices.dtype}, values of shape {given.shape} and "
                f"type {given.dtype}; expected integers and as many values, each in one dimension: x.indices and "
                "x.data from a sparse row x"
            )
        values = given.astype(np.float32, copy=False)
        indices = indices.astype(np.int64, copy=False)
        fine = np.isfinite(values) & (indices.view(np.uint64) < self.n_features_in_)  # a negative number is large there
        ascend = indices[1:] > indices[:-1]
        if np.count_nonzero(ascend) < ascend.size:  # as of scikit-learn's vectorizers, in any order
            order = np.argsort(indices, kind="stable")
            indices, values, fine = indices[order], values[order], fine[order]
            fine[1:] &= indices[1:] > indices[:-1]
        if np.count_nonzero(fine) < fine.size:
            fault = fine.argmin()
            raise InvalidDataError(
                f"found feature {indices[fault]} with value {values[fault]}: "
                f"expected finite values of features below {self.n_features_in_}, each feature once; make them by "
                "the vectorizer or reader from training"
            )
        return KernelCSR(np.array([0, indices.size]), indices.astype(np.uint32), values)

    def _kernel_form(self, X: sparse.csr_array) -> KernelCSR:
        """Return instances as kernels take them, scaled to unit length where ``unit_norm`` says so."""
        return kernel_csr(unit_rows(X, self.n_jobs) if self.unit_norm else X)

    def _label_thresholds(self, threshold: float | np.ndarray) -> np.ndarray:
        """Return one float32 threshold per label from a number or an array of shape (m,)."""
        self._check_fitted()
        return per_label(threshold, self.n_labels_, np.float32, "threshold", "probability")

    def _label_weights(self, given: ArrayLike | None) -> np.ndarray:
        """Return one float64 weight per label, or `NO_WEIGHTS`."""
        return NO_WEIGHTS if given is None else weights_of_labels(given, self.n_labels_)

    def _check_k(self, k: int) -> int:
        """Return k as an int, at least 1, and not far above the number of labels: each rank has a place."""
        self._check_fitted()
        most = max(self.n_labels_, MOST_RANKED)
        if not isinstance(k, int | np.integer) or not 1 <= k <= most:
            raise InvalidDataError(f"k={shown(k)}: expected a whole number of labels, at least 1 and at most {most}")
        return int(k)


def _label_sets() -> Any:
    """Return the module for label sets: no training depends on it, so that its edits train no model again."""
    return importlib.import_module("xmlc.models.label_sets")


def weighted_by_base(predict_top_k: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method `predict_top_k` that takes weights of labels, by which the base class ranks all estimates."""

    @wraps(predict_top_k)
    def ranked(self: Any, X: Matrix, k: int, label_weights: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        if label_weights is not None:
            return SparseProbabilityEstimator.predict_top_k(self, X, k, label_weights)
        found: tuple[np.ndarray, np.ndarray] = predict_top_k(self, X, k)
        return found

    return ranked
