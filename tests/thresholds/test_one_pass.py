"""FTA and OFO, compared with plain searches and Algorithm 2, also in one pass without stored
estimates.
"""

from itertools import pairwise

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threshold_cases import CASES, f_of, random_case, row_wise_ofo

from xmlc.core.errors import XmlcError
from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.estimator import InvalidParameterError
from xmlc.metrics import macro_f
from xmlc.metrics.measure import f_beta
from xmlc.models import PLT
from xmlc.thresholds import FTA, OFO, apply_thresholds, fit_in_one_pass
from xmlc.thresholds.bounds import GRID, kappa, lower_bounds
from xmlc.thresholds.fta import count_fixed

THOROUGH = settings(deadline=None, max_examples=60)


# FTA, common and label-wise, compared with macro-F at each threshold of its grid.


@THOROUGH
@given(**CASES)
def test_label_wise_fta_finds_best_threshold_of_its_grid_for_each_label(n, m, seed):
    spe, Y = random_case(n, m, seed)
    nu = lower_bounds(np.random.default_rng(seed).uniform(0, 0.9, m))
    method = FTA(label_wise=True, lower_bounds=nu).fit(spe, Y)
    estimates = spe.toarray()
    truth = Y.toarray()
    for j in range(m):
        allowed = [max(np.float32(1 / c), np.float32(nu[j])) for c in GRID]
        scores = [f_of(truth[:, j], estimates[:, j] > tau) for tau in allowed]
        assert method.thresholds_[j] in allowed
        assert f_of(truth[:, j], estimates[:, j] > method.thresholds_[j]) == pytest.approx(
            max(scores)
        )


def test_fta_resolves_ties_to_highest_threshold_in_any_grid_order():
    spe = sparse.csr_array(np.array([[0.9], [0.01]], dtype=np.float32))
    Y = sparse.csr_array(np.array([[True], [False]]))
    for grid in ((2, 5, 10), (10, 2, 5), (5, 10, 2, 2)):
        method = FTA(grid=grid).fit(spe, Y)
        assert method.thresholds_.tolist() == [0.5]
        assert method.scores_.tolist() == [1.0] * len(grid)


def test_fta_scores_are_bit_identical_to_macro_f():
    rng = np.random.default_rng(3)
    spe = sparse.random_array((40, 30_000), density=0.05, rng=rng, dtype=np.float32, format="csr")
    Y = sparse.csr_array(
        sparse.random_array((40, 30_000), density=0.05, rng=rng, format="csr") > 0.3
    )
    assert FTA().fit(spe, Y).scores_.tolist() == [
        macro_f(Y, apply_thresholds(spe, 1 / c)) for c in GRID
    ]


# OFO, compared with Algorithm 2 as published.


@THOROUGH
@given(**CASES)
def test_ofo_equals_row_wise_algorithm(n, m, seed):
    spe, Y = random_case(n, m, seed)
    lower = np.random.default_rng(seed).uniform(0, 0.3, m).astype(np.float32)
    for a, b in ((1, 2), (1, 20), (100, 500)):
        method = OFO(a=a, b=b, lower_bounds=lower).fit(spe, Y)
        np.testing.assert_array_equal(method.thresholds_, row_wise_ofo(spe, Y, a, b, lower))
    np.testing.assert_array_equal(
        OFO(a=1, b=3).fit(spe, Y).thresholds_, row_wise_ofo(spe, Y, 1, 3, np.zeros(m, np.float32))
    )


def test_ofo_accepts_a_and_b_per_label():
    spe, Y = random_case(14, 5, 8)
    a = np.arange(1, 6)
    b = np.arange(10, 15)
    found = OFO(a=a, b=b).fit(spe, Y).thresholds_
    for j in range(5):
        assert found[j] == OFO(a=a[j], b=b[j]).fit(spe, Y).thresholds_[j]


