"""STO, FTA and OFO against brute force and against the algorithms as printed."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from threshold_cases import CASES, all_threshold_vectors, candidate_sets, f_of, random_case, row_wise_ofo

from xmlc.errors import XmlcError
from xmlc.metrics import macro_f
from xmlc.thresholds import FTA, OFO, STO, apply_thresholds
from xmlc.thresholds.bounds import GRID, kappa, lower_bounds, priors
from xmlc.thresholds.columns import columns, label_pieces

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


def test_positives_below_the_floor_count_in_the_papers_f_only():
    """One hidden positive makes two hits in four worth more than one in one: 4/7 > 2/4, but 4/6 = 2/3 without it."""
    spe = sparse.csr_array(np.array([[0.9], [0.5], [0.5], [0.4], [0.1]], dtype=np.float32))
    Y = sparse.csr_array(np.array([[True], [False], [False], [True], [True]]))
    assert STO(kappa=0.2).fit(spe, Y).predict(spe).nnz == 4
    assert STO(kappa=0.2, positives="above_floor").fit(spe, Y).predict(spe).nnz == 1


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


@pytest.mark.parametrize("how", ["n_jobs", "numba"])
def test_same_bits_on_any_number_of_threads(how, monkeypatch):
    monkeypatch.setattr("xmlc.thresholds.columns.label_pieces", lambda data: label_pieces(data, 500))
    rng = np.random.default_rng(2)
    spe = sparse.random_array((300, 9000), density=0.01, rng=rng, dtype=np.float32, format="csr")
    Y = sparse.csr_array(sparse.random_array((300, 9000), density=0.01, rng=rng, format="csr") > 0.5)
    assert len(label_pieces(columns(spe, Y), 500)) > 50
    before = numba.get_num_threads()
    for method in (STO(), FTA(label_wise=True), FTA(), OFO(b=50)):
        found = []
        for n_threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            if how == "numba":
                numba.set_num_threads(n_threads)
            else:
                method.set_params(n_jobs=n_threads)
            found.append(method.fit(spe, Y).thresholds_.tobytes())
        numba.set_num_threads(before)
        assert found[0] == found[1]


def test_empty_estimates():
    empty, Y = sparse.csr_array((4, 3), dtype=np.float32), sparse.csr_array(np.eye(4, 3) > 0)
    assert STO(kappa=0.1).fit(empty, Y).thresholds_.tolist() == [np.float32(0.1)] * 3
    assert OFO(b=2).fit(empty, Y).thresholds_.tolist() == [np.float32(1 / 3)] * 3
    assert FTA().fit(empty, Y).predict(empty).nnz == 0


def test_label_without_positives_predicts_nothing_and_scores_one():
    spe = sparse.csr_array(np.array([[0.9, 0.2], [0.4, 0.9], [0.0, 0.9]], dtype=np.float32))
    Y = sparse.csr_array(np.array([[False, False], [False, True], [False, True]]))  # row 0 has no labels
    method = STO(kappa=0.1).fit(spe, Y)
    assert method.thresholds_[0] == np.float32(0.9)
    assert macro_f(Y, method.predict(spe)) == 1.0
    assert FTA(grid=(2, 4), label_wise=True).fit(spe, Y).thresholds_[0] == 0.5  # the highest of equals


def test_fta_ties_go_to_the_highest_threshold_in_any_order_of_the_grid():
    spe = sparse.csr_array(np.array([[0.9], [0.01]], dtype=np.float32))
    Y = sparse.csr_array(np.array([[True], [False]]))
    for grid in ((2, 5, 10), (10, 2, 5), (5, 10, 2, 2)):
        method = FTA(grid=grid).fit(spe, Y)
        assert method.thresholds_.tolist() == [0.5]
        assert method.scores_.tolist() == [1.0] * len(grid)


def test_fta_scores_equal_macro_f_to_the_last_bit():
    rng = np.random.default_rng(3)
    spe = sparse.random_array((40, 30_000), density=0.05, rng=rng, dtype=np.float32, format="csr")
    Y = sparse.csr_array(sparse.random_array((40, 30_000), density=0.05, rng=rng, format="csr") > 0.3)
    method = FTA().fit(spe, Y)
    assert method.scores_.tolist() == [macro_f(Y, apply_thresholds(spe, 1 / c)) for c in GRID]


def test_ofo_takes_a_and_b_per_label():
    spe, Y = random_case(14, 5, 8)
    a, b = np.arange(1, 6), np.arange(10, 15)
    found = OFO(a=a, b=b).fit(spe, Y).thresholds_
    for j in range(5):
        assert found[j] == OFO(a=a[j], b=b[j]).fit(spe, Y).thresholds_[j]


@THOROUGH
@given(**CASES)
def test_sto_beats_every_common_threshold_at_or_above_its_floor(n, m, seed):
    """Figure 1 on the validation set: the lower the floor, the better STO, and never worse than FTA."""
    spe, Y = random_case(n, m, seed, levels=12)
    scores = [macro_f(Y, STO(kappa=1 / c).fit(spe, Y).predict(spe)) for c in GRID]
    assert (np.diff(scores) >= -1e-12).all()
    for score, common in zip(scores, FTA().fit(spe, Y).scores_):
        assert score >= common - 1e-12


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
    with pytest.raises(XmlcError, match=r"a/b must lie in \(0, 0.5\]"):
        OFO(a=1, b=0).fit(spe, Y)
    for grid in ((), (0, 2), (0.5,)):
        with pytest.raises(XmlcError, match="at least one value c, each 1 or more"):
            FTA(grid=grid).fit(spe, Y)
