"""P, p(Y = 0) and marginals, compared with counts by hand and with sums over all label sets."""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_cases import (
    all_sets,
    by_size,
    independent_pmf,
    random_joint,
    random_samples,
    value_of,
    values_of_all,
)
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.inference import gfm, marginals_of, meuf, truncation_bound
from xmlc.inference._positives import count_distribution, count_limit, without_label
from xmlc.inference.distributions import truncation_loss

FEW = settings(max_examples=30)


@FEW
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 6), n_samples=st.integers(1, 9))
def test_marginals_are_means_of_samples(seed, m, n_samples):
    samples = random_samples(np.random.default_rng(seed), 3, m, n_samples)
    means = samples.Y.toarray().reshape(3, n_samples, m).mean(axis=1)
    before = samples.Y.indices.copy()
    np.testing.assert_array_equal(marginals_of(samples).toarray(), means)
    np.testing.assert_array_equal(samples.Y.indices, before)


@FEW
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 150))
def test_count_distribution_equals_repeated_convolution(seed, n):
    p = np.random.default_rng(seed).random(n) ** 2
    pmf = np.ones(1)
    for q in p:
        pmf = np.convolve(pmf, [1 - q, q])
    limit = count_limit(p.sum(), n)
    np.testing.assert_allclose(count_distribution(p, limit), pmf[: limit + 1], rtol=1e-12, atol=0)
    assert pmf[limit:].sum() < 4.3e-18 or limit == n


@pytest.mark.parametrize("p_out", [0.0, 1e-9, 0.5, 0.5000001, 1.0])
@pytest.mark.parametrize("mean", [0.01, 0.5, 0.97])
def test_removal_of_a_label_is_numerically_stable(p_out, mean):
    """A naive division loses all digits with 300 labels around some of these marginals."""
    others = np.clip(np.random.default_rng(1).normal(mean, 0.01, 300), 0, 1)
    all_labels = np.append(others, p_out)
    pmf = count_distribution(all_labels, count_limit(all_labels.sum(), all_labels.size))
    rest = np.empty(pmf.size - 1)
    without_label(pmf, p_out, rest)
    expected = count_distribution(others, 300)[: rest.size]
    np.testing.assert_allclose(rest, expected, rtol=0, atol=1e-15)
    assert (rest >= 0).all()


def loss_and_bound(pmf, m, retained, independent):
    """Infer from the distribution of the labels in the mask ``retained`` and score with the full
    distribution.
    """
    sets = all_sets(m)
    marginals = pmf @ sets
    delta = marginals[~retained].sum()
    kappa = marginals[~retained].max(initial=0)
    if independent:
        Y_hat, expected_f = meuf((marginals * retained)[None])
    else:
        numbers = (sets & retained) @ (1 << np.arange(m))
        of_retained = np.bincount(numbers, weights=pmf, minlength=2**m)
        Y_hat, expected_f = gfm(by_size([of_retained], m))
    loss = values_of_all(pmf, m).max() - value_of(Y_hat.toarray()[0], pmf)
    return loss, truncation_bound(Y_hat, expected_f, delta, kappa, independent)[0]


@pytest.mark.parametrize("independent", [True, False])
def test_loss_is_below_bound_and_reaches_15_percent_of_it(independent):
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(100):
        m = int(rng.integers(2, 7))
        p = rng.random(m) ** rng.choice([0.5, 1, 3])
        pmf = independent_pmf(p) if independent else random_joint(rng, m)
        marginals = pmf @ all_sets(m)
        retained = marginals > rng.choice([np.median(marginals), 0.1, 0.3])
        loss, bound = loss_and_bound(pmf, m, retained, independent)
        assert -1e-12 <= loss <= bound + 1e-12
        shares.append(loss / bound if bound > 0 else 0)
    assert max(shares) > 0.15


def test_floor_bound_equals_calculation_by_hand():
    Y_hat = sparse.csr_array(np.array([[True, True, False], [False, False, False]]))
    values = np.array([0.5, 0.8])
    for arguments, expected in (
        ([0.0], [0, 0]),
        ([0.2], [0.2 + 0.5 * 0.2 / 4, 0.2 + 0.8 * 0.2]),
        ([[0.2, 3.0], 0.01], [0.02 + 0.025, 0.02 + 0.8]),
        ([[0.2, 3.0], 0.01, False], [0.02 + 0.05, 0.02 + 0.8]),
    ):
        np.testing.assert_allclose(truncation_bound(Y_hat, values, *arguments), expected)
    for wrong in (-0.1, np.nan, [0.1, 0.2, 0.3]):
        with raises_with(XmlcError, "expected_f"):
            truncation_bound(Y_hat, values, wrong)
    with raises_with(XmlcError, "kappa=2"):
        truncation_bound(Y_hat, values, 0.1, kappa=2)


def test_mean_loss_equals_calculation_by_hand():
    """The estimates miss one true label of instance 0 and two of instance 1, whose predicted set is
    empty.
    """
    marginals = sparse.csr_array(np.array([[0.6, 0.0, 0.0], [0.0, 0.4, 0.0]]))
    Y = sparse.csr_array(np.array([[True, True, False], [True, False, True]]))
    Y_hat = sparse.csr_array(np.array([[True, False, False], [False, False, False]]))
    linear = (0.5 * 1 / (1 + 2) + 0.25 * 1) / 2  # an empty set loses E[F] min(missed, 1)
    for kappa, expected in ((0.3, 0.6 + linear), (0.9, 1.5 + linear)):
        found = truncation_loss(marginals, kappa, Y, Y_hat, np.array([0.5, 0.25]))
        assert found == pytest.approx(expected)
