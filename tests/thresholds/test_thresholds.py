"""STO, FTA and OFO against brute force and against the algorithms as printed."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from threshold_cases import CASES, all_threshold_vectors, candidate_sets, f_of, random_case, row_wise_ofo

from xmlc.errors import XmlcError
from xmlc.metrics import macro_f
from xmlc.thresholds import FTA, OFO, STO, apply_thresholds
from xmlc.thresholds.bounds import GRID, kappa, lower_bounds, priors

THOROUGH = settings(deadline=None, max_examples=60)


@THOROUGH
@given(**CASES)
def test_sto_without_floor_is_the_exact_maximiser(n, m, seed):
    spe, Y = random_case(n, m, seed)
    predicted = STO(kappa=0.0).fit(spe, Y).predict(spe).toarray()
    estimates, truth = spe.toarray(), Y.toarray()
    for j in range(m):
        best = max(f_of(truth[:, j], chosen) for chosen in candidate_sets(estimates[:, j]))
        assert f_of(truth[:, j], predicted[:, j]) == pytest.approx(best, abs=1e-12)


@settings(deadline=None, max_examples=8)
@given(n=CASES["n"], seed=CASES["seed"])
def test_sto_maximises_macro_f_over_all_threshold_vectors(n, seed):
    spe, Y = random_case(n, 3, seed, levels=3)
    best = max(macro_f(Y, apply_thresholds(spe, tau)) for tau in all_threshold_vectors(spe))
    assert macro_f(Y, STO().fit(spe, Y).predict(spe)) == pytest.approx(best, abs=1e-12)


@THOROUGH
@given(**CASES)
def test_sto_takes_the_highest_of_equal_thresholds(n, m, seed):
    spe, Y = random_case(n, m, seed)
    predicted = STO().fit(spe, Y).predict(spe).toarray()
    estimates, truth = spe.toarray(), Y.toarray()
    for j in range(m):
        mine = f_of(truth[:, j], predicted[:, j])
        for chosen in candidate_sets(estimates[:, j]):
            if f_of(truth[:, j], chosen) == mine:
                assert chosen.sum() >= predicted[:, j].sum()


@THOROUGH
@given(**CASES)
def test_sto_looks_only_above_its_floor_and_program_variants(n, m, seed):
    spe, Y = random_case(n, m, seed)
    floors = np.random.default_rng(seed).uniform(0, 0.6, m).astype(np.float32)
    estimates, truth = spe.toarray(), Y.toarray()
    above = estimates > floors
    method = STO(kappa=floors).fit(spe, Y)
    program = STO(kappa=floors, clip=0.5, positives="above_floor").fit(spe, Y)
    assert (method.thresholds_ >= floors).all()
    assert (program.thresholds_ <= 0.5).all()
    hidden = STO(kappa=floors, positives="above_floor").fit(spe, Y).predict(spe).toarray()
    for j in range(m):
        candidates = candidate_sets(np.where(above[:, j], estimates[:, j], 0))
        if above[:, j].any():
            best = max(f_of(truth[:, j], chosen) for chosen in candidates)
            assert f_of(truth[:, j], method.predict(spe).toarray()[:, j]) == pytest.approx(best)
            visible = truth[:, j] & above[:, j]
            best = max(f_of(visible, chosen) for chosen in candidates)
            assert f_of(visible, hidden[:, j]) == pytest.approx(best)
        else:
            assert method.thresholds_[j] == floors[j]


def test_sto_threshold_is_just_below_the_chosen_estimate():
    """The paper's `>=` on a candidate is our `>` on the threshold, on unseen estimates too."""
    spe = sparse.csr_array(np.array([[0.9], [0.6], [0.3]], dtype=np.float32))
    Y = sparse.csr_array(np.array([[True], [True], [False]]))
    tau = STO().fit(spe, Y).thresholds_[0]
    assert tau == np.nextafter(np.float32(0.6), np.float32(0))
    unseen = sparse.csr_array(np.array([[0.6], [0.59]], dtype=np.float32))
    assert apply_thresholds(unseen, np.array([tau])).toarray().tolist() == [[True], [False]]


@THOROUGH
@given(**CASES)
def test_fta_scores_are_macro_f_at_each_threshold(n, m, seed):
    spe, Y = random_case(n, m, seed)
    method = FTA().fit(spe, Y)
    vectors = [np.full(m, 1 / c, dtype=np.float32) for c in GRID]
    expected = [macro_f(Y, apply_thresholds(spe, tau)) for tau in vectors]
    np.testing.assert_allclose(method.scores_, expected)
    best = max(expected)
    assert method.thresholds_[0] == max(tau[0] for tau, score in zip(vectors, expected) if score >= best - 1e-15)


@THOROUGH
@given(**CASES)
def test_label_wise_fta_is_the_best_of_its_set_for_each_label(n, m, seed):
    spe, Y = random_case(n, m, seed)
    nu = lower_bounds(np.random.default_rng(seed).uniform(0, 0.9, m))
    method = FTA(label_wise=True, lower_bounds=nu).fit(spe, Y)
    estimates, truth = spe.toarray(), Y.toarray()
    for j in range(m):
        allowed = [max(np.float32(1 / c), np.float32(nu[j])) for c in GRID]
        scores = [f_of(truth[:, j], estimates[:, j] > tau) for tau in allowed]
        assert method.thresholds_[j] in allowed
        assert f_of(truth[:, j], estimates[:, j] > method.thresholds_[j]) == pytest.approx(max(scores))


