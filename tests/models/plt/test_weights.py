"""Weights from their arrays, lookup of features in a block, and links from scores to estimates."""

import numpy as np
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from plt_cases import hashed_nodes, random_nodes

from xmlc.core.errors import XmlcError
from xmlc.models.plt.matching import clear_features, find_marked, mark_features, match_features
from xmlc.models.plt.weights import LOGISTIC_LINK, estimate_scores, scratch_for, weights_from_state


def test_arrays_of_inconsistent_weights_are_refused():
    arrays = hashed_nodes(random_nodes(9, 3, 5, 0)[0], 7)._asdict()
    del arrays["seed"]
    with raises_with(XmlcError, "bias", "children"):
        weights_from_state(arrays, {}, 10**6, 9)


@settings(deadline=None, max_examples=30)
@given(
    d=st.integers(1, 300),
    wanted=st.integers(0, 60),
    known=st.integers(0, 300),
    seed=st.integers(0, 99),
)
def test_both_lookups_find_features(d, wanted, known, seed):
    rng = np.random.default_rng(seed)
    ids = np.sort(rng.choice(d, min(d, wanted), replace=False)).astype(np.uint32)
    features = np.sort(rng.choice(d, min(d, known), replace=False)).astype(np.uint32)
    values = rng.random(ids.size).astype(np.float32)
    inside = np.isin(ids, features)
    scratch = scratch_for(1, (d, ids.size, 1))

    def check(count):
        np.testing.assert_array_equal(scratch.ids[:count], np.searchsorted(features, ids[inside]))
        np.testing.assert_array_equal(scratch.values[:count], values[inside])

    check(match_features(ids, values, features, scratch.ids, scratch.values))
    mark_features(features, scratch)
    check(find_marked(ids, values, *scratch[:4]))
    clear_features(features, scratch)
    assert not scratch.words.any()


def test_links_equal_their_formulas():
    scores = np.array([-30, -1, 0, 0.5, 1, 2, 30], dtype=np.float32)
    expected = {LOGISTIC_LINK: 1 / (1 + np.exp(-scores.astype(float)))}
    for power in (1, 2, 3, 4):
        expected[power] = np.exp(-(np.maximum(1 - scores.astype(float), 0) ** power))
    for link, values in expected.items():
        estimates = scores.copy()
        estimate_scores(estimates, link)
        np.testing.assert_allclose(estimates, values, rtol=1e-5, atol=1e-37)
