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

THOROUGH = settings(deadline=None, max_examples=60)


def ratio_of(overlap, estimates, chosen):
    """Return the overlap's ratio of expectations as a fraction, 0 for the empty set."""
    gain, recall, shared = map(Fraction, overlap)
    hits = sum(map(Fraction, estimates[chosen].tolist()))
    if not hits:
        return Fraction(0)
    mass = sum(map(Fraction, estimates.tolist()))
    return gain * hits / (recall * mass + int(chosen.sum()) - shared * hits)


def best_ratio(overlap, estimates):
    """Return the highest ratio of all sets that a threshold can predict."""
    return max(ratio_of(overlap, estimates, chosen) for chosen in candidate_sets(estimates))


@THOROUGH
@given(
    **CASES,
    overlap=st.sampled_from([F1, f_beta(2), f_beta(0.5), JACCARD]),
    zero=st.sampled_from([0, 1]),
)
def test_no_threshold_has_a_higher_ratio(n, m, seed, overlap, zero):
    spe, _ = random_case(n, m, seed)
    method = ExpectedF(overlap=overlap, zero_division=zero).fit(spe)
    predicted = method.predict(spe).toarray()
    for j, estimates in enumerate(spe.toarray().T):
        best = best_ratio(overlap, estimates)
        absent = zero * np.prod(1 - estimates.astype(np.float64))
        assert method.expected_[j] == pytest.approx(max(float(best), absent), abs=1e-12)
        if absent > best + Fraction(1, 10**12):
            assert not predicted[:, j].any()
        elif absent < best - Fraction(1, 10**12):
            found = ratio_of(overlap, estimates, predicted[:, j])
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
    for wrong in ({"zero_division": 0.5}, {"min_share": -1}):
        ((name, value),) = wrong.items()
        with raises_with(XmlcError, f"{name}={value}"):
            ExpectedF(**wrong).fit([[0.5]])
    with raises_with(XmlcError, "1.5"):
        ExpectedF().fit([[1.5]])
    with raises_with(XmlcError, "prior", "(3,)", "(1,)"):
        ExpectedF(prior=np.zeros(3)).fit([[0.5]])


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


@THOROUGH
@given(**CASES, zero=st.sampled_from([0, 1]))
def test_prior_adds_positives_that_estimates_lack(n, m, seed, zero):
    spe, _ = random_case(n, m, seed)
    prior = np.random.default_rng(seed).uniform(0, 1, m)
    method = ExpectedF(prior=prior, zero_division=zero).fit(spe)
    predicted = method.predict(spe).toarray()
    for j, column in enumerate(spe.toarray().T.astype(np.float64)):
        positives = max(column.sum(), n * prior[j])

        def value(chosen, column=column, positives=positives):
            return 2 * column[chosen].sum() / max(chosen.sum() + positives, 1e-300)

        absent = zero * np.prod(1 - column) * np.exp(column.sum() - positives)
        best = max(map(value, candidate_sets(column)))
        assert method.expected_[j] == pytest.approx(max(absent, best), abs=1e-12)
        if absent > best + 1e-9:
            assert not predicted[:, j].any()
        elif absent < best - 1e-9:
            assert value(predicted[:, j]) == pytest.approx(best, abs=1e-12)
