"""A model's first, untimed run on a few rows: it compiles the code to be timed, and tells what a user's class keeps."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.passport import WARM_UP_ROWS
from xmlc.models.abilities import looks_up
from xmlc.models.base import SparseProbabilityEstimator

CLOSE = 1e-6  # some programs sum in another order after they have loaded a model


def warm_up(
    model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array
) -> SparseProbabilityEstimator | None:
    """Fit a copy of the model to a few rows, which keeps compilation out of measured times, and return the copy."""
    if looks_up(model) or not model.compiles:
        return None
    copy, hyperparameters = model.unfitted(), model.get_params()
    share: Any = hyperparameters.get("warm_start")
    rows = math.ceil(WARM_UP_ROWS / (share or 1))  # the tree of a warm start is over the labels of this share of them
    if share or hyperparameters.get("max_leaf", 0) is None:
        # Small leaves, so that the tree over the labels of few rows has inner nodes and what builds them is compiled.
        copy.set_params(max_leaf=hyperparameters["arity"])
    copy.fit(X[:rows], Y[:rows])
    return copy


def check_kept(estimator: str, model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array) -> None:
    """Refuse a class of the user's own whose copy, fitted to a few rows, is not the same once it was saved.

    Parameters
    ----------
    estimator : str
        As the configuration names it.
    model : SparseProbabilityEstimator
    X : csr_array, shape (n, d)
    Y : csr_array of bool, shape (n, m)

    Raises
    ------
    XmlcError
        It keeps what cannot be saved, or gives no estimates, or others when it is loaded.
    """
    copy = warm_up(model, X, Y) if ".py:" in estimator else None
    if copy is None:
        return
    X, Y = X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS]
    if not hasattr(copy, "n_labels_"):
        raise XmlcError(f"{estimator}: fit does not set n_labels_; begin it with X, Y = self._training_data(X, Y)")
    estimates = type(copy).predict_proba is not SparseProbabilityEstimator.predict_proba  # or it only draws samples
    expected: Any = copy.predict_proba(X) if estimates else sparse.csr_array(Y.shape)
    if not isinstance(expected, sparse.csr_array) or expected.shape != Y.shape:
        said = f"{type(expected).__name__} {getattr(expected, 'shape', '')}"
        raise XmlcError(f"{estimator}: predict_proba returns {said}; expected csr_array {Y.shape}")
    with TemporaryDirectory() as folder:
        copy.save(Path(folder, "model"))
        try:
            loaded = type(copy).load(Path(folder, "model"))
            found: Any = loaded.predict_proba(X) if estimates else expected
            reason = "its estimates differ" if abs(found - expected).max() > CLOSE else ""
        except Exception as error:  # of the user's code
            reason = f"{type(error).__name__}: {error}"
    if reason:
        raise XmlcError(
            f"{estimator}: once it is saved and loaded, {reason}; expected that all that fit keeps stands in "
            "attributes that end in _, or in what the methods _state and _restore save and set"
        )
