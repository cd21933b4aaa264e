"""What a prediction costs: without compilation, and nothing where a model only looks up."""

import numpy as np
from scipy import sparse

from xmlc.measuring.prediction import mean_inner_products, predict_timed
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.oracle import Oracle
from xmlc.passport import WARM_UP_ROWS

X = sparse.csr_array((40, 3), dtype=np.float32)


class Counts(SparseProbabilityEstimator):
    """Tells how many rows it was asked for."""

    def __init__(self):
        self.asked = []


def test_a_few_rows_come_first_and_only_all_are_timed():
    model = Counts()
    rows, ms = predict_timed(model, X, lambda part: model.asked.append(part.shape[0]) or part.shape[0])
    assert (rows, model.asked) == (40, [WARM_UP_ROWS, 40])
    assert ms > 0


def test_an_oracle_is_asked_once_and_has_no_time():
    asked = []
    assert predict_timed(Oracle(), X, lambda part: asked.append(part.shape[0])) == (None, None)
    assert asked == [40]


def test_mean_inner_products_are_those_of_the_last_prediction():
    model = Counts()
    assert mean_inner_products(model) is None
    model.inner_products_ = np.array([1, 2, 6])
    assert mean_inner_products(model) == 3.0
    model.inner_products_ = np.empty(0, dtype=np.int64)
    assert mean_inner_products(model) is None
