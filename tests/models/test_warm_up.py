"""Warm-up before timing: it compiles every kernel that is timed later."""

import pytest
from small_data import random_multilabel

from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.warm_up import WARM_UP_ROWS, warm_up

FITTED = []


class Plain(SparseProbabilityEstimator):
    def fit(self, X, Y):
        FITTED.append((X.shape[0], Y.shape[0], self.get_params()))


class Warm(Plain):
    def __init__(self, warm_start=0.1, arity=2, max_leaf=100):
        self.warm_start = warm_start
        self.arity = arity
        self.max_leaf = max_leaf


class WarmFirst(Warm):
    def __init__(self, warm_start=0.1, arity=2, max_leaf=100, first_max_leaf=50):
        super().__init__(warm_start, arity, max_leaf)
        self.first_max_leaf = first_max_leaf


WITH_NODES = {"warm_start": 0.1, "arity": 2, "max_leaf": 2}


@pytest.mark.parametrize(
    ("model", "rows", "parameters"),
    [
        (Plain(), WARM_UP_ROWS, {}),
        (Warm(warm_start=None), WARM_UP_ROWS, {"warm_start": None, "arity": 2, "max_leaf": 100}),
        # The tree over a tenth of the rows needs inner nodes.
        (Warm(), 10 * WARM_UP_ROWS, WITH_NODES),
        (WarmFirst(), 10 * WARM_UP_ROWS, WITH_NODES | {"first_max_leaf": 2}),
    ],
)
def test_warm_up_fits_a_copy_on_few_rows(model, rows, parameters):
    before = model.get_params()
    FITTED.clear()
    warm_up(model, *random_multilabel(200, 5, 9, seed=1))
    assert [(rows, rows, parameters)] == FITTED
    assert model.get_params() == before
