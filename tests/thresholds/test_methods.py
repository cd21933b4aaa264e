"""Threshold methods: strict comparison of stored estimates, and STO, compared with a plain
search.
"""

import numpy as np
import pandas as pd
import pytest
from facts import raises_with
from hypothesis import settings
from scipy import sparse
from sklearn.base import clone
from threshold_cases import candidate_sets, f_of, random_case

from xmlc.core.errors import NotFittedError, XmlcError
from xmlc.models import FastXML
from xmlc.thresholds import (
    FTA,
    OFO,
    STO,
    CommonThreshold,
    ExpectedF,
    IsotonicCalibration,
    apply_thresholds,
    lower_bounds,
    priors,
    tune,
)
from xmlc.thresholds.methods import as_estimates

THOROUGH = settings(max_examples=60)


def test_estimates_must_exceed_their_threshold():
    spe = np.float32([[0.5, 0.25, 0.0]])
    predicted = apply_thresholds(spe, [0.5, 0.2, -1])
    assert predicted.toarray().tolist() == [[False, True, False]]
    assert predicted.dtype == bool
    assert predicted.indices.dtype == predicted.indptr.dtype == np.int32
    assert apply_thresholds(spe, 0.3).toarray().tolist() == [[True, False, False]]


def exceeding(exact, thresholds):
    """Compare by the rule of the package, in float32."""
    return exact.astype(np.float32) > np.asarray(thresholds, dtype=np.float32)


@pytest.mark.parametrize("seed", range(5))
def test_fit_and_predict_use_the_same_comparison(seed):
    """The float64 estimates equal thresholds, or are so close that float32 merges them."""
    rng = np.random.default_rng(seed)
    numbers = np.append([0.5, 0.25, 0.125, 1 / 3, 1e-4], np.float32([1 / 3, 0.1, 1e-4]))
    exact = rng.choice(numbers, (12, 4)) + rng.choice([0, 0, 1e-9, -1e-9, 1e-12, -1e-12], (12, 4))
    Y = rng.random((12, 4)) < 0.2 + exact
    for thresholds in (0.25, np.float32(0.1), [0.5, 0.25, 1 / 3, 0.1]):
        above = exceeding(exact, thresholds)
        np.testing.assert_array_equal(apply_thresholds(exact, thresholds).toarray(), above)
        sets = STO(kappa=thresholds).fit(exact, Y).predict(exact).toarray()
        assert not (sets & ~above).any()
        for truth, found, estimates in zip(Y.T, sets.T, (exact.astype(np.float32) * above).T):
            best = max(f_of(truth, chosen) for chosen in candidate_sets(estimates))
            assert f_of(truth, found) == best
    for method in (CommonThreshold().fit(exact, Y), ExpectedF().fit(exact)):
        found = method.predict(exact).toarray()
        np.testing.assert_array_equal(found, exceeding(exact, method.thresholds_))


@pytest.mark.parametrize(
    "method",
    [
        STO(kappa=[0.1, 0.2, 0.3]),
        FTA(grid=(2, 4), label_wise=True, lower_bounds=[0.1, 0.2, 0.3]),
        OFO(2, 9, [0.1, 0.2, 0.3]),
    ],
)
def test_methods_follow_scikit_learn(method):
    spe, Y = random_case(8, 3, 0)
    with pytest.raises(NotFittedError):
        method.predict(spe)
    copy = clone(method)
    assert method.fit(spe, Y) is method
    assert method.thresholds_.dtype == np.float32
    np.testing.assert_array_equal(copy.fit(spe, Y).thresholds_, method.thresholds_)


def test_thresholds_just_below_1_are_not_rounded_to_1():
    certain = np.float32([[1.0, 1.0]])
    found = apply_thresholds(certain, np.array([1 - 1e-9, 1 + 1e-9]))
    assert found.toarray().tolist() == [[True, False]]
    X = [[1, 0], [0, 1]] * 5
    assert FastXML(n_trees=1).fit(X, [[1], [1]] * 5).predict(X, 1 - 1e-9).sum() == 10


def test_estimates_in_any_form_give_equal_results_without_copies():
    spe, Y = random_case(9, 5, 4)
    assert np.shares_memory(as_estimates(spe).data, spe.data)
    assert np.shares_memory(as_estimates(spe).indices, spe.indices)
    expected = STO().fit(spe, Y)
    for form in (
        spe.toarray(),
        sparse.csc_array(spe),
        spe.astype(np.float64),
        sparse.csr_matrix(spe),
    ):
        method = STO().fit(form, Y.toarray())
        np.testing.assert_array_equal(method.thresholds_, expected.thresholds_)
        assert (method.predict(form) != expected.predict(spe)).nnz == 0


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0)])
def test_methods_accept_no_instances_and_no_labels(n, m):
    spe = sparse.csr_array((n, m), dtype=np.float32)
    for method in (STO(kappa=0.01), FTA(), FTA(label_wise=True), OFO(b=10)):
        assert method.fit(spe, spe > 0).thresholds_.shape == (m,)
        assert method.predict(spe).shape == (n, m)


@pytest.mark.parametrize("method", [STO(), FTA(), OFO(), ExpectedF(), IsotonicCalibration()])
def test_columns_of_estimates_are_checked_by_name(method):
    spe, Y = (pd.DataFrame(part.toarray(), columns=[*"abc"]) for part in random_case(20, 3, 0))
    turned = [*"cba"]
    method.fit(spe, Y)
    use = getattr(method, "transform", None) or method.predict
    assert use(spe).shape == (20, 3)
    with raises_with(XmlcError, "names"):
        use(spe[turned])
    if hasattr(method, "partial_fit"):
        with raises_with(XmlcError, "names"):
            method.partial_fit(spe[turned], Y[turned])
        method.partial_fit(spe, Y)
    if not isinstance(method, ExpectedF):
        with raises_with(XmlcError, "a, b, c", "c, b, a"):
            method.fit(spe, Y[turned])


@pytest.mark.parametrize(
    "use",
    [
        lambda spe, Y, prior: tune("fta", spe, Y, prior).thresholds,
        lambda spe, Y, prior: ExpectedF(prior=prior).fit(spe).thresholds_,
        lambda spe, Y, prior: FTA(lower_bounds=prior).fit(spe, Y).thresholds_,
        lambda spe, Y, prior: lower_bounds(prior),
    ],
)
def test_priors_may_be_a_list_and_must_be_shares(use):
    spe, Y = random_case(20, 3, 0)
    prior = priors(Y)
    np.testing.assert_array_equal(use(spe, Y, prior.tolist()), use(spe, Y, prior))
    with pytest.raises(XmlcError):
        use(spe, Y, prior * 20)


def test_tune_uses_priors_of_validation_set_by_default():
    spe, Y = random_case(20, 3, 0)
    expected = tune("sto", spe, Y, priors(Y))
    np.testing.assert_array_equal(tune("sto", spe, Y).thresholds, expected.thresholds)


@pytest.mark.parametrize("value", [1, 0.5, np.finfo(np.float32).tiny, 1e-45])
def test_best_threshold_is_next_float_below_the_estimate(value):
    value = np.float32(value)
    (found,) = STO().fit([[value]], [[1]]).thresholds_
    assert found == np.nextafter(value, np.float32(0))
    assert found < value
