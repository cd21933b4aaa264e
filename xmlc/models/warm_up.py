"""A model's first, untimed run on a few rows, which compiles the code to be timed."""

from __future__ import annotations

import math
from typing import Any

from scipy import sparse

from xmlc.core.passport import WARM_UP_ROWS
from xmlc.models.abilities import looks_up
from xmlc.models.base import SparseProbabilityEstimator


def warm_up(model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array) -> None:
    """Fit a copy of the model to a few rows, so that compilation is in no measured time."""
    if looks_up(model):
        return
    copy, rows, hyperparameters = model.unfitted(), WARM_UP_ROWS, model.get_params()
    share: Any = hyperparameters.get("warm_start")
    if share:
        # The tree of a warm start is over the labels of this share of the rows: as many rows, and small leaves, so that
        # it has inner nodes and what builds them is compiled.
        copy, rows = copy.set_params(max_leaf=hyperparameters["arity"]), math.ceil(WARM_UP_ROWS / share)
    copy.fit(X[:rows], Y[:rows])
