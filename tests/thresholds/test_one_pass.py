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
from xmlc.kernels.estimator import InvalidParameterError
from xmlc.metrics import macro_f
from xmlc.metrics.measure import f_beta
from xmlc.models import PLT
from xmlc.thresholds import FTA, OFO, apply_thresholds, fit_in_one_pass
from xmlc.thresholds.bounds import GRID, kappa, lower_bounds

THOROUGH = settings(max_examples=60)


def random_bounds(m, seed):
    return lower_bounds(np.random.default_rng(seed).uniform(0, 0.9, m))


# FTA, common and label-wise, compared with macro-F at each threshold of its grid.


@THOROUGH
@given(**CASES)
def test_label_wise_fta_finds_best_threshold_of_its_grid_for_each_label(n, m, seed):
    spe, Y = random_case(n, m, seed)
    nu = random_bounds(m, seed)
    found = FTA(label_wise=True, lower_bounds=nu).fit(spe, Y).thresholds_
    allowed = np.array([kappa(c, nu) for c in GRID])
    for j, (estimates, truth) in enumerate(zip(spe.toarray().T, Y.toarray().T)):
        scores = [f_of(truth, estimates > tau) for tau in allowed[:, j]]
        assert scores[allowed[:, j].tolist().index(found[j])] == max(scores)


def test_fta_resolves_ties_to_highest_threshold_in_any_grid_order():
    for grid in ((2, 5, 10), (10, 2, 5), (5, 10, 2, 2)):
        method = FTA(grid=grid).fit([[0.9], [0.01]], [[1], [0]])
        assert method.thresholds_.tolist() == [0.5]
        assert method.scores_.tolist() == [1.0] * len(grid)


def test_fta_scores_are_bit_identical_to_macro_f():
    rng = np.random.default_rng(3)
    spe = sparse.random_array((40, 30_000), density=0.05, rng=rng, dtype=np.float32, format="csr")
    Y = sparse.random_array((40, 30_000), density=0.05, rng=rng, format="csr") > 0.3
    expected = [macro_f(Y, apply_thresholds(spe, 1 / c)) for c in GRID]
    assert FTA().fit(spe, Y).scores_.tolist() == expected


# OFO, compared with Algorithm 2 as published.


@THOROUGH
@given(**CASES)
def test_ofo_equals_row_wise_algorithm(n, m, seed):
    spe, Y = random_case(n, m, seed)
    lower = np.random.default_rng(seed).uniform(0, 0.3, m)
    several = np.arange(m)
    for a, b, bounds in ((several + 1, several + 10, lower), (100, 500, lower), (1, 3, 0 * lower)):
        found = OFO(a=a, b=b, lower_bounds=bounds).fit(spe, Y).thresholds_
        np.testing.assert_array_equal(found, row_wise_ofo(spe, Y, a, b, bounds.astype(np.float32)))
    np.testing.assert_array_equal(found, OFO(a=1, b=3).fit(spe, Y).thresholds_)


@given(prior=st.floats(0, 1), beta=st.floats(0.2, 4))
def test_lower_bound_is_threshold_of_predicting_all_instances(prior, beta):
    """The bound is F_beta of this prediction, divided by 1 + beta^2."""
    positives = np.array(prior * 1000)
    everything = float(f_beta(beta).of(positives, positives, np.array(1000.0)))
    assert lower_bounds([prior], beta**2)[0] == pytest.approx(everything / (1 + beta**2))


# FTA and OFO in one pass, compared with implementations that store all estimates. kappa_j =
# max(1/c, nu_j).


@THOROUGH
@given(**CASES, cuts=st.lists(st.integers(0, 14), max_size=4), bounded=st.booleans())
@pytest.mark.parametrize("method", [FTA(), FTA(label_wise=True), OFO(b=5)])
def test_blocks_of_instances_are_bit_identical_to_one_fit(method, n, m, seed, cuts, bounded):
    spe, Y = random_case(n, m, seed)
    if bounded:
        method = method.unfitted().set_params(lower_bounds=random_bounds(m, seed))
    whole = method.unfitted().fit(spe, Y)
    parts = method.unfitted()
    for start, end in pairwise([0, *sorted(cuts), n]):  # a part may be empty
        parts.partial_fit(spe[start:end], Y[start:end])
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
    expected = [macro_f(Y, apply_thresholds(spe, tau)) for tau in vectors]
    np.testing.assert_allclose(method.scores_, expected)
    np.testing.assert_array_equal(method.thresholds_, vectors[int(method.scores_.argmax())])
    np.testing.assert_array_equal(method.min_probabilities(m), vectors[-1])


