"""Serving of a PLT: rankings of single instances."""

import numpy as np
import pytest

from xmlc.models import PLT


@pytest.mark.parametrize(
    "options", [{}, {"weight_threshold": 0.02}, {"unit_norm": False}, {"hash_bits": 12}]
)
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
    indices = np.array([7, 2, 4])
    values = np.float32([0.5, 3.0, 1.7])
    for one, other in zip(
        model.rank_one(indices, values, 3),
        model.rank_one(indices[[1, 2, 0]], values[[1, 2, 0]], 3),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    assert indices.tolist() == [7, 2, 4]
    for one, other in zip(
        model.rank_one([], [], 3), model.predict_top_k(np.zeros((1, 10)), 3), strict=True
    ):
        np.testing.assert_array_equal(one, other[0])
