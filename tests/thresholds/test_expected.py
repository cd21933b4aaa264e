"""Thresholds with the largest expected macro-F, compared with every threshold in exact
fractions.
"""

from fractions import Fraction

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from threshold_cases import CASES, candidate_sets, random_case

from xmlc.core.errors import NotFittedError, XmlcError
from xmlc.metrics.measure import F1, JACCARD, f_beta
from xmlc.thresholds import ExpectedF

THOROUGH = settings(max_examples=60)


def ratio_of(overlap, estimates, chosen, positives=0):
    """Return the overlap's ratio of expectations as a fraction, 0 for the empty set.

    The expected number of positives is at least ``positives``.
    """
    gain, recall, shared = map(Fraction, overlap)
    hits = sum(map(Fraction, estimates[chosen].tolist()))
    if not hits:
        return Fraction(0)
    positives = max(positives, sum(map(Fraction, estimates.tolist())))
    return gain * hits / (recall * positives + int(chosen.sum()) - shared * hits)


def best_ratio(overlap, estimates, positives=0):
    """Return the highest ratio of all sets that a threshold can predict."""
    sets = candidate_sets(estimates)
    return max(ratio_of(overlap, estimates, chosen, positives) for chosen in sets)


@THOROUGH
@given(
    **CASES,
    overlap=st.sampled_from([F1, f_beta(2), f_beta(0.5), JACCARD]),
    zero=st.sampled_from([0, 1]),
    known=st.booleans(),
)
def test_no_threshold_has_a_higher_ratio(n, m, seed, overlap, zero, known):
    """A known prior adds the positives that the estimates lack."""
    spe, _ = random_case(n, m, seed)
    prior = np.zeros(m)
    method = ExpectedF(overlap, zero)
    if known:
        prior = np.random.default_rng(seed).uniform(0, 1, m)
        method.set_params(prior=prior)
    method.fit(spe)
    predicted = method.predict(spe).toarray()
    for j, estimates in enumerate(spe.toarray().T):
        positives = n * Fraction(prior[j])
        best = best_ratio(overlap, estimates, positives)
        missing = max(0, positives - sum(map(Fraction, estimates.tolist())))
        absent = zero * np.prod(1 - estimates.astype(np.float64)) * np.exp(-float(missing))
        assert method.expected_[j] == pytest.approx(max(float(best), absent), abs=1e-12)
        if absent > best + Fraction(1, 10**12):
            assert not predicted[:, j].any()
        elif absent < best - Fraction(1, 10**12):
            found = ratio_of(overlap, estimates, predicted[:, j], positives)
            assert float(found) == pytest.approx(float(best), abs=1e-12)


@THOROUGH
@given(**CASES, kappa=st.sampled_from([0.2, 0.4]))
def test_loss_due_to_minimum_probability_is_bounded(n, m, seed, kappa):
    spe, _ = random_case(n, m, seed)
    whole = spe.toarray()
    above = np.where(whole > kappa, whole, 0)
    method = ExpectedF().fit(above)
    predicted = method.predict(above).toarray()
    missing = ((whole > 0) & (whole <= kappa)).sum(axis=0)
    for j in np.flatnonzero(method.thresholds_ >= kappa):
        base = predicted[:, j].sum() + above[:, j].sum(dtype=np.float64)
        share = base / (base + missing[j] * kappa)
        found = ratio_of(F1, whole[:, j], predicted[:, j])
        assert float(found) >= share * float(best_ratio(F1, whole[:, j])) - 1e-6


def test_tiny_absent_and_certain_estimates_give_finite_thresholds():
    tiny = np.full((3, 1), 1e-30, dtype=np.float32)
    assert ExpectedF().fit(tiny).predict(tiny).toarray().all()
    assert ExpectedF(zero_division=1).fit(tiny).predict(tiny).nnz == 0
    nothing = sparse.csr_array((3, 2), dtype=np.float32)
    assert ExpectedF().fit(nothing).expected_.tolist() == [0, 0]
    assert ExpectedF(zero_division=1).fit(nothing).expected_.tolist() == [1, 1]
    certain = ExpectedF().fit([[1.0], [0.0]])
    assert certain.expected_.tolist() == [1]
    assert certain.thresholds_.tolist() == [0.5]


def test_expected_f_follows_scikit_learn_and_refuses_invalid_input():
    assert clone(ExpectedF(overlap=JACCARD)).overlap == JACCARD
    with pytest.raises(NotFittedError):
        ExpectedF().predict([[0.5]])
    for method, facts in (
        (ExpectedF(zero_division=0.5), ["zero_division=0.5"]),
        (ExpectedF(min_share=-1), ["min_share=-1"]),
        (ExpectedF(prior=np.zeros(3)), ["prior", "(3,)", "(1,)"]),
    ):
        with raises_with(XmlcError, facts):
            method.fit([[0.5]])


@THOROUGH
@given(**CASES, min_share=st.sampled_from([0.25, 1.0]), zero=st.sampled_from([0, 1]))
def test_floor_is_a_share_of_mean_threshold(n, m, seed, min_share, zero):
    spe, _ = random_case(n, m, seed)
    plain = ExpectedF(zero_division=zero).fit(spe)
    raised = ExpectedF(zero_division=zero, min_share=min_share).fit(spe)
    ratios = ExpectedF().fit(spe).expected_ / 2
    mean = ratios[ratios > 0].mean() if ratios.any() else 0.0
    empty = zero * (np.prod(1 - spe.toarray().astype(np.float64), axis=0) >= 2 * ratios)
    least = np.where(empty, mean, min_share * mean)
    np.testing.assert_allclose(raised.thresholds_, np.maximum(plain.thresholds_, least), rtol=1e-6)
    np.testing.assert_array_equal(raised.expected_, plain.expected_)


def test_labels_without_estimates_in_fit_are_predicted_above_floor():
    fitted = [[0.8, 0.0], [0.4, 0.0]]
    others = [[0.5, 0.1], [0.1, 0.9]]
    for min_share, expected in ((0.0, [[1, 1], [0, 1]]), (0.5, [[1, 0], [0, 1]])):
        method = ExpectedF(min_share=min_share).fit(fitted)
        np.testing.assert_array_equal(method.predict(others).toarray(), expected)