@pytest.fixture(scope="module")
def tree():
    """Return a fitted model, and other instances with their label sets."""
    rng = np.random.default_rng(7)
    X = sparse.random_array((300, 40), density=0.2, rng=rng, format="csr")
    Y = sparse.csr_array(X @ rng.normal(size=(40, 12)) > 1.0)
    model = PLT(tree="random", arity=3, epochs=3).fit(X[:200], Y[:200])
    return model, X[200:240], Y[200:240]


@pytest.mark.parametrize("instances", [1, 33])
def test_one_pass_requests_only_estimates_above_lowest_kappa(tree, instances):
    """The thresholds equal the thresholds from all estimates."""
    model, X, Y = tree
    nu = random_bounds(12, 7)
    spe = model.predict_proba(X)
    for method in (
        FTA(lower_bounds=nu),
        FTA(grid=(2, 5), label_wise=True),
        OFO(lower_bounds=nu),
        OFO(),
    ):
        found = fit_in_one_pass(method.unfitted(), model, X, Y, instances=instances).thresholds_
        np.testing.assert_array_equal(found, method.fit(spe, Y).thresholds_)
    assert model.predict_proba(X, FTA(lower_bounds=nu).min_probabilities(12)).nnz < spe.nnz
    found = fit_in_one_pass(OFO(), model, X, Y, 0.2, instances).thresholds_
    np.testing.assert_array_equal(found, OFO().fit(model.predict_proba(X, 0.2), Y).thresholds_)


LOW = np.full(3, 0.1)


@pytest.mark.parametrize(
    ("method", "name", "changed"),
    [
        (FTA(grid=[2, 3]), "grid", [2]),
        (OFO(lower_bounds=LOW), "lower_bounds", None),
        (OFO(a=LOW, b=1), "a", 2 * LOW),
        (OFO(), "b", 50.0),
    ],
)
def test_partial_fit_refuses_changed_hyperparameters(method, name, changed):
    pair = random_case(14, 3, 5)
    before = getattr(method, name)
    thresholds = method.fit(*pair).thresholds_.copy()
    with raises_with(InvalidParameterError, type(method).__name__, f"{name}="):
        method.set_params(**{name: changed}).partial_fit(*pair)
    np.testing.assert_array_equal(method.thresholds_, thresholds)
    method.set_params(**{name: before}).partial_fit(*pair)
    found = method.set_params(**{name: changed}).fit(*pair).thresholds_
    np.testing.assert_array_equal(found, method.unfitted().fit(*pair).thresholds_)


def test_partial_fit_detects_arrays_changed_in_place():
    pair = random_case(14, 3, 5)
    method = FTA(lower_bounds=LOW.copy()).fit(*pair)
    method.lower_bounds[1] = 0.4
    with raises_with(InvalidParameterError, "lower_bounds"):
        method.partial_fit(*pair)
    same = FTA(grid=(2, 3), lower_bounds=LOW).fit(*pair)
    same.set_params(grid=[2, 3], lower_bounds=LOW.tolist(), n_jobs=1, label_wise=True)
    same.partial_fit(*pair)


def test_one_pass_refuses_inconsistent_input(tree):
    model, X, Y = tree
    with raises_with(XmlcError, "39 instances", "40"):
        fit_in_one_pass(FTA(), model, X[:-1], Y)
    with raises_with(XmlcError, "instances=0"):
        fit_in_one_pass(FTA(), model, X, Y, instances=0)
    spe = model.predict_proba(X)
    for method in (FTA(), OFO()):
        with raises_with(XmlcError, "11 labels", "12"):
            method.fit(spe, Y).partial_fit(spe[:, :11], Y[:, :11])
