"""Metrics of rankings against plain loops and scikit-learn."""

import numpy as np
import pytest
import sklearn.metrics as peer
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.errors import XmlcError
from xmlc.metrics import ndcg_at_k, precision_at_k, propensities, propensity_parameters, psp_at_k


def ranking_case(n, m, seed):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, m)) < 0.3
    scores = rng.random((n, m))
    return Y, scores, np.argsort(-scores, axis=1).astype(np.int32)


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 12), m=st.integers(5, 12), k=st.integers(1, 5), seed=st.integers(0, 999))
def test_precision_and_psp_equal_plain_loops(n, m, k, seed):
    Y, _, labels = ranking_case(n, m, seed)
    labels[0, 1:] = -1  # fewer labels than asked for
    propensity = np.random.default_rng(seed).uniform(0.1, 1, m)
    hits = reached = best = 0
    for i in range(n):
        for label in labels[i, :k]:
            if label >= 0 and Y[i, label]:
                hits += 1
                reached += 1 / propensity[label]
        best += sum(sorted((1 / propensity[Y[i]]).tolist(), reverse=True)[:k])
    assert precision_at_k(Y, labels, k) == pytest.approx(hits / (n * k))
    assert psp_at_k(Y, labels, propensity, k) == pytest.approx(reached / best if best else 0)


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 12), m=st.integers(5, 12), k=st.integers(1, 5), seed=st.integers(0, 999))
def test_ndcg_equals_scikit_learn(n, m, k, seed):
    Y, scores, labels = ranking_case(n, m, seed)
    assert ndcg_at_k(Y, labels, k) == pytest.approx(peer.ndcg_score(Y, scores, k=k))


def test_ideal_ranking_scores_one():
    Y = np.array([[1, 1, 0, 0], [0, 0, 0, 1]])
    labels = np.array([[1, 0, 2], [3, 0, 1]], dtype=np.int32)
    propensity = np.array([0.2, 0.1, 0.5, 0.9])
    for k in (1, 2, 3):
        assert psp_at_k(Y, labels, propensity, k) == pytest.approx(1)
        assert ndcg_at_k(Y, labels, k) == pytest.approx(1)
    assert precision_at_k(Y, labels, 2) == pytest.approx(3 / 4)


def test_propensities_follow_the_formula_and_rise_with_frequency():
    Y = np.zeros((1000, 4), dtype=bool)
    Y[:500, 0] = Y[:50, 1] = Y[:5, 2] = True
    p = propensities(Y, 0.55, 1.5)
    c = (np.log(1000) - 1) * 2.5**0.55
    np.testing.assert_allclose(p, [1 / (1 + c * (f + 1.5) ** -0.55) for f in (500, 50, 5, 0)])
    assert (np.diff(p) < 0).all()


def test_propensity_parameters_by_dataset():
    assert propensity_parameters("wikilshtc-325k") == (0.5, 0.4)
    assert propensity_parameters("amazon-670k") == (0.6, 2.6)
    for other in ("amazoncat-13k", "eurlex-4k", "wiki10-31k", "bibtex"):
        assert propensity_parameters(other) == (0.55, 1.5)


def test_bad_rankings_are_named():
    with pytest.raises(XmlcError, match="k=4"):
        precision_at_k(np.zeros((2, 5)), np.zeros((2, 3), dtype=np.int32), 4)
    with pytest.raises(XmlcError, match="do not fit 2 instances"):
        precision_at_k(np.zeros((2, 5)), np.zeros((3, 3), dtype=np.int32), 1)