@given(prior=st.floats(0, 1), beta=st.floats(0.2, 4))
def test_lower_bound_is_threshold_of_predicting_all_instances(prior, beta):
    """The bound is F_beta of this prediction, divided by 1 + beta^2.

    For beta = 1, the bound is the paper's pi / (1 + pi).
    """
    n = 1000.0
    everything = f_beta(beta).of(np.array(prior * n), np.array(prior * n), np.array(n))
    assert lower_bounds(np.array([prior]), beta**2)[0] == pytest.approx(
        float(everything) / (1 + beta**2)
    )
    assert lower_bounds(np.array([prior]))[0] == prior / (1 + prior)


# FTA and OFO in one pass, compared with implementations that store all estimates. kappa_j =
# max(1/c, nu_j).


FIXED = np.array([0.1, 0.3, 0.5], dtype=np.float32)


def random_bounds(m, seed):
    return lower_bounds(np.random.default_rng(seed).uniform(0, 0.9, m))


def blocks(spe, Y, candidates):
    """Cut the rows at the given places. Blocks may be empty."""
    return [
        (spe[start:end], Y[start:end])
        for start, end in pairwise([0, *sorted(candidates), spe.shape[0]])
    ]


@THOROUGH
@given(**CASES)
def test_counts_in_ranges_of_labels_equal_dense_counts(n, m, seed):
    spe, Y = random_case(n, m, seed)
    lower = random_bounds(m, seed).astype(np.float32)
    cut = seed % (m + 1)
    positives, hits, predicted = (np.zeros(shape, dtype=np.int32) for shape in (m, (m, 3), (m, 3)))
    for labels in ((0, cut), (cut, m)):
        count_fixed(
            kernel_csr(spe), kernel_csr(Y), *labels, FIXED, lower, positives, hits, predicted
        )
    estimates = spe.toarray()
    truth = Y.toarray()
    np.testing.assert_array_equal(positives, truth.sum(axis=0))
    for g, fixed in enumerate(FIXED):
        sets = estimates > np.maximum(fixed, lower)
        np.testing.assert_array_equal(predicted[:, g], sets.sum(axis=0))
        np.testing.assert_array_equal(hits[:, g], (sets & truth).sum(axis=0))


@THOROUGH
@given(**CASES, candidates=st.lists(st.integers(0, 14), max_size=4), bounded=st.booleans())
@pytest.mark.parametrize("method", [FTA(), FTA(label_wise=True), OFO(b=5)])
def test_blocks_of_instances_are_bit_identical_to_one_fit(method, n, m, seed, candidates, bounded):
    spe, Y = random_case(n, m, seed)
    bounds = random_bounds(m, seed) if bounded else None
    whole, parts = (method.unfitted().set_params(lower_bounds=bounds) for _ in range(2))
    whole.fit(spe, Y)
    for block in blocks(spe, Y, [min(cut, n) for cut in candidates]):
        parts.partial_fit(*block)
    np.testing.assert_array_equal(parts.thresholds_, whole.thresholds_)
    np.testing.assert_array_equal(getattr(parts, "scores_", 0), getattr(whole, "scores_", 0))


@pytest.mark.parametrize("method", [FTA(), FTA(label_wise=True), OFO(b=3)])
def test_fit_restarts_and_partial_fit_continues(method):
    spe, Y = random_case(14, 5, 3)
    whole = method.unfitted().fit(spe, Y).thresholds_
    method.fit(spe[9:], Y[9:]).fit(spe[:6], Y[:6]).partial_fit(spe[6:], Y[6:])
    np.testing.assert_array_equal(method.thresholds_, whole)


@THOROUGH
@given(**CASES)
def test_fta_with_lower_bounds_finds_best_kappa_of_section_6_2(n, m, seed):
    spe, Y = random_case(n, m, seed)
    nu = random_bounds(m, seed)
    method = FTA(lower_bounds=nu).fit(spe, Y)
    vectors = [kappa(c, nu) for c in GRID]
    np.testing.assert_allclose(
        method.scores_, [macro_f(Y, apply_thresholds(spe, tau)) for tau in vectors]
    )
    np.testing.assert_array_equal(method.thresholds_, vectors[int(method.scores_.argmax())])
    np.testing.assert_array_equal(method.min_probabilities(m), vectors[-1])


