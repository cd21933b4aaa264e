"""The base class of estimators, which scikit-learn's tools accept.

It does not import scikit-learn: ``import sklearn.base`` takes 1 s of CPU, and most steps of a suite
take less.
"""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

import numpy as np

from xmlc.core.errors import InvalidParameterError as InvalidParameterError
from xmlc.core.errors import NotFittedError, nearest, shown
from xmlc.kernels.domains import Domain, did_you_mean
from xmlc.kernels.frames import check_names, column_names

Hyperparameters = dict[str, object]
E = TypeVar("E", bound="Estimator")


def param(domain: Domain, *, default: Any) -> Any:
    """Declare a hyperparameter in the body of a class.

    Examples
    --------
    >>> from xmlc.kernels.domains import POSITIVE
    >>> @hyperparameters
    ... class Ridge(Estimator):
    ...     C: float = param(POSITIVE, default=1.0)
    >>> Ridge(C=2.0)
    Ridge(C=2.0)
    >>> Ridge.domains["C"] is POSITIVE
    True
    """
    return dataclasses.field(default=default, metadata={"domain": domain})


@dataclass_transform(eq_default=False, field_specifiers=(param,))
def hyperparameters(cls: type[E]) -> type[E]:
    """Turn the annotated names in the body of a class into hyperparameters, and return the class.

    They become the arguments of ``__init__`` in the same order, after those of the base class and
    keyword-only after the marker ``KW_ONLY`` of dataclasses. Two estimators are equal only if they
    are the same object.
    """
    made = dataclasses.dataclass(eq=False, repr=False)(cls)
    fields: Any = dataclasses.fields(made)  # type: ignore[arg-type]
    made.domains = {
        field.name: field.metadata["domain"] for field in fields if "domain" in field.metadata
    }
    return made


