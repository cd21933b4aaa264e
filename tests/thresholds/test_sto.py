"""STO against all sets of predictions."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from threshold_cases import CASES, all_threshold_vectors, candidate_sets, f_of, random_case

from xmlc.metrics import macro_f
from xmlc.thresholds import STO, apply_thresholds

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
