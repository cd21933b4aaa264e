"""Thresholds in one pass over a validation set whose estimates are not stored (plt2016, Sections 4.2 and 4.3)."""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

import numpy as np
from scipy import sparse

from xmlc.csr import as_features, as_labels
from xmlc.errors import XmlcError


class OnePass(Protocol):
    """A threshold method that needs no stored estimates: `FTA` and `OFO`. STO sorts them, and has none."""

    def partial_fit(self, spe: object, Y: object) -> Self:
        """Learn from the estimates and label sets of more instances."""

    def floors(self, n_labels: int) -> np.ndarray:
        """Return what an estimate must exceed to matter, float32 of shape (m,)."""


class Estimating(Protocol):
    """A fitted model."""

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates above a threshold, float32 of shape (n, m)."""


M = TypeVar("M", bound=OnePass)


def fit_in_one_pass(method: M, model: Estimating, X: object, Y: object, floor: float = 0.0, instances: int = 1024) -> M:
    """Learn thresholds from a model's estimates, which are made a few instances at a time and forgotten.

    The same thresholds as ``method.fit(model.predict_proba(X, floors), Y)`` gives, to the last bit, in memory for the
    counters of the labels and the estimates of ``instances`` instances. FTA's estimates end at its lowest
    kappa_j, OFO's at nu_j.

    Parameters
    ----------
    method : FTA or OFO
        Not fitted; one that is fitted goes on from what it has seen.
    model : estimator
        Fitted.
    X : sparse or dense array, shape (n, d)
    Y : sparse or dense boolean array, shape (n, m)
        The validation set, in the order in which it is passed over.
    floor : float
        Estimates at or below it are left out, too.
    instances : int
        How many are estimated together.

    Raises
    ------
    XmlcError
        X and Y differ in length, or ``instances`` is less than 1.
    """
    X, Y = as_features(X), as_labels(Y)
    if X.shape[0] != Y.shape[0]:
        raise XmlcError(f"X has {X.shape[0]} instances but Y has {Y.shape[0]}")
    if instances < 1:
        raise XmlcError(f"instances={instances}: expected at least one at a time")
    floors = np.maximum(method.floors(Y.shape[1]), np.float32(floor))
    for start in range(0, max(X.shape[0], 1), instances):
        block = slice(start, start + instances)
        method.partial_fit(model.predict_proba(X[block], floors), Y[block])
    return method
