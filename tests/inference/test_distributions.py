"""P, p(Y = 0) and marginals against counting by hand, and independent labels against all their sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_cases import by_size, empirical_laws, independent_law, random_marginals, random_samples
from scipy import sparse

from xmlc.inference import Samples, labels_by_size, labels_by_size_from_marginals, marginals_of
from xmlc.inference._kernels.poisson_binomial import count_distribution, count_limit, without_label

FEW = settings(deadline=None, max_examples=30)


def assert_same(found, expected):
    """Equal up to rounding, where the one has columns for all sizes and the other only for those with mass."""
    wide = np.zeros_like(expected.P)
    wide[:, :, found.sizes - 1] = found.P
    np.testing.assert_allclose(wide, expected.P, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.p_empty, expected.p_empty, rtol=0, atol=1e-14)


@FEW
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 6), n_samples=st.integers(1, 9))
def test_samples_are_counted(seed, m, n_samples):
    samples = random_samples(np.random.default_rng(seed), 3, m, n_samples)
    found = labels_by_size(samples)
    assert_same(found, by_size(empirical_laws(samples, m), m))
    assert (found.P.sum(axis=(0, 1)) > 0).all()
    means = samples.Y.toarray().reshape(3, n_samples, m).mean(axis=1)
    before = samples.Y.indices.copy()
    np.testing.assert_array_equal(marginals_of(samples).toarray(), means)
    np.testing.assert_array_equal(samples.Y.indices, before)


@FEW
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 8))
def test_independent_labels_by_size(seed, m):
    p = random_marginals(np.random.default_rng(seed), 2, m)
    assert_same(labels_by_size_from_marginals(p), by_size([independent_law(row) for row in p], m))


def test_samples_without_any_label():
    found = labels_by_size(Samples(sparse.csr_array((4, 3), dtype=bool), 2))
    assert found.P.shape == (2, 3, 0)
    assert found.p_empty.tolist() == [1, 1]


@FEW
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 150))
def test_the_number_of_positives_equals_repeated_convolution(seed, n):
    p = np.random.default_rng(seed).random(n) ** 2
    law = np.ones(1)
    for q in p:
        law = np.convolve(law, [1 - q, q])
    limit = count_limit(p.sum(), n)
    np.testing.assert_allclose(count_distribution(p, limit), law[: limit + 1], rtol=1e-12, atol=0)
    assert law[limit:].sum() < 4.3e-18 or limit == n


@pytest.mark.parametrize("p_out", [0.0, 1e-9, 0.3, 0.5, 0.5000001, 0.7, 1 - 1e-9, 1.0])
@pytest.mark.parametrize("mean", [0.01, 0.5, 0.97])
def test_a_label_is_taken_out_stably(p_out, mean):
    """Up to 300 labels around the marginals at which a naive division loses everything."""
    others = np.clip(np.random.default_rng(1).normal(mean, 0.01, 300), 0, 1)
    everything = np.append(others, p_out)
    law = count_distribution(everything, count_limit(everything.sum(), everything.size))
    rest = np.empty(law.size - 1)
    without_label(law, p_out, rest)
    np.testing.assert_allclose(rest, count_distribution(others, 300)[: rest.size], rtol=0, atol=1e-15)
    assert (rest >= 0).all()
