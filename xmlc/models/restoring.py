"""Training that an error or interruption undoes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np

from xmlc.core.appendable import NOT_FINITE, NotFiniteError
from xmlc.core.errors import InvalidDataError, InvalidParameterError
from xmlc.kernels.csr import Matrix, as_features

Learn = TypeVar("Learn", bound=Callable[..., Any])


def all_or_nothing(learn: Learn) -> Learn:
    """Decorate a method that learns, so that an error or interruption restores the estimator.

    The method may replace attributes, but not change arrays of an earlier call in place. If it
    takes no ``sample_weight``, only None is accepted.
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
