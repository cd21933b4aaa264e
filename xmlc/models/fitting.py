"""Wrap the ``fit`` of every estimator, to reject unsupported weights and to restore the estimator if training fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from xmlc.core.appendable import NotFiniteError
from xmlc.core.errors import InvalidDataError, InvalidParameterError
from xmlc.kernels.csr import Matrix, as_features, as_labels

WEIGHTED = "PLT, Parabel, SparseWeightedNearestNeighbors, BinaryRelevance, ProbabilisticClassifierChain or Stacking"


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method `fit` that restores the estimator's attributes if training fails or is interrupted.

    The original ``fit`` may replace attributes, but must not change arrays of an earlier call in place. The returned
    method raises an error with advice if learned weights are not finite (`xmlc.core.appendable`). The returned method
    also raises an error with advice if the estimator does not accept the given instance weights.
    """
    takes_weights = "sample_weight" in signature(fit).parameters

    @wraps(fit)
    def fitted(self: Any, X: Matrix, *given: Any, **named: Any) -> Any:
        if not takes_weights and named.pop("sample_weight", None) is not None:
            raise takes_no_weights(type(self).__name__)
        before = dict(vars(self))
        try:
            result = fit(self, X, *given, **named)
            _note_labels_that_count(self, *given, **named)
            return result
        except BaseException as error:
            vars(self).clear()
            vars(self).update(before)
            if isinstance(error, NotFiniteError):
                raise not_finite(self, as_features(X).data) from None
            raise

    return fitted


def _note_labels_that_count(self: Any, Y: Matrix, sample_weight: Any = None, **_: Any) -> None:
    """Record again whether all instances have labels, without the instances of weight 0."""
    kept = None if sample_weight is None else np.flatnonzero(np.asarray(sample_weight))
    if kept is not None and kept.size < np.size(sample_weight):
        self._note_labels(as_labels(Y)[kept])


def learns_more(learn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method such as `partial_fit` that remembers whether all instances of earlier calls have labels.

    If the original method fails, the estimator remembers what it knew before.
    """

    @wraps(learn)
    def learned(self: Any, *given: Any, **named: Any) -> Any:
        is_first, before = not self._is_fitted(), self.all_labelled_
        counted = self.label_counts_, self.n_counted_
        try:
            result = learn(self, *given, **named)
        except BaseException:
            self.all_labelled_ = before
            self.label_counts_, self.n_counted_ = counted
            raise
        self.all_labelled_ = self.all_labelled_ and (is_first or before)
        return result

    return learned


def takes_no_weights(name: str) -> InvalidParameterError:
    """Return the error to raise if instance weights are passed to an estimator that does not accept them."""
    found = f"found sample_weight, expected none, because {name} does not support weights"
    return InvalidParameterError(f"{name}.fit: {found}. Leave the argument out, or use {WEIGHTED}.")


def not_finite(model: object, values: np.ndarray) -> InvalidDataError:
    """Return the error to raise if training has produced weights that are not finite."""
    sizes = np.abs(values[values != 0])
    found = f"absolute values of X from {sizes.min(initial=np.inf):g} to {sizes.max(initial=0):g}"
    said = "Scale the features with sklearn.preprocessing.MaxAbsScaler, or use hyperparameters nearer to their defaults"
    return InvalidDataError(f"{type(model).__name__}: found weights beyond single precision, for {found}. {said}.")