@THOROUGH
@given(**CASES)
def test_ofo_equals_the_row_wise_algorithm(n, m, seed):
    spe, Y = random_case(n, m, seed)
    lower = np.random.default_rng(seed).uniform(0, 0.3, m).astype(np.float32)
    for a, b in ((1, 2), (1, 20), (100, 500)):
        method = OFO(a=a, b=b, lower_bounds=lower).fit(spe, Y)
        np.testing.assert_array_equal(method.thresholds_, row_wise_ofo(spe, Y, a, b, lower))
    np.testing.assert_array_equal(
        OFO(a=1, b=3).fit(spe, Y).thresholds_, row_wise_ofo(spe, Y, 1, 3, np.zeros(m, np.float32))
    )


def test_ofo_converges_to_half_the_optimal_f():
    """Equation (4) and the consistency of OFO: with true posteriors, tau approaches F* / 2."""
    rng = np.random.default_rng(1)
    eta = rng.beta(0.6, 2.0, 200_000).astype(np.float32)
    Y = rng.random(eta.size) < eta
    spe, truth = sparse.csr_array(eta[:, None]), sparse.csr_array(Y[:, None])
    tau = OFO(a=1, b=10).fit(spe, truth).thresholds_[0]
    optimum = STO().fit(spe, truth)
    best_f = macro_f(truth, optimum.predict(spe))
    assert tau == pytest.approx(best_f / 2, abs=0.01)
    assert macro_f(truth, apply_thresholds(spe, np.array([tau]))) == pytest.approx(best_f, abs=0.005)


def test_bounds_on_a_population_with_known_posteriors():
    """Equations (4) and (5): F* = 2 tau*, and tau* lies in (nu, 0.5]."""
    for shape in ((0.5, 5.0), (1.0, 1.0), (2.0, 8.0)):
        eta = np.sort(np.random.default_rng(0).beta(*shape, 20_000))[::-1]
        f = 2 * np.cumsum(eta) / (eta.sum() + np.arange(1, eta.size + 1))  # population F of {eta >= eta_k}
        best = int(f.argmax())
        assert f[best] == pytest.approx(2 * eta[best], abs=1e-3)
        assert lower_bounds(np.array([eta.mean()]))[0] < eta[best] <= 0.5 + 1e-3


@THOROUGH
@given(**CASES)
def test_sto_is_at_least_as_good_as_the_others_on_validation(n, m, seed):
    spe, Y = random_case(n, m, seed)
    best = macro_f(Y, STO().fit(spe, Y).predict(spe))
    for method in (FTA(), FTA(label_wise=True), OFO(a=1, b=2), OFO(a=1, b=100)):
        assert macro_f(Y, method.fit(spe, Y).predict(spe)) <= best + 1e-12


def test_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(2)
    spe = sparse.random_array((300, 9000), density=0.01, rng=rng, dtype=np.float32, format="csr")
    Y = sparse.csr_array(sparse.random_array((300, 9000), density=0.01, rng=rng, format="csr") > 0.5)
    for method in (STO(), FTA(label_wise=True), FTA(), OFO(b=50)):
        one, two = (method.set_params(n_jobs=n_jobs).fit(spe, Y).thresholds_.tobytes() for n_jobs in (1, 2))
        assert one == two


def test_strict_rule_and_empty_estimates():
    spe = sparse.csr_array(np.array([[0.5, 0.25, 0.0]], dtype=np.float32))
    assert apply_thresholds(spe, np.array([0.5, 0.2, -1], dtype=np.float32)).toarray().tolist() == [[False, True, False]]
    empty, Y = sparse.csr_array((4, 3), dtype=np.float32), sparse.csr_array(np.eye(4, 3) > 0)
    assert STO(kappa=0.1).fit(empty, Y).thresholds_.tolist() == [np.float32(0.1)] * 3
    assert OFO(b=2).fit(empty, Y).thresholds_.tolist() == [np.float32(1 / 3)] * 3
    assert FTA().fit(empty, Y).predict(empty).nnz == 0


def test_priors_bounds_and_floors():
    Y = sparse.csr_array(np.array([[1, 0, 1], [1, 0, 0], [1, 0, 0], [0, 0, 0]], dtype=bool))
    assert priors(Y).tolist() == [0.75, 0, 0.25]
    np.testing.assert_allclose(lower_bounds(priors(Y)), [0.75 / 1.75, 0, 0.2])
    np.testing.assert_allclose(kappa(10, np.array([0.3, 0.01])), [0.3, 0.1], rtol=1e-6)
    assert set(GRID) == {10000, 1000, 200, 100, 50, 20, 10, 7, 5, 4, 3, 2}


def test_bad_arguments_are_named():
    spe, Y = random_case(4, 3, 0)
    with pytest.raises(XmlcError, match="expected 'all' or 'above_floor'"):
        STO(positives="none").fit(spe, Y)
    with pytest.raises(XmlcError, match=r"a/b must lie in \(0, 0.5\]"):
        OFO(a=3, b=4).fit(spe, Y)
    with pytest.raises(XmlcError, match=r"the SPE has shape \(4, 3\), the truth \(4, 2\)"):
        STO().fit(spe, Y[:, :2])
    with pytest.raises(XmlcError, match=r"must lie in \(0, 1\]"):
        STO().fit(sparse.csr_array(np.array([[1.5]], dtype=np.float32)), np.array([[True]]))
