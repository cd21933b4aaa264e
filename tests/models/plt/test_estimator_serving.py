"""Serving of a PLT: rankings of single instances."""

import numpy as np
import pytest
from facts import raises_with

from xmlc.core.errors import XmlcError
from xmlc.models import PLT


@pytest.mark.parametrize("options", [{}, {"weight_threshold": 0.02}, {"unit_norm": False}, {"hash_bits": 12}])
@pytest.mark.parametrize("search", ["certified", "beam", "exact"])
def test_rank_one_equals_ranking_in_a_batch(multilabel, options, search):
    X, Y = multilabel(150, 60, 40, seed=1)
    model = PLT(tree="random", arity=3, epochs=2, search=search, beam=3, **options).fit(X, Y)
    for k in (1, 4, 50):
        labels, scores = model.predict_top_k(X, k)
        for i in range(X.shape[0]):
            row = slice(X.indptr[i], X.indptr[i + 1])
            one_labels, one_scores = model.rank_one(X.indices[row], X.data[row], k)
            np.testing.assert_array_equal(one_labels, labels[i])
            np.testing.assert_array_equal(one_scores, scores[i])


def test_rank_one_accepts_features_in_any_order(multilabel):
    X, Y = multilabel(20, 10, 5)
    model = PLT().fit(X, Y)
    indices, values = np.array([7, 2, 4]), np.float32([0.5, 3.0, 1.7])
    for one, other in zip(
        model.rank_one(indices, values, 3), model.rank_one(indices[[1, 2, 0]], values[[1, 2, 0]], 3), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    assert indices.tolist() == [7, 2, 4]
    for one, other in zip(model.rank_one([], [], 3), model.predict_top_k(np.zeros((1, 10)), 3), strict=True):
        np.testing.assert_array_equal(one, other[0])


@pytest.mark.parametrize(
    ("indices", "values", "facts"),
    [
        ([2, 3, 2], [1.0, 1.0, 1.0], ["feature 2"]),
        ([10], [1.0], ["10"]),
        ([-1], [1.0], ["-1"]),
        ([1 << 32], [1.0], ["4294967296"]),
        ([1], [np.nan], ["nan"]),
        ([1, 2], [1.0], []),
        ([1.5], [1.0], ["integers"]),
    ],
)
def test_rank_one_refuses_invalid_instances(multilabel, indices, values, facts):
    X, Y = multilabel(20, 10, 5)
    with raises_with(XmlcError, facts):
        PLT().fit(X, Y).rank_one(indices, values, 1)


def test_rank_one_accepts_lists(multilabel):
    X, Y = multilabel(60, 10, 8)
    model = PLT(tree="random", arity=3).fit(X, Y)
    dense = np.zeros((1, 10))
    dense[0, [2, 7]] = 0.5, 3.0
    np.testing.assert_array_equal(model.rank_one([2, 7], [0.5, 3.0], 4)[0], model.predict_top_k(dense, 4)[0][0])
