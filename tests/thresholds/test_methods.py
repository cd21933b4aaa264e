"""Threshold methods: strict comparison of stored estimates, and STO, compared with a plain
search.
"""

from itertools import chain

import numpy as np
import pandas as pd
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from threshold_cases import CASES, candidate_sets, f_of, naive_candidate, random_case, row_wise_ofo

from xmlc.core.errors import NotFittedError, XmlcError
from xmlc.metrics import macro_f
from xmlc.models import FastXML
from xmlc.thresholds import (
    FTA,
    OFO,
    STO,
    CommonThreshold,
    ExpectedF,
    IsotonicCalibration,
    LabelSets,
    apply_thresholds,
    lower_bounds,
    priors,
    tune,
)
from xmlc.thresholds.methods import as_estimates, checked_pair, per_label
from xmlc.thresholds.one_pass import label_tasks

THOROUGH = settings(deadline=None, max_examples=60)


@THOROUGH
@given(**CASES, truncated=st.booleans())
def test_sto_finds_best_threshold_above_kappa(n, m, seed, truncated):
    spe, Y = random_case(n, m, seed)
    minima = np.random.default_rng(seed).choice(np.float32([0, 1 / 6, 0.3, 0.9]), m) * np.float32(
        truncated
    )
    found = STO(kappa=minima).fit(spe, Y).thresholds_
    estimates = spe.toarray()
    truth = Y.toarray()
    for j in range(m):
        above = estimates[:, j] > minima[j]
        cut = (
            naive_candidate(estimates[above, j], truth[above, j].tolist(), int(truth[:, j].sum()))
            if above.any()
            else None
        )
        assert found[j] == (minima[j] if cut is None else cut)


def test_estimates_must_exceed_their_threshold():
    spe = sparse.csr_array(np.array([[0.5, 0.25, 0.0]], dtype=np.float32))
    predicted = apply_thresholds(spe, np.array([0.5, 0.2, -1], dtype=np.float32))
    assert predicted.toarray().tolist() == [[False, True, False]]
    assert predicted.dtype == bool
    assert apply_thresholds(spe, 0.3).toarray().tolist() == [[True, False, False]]


def exceeding(exact, thresholds):
    """Compare by the rule of the package, in float32."""
    return exact.astype(np.float32) > np.asarray(thresholds, dtype=np.float32)


KAPPAS = [
    0.0,
    0.25,
    0.1,
    np.float32(0.1),
    np.float64(0.5),
    [0.5, 0.25, 1 / 3, 0.1],
    np.array([0.5, 0.25, 1 / 3, 0.1]),
]


@pytest.mark.parametrize("seed", range(20))
def test_fit_and_predict_use_the_same_comparison(seed):
    """The float64 estimates equal thresholds, or are so close that float32 merges them."""
    rng = np.random.default_rng(seed)
    numbers = np.append([0.5, 0.25, 0.125, 1 / 3, 1e-4], np.float32([1 / 3, 0.1, 1e-4]))
    exact = rng.choice(numbers, (12, 4)) + rng.choice([0, 0, 1e-9, -1e-9, 1e-12, -1e-12], (12, 4))
    Y = rng.random((12, 4)) < 0.2 + exact
    for thresholds in KAPPAS:
        above = exceeding(exact, thresholds)
        np.testing.assert_array_equal(apply_thresholds(exact, thresholds).toarray(), above)
        sets = STO(kappa=thresholds).fit(exact, Y).predict(exact).toarray()
        assert not (sets & ~above).any()
        for j in range(4):
            allowed = np.where(above[:, j], exact[:, j].astype(np.float32), 0)
            best = max(
                f_of(Y[:, j], candidate & above[:, j]) for candidate in candidate_sets(allowed)
            )
            assert f_of(Y[:, j], sets[:, j]) == best
    for lower in (None, np.array([0.25, 0.1, 0.5, 1e-4])):
        fta = FTA(grid=[2, 3, 4, 10000], lower_bounds=lower).fit(exact, Y)
        bounds = np.zeros(4, dtype=np.float32) if lower is None else lower.astype(np.float32)
        limits = [np.maximum(np.float32(1 / c), bounds) for c in fta.grid]
        np.testing.assert_array_equal(
            fta.scores_, [macro_f(Y, exceeding(exact, limit)) for limit in limits]
        )
        assert macro_f(Y, fta.predict(exact)) == fta.scores_.max()
        ofo = OFO(a=1, b=4, lower_bounds=lower).fit(exact, Y)
        pair = (exact.astype(np.float32), Y)
        np.testing.assert_array_equal(
            ofo.thresholds_, row_wise_ofo(*map(sparse.csr_array, pair), 1, 4, bounds)
        )
    for method in (CommonThreshold(), ExpectedF(), LabelSets("macro_f"), LabelSets("micro_f")):
        found = (
            method.fit(exact, None if isinstance(method, LabelSets) else Y).predict(exact).toarray()
        )
        np.testing.assert_array_equal(found, exceeding(exact, method.thresholds_))


