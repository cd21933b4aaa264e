"""Estimators of scikit-learn, other libraries and users as models of this package."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.errors import (
    InvalidDataError,
    InvalidParameterError,
    MissingFileError,
    XmlcError,
    nearest,
    shown,
)
from xmlc.core.files import checked_path, write_json
from xmlc.core.parallel import row_blocks
from xmlc.kernels.csr import ROUNDING, Matrix, check_probabilities, top_k_of
from xmlc.kernels.estimator import Hyperparameters, set_nested
from xmlc.models import pickled
from xmlc.models.base import SparseProbabilityEstimator, all_or_nothing
from xmlc.models.storage import DESCRIPTION

PICKLE = "estimator.joblib"
MOST_BYTES = 2e9  # of dense label sets. Most estimators use 8 bytes per entry.
ENTRIES = 1 << 22  # dense estimates in memory at a time
# names an estimator class as the value of a hyperparameter, ``package.module:ClassName``
INNER = re.compile(r"[a-z_][\w.]*:[A-Z]\w*")
ONE_VS_REST = "sklearn.multiclass:OneVsRestClassifier"


class Wrapped(SparseProbabilityEstimator):
    """Any estimator with ``fit`` and ``predict_proba`` as a model of this package.

    It receives float32 CSR features, and label sets as a dense array of 0 and 1, which most
    classifiers of scikit-learn need. But a ``OneVsRestClassifier`` receives sparse label sets.
    Labels that no instance or every instance has are left out, and have the estimates 0 and 1. The
    results of other libraries may differ between machines.

    Parameters
    ----------
    estimator : object
        Its ``predict_proba`` returns a dense or sparse matrix (n, m), or a list with an array
        (n, 2) for each label.
    given : dict, optional
        Hyperparameters of the estimator, which the workflow stores with the results.

    Attributes
    ----------
    estimator_ : object
        The fitted copy.
    varied_, always_ : ndarray of int
        The labels that it has learned, and those that every training instance has.

    See Also
    --------
    xmlc.models.base.SparseProbabilityEstimator : Base class of your own estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from xmlc.models.wrapped import Wrapped
    >>> X, Y = np.eye(4), np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]])
    >>> model = Wrapped(KNeighborsClassifier(n_neighbors=1)).fit(X, Y)
    >>> model.predict_proba(X[1:3]).toarray()
    array([[1., 0., 0.],
           [0., 1., 0.]], dtype=float32)
    """

    compiles = False

    def __init__(self, estimator: Any, given: Hyperparameters | None = None):
        self.estimator = estimator
        self.given = given

    def get_params(self, deep: bool = True) -> Hyperparameters:
        """Return the hyperparameters and ``n_jobs``, without ``deep`` those of ``__init__``."""
        if not deep:
            return {"estimator": self.estimator, "given": self.given}
        found = parameters_of(self.estimator)
        return {name: found[name] for name in ("n_jobs",) if name in found} | (self.given or {})

    def set_params(self, **params: Any) -> Self:
        """Set hyperparameters of the wrapped estimator and of its fitted copy."""
        for each in (self.estimator, getattr(self, "estimator_", self.estimator)):
            set_nested(each, **params)
        return self

    @all_or_nothing
    def fit(self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a copy of the wrapped estimator, which must accept ``sample_weight`` if it is given.

        Raises
        ------
        XmlcError
            A value in the data is out of range, all instances have the same labels, or dense label
            sets would be too large.
        """
        check_learner(self.estimator, type(self.estimator).__name__)
        X, Y, weights = self._weighted_data(X, Y, sample_weight)
        given = {}
        if sample_weight is not None:
            given["sample_weight"] = weights
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        n = X.shape[0]
        self.varied_ = np.flatnonzero((counts > 0) & (counts < n))
        self.always_ = np.flatnonzero(counts == n)
        if self.varied_.size == 0:
            raise InvalidDataError(
                f"Y: found no label that only some of the {n} instances have. Check the label sets."
            )
        self.estimator_ = deepcopy(self.estimator)
        learned = Y[:, self.varied_].astype(np.int8)
        sparsely = self.varied_.size > 1 and takes_sparse_labels(self.estimator_)
        needed = 8 * n * self.varied_.size
        if not sparsely and needed > MOST_BYTES:
            found = f"found {needed / 1e9:.1f} GB of dense label sets of shape {learned.shape}"
            said = (
                f"Use {ONE_VS_REST}, or a subclass of xmlc.models.base.SparseProbabilityEstimator."
            )
            expected = f"expected at most {MOST_BYTES / 1e9:g} GB. {said}"
            raise InvalidDataError(f"{type(self.estimator).__name__}: {found}, {expected}")
        try:
            self.estimator_.fit(X, learned if sparsely else learned.toarray(), **given)
        except (TypeError, ValueError, NotImplementedError) as error:
            if isinstance(error, XmlcError) or not type(self.estimator).__module__.startswith(
                "sklearn."
            ):
                raise
            refusing = _innermost(self.estimator, _refuses_sparse)
            said = "Use valid hyperparameters and an estimator that takes sparse features."
            raise InvalidDataError(f"{type(refusing).__name__} failed: {error}\n{said}") from error
        return self

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates that are strictly greater than ``threshold``, float32 CSR (n, m).

        Raises
        ------
        XmlcError
            The result of the wrapped estimator has a wrong shape, or values that are no
            probabilities.
        """
        X = self._instances(X)
        thresholds = self._label_thresholds(threshold)
        return sparse.vstack(list(self._blocks(X, thresholds)), format="csr")

    def predict_top_k(
        self, X: Matrix, k: int, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of each instance.

        See `xmlc.models.base.SparseProbabilityEstimator.predict_top_k` for parameters and result.
        """
        X = self._instances(X)
        k = self._check_k(k)
        none = self._label_thresholds(0.0)
        weights = self._label_weights(label_weights)
        labels, scores = zip(
            *(top_k_of(spe, k, weights) for spe in self._blocks(X, none)), strict=True
        )
        return np.concatenate(labels), np.concatenate(scores)

    def _blocks(self, X: sparse.csr_array, thresholds: np.ndarray) -> Iterator[sparse.csr_array]:
        """Yield an empty matrix, and then the estimates of one small block after another."""
        m = self.n_labels_
        yield sparse.csr_array(np.zeros((0, m), dtype=np.float32))
        for start, end in row_blocks(X.shape[0], max(1, ENTRIES // m)):
            found = np.zeros((end - start, m), dtype=np.float32)
            found[:, self.varied_] = self._estimates(X[start:end])
            found[:, self.always_] = 1
            yield sparse.csr_array(np.where(found > thresholds, found, np.float32(0)))

    def _estimates(self, X: sparse.csr_array) -> np.ndarray:
        found = self.estimator_.predict_proba(X)
        expected = (X.shape[0], self.varied_.size)
        # some estimators return a sparse matrix
        if hasattr(found, "toarray"):
            found = found.toarray()
        if expected[1] == 1 and not isinstance(found, list):
            found = [found]
        # the array of each label has two columns, for the values 0 and 1
        if isinstance(found, list):
            found = np.column_stack([np.asarray(one).reshape(len(one), -1)[:, -1] for one in found])
        what = f"{type(self.estimator_).__name__}.predict_proba"
        estimates = np.asarray(found)
        if estimates.shape != expected:
            said = "one estimate per label that only some training instances have"
            raise InvalidDataError(
                f"{what}: found shape {estimates.shape}, expected {expected}, {said}"
            )
        check_probabilities(estimates, what, 1 + ROUNDING)
        return np.minimum(estimates, 1)

    def _write(self, folder: Path) -> None:
        pickled.store(folder / PICKLE, self)
        write_json(
            folder / DESCRIPTION,
            {"estimator": type(self).__name__, "of": type(self.estimator).__name__},
        )

    @classmethod
    def load(cls, path: str | Path, trusted: bool = False) -> Self:
        """Read a model that ``save`` wrote.

        Parameters
        ----------
        path : str or Path
        trusted : bool
            Allow code from the folder to run, as joblib does when it reads the estimator.

        Raises
        ------
        XmlcError
            The folder has no wrapped model, a file has changed after ``save``, or ``trusted`` is
            false.
        """
        file = checked_path(path) / PICKLE
        if not file.exists():
            said = (
                f"expected a folder written by {cls.__name__}.save. Use xmlc.load_model for other "
                "estimators."
            )
            raise MissingFileError(f"{path}: found no {PICKLE}, {said}")
        model: Self = pickled.read(file, trusted)
        return model


def adapt(
    name: str,
    kind: Callable[..., Any],
    parameters: Hyperparameters,
    seed: int,
    n_jobs: int | None = None,
) -> Wrapped:
    """Construct an estimator of another library, and return it as a `Wrapped` model.

    Besides the arguments of ``kind``, ``parameters`` may have others for ``set_params``, such as
    ``estimator__C``, and a value ``package.module:ClassName`` becomes an estimator of this class.
    Unless they are included, ``n_jobs`` applies, and ``seed`` as ``random_state``, also of inner
    estimators.

    Raises
    ------
    XmlcError
        A hyperparameter is unknown or missing, or the estimator does not estimate label sets.
    """
    common = {"random_state": seed, "n_jobs": n_jobs}
    try:
        takes = signature(kind).parameters
        values = {**parameters}
        # inner estimators first
        for key in sorted(values, key=lambda key: -key.count("__")):
            values[key] = _constructed(values[key], key, values)
        made = kind(**{key: value for key, value in (common | values).items() if key in takes})
    except (TypeError, ValueError) as error:
        if isinstance(error, XmlcError):
            raise
        said = "Use a class or function, and set the hyperparameters it needs."
        raise XmlcError(f"{name} cannot be constructed ({error}). {said}") from error
    # outer estimators first
    for key in sorted(values.keys() - takes.keys(), key=lambda key: key.count("__")):
        known = parameters_of(made)
        if key not in known:
            expected = nearest(key, {*takes, *known})
            raise InvalidParameterError(
                f"{name}: found hyperparameter {key!r}, expected {expected}"
            )
        made.set_params(**{key: values[key]})
    for key in parameters_of(made).keys() - values.keys():
        if key == "n_jobs" or key.split("__")[-1] == "random_state":
            made.set_params(**{key: common[key.rpartition("__")[2]]})
    check_learner(made, name)
    if _refuses_sparse(made):
        refusing = type(_innermost(made, _refuses_sparse)).__name__
        raise XmlcError(
            f"{name}: found {refusing}, expected an estimator that takes sparse features"
        )
    return Wrapped(made, parameters)


def _constructed(value: Any, key: str, values: Hyperparameters) -> Any:
    if isinstance(value, list):
        return [_constructed(one, key, {}) for one in value]
    if not (isinstance(value, str) and INNER.fullmatch(value)):
        return value
    kind = class_of(value)
    below = {name.removeprefix(f"{key}__"): given for name, given in values.items()}
    return kind(
        **{name: given for name, given in below.items() if name in signature(kind).parameters}
    )


def check_learner(estimator: Any, name: str) -> None:
    """Raise an `XmlcError` if an estimator lacks ``fit`` or ``predict_proba``, or predicts one
    label per instance.
    """
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        found = f"estimator: found {shown(estimator)}, expected an estimator object"
        raise InvalidParameterError(f"{found}. {with_label_sets(estimator)}.")
    tags = _tags(estimator)
    estimates = hasattr(estimator, "predict_proba")
    if estimates and tags and tags.estimator_type == "classifier" and not _learns_sets(tags):
        found = f"{name}: found an estimator of one label per instance, expected one of label sets"
        raise XmlcError(f"{found}. {with_label_sets(estimator)}.")
    if not estimates:
        inner = _innermost(
            estimator, lambda part: hasattr(part, "predict") and not hasattr(part, "predict_proba")
        )
        if inner is not estimator:
            name = f"{name}: {type(inner).__name__}"
        check_wrapped_methods(name, inner)


def with_label_sets(estimator: Any) -> str:
    """Return advice on how to use another library's estimator, for error messages."""
    kind = type(estimator).__name__
    if isinstance(estimator, type):
        kind = estimator.__name__
        if issubclass(estimator, SparseProbabilityEstimator):
            return f"Call the class: {kind}()"
    if not hasattr(estimator, "fit"):
        return "Use xmlc.models.wrapped.Wrapped(...) for an estimator with fit and predict_proba"
    tags = _tags(estimator)
    if not tags or _learns_sets(tags):
        return f"Use Wrapped({kind}(...)) of xmlc.models.wrapped"
    by_name = f"In a configuration, use {ONE_VS_REST} and its hyperparameter estimator"
    return f"Use Wrapped(OneVsRestClassifier({kind}(...))) of xmlc.models.wrapped. {by_name}"


def _tags(estimator: Any) -> Any:
    if not type(estimator).__module__.startswith("sklearn."):
        return None
    try:
        return estimator.__sklearn_tags__()
    except AttributeError:
        return None


def _refuses_sparse(estimator: Any) -> bool:
    tags = _tags(estimator)
    return bool(tags and not tags.input_tags.sparse)


def _learns_sets(tags: Any) -> bool:
    of_classifiers = tags.classifier_tags
    return bool(tags.target_tags.multi_output or (of_classifiers and of_classifiers.multi_label))


def _innermost(estimator: Any, is_meant: Callable[[Any], bool]) -> Any:
    """Return the most deeply nested estimator that satisfies a condition, or else the outer one."""
    found = {
        key: part
        for key, part in parameters_of(estimator).items()
        if hasattr(part, "fit") and is_meant(part)
    }
    if found:
        return found[max(found, key=lambda key: key.count("__"))]
    return estimator


def class_of(name: str) -> Any:
    """Return the class with the name ``package.module:ClassName``, or raise an `XmlcError`."""
    place, _, attribute = name.partition(":")
    if "/" in place or place.startswith("."):
        expected = "package.module:ClassName or path/to/file.py:ClassName"
        raise InvalidParameterError(
            f"{name}: found neither a module nor a .py file, expected {expected}"
        )
    try:
        module = importlib.import_module(place)
    except (ImportError, ValueError) as error:
        said = "Correct the name, or install the missing package in this environment."
        raise XmlcError(f"{name} cannot be imported ({error}). {said}") from error
    found = getattr(module, attribute, None)
    if not isinstance(found, type):
        raise no_class(name, module)
    return found


def no_class(name: str, module: ModuleType) -> InvalidParameterError:
    """Return the error for a class that is not in the module or file of its name."""
    place, _, attribute = name.rpartition(":")
    known = [each for each, value in vars(module).items() if isinstance(value, type)]
    # a module may import on demand
    known = known or [each for each in dir(module) if not each.startswith("_")]
    expected = "a module that defines the class"
    if known:
        expected = nearest(attribute, known)
    return InvalidParameterError(
        f"{name}: found no class {attribute} in {place}, expected {expected}"
    )


def check_wrapped_methods(name: str, found: object) -> None:
    """Raise an `XmlcError` unless a class or an object has ``fit`` and ``predict_proba``."""
    hint = ""
    if hasattr(found, "voting"):
        hint = ". Set voting='soft'."
    elif hasattr(found, "decision_function"):
        hint = (
            f". To get estimates, use {ONE_VS_REST} with a "
            "sklearn.calibration:CalibratedClassifierCV."
        )
    for method in ("fit", "predict_proba"):
        if not callable(getattr(found, method, None)):
            raise XmlcError(
                f"{name}: found no method {method}, expected fit and predict_proba{hint}"
            )


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Return the hyperparameters that ``get_params`` lists, none without this method."""
    found: dict[str, Any] = getattr(estimator, "get_params", dict)()
    return found


def takes_sparse_labels(estimator: Any) -> bool:
    """Return whether an estimator accepts sparse label sets, unlike many of scikit-learn."""
    last = estimator
    if hasattr(estimator, "steps"):
        last = estimator.steps[-1][1]
    return "OneVsRestClassifier" in (kind.__name__ for kind in type(last).__mro__)
