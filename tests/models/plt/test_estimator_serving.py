"""Serving of a PLT: rankings of single instances."""

import numpy as np
import pytest

from xmlc.models import PLT


@pytest.mark.parametrize(
    ("search", "options"),
    [
        ("certified", {"unit_norm": False}),
        ("certified", {"weight_threshold": 0.02}),
        ("beam", {"weight_threshold": 0.02}),
        ("exact", {"hash_bits": 12}),
    ],
)
def test_rank_one_equals_ranking_in_a_batch_for_features_in_any_order(multilabel, search, options):
    X, Y = multilabel(150, 60, 40, seed=1)
    model = PLT(tree="random", arity=3, epochs=2, search=search, beam=3, **options).fit(X, Y)
    for k in (1, 4, 50):
        labels, scores = model.predict_top_k(X, k)
        for i in range(150):
            indices = X[[i]].indices[::-1].copy()
            one_labels, one_scores = model.rank_one(indices, X[[i]].data[::-1], k)
            np.testing.assert_array_equal(one_labels, labels[i])
            np.testing.assert_array_equal(one_scores, scores[i])
            np.testing.assert_array_equal(indices, X[[i]].indices[::-1])