def test_indices_are_32_bit_and_sorted():
    spe, _ = random_case(20, 6, 2)
    wide = sparse.csr_array(
        (spe.data, spe.indices.astype(np.int64), spe.indptr.astype(np.int64)), shape=spe.shape
    )
    predicted = apply_thresholds(wide, 0.4)
    assert predicted.indices.dtype == predicted.indptr.dtype == np.int32
    assert predicted.has_sorted_indices
    np.testing.assert_array_equal(predicted.toarray(), spe.toarray() > np.float32(0.4))


def test_invalid_thresholds_are_refused():
    spe, _ = random_case(4, 3, 0)
    for wrong in (np.zeros(2), np.zeros(9)):
        with raises_with(XmlcError, "thresholds", "(3,)"):
            apply_thresholds(spe, wrong)
    with raises_with(XmlcError, "thresholds", "NaN"):
        apply_thresholds(spe, np.array([0.1, np.nan, 0.2]))


def test_methods_follow_scikit_learn():
    spe, Y = random_case(8, 3, 0)
    lower = np.full(3, 0.1, dtype=np.float32)
    for method in (
        STO(kappa=lower),
        FTA(grid=(2, 4), label_wise=True, lower_bounds=lower),
        OFO(2, 9, lower),
    ):
        with pytest.raises(NotFittedError):
            method.predict(spe)
        copy = clone(method)
        assert method.fit(spe, Y) is method
        np.testing.assert_array_equal(copy.fit(spe, Y).thresholds_, method.thresholds_)
        assert method.thresholds_.dtype == np.float32


# Division of labels into pieces, and copies of the input.


@settings(deadline=None, max_examples=60)
@given(sizes=st.lists(st.integers(0, 40), max_size=30), entries=st.integers(1, 50))
def test_pieces_cover_each_label_once_in_order(sizes, entries):
    tasks = label_tasks(np.array(sizes, dtype=np.int64), entries)
    assert list(chain.from_iterable(range(start, end) for start, end in tasks)) == list(
        range(len(sizes))
    )
    for start, end in tasks:  # the limit applies without the last label, and empty labels count
        assert sum(sizes[start : end - 1]) + (end - 1 - start) <= entries


def test_estimates_that_float32_merges_are_equal():
    spe = np.array([[0.9], [0.9 - 1e-9], [0.3]])
    Y = [[1], [0], [0]]
    for method in (STO(), CommonThreshold()):
        assert method.fit(spe, Y).predict(spe).toarray().ravel().tolist() == [True, True, False]
        assert method.thresholds_.dtype == np.float32


def test_thresholds_just_below_1_are_not_rounded_to_1():
    certain = np.float32([[1.0, 1.0]])
    below = np.array([1 - 1e-9, 1 + 1e-9])
    assert apply_thresholds(certain, below).toarray().tolist() == [[True, False]]
    assert apply_thresholds(certain, 1 - 1e-9).toarray().all()
    X = [[1, 0], [0, 1]] * 5
    Y = [[1], [1]] * 5
    assert FastXML(n_trees=1).fit(X, Y).predict(X, 1 - 1e-9).sum() == 10