class Estimator:
    """The base class of estimators, for ``clone``, pipelines and grid searches of scikit-learn.

    Hyperparameters are the arguments of ``__init__``, which stores each unchanged under its name. A
    subclass may define ``__init__``, or declare them with ``hyperparameters`` and ``param``.

    See Also
    --------
    xmlc.models.base.SparseProbabilityEstimator : The base class of models.

    Examples
    --------
    >>> from xmlc.models import PLT
    >>> PLT(arity=4).set_params(tree="kmeans").get_params()["arity"]
    4
    """

    #: Hyperparameters without a domain are not checked.
    domains: ClassVar[Mapping[str, Domain]] = {}
    #: They do not affect training, so they may change between calls of ``partial_fit``.
    _changeable: ClassVar[tuple[str, ...]] = ("n_jobs",)
    _learning_with: Hyperparameters | None = None

    @classmethod
    def _hyperparameter_names(cls) -> list[str]:
        return _arguments(cls.__init__)

    def get_params(self, deep: bool = True) -> Hyperparameters:
        """Return the hyperparameters by name.

        Parameters
        ----------
        deep : bool
            Whether to return nested ones too, as ``part__name``.

        Returns
        -------
        dict of str to object
        """
        params: Hyperparameters = {
            name: getattr(self, name) for name in self._hyperparameter_names()
        }
        if deep:
            for name, part in list(params.items()):
                if hasattr(part, "get_params") and not isinstance(part, type):
                    params |= {
                        f"{name}__{inner}": value for inner, value in part.get_params().items()
                    }
        return params

    def set_params(self, **params: Any) -> Self:
        """Set hyperparameters, and with ``part__name`` those of the nested estimator ``part``.

        A new value of ``part`` itself is set first.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        self

        Raises
        ------
        InvalidParameterError
            A name is unknown.
        """
        for name in sorted(params, key=lambda name: name.count("__")):
            own, _, inner = name.partition("__")
            part: Any = getattr(self, own, None)
            if own not in self._hyperparameter_names() or (
                inner and not hasattr(part, "set_params")
            ):
                known = nearest(name, self.get_params())
                raise InvalidParameterError(
                    f"{type(self).__name__}: found hyperparameter {name!r}, expected {known}"
                )
            if inner:
                set_nested(part, **{inner: params[name]})
            else:
                setattr(self, name, params[name])
        return self

    def unfitted(self) -> Self:
        """Return an unfitted copy, like scikit-learn's ``clone``."""
        return type(self)(**deepcopy(self.get_params(deep=False)))

    def check_together(self) -> None:
        """Raise an InvalidParameterError if hyperparameters contradict one another."""

    def _begin_learning(self) -> None:
        self._learning_with = self._lasting()

    def _go_on_learning(self) -> None:
        """Raise an `InvalidParameterError` if a hyperparameter has changed since training began."""
        began = self._learning_with or {}
        for name, value in self._lasting().items():
            if name in began and not np.array_equal(began[name], value):  # type: ignore[arg-type]
                before = f"{name}={shown(began[name])} as in the first partial_fit"
                raise InvalidParameterError(
                    f"{type(self).__name__}: found {name}={shown(value)}, expected {before}. "
                    "Restore this value, or call fit to start over."
                )

    def _lasting(self) -> Hyperparameters:
        """Return copies of the hyperparameters that must not change while learning."""
        lasting: Hyperparameters = {}
        for name, value in self.get_params().items():
            if name in self._changeable:
                continue
            if hasattr(value, "get_params"):
                lasting[name] = type(value)
            elif isinstance(value, list | dict | np.ndarray):
                lasting[name] = value.copy()
            else:
                lasting[name] = value
        return lasting

    def _check_learned(self, learned: str) -> None:
        if not hasattr(self, learned):
            raise NotFittedError(f"{type(self).__name__} is not fitted. Call fit first.")

    def _remember_names(self, data: object, of: Literal["feature", "label"] = "feature") -> None:
        """Store the column names of a training set, and forget earlier ones."""
        vars(self).pop(f"{of}_names_in_", None)
        names = column_names(data)
        if names is not None:
            setattr(self, f"{of}_names_in_", names)

    def _check_names(self, data: object, of: Literal["feature", "label"] = "feature") -> None:
        """Raise an error if column names differ from training, or warn if features' are missing."""
        known = getattr(self, f"{of}_names_in_", None)
        names = column_names(data)
        if known is not None and names is not None:
            check_names(known, names, of)
        elif of == "feature" and known is not None:  # scikit-learn's wording
            warnings.warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with "
                "feature names",
                stacklevel=4,
            )
        elif of == "feature" and names is not None:
            warnings.warn(
                f"X has feature names, but {type(self).__name__} was fitted without feature names",
                stacklevel=4,
            )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        params = self.get_params(deep=False)
        changed = [
            f"{name}={value!r}"
            for name, value in params.items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))


def set_nested(part: Any, **params: Any) -> None:
    """Set hyperparameters of any library's estimator, or raise an `InvalidParameterError`."""
    try:
        part.set_params(**params)
    except ValueError as error:  # scikit-learn's message lists the valid hyperparameters
        if isinstance(error, InvalidParameterError):
            raise
        raise InvalidParameterError(f"{type(part).__name__}: {error}") from error


@cache  # reading a signature takes longer than some predictions
def _arguments(init: Callable[..., None]) -> list[str]:
    if init is object.__init__:
        return []
    return sorted(name for name in inspect.signature(init).parameters if name != "self")


def check_hyperparameters(estimator: Estimator) -> None:
    """Raise an `InvalidParameterError` if a hyperparameter is outside its domain."""
    for name, value in estimator.get_params(deep=False).items():
        check_value(type(estimator), name, value)


def check_value(cls: type[Estimator], name: str, value: object) -> None:
    """Raise the error of `check_hyperparameters` if a value is outside its domain."""
    domain = cls.domains.get(name)
    if domain is None or value in domain:
        return
    if isinstance(value, tuple):
        value = list(value)
    message = f"{cls.__name__}: found {name}={value!r}, expected {domain}"
    hint = did_you_mean(value, domain)
    if hint:
        message += f". {hint}"
    raise InvalidParameterError(message)
