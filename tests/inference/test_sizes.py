import numpy as np
import pytest
from facts import raises_with
from inference_cases import (
    all_sets,
    exact_best,
    exact_by_size,
    exact_value_of,
    independent_pmf,
    random_marginals,
)
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.inference import fit_size_weights, gfm, gfm_sizes, meuf
from xmlc.inference import sizes as sizes_module
from xmlc.inference.sizes import shares_of_sizes


def weighted(p, weights):
    """Return the distribution over all sets by definition, or of independent labels if its mass is
    0.
    """
    pmf = independent_pmf(p) * weights[np.minimum(all_sets(p.size).sum(axis=1), weights.size - 1)]
    return pmf / pmf.sum() if pmf.sum() > 0 else independent_pmf(p)


def extreme_case(rng, m, digits):
    """Return marginals from 10^-digits to 1, and weights on few sizes or over many orders of
    magnitude.
    """
    least = max(10.0**-digits, 5e-324)
    p = 10.0 ** (-rng.choice([1, 4, 14, digits]) * rng.random(m))
    p[rng.random(m) < rng.choice([0, 0, 0.3])] = rng.choice([1.0, 1 - 1e-16, 0.5, least])
    weights = rng.random(rng.integers(1, m + 3))
    weights = rng.choice([weights, 10 ** (-30 * weights), 1e300 * weights])
    weights[rng.random(weights.size) < rng.choice([0, 0.3, 0.7])] = 0
    return np.maximum(p, least), weights


def test_gfm_sizes_finds_best_set_in_exact_fractions():
    rng = np.random.default_rng(0)
    for _ in range(150):
        p, weights = extreme_case(rng, rng.integers(1, 9), 25)
        Y_hat, expected = gfm_sizes([p], weights)
        P, p_empty = exact_by_size(p, weights)
        best = exact_best(P, p_empty)
        assert abs(expected[0] / best - 1) < 1e-11
        assert abs(exact_value_of(Y_hat.toarray()[0], P, p_empty) / best - 1) < 1e-11


@pytest.mark.parametrize("rule", [gfm, meuf])
def test_gfm_and_meuf_are_exact_with_extreme_marginals(rule):
    rng = np.random.default_rng(4)
    for _ in range(50):
        p, _ = extreme_case(rng, rng.integers(1, 9), 323)
        _, expected = rule([p])
        assert abs(expected[0] / exact_best(*exact_by_size(p, [1])) - 1) < 1e-11


@pytest.mark.parametrize(("p", "size"), [(0.01, 0), (0.01, 3), (0.9, 200), (0.9, 400)])
def test_gfm_sizes_is_exact_if_only_one_size_is_possible(p, size):
    """All marginals are equal. If s of 400 labels are positive, E_k = 2 k s / (400 (s + k))."""
    weights = np.zeros(402)
    weights[size] = 1
    Y_hat, expected = gfm_sizes(np.full((1, 400), p), weights)
    assert Y_hat.nnz == (400 if size else 0)
    assert expected[0] == pytest.approx(2 * size / (size + 400) if size else 1, rel=1e-12)


def test_shares_of_sizes_add_instances_in_order():
    rng = np.random.default_rng(3)
    pmfs = rng.random((30, 7))
    weights = rng.random(7)
    pmfs[4] = 0  # An instance whose probabilities are all 0 adds nothing.
    shares = np.zeros(7)
    for pmf in pmfs:
        lanes = [0.0] * 4
        for s in range(7):
            lanes[s % 4] += pmf[s] * weights[s]
        total = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        shares += pmf * (1 / total) if total > 0 else 0
    assert shares_of_sizes(pmfs, weights).tolist() == shares.tolist()


def test_no_empty_set_is_predicted_if_its_weight_is_0():
    p = np.full((1, 4), 0.01)
    assert gfm(p)[0].nnz == 0
    Y_hat, expected = gfm_sizes(p, np.array([0.0, 1.0]))
    assert Y_hat.nnz > 0
    assert expected[0] > 0.3


def mean_sizes(p, weights):
    """Return the mean probability of each size, 0 to m."""
    pmf = np.mean([weighted(row, weights) for row in p], axis=0)
    return np.bincount(all_sets(p.shape[1]).sum(axis=1), weights=pmf)


@pytest.mark.parametrize("scale", [1.0, 1e-14, 1e-60])
def test_weights_compensate_for_estimates_that_are_too_low(scale):
    """All instances have 1 or 3 labels, although the estimates give these sizes a low
    probability.
    """
    rng = np.random.default_rng(6)
    p = 0.5 * scale * rng.random((60, 6))
    sizes = np.where(np.arange(60) < 20, 1, 3)
    Y = rng.permuted(np.arange(6) < sizes[:, None], axis=1)
    weights = fit_size_weights(p, sparse.csr_array(Y))
    assert weights.max() == 1
    assert np.array_equal(np.flatnonzero(weights), [1, 3])
    assert np.allclose(mean_sizes(p, weights)[[1, 3]], [1 / 3, 2 / 3], atol=2e-3)


def test_large_sizes_share_a_weight_and_fit_uses_few_instances(monkeypatch):
    rng = np.random.default_rng(4)
    p = np.full((40, 12), 0.7)
    Y = sparse.csr_array(rng.random((40, 12)) < 0.7)
    monkeypatch.setattr(sizes_module, "LARGEST", 4)
    assert fit_size_weights(p, Y).size == 6
    monkeypatch.setattr(sizes_module, "MOST_INSTANCES", 10)
    assert np.array_equal(fit_size_weights(p, Y), fit_size_weights(p[:10], Y[:10]))


def test_weights_are_1_if_marginals_exclude_observed_sizes():
    # Every instance has two labels, but all estimates are 0.
    Y = sparse.csr_array(np.eye(3, 4) + np.eye(3, 4, 1) > 0)
    weights = fit_size_weights(np.zeros((3, 4)), Y)
    assert np.array_equal(weights, np.ones(weights.size))
    assert gfm_sizes(np.zeros((1, 4)), np.array([0.0, 1.0]))[1].tolist() == [1.0]


def test_gfm_sizes_is_bit_identical_on_any_threads():
    p = sparse.csr_array(random_marginals(np.random.default_rng(5), 700, 9))
    weights = [0.1, 1.0, 0.4, 0.0, 0.2]
    one = gfm_sizes(p, weights, n_jobs=1)
    two = gfm_sizes(p, weights, n_jobs=2)
    assert (one[0] != two[0]).nnz == 0
    assert np.array_equal(one[1], two[1])


def test_invalid_size_weights_and_shapes_are_refused():
    for weights in ([], [-1.0], [np.nan], [[1.0]]):
        with raises_with(XmlcError, "size_weights"):
            gfm_sizes(np.zeros((1, 2)), weights)
    with raises_with(XmlcError, "(2, 3)", "(1, 3)"):
        fit_size_weights(np.zeros((2, 3)), sparse.csr_array((1, 3), dtype=bool))
