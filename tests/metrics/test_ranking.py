"""Metrics of rankings against plain loops and scikit-learn."""

import numpy as np
import pytest
import sklearn.metrics as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.metrics import (
    maximum_precision_at_k,
    ndcg_at_k,
    precision_at_k,
    propensities,
    propensity_parameters,
    psp_at_k,
)
from xmlc.metrics.ranking import standard_errors


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


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 12), m=st.integers(5, 12), k=st.integers(1, 5), seed=st.integers(0, 999))
def test_ndcg_equals_plain_loops_with_missing_labels_and_unlabelled_instances(n, m, k, seed):
    Y, _, labels = ranking_case(n, m, seed)
    Y[0] = False
    labels[-1, 1:] = -1
    total = 0.0
    for truth, ranked in zip(Y, labels):
        gained = sum(1 / np.log2(r + 2) for r in range(k) if ranked[r] >= 0 and truth[ranked[r]])
        ideal = sum(1 / np.log2(r + 2) for r in range(min(k, truth.sum())))
        total += gained / ideal if ideal else 0.0
    assert ndcg_at_k(Y, labels, k) == pytest.approx(total / n)


@pytest.mark.needs("peers")
@pytest.mark.parametrize(("a", "b"), [(0.55, 1.5), (0.5, 0.4), (0.6, 2.6)])
def test_rankings_and_propensities_equal_a_second_public_implementation(a, b):
    import napkinxc.metrics as peer_metrics

    rng = np.random.default_rng(7)
    Y = rng.random((200, 30)) < rng.random(30) * 0.3
    Y[:, 0] |= ~Y.any(1)  # the peer leaves unlabelled instances out of its means
    labels = np.argsort(-(Y * 0.3 + rng.random(Y.shape)), axis=1)[:, :5].astype(np.int32)
    truth = sparse.csr_matrix(Y.astype(np.float32))
    ranked = labels.tolist()
    propensity = propensities(Y, a, b)
    np.testing.assert_allclose(propensity, peer_metrics.Jain_et_al_propensity(truth, A=a, B=b), rtol=1e-6)
    precision, ndcg = (metric(truth, ranked, k=5) for metric in (peer_metrics.precision_at_k, peer_metrics.ndcg_at_k))
    psp = peer_metrics.psprecision_at_k(truth, ranked, 1 / propensity, k=5, normalize=True)
    for k in (1, 3, 5):
        assert precision_at_k(Y, labels, k) == pytest.approx(precision[k - 1])
        assert ndcg_at_k(Y, labels, k) == pytest.approx(ndcg[k - 1])
        assert psp_at_k(Y, labels, propensity, k) == pytest.approx(psp[k - 1])


def test_propensities_follow_the_formula_and_rise_with_frequency():
    Y = np.zeros((1000, 4), dtype=bool)
    Y[:500, 0] = Y[:50, 1] = Y[:5, 2] = True
    p = propensities(Y, 0.55, 1.5)
    c = (np.log(1000) - 1) * 2.5**0.55
    np.testing.assert_allclose(p, [1 / (1 + c * (f + 1.5) ** -0.55) for f in (500, 50, 5, 0)])
    assert (np.diff(p) < 0).all()


def test_propensity_parameters_by_dataset():
    for wikipedia in ("wikilshtc-325k", "wikipedia-500k", "lf-wikipedia-500k", "lf-wikititles-500k"):
        assert propensity_parameters(wikipedia) == (0.5, 0.4)
    for amazon in ("amazon-670k", "Amazon-3M", "amazontitles-670k", "lf-amazontitles-131k"):
        assert propensity_parameters(amazon) == (0.6, 2.6)
    for other in ("amazoncat-13k", "eurlex-4k", "wiki10-31k", "bibtex", "wikipara-3", "lf-wikiseealso-320k"):
        assert propensity_parameters(other) == (0.55, 1.5)


def test_propensities_of_tiny_sets_stay_probabilities():
    for n in (0, 1, 2, 3):
        p = propensities(np.ones((n, 2), dtype=bool))
        assert ((p > 0) & (p <= 1)).all()


def test_bad_rankings_are_named():
    with pytest.raises(XmlcError, match="k=4"):
        precision_at_k(np.zeros((2, 5)), np.zeros((2, 3), dtype=np.int32), 4)
    with pytest.raises(XmlcError, match="do not fit 2 instances"):
        precision_at_k(np.zeros((2, 5)), np.zeros((3, 3), dtype=np.int32), 1)
    for wrong in (np.ones(4), np.zeros(5)):
        with pytest.raises(XmlcError, match=r"expected \(5,\): one number above 0"):
            psp_at_k(np.zeros((2, 5)), np.zeros((2, 3), dtype=np.int32), wrong, 1)


def test_maximum_precision_by_hand():
    Y = np.zeros((3, 6), dtype=bool)
    Y[0, :4] = Y[1, 5] = True  # and one without labels
    assert [maximum_precision_at_k(Y, k) for k in (1, 3, 5)] == pytest.approx([2 / 3, 4 / 9, 1 / 3])
    assert maximum_precision_at_k(Y[:0], 1) == 0


@settings(deadline=None, max_examples=20)
@given(n=st.integers(1, 12), m=st.integers(5, 12), k=st.integers(1, 5), seed=st.integers(0, 999))
def test_maximum_precision_is_that_of_the_truth_itself(n, m, k, seed):
    Y = ranking_case(n, m, seed)[0]
    assert maximum_precision_at_k(Y, k) == precision_at_k(Y, np.argsort(~Y, axis=1, kind="stable").astype(np.int32), k)


@settings(deadline=None, max_examples=20)
@given(n=st.integers(2, 12), m=st.integers(5, 12), seed=st.integers(0, 999))
def test_standard_errors_are_those_of_the_scores_of_single_instances(n, m, seed):
    Y, _, labels = ranking_case(n, m, seed)
    found = standard_errors(Y, labels)
    for name, metric in (("p", precision_at_k), ("ndcg", ndcg_at_k)):
        for k in (1, 3, 5):
            scores = [metric(Y[i : i + 1], labels[i : i + 1], k) for i in range(n)]
            assert found[f"{name}@{k}"] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(n))


def test_the_standard_error_of_one_instance_is_nothing():
    Y, _, labels = ranking_case(1, 6, 0)
    assert set(standard_errors(Y, labels).values()) == {0.0}