@pytest.fixture(scope="module")
def tree():
    rng = np.random.default_rng(7)
    X = sparse.random_array((300, 40), density=0.2, rng=rng, format="csr")
    Y = sparse.csr_array(X @ rng.normal(size=(40, 12)) > 1.0)
    return (
        PLT(tree="random", arity=3, epochs=3).fit(X[:200], Y[:200]),
        X[200:],
        Y[200:],
        random_bounds(12, 7),
    )


@pytest.mark.parametrize("instances", [1, 33, 1000])
def test_one_pass_requests_only_estimates_above_lowest_kappa(tree, instances):
    """The thresholds equal the thresholds from all estimates."""
    model, X, Y, nu = tree
    all_estimates = model.predict_proba(X)
    for method in (
        FTA(lower_bounds=nu),
        FTA(grid=(2, 5), label_wise=True),
        OFO(lower_bounds=nu),
        OFO(),
    ):
        found = fit_in_one_pass(method.unfitted(), model, X, Y, instances=instances).thresholds_
        np.testing.assert_array_equal(found, method.fit(all_estimates, Y).thresholds_)
    assert (
        model.predict_proba(X, FTA(lower_bounds=nu).min_probabilities(12)).nnz < all_estimates.nnz
    )


def test_floor_of_one_pass_omits_lower_estimates(tree):
    model, X, Y, _ = tree
    found = fit_in_one_pass(OFO(), model, X, Y, min_probability=0.2).thresholds_
    np.testing.assert_array_equal(found, OFO().fit(model.predict_proba(X, 0.2), Y).thresholds_)


LOW = np.full(3, 0.1)
HIGH = np.full(3, 0.2)


@pytest.mark.parametrize(
    ("method", "change"),
    [
        (FTA(grid=[2, 3]), {"grid": [5, 7]}),
        (FTA(grid=[2, 3]), {"grid": [2]}),
        (FTA(), {"lower_bounds": LOW}),
        (FTA(lower_bounds=LOW), {"lower_bounds": HIGH}),
        (OFO(lower_bounds=LOW), {"lower_bounds": None}),
        (OFO(a=LOW, b=1), {"a": HIGH}),
        (OFO(), {"b": 50.0}),
    ],
)
def test_partial_fit_refuses_changed_hyperparameters(method, change):
    spe, Y = random_case(14, 3, 5)
    (name,) = change
    method = method.unfitted()
    before = getattr(method, name)
    for begin in (method.fit, method.partial_fit):
        begin(spe, Y)
        thresholds = method.thresholds_.copy()
        with raises_with(InvalidParameterError, type(method).__name__, f"{name}="):
            method.set_params(**change).partial_fit(spe, Y)
        np.testing.assert_array_equal(method.thresholds_, thresholds)
        method.set_params(**{name: before}).partial_fit(spe, Y)
    found = method.set_params(**change).fit(spe, Y).thresholds_
    np.testing.assert_array_equal(found, method.unfitted().fit(spe, Y).thresholds_)
    with pytest.raises(InvalidParameterError):
        method.set_params(**{name: before}).partial_fit(spe, Y)


def test_partial_fit_detects_arrays_changed_in_place():
    spe, Y = random_case(14, 3, 5)
    method = FTA(lower_bounds=LOW.copy()).fit(spe, Y)
    method.lower_bounds[1] = 0.4
    with raises_with(InvalidParameterError, "lower_bounds"):
        method.partial_fit(spe, Y)
    same = FTA(grid=(2, 3), lower_bounds=LOW).fit(spe, Y)
    same.set_params(grid=[2, 3], lower_bounds=LOW.tolist(), n_jobs=1, label_wise=True).partial_fit(
        spe, Y
    )


def test_one_pass_refuses_inconsistent_input(tree):
    model, X, Y, _ = tree
    with raises_with(XmlcError, "99 instances", "100"):
        fit_in_one_pass(FTA(), model, X[:-1], Y)
    with raises_with(XmlcError, "instances=0"):
        fit_in_one_pass(FTA(), model, X, Y, instances=0)
    spe = model.predict_proba(X)
    for method in (FTA(), OFO()):
        with raises_with(XmlcError, "11 labels", "12"):
            method.fit(spe, Y).partial_fit(spe[:, :11], Y[:, :11])
