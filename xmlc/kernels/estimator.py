"""Implement scikit-learn's conventions for estimators without importing scikit-learn.

``import sklearn.base`` loads scipy.stats and pandas and takes 1.0 s of CPU. Most steps of a suite take less than 1.0 s
of CPU. All imports of one step take 1.5 s with ``sklearn.base`` and 0.56 s without. This module works if scikit-learn
is not installed.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

import numpy as np

from xmlc.core.errors import InvalidParameterError as InvalidParameterError
from xmlc.core.errors import XmlcError, nearest
from xmlc.kernels.domains import Domain, did_you_mean
from xmlc.kernels.frames import check_names, column_names

Hyperparameters = dict[str, object]  # The values of hyperparameters are numbers, texts, truth values or None.
MOST_SHOWN = 200  # A message shows at most MOST_SHOWN characters of a value.
LEARNED = {"n_features_in_": "features", "n_labels_": "labels", "thresholds_": "thresholds"}
E = TypeVar("E", bound="Estimator")


def check_hyperparameters(estimator: Estimator) -> None:
    """Raise an error if a hyperparameter of an estimator is outside its domain.

    Raises
    ------
    InvalidParameterError
        If a value is outside its domain. The message contains the hyperparameter's name, its value and the expected
        values.
    """
    for name, value in estimator.get_params(deep=False).items():
        check_value(type(estimator), name, value)


def check_value(cls: type[Estimator], name: str, value: object) -> None:
    """Raise the error of `check_hyperparameters` if a value is outside the domain of a hyperparameter."""
    if name in cls.domains and value not in cls.domains[name]:
        shown_value = list(value) if isinstance(value, tuple) else value
        hint = did_you_mean(value, cls.domains[name])
        end = f". {hint}" if hint else ""
        raise InvalidParameterError(f"{cls.__name__}: found {name}={shown_value!r}, expected {cls.domains[name]}{end}")


@cache  # Without a cache, reading the signature would take longer than some predictions.
def _names_of(init: Callable[..., None]) -> list[str]:
    return sorted(name for name in inspect.signature(init).parameters if name != "self")


def not_fitted(estimator: object) -> UnfittedError:
    """Return an `UnfittedError` whose message asks the user to call ``fit``."""
    return _unfitted(f"{type(estimator).__name__} is not fitted. Call fit first.")


class UnfittedError(XmlcError, ValueError, AttributeError):
    """Report an unfitted estimator.

    Like scikit-learn's NotFittedError, the error is a ValueError and an AttributeError.
    """

    def __reduce__(self) -> Any:
        """Return a function and its arguments, from which pickle rebuilds the error.

        pickle rejects the class that `_unfitted` creates, because no module contains this class.
        """
        return _unfitted, (str(self),)


def _unfitted(message: str) -> UnfittedError:
    """Return an `UnfittedError`. If scikit-learn is installed, the error is also a scikit-learn NotFittedError."""
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return UnfittedError(message)
    return type("NotFittedError", (UnfittedError, NotFittedError), {})(message)


class Estimator:
    """Serve as the base class of estimators that work with clone, pipelines and grid searches of scikit-learn.

    Hyperparameters are the arguments of ``__init__``, which stores each argument unchanged under its name. A subclass
    may define ``__init__``. A subclass may also declare the hyperparameters in the body of the class and use the
    decorator ``hyperparameters`` below.
    """

    #: This dictionary maps hyperparameters to their domains. If a hyperparameter has no domain, the class itself must
    #: check the value.
    domains: ClassVar[Mapping[str, Domain]] = {}
    #: Hyperparameters that may change between calls of ``partial_fit``, because they do not affect training.
    _changeable: ClassVar[tuple[str, ...]] = ("n_jobs",)
    # This dictionary maps each hyperparameter to its `as_kept` value and its text in messages.
    _learning_with: Hyperparameters | None = None

    @classmethod
    def _hyperparameter_names(cls) -> list[str]:
        return [] if cls.__init__ is object.__init__ else _names_of(cls.__init__)

    def get_params(self, deep: bool = True) -> Hyperparameters:
        """Return the value of each hyperparameter, by name.

        ``deep`` adds the hyperparameters of nested estimators as ``part__name``.
        """
        found: Hyperparameters = {name: getattr(self, name) for name in self._hyperparameter_names()}
        for name, part in list(found.items()) if deep else ():
            if hasattr(part, "get_params") and not isinstance(part, type):
                found |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set hyperparameters.

        ``part__name`` sets ``name`` of the nested estimator ``part``. A new value of ``part`` itself is set before
        ``part__name``.

        Raises
        ------
        InvalidParameterError
            If a hyperparameter does not exist. InvalidParameterError is a ValueError, as in scikit-learn.
        """
        for name in sorted(params, key=lambda name: name.count("__")):
            own, inner, rest = name.partition("__")
            part: Any = getattr(self, own) if own in self._hyperparameter_names() else None
            if own not in self._hyperparameter_names() or (inner and not hasattr(part, "set_params")):
                known = nearest(name, self.get_params())
                raise InvalidParameterError(f"{type(self).__name__}: found hyperparameter {name!r}, expected {known}")
            if not inner:
                setattr(self, name, params[name])
                continue
            try:
                part.set_params(**{rest: params[name]})
            except ValueError as error:  # scikit-learn's nested estimators raise ValueError.
                raise InvalidParameterError(f"{type(self).__name__}: {name}: {error}") from error
        return self

    def unfitted(self) -> Self:
        """Return an unfitted estimator with the same hyperparameters, like ``clone`` of scikit-learn."""
        return type(self)(**deepcopy(self.get_params(deep=False)))

    def _begin_learning(self) -> None:
        """Store the hyperparameters at the beginning of training."""
        self._learning_with = {name: (as_kept(value), shown_value(value)) for name, value in self._lasting().items()}

    def _go_on_learning(self) -> None:
        """Raise an error if a hyperparameter has changed since training began.

        Raises
        ------
        InvalidParameterError
            If a hyperparameter differs from the value that was stored when training began.
        """
        began: dict[str, Any] = self._learning_with or {}
        for name, value in self._lasting().items():
            if name in began and not is_same(began[name][0], as_kept(value)):
                raise InvalidParameterError(
                    f"{type(self).__name__}: found {name}={shown_value(value)}, expected {name}={began[name][1]} as in "
                    "the first partial_fit. Restore this value, or call fit to start over."
                )

    def _check_learned(self, learned: str) -> None:
        """Raise an error if the estimator lacks an attribute that ``fit`` sets."""
        if not hasattr(self, learned):
            raise not_fitted(self)

    def _lasting(self) -> Hyperparameters:
        return {name: value for name, value in self.get_params(deep=False).items() if name not in self._changeable}

    def _remember_names(self, data: object, of: Literal["feature", "label"] = "feature") -> None:
        """Store the column names of a training set, and delete the names of an earlier training set."""
        names = column_names(data)
        vars(self).pop(f"{of}_names_in_", None)
        if names is not None:
            setattr(self, f"{of}_names_in_", names)

    def _check_names(self, data: object, of: Literal["feature", "label"] = "feature") -> None:
        """Compare a dataset's column names with the training set's names, and warn if only one set has feature names.

        Raises
        ------
        InvalidDataError
            If the dataset and the training set have different names.
        """
        known, found = getattr(self, f"{of}_names_in_", None), column_names(data)
        if known is not None and found is not None:
            check_names(known, found, of)
        elif (known is None) != (found is None) and of == "feature":  # the message has scikit-learn's wording
            found_names, out = ("has", "out") if known is None else ("does not have valid", "")
            fitted = f"{type(self).__name__} was fitted with{out} feature names"
            warnings.warn(f"X {found_names} feature names, but {fitted}", UserWarning, stacklevel=4)

    def __dir__(self) -> list[str]:
        """Return the names for tab completion: hyperparameters, methods and learned attributes, but no constants."""
        own = self._hyperparameter_names()
        return [name for name in super().__dir__() if name in own or not (name.isupper() or name == "domains")]

    def __repr__(self) -> str:
        """Return the class name with the hyperparameters that differ from their defaults."""
        own = self._own_hyperparameters()
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in own.items())})"

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks: the changed hyperparameters, and after ``fit`` the sizes in `LEARNED`."""
        rows = {name: repr(value) for name, value in self._own_hyperparameters().items()}
        for name, title in LEARNED.items():
            if hasattr(self, name):
                rows[title] = str(getattr(getattr(self, name), "size", getattr(self, name)))
        cells = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())
        return f"<table><caption>{type(self).__name__}</caption>{cells}</table>"

    def _own_hyperparameters(self) -> Hyperparameters:
        usual, values = inspect.signature(type(self)).parameters, self.get_params(deep=False)
        return {name: value for name, value in values.items() if repr(value) != repr(usual[name].default)}

    def __sklearn_tags__(self) -> Any:
        """Return the tags of scikit-learn's base class. Only tools of scikit-learn call this method."""
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)


def as_kept(value: Any) -> Any:
    """Return a copy of a hyperparameter for comparison, in which nested estimators are dictionaries."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {"": type(value)} | {name: as_kept(own) for name, own in value.get_params().items()}
    if isinstance(value, dict):
        return {name: as_kept(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [as_kept(own) for own in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def is_same(first: Any, second: Any) -> bool:
    """Return whether two results of `as_kept` are equal."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(is_same(first[name], second[name]) for name in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(is_same, first, second))
    return first is second or np.array_equal(first, second)


def shown_value(value: object) -> str:
    """Return the text of a value for messages, cut off after ``MOST_SHOWN`` characters."""
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}.."


@dataclass_transform(eq_default=False)
def hyperparameters(cls: type[E]) -> type[E]:
    """Turn the annotated names in the body of a class into hyperparameters, and return the class.

    The names become the arguments of ``__init__`` in the same order, after the arguments of the base class. The marker
    ``KW_ONLY`` of dataclasses makes all later names keyword-only arguments. Two estimators are equal only if they are
    the same object.
    """
    return dataclass(eq=False, repr=False)(cls)