def test_estimates_in_any_form_give_equal_results_without_copies():
    spe, Y = random_case(9, 5, 4)
    assert np.shares_memory(as_estimates(spe).data, spe.data)
    assert np.shares_memory(as_estimates(spe).indices, spe.indices)
    expected = STO().fit(spe, Y).thresholds_
    shuffled = spe.copy()
    for i in range(9):
        part = slice(spe.indptr[i], spe.indptr[i + 1])
        shuffled.indices[part] = spe.indices[part][::-1]
        shuffled.data[part] = spe.data[part][::-1]
    shuffled.has_sorted_indices = shuffled.has_canonical_format = False
    before = shuffled.indices.copy()
    for form in (
        spe.toarray(),
        sparse.csc_array(spe),
        spe.astype(np.float64),
        sparse.csr_matrix(spe),
        shuffled,
    ):
        method = STO().fit(form, Y.toarray())
        np.testing.assert_array_equal(method.thresholds_, expected)
        np.testing.assert_array_equal(method.predict(form).toarray(), method.predict(spe).toarray())
    np.testing.assert_array_equal(shuffled.indices, before)


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0), (0, 0)])
def test_methods_accept_no_instances_and_no_labels(n, m):
    spe = sparse.csr_array((n, m), dtype=np.float32)
    Y = sparse.csr_array((n, m), dtype=bool)
    for method in (STO(kappa=0.01), FTA(), FTA(label_wise=True), OFO(b=10)):
        assert method.fit(spe, Y).thresholds_.shape == (m,)
        assert method.predict(spe).shape == (n, m)


def test_invalid_estimates_and_kappa_are_refused():
    spe, Y = random_case(4, 3, 0)
    with raises_with(XmlcError, "(4, 3)", "(4, 2)"):
        checked_pair(spe, Y[:, :2])
    with raises_with(XmlcError, "(3,)", "2 dimensions"):
        checked_pair(np.ones(3), Y)
    for bad in (1.5, -0.1, np.nan):
        with raises_with(XmlcError, "0 to 1"):
            checked_pair(np.array([[bad, 0.5]]), np.array([[True, True]]))
    with raises_with(XmlcError, "kappa", "(2,)", "(3,)"):
        per_label(np.zeros(2), 3, np.float32, "kappa")
    with raises_with(XmlcError, "kappa", "NaN"):
        STO(kappa=np.nan).fit(spe, Y)


@pytest.mark.parametrize("method", [STO(), FTA(), OFO(), ExpectedF(), IsotonicCalibration()])
def test_columns_of_estimates_are_checked_by_name(method):
    spe, Y = (pd.DataFrame(part.toarray(), columns=[*"abc"]) for part in random_case(20, 3, 0))
    use = getattr(method.fit(spe, Y), "transform", None) or method.predict
    if hasattr(method, "partial_fit"):
        with raises_with(XmlcError, "names"):
            method.partial_fit(spe[[*"cba"]], Y[[*"cba"]])
        method.partial_fit(spe, Y)
    with raises_with(XmlcError, "names"):
        use(spe[[*"cba"]])
    assert use(spe).shape == (20, 3)
    if not isinstance(method, ExpectedF):
        with raises_with(XmlcError, "a, b, c", "c, b, a"):
            method.fit(spe, Y[[*"cba"]])


@pytest.mark.parametrize(
    "use",
    [
        lambda spe, Y, prior: tune("fta", spe, Y, prior).thresholds,
        lambda spe, Y, prior: ExpectedF(prior=prior).fit(spe).thresholds_,
        lambda spe, Y, prior: FTA(lower_bounds=prior).fit(spe, Y).thresholds_,
        lambda spe, Y, prior: OFO(lower_bounds=prior).fit(spe, Y).thresholds_,
        lambda spe, Y, prior: lower_bounds(prior),
    ],
)
def test_priors_may_have_any_form_and_must_be_shares(use):
    spe, Y = random_case(20, 3, 0)
    prior = priors(Y)
    expected = use(spe, Y, prior)
    for form in (prior.tolist(), tuple(prior), pd.Series(prior)):
        found = use(spe, Y, form)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, expected)
    for wrong in (prior * 20, -prior, prior * np.nan):
        with pytest.raises(XmlcError):
            use(spe, Y, wrong)


def test_tune_uses_priors_of_validation_set_by_default():
    spe, Y = random_case(20, 3, 0)
    np.testing.assert_array_equal(
        tune("sto", spe, Y).thresholds, tune("sto", spe, Y, priors(Y)).thresholds
    )
    with raises_with(XmlcError, "min_probability", "5.0"):
        tune("sto", spe, Y, min_probability=5)
