"""A trial run on a few rows, before any measurement, that compiles a model's code and saves it."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.models.base import SparseProbabilityEstimator

#: Rows on which a step first runs to compile its kernels, so that measured times exclude this.
WARM_UP_ROWS = 8
# A loaded model may sum in another order, which changes its estimates a little.
CLOSE = 1e-6


def warm_up(
    model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array
) -> SparseProbabilityEstimator | None:
    """Fit a copy of the model to a few rows and return it, so that its code is compiled."""
    if not model.compiles:
        return None
    copy = model.unfitted()
    params: Any = model.get_params()
    share = params.get("warm_start")  # of the rows, for the first tree
    rows = WARM_UP_ROWS
    if share:
        rows = math.ceil(WARM_UP_ROWS / share)
    if share or params.get("max_leaf", 0) is None:
        # With small leaves, a tree over few labels has inner nodes, whose code is then compiled.
        copy.set_params(max_leaf=params["arity"])
        if params.get("first_max_leaf") is not None:
            copy.set_params(first_max_leaf=params["arity"])
    copy.fit(X[:rows], Y[:rows])
    return copy


def check_kept(
    estimator: str, model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array
) -> None:
    """Raise an error if saving and loading changes a model of a custom class.

    Only an ``estimator`` name with the path of a Python file leads to a check, for which a copy of
    the untrained model is fitted to a few rows.

    The model must be saved, and return the same estimates after it is loaded.
    """
    copy = None
    if ".py:" in estimator:
        copy = warm_up(model, X, Y)
    if copy is None:
        return
    X = X[:WARM_UP_ROWS]
    Y = Y[:WARM_UP_ROWS]
    if not hasattr(copy, "n_labels_"):
        advice = "Make X, Y = self._training_data(X, Y) the first line of fit."
        raise XmlcError(f"{estimator}: found no n_labels_ after fit. {advice}")
    # a class without `predict_proba` only draws samples
    only_draws = type(copy).predict_proba is SparseProbabilityEstimator.predict_proba

    def estimates_of(fitted: SparseProbabilityEstimator) -> Any:
        if only_draws:
            return sparse.csr_array(Y.shape)
        return fitted.predict_proba(X)

    expected = estimates_of(copy)
    if not isinstance(expected, sparse.csr_array) or expected.shape != Y.shape:
        said = f"{type(expected).__name__} {getattr(expected, 'shape', '')}"
        raise XmlcError(
            f"{estimator}: found {said} from predict_proba, expected csr_array {Y.shape}"
        )
    with TemporaryDirectory() as folder:
        copy.save(Path(folder, "model"))
        try:
            found = estimates_of(type(copy).load(Path(folder, "model")))
            reason = ""
            if abs(found - expected).max() > CLOSE:
                reason = "its estimates differ"
        except Exception as error:  # code of the user may raise any error
            reason = f"{type(error).__name__}: {error}"
    if reason:
        said = "attributes that end in _, or save and set it with the methods _state and _restore."
        raise XmlcError(
            f"{estimator}: found an error after save and load ({reason}). Keep the state of fit "
            f"in {said}"
        )
