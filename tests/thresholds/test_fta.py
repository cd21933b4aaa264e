"""FTA, common and label-wise, against macro-F at each threshold of its grid."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from threshold_cases import CASES, f_of, random_case

from xmlc.metrics import macro_f
from xmlc.thresholds import FTA, apply_thresholds
from xmlc.thresholds.bounds import GRID, lower_bounds

THOROUGH = settings(deadline=None, max_examples=60)


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
