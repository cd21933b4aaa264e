"""Rankings of single instances: bit-identical to a batch, also from lists, without compilation."""

import warnings

import numpy as np
import pandas as pd
import pytest
from facts import raises_with
from numba.core import event
from scipy import sparse
from small_data import random_multilabel
from small_models import OURS, small

from xmlc.core.errors import XmlcError


@pytest.mark.parametrize("name", OURS)
def test_rank_one_equals_ranking_of_a_matrix(name):
    X, Y = random_multilabel(80, 20, 12, seed=1)
    model = small(name).fit(X, Y)
    rows = model.predict_top_k(X, 15)  # The model has fewer than 15 labels.
    attributes = {*vars(model)}
    for i in range(20):
        one = X[[i]]
        labels, scores = model.rank_one(one.indices.tolist(), one.data.tolist(), 15)
        expected = [part[i] for part in rows]
        if not model._BY_INSTANCE:
            expected = [part[0] for part in model.predict_top_k(one, 15)]
        np.testing.assert_array_equal((labels, scores), expected)
        assert (labels.dtype, scores.dtype) == (np.int32, np.float32)
    model.predict_top_k(X, 3)
    counted = model.inner_products_
    model.rank_one([3], [1.0])
    assert model.inner_products_ is counted
    assert vars(model).keys() == attributes
    none = model.predict_top_k(sparse.csr_array((1, 20)), 3)
    np.testing.assert_array_equal(model.rank_one([], [], 3), [part[0] for part in none])


@pytest.mark.parametrize("name", OURS)
def test_requests_compile_nothing_after_warm_up(name):
    X, Y = random_multilabel(80, 20, 12, seed=1)
    model = small(name).fit(X, Y)
    assert model.warm_up() is model
    with event.install_recorder("numba:compile") as compiled:
        model.rank_one(X.indices[: X.indptr[1]], X.data[: X.indptr[1]].astype(np.float64), 3)
        model.predict_top_k(X[[0]].astype(np.float64), 3)
        model.predict_proba(X[[0]], 0.1)
    assert not compiled.buffer


def test_rank_one_refuses_invalid_instances_and_k():
    X, Y = random_multilabel(40, 20, 12)
    model = small("swnn")
    with pytest.raises(ValueError):
        model.rank_one([0], [1.0])
    model.fit(X, Y)
    for indices, values, k, message in (
        ([20], [1.0], 1, "feature 20"),
        ([2, 3, 2], [1.0] * 3, 1, "feature 2"),
        ([1], [-np.inf], 1, "-inf"),
        ([1], [np.nan], 1, "nan"),
        ([-1], [1.0], 1, "feature -1"),
        ([1 << 32], [1.0], 1, "feature 4294967296"),
        ([1.5], [1.0], 1, "float64"),
        ([1], [1.0, 2.0], 1, ["(1,)", "(2,)"]),
        ([1], [1.0], 0, "k=0"),
        ([1], [1.0], 2.5, "k=2.5"),
    ):
        with raises_with(XmlcError, message) as refused:
            model.rank_one(indices, values, k)
        assert isinstance(refused.value, ValueError)


def test_rank_one_does_not_warn_about_feature_names():
    X, Y = random_multilabel(40, 5, 4)
    model = small("swnn").fit(pd.DataFrame(X.toarray(), columns=list("abcde")), Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.warm_up().rank_one([0, 1], [0.5, 0.2], 5)
