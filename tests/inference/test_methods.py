"""The simple rules, the registry, and the time limit."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_cases import (
    all_sets,
    counted_by_size,
    independent_pmf,
    random_marginals,
    random_samples,
    value_of,
)
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.inference import (
    METHODS,
    Samples,
    gfm,
    hamming,
    infer_blocks,
    lewis,
    marginals_of,
    methods,
    meuf,
    multinomial,
)

FEW = settings(max_examples=30, derandomize=True)
CASES = {"seed": st.integers(0, 2**32 - 1), "m": st.integers(1, 9)}


@FEW
@given(**CASES)
def test_lewis_maximises_its_approximation(seed, m):
    p = random_marginals(np.random.default_rng(seed), 3, m)
    Y_hat, values = lewis(p)
    sets = all_sets(m)
    for predicted, value, row in zip(Y_hat.toarray(), values, p):
        of_all = 2 * (sets @ row) / np.maximum(row.sum() + sets.sum(axis=1), 1e-300)
        of_all[0] = np.prod(1 - row)
        assert value == pytest.approx(of_all.max(), abs=1e-12)
        assert of_all[(sets == predicted).all(axis=1)][0] == pytest.approx(value, abs=1e-12)


@FEW
@given(**CASES)
def test_multinomial_rule_is_exact_for_one_label(seed, m):
    p = np.random.default_rng(seed).dirichlet(np.full(m, 0.5), size=3)
    Y_hat, values = multinomial(p)
    predicted = Y_hat.toarray()
    exact = gfm(np.ascontiguousarray(p[:, :, None]), np.zeros(3), [1])[1]
    np.testing.assert_allclose(values, exact, atol=1e-12)
    sizes = predicted.sum(axis=1)
    np.testing.assert_allclose(values, 2 * (predicted * p).sum(axis=1) / (1 + sizes), atol=1e-12)
    scaled = multinomial(p / 4)
    np.testing.assert_array_equal(scaled[0].toarray(), predicted)
    np.testing.assert_allclose(scaled[1], values)
    # The rule as published.
    for row, k in zip(np.sort(p)[:, ::-1], sizes):
        holds = row.cumsum()[:-1] >= np.arange(2, m + 1) * row[1:]
        assert k == [*holds, True].index(True) + 1


@FEW
@given(**CASES)
def test_hamming_rule_selects_marginals_of_at_least_one_half(seed, m):
    p = random_marginals(np.random.default_rng(seed), 3, m)
    Y_hat, values = hamming(p)
    np.testing.assert_array_equal(Y_hat.toarray(), p >= 0.5)
    for predicted, value, row in zip(Y_hat.toarray(), values, p):
        assert value == pytest.approx(value_of(predicted, independent_pmf(row)), abs=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_inference_in_blocks_equals_inference_at_once(name, monkeypatch):
    samples = random_samples(np.random.default_rng(1), 11, 5, n_samples=6)
    method = METHODS[name]
    weights = np.array([0.0, 1.0, 0.5])
    options = {"size_weights": weights} if method.takes_sizes else {}
    given = samples if method.takes == "joint" else marginals_of(samples)
    whole = method.infer(given, **options)
    monkeypatch.setitem(METHODS, name, method._replace(rows_per_block=4))
    for distribution in (samples, counted_by_size(samples)):
        Y_hat, values = infer_blocks(name, distribution, 2, 1000, weights)
        np.testing.assert_array_equal(Y_hat.toarray(), whole[0].toarray())
        np.testing.assert_allclose(values, whole[1], atol=1e-13)
        assert Y_hat.has_canonical_format
    dense = marginals_of(samples).toarray()
    assert infer_blocks(name, dense, size_weights=weights)[0].shape == (11, 5)


def test_inference_stops_at_time_limit(monkeypatch):
    now = itertools.count(step=10)
    monkeypatch.setattr(methods, "time", SimpleNamespace(monotonic=lambda: next(now)))
    monkeypatch.setitem(METHODS, "meuf", methods.Method(meuf, "marginals", 4))
    p = random_marginals(np.random.default_rng(0), 12, 4)
    for limit in (15, 25):  # before and after the third block
        assert infer_blocks("meuf", p, time_limit_seconds=limit) is None
    found = infer_blocks("meuf", p, time_limit_seconds=35)
    expected = meuf(p)
    np.testing.assert_array_equal(found[0].toarray(), expected[0].toarray())
    np.testing.assert_array_equal(found[1], expected[1])


def test_inference_accepts_no_instances_and_no_marginals():
    Y_hat, values = infer_blocks("gfm", Samples(sparse.csr_array((0, 3), dtype=bool), 5))
    assert Y_hat.shape == (0, 3)
    assert values.size == 0
    Y_hat, values = multinomial(np.zeros((2, 3)))
    assert Y_hat.nnz == 0
    assert values.tolist() == [1, 1]


def test_invalid_names_and_missing_size_weights_are_refused():
    with raises_with(XmlcError, "gfm-sizes", "fit_size_weights"):
        infer_blocks("gfm-sizes", np.zeros((1, 1)))
    with raises_with(XmlcError, "'best'", "gfm, gfm-sizes"):
        infer_blocks("best", np.zeros((1, 1)))
    with raises_with(XmlcError, "'gfm'"):
        methods.register("gfm")(gfm)
