"""OFO against Algorithm 2 as printed."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from threshold_cases import CASES, random_case, row_wise_ofo

from xmlc.metrics import macro_f
from xmlc.thresholds import OFO, STO, apply_thresholds

THOROUGH = settings(deadline=None, max_examples=60)


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


def test_ofo_takes_a_and_b_per_label():
    spe, Y = random_case(14, 5, 8)
    a, b = np.arange(1, 6), np.arange(10, 15)
    found = OFO(a=a, b=b).fit(spe, Y).thresholds_
    for j in range(5):
        assert found[j] == OFO(a=a[j], b=b[j]).fit(spe, Y).thresholds_[j]
