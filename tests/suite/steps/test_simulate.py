"""Test simulations: exact distribution of a chain, samples from it, and statements on Figure 1."""

from itertools import product

import numpy as np
import pytest
from command_line import call
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.stats import binom

from xmlc.core.files import read_json
from xmlc.inference.distributions import LabelsBySize
from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.suite.steps import simulate as step
from xmlc.suite.steps.simulate import (
    COMPARED,
    MODELS,
    dependent_labels,
    draw,
    exact_labels_by_size,
    expected_f,
    independent_labels,
    signed_labels,
    simulate,
)

SIZES = (5, 20, 100)


def joint(conditionals):
    """Return every label vector with its probability by the product rule (9)."""
    for y in product((0, 1), repeat=len(conditionals)):
        probability = 1.0
        for i, value in enumerate(y):
            p = conditionals[i, sum(y[:i])]
            probability *= p if value else 1 - p
        yield np.array(y), probability


def binomial(m, prior=0.12):
    """Return P and p(Y = 0) of m independent labels with one prior."""
    sizes = np.arange(1, m + 1)
    P = np.tile(prior * binom.pmf(sizes - 1, m - 1, prior), (m, 1))
    return LabelsBySize(P[None], np.array([(1 - prior) ** m]), sizes)


def chains(max_m):
    """Return a strategy for the conditional probabilities of a chain of labels."""
    sizes = st.integers(1, max_m)
    return sizes.flatmap(lambda m: arrays(float, (m, m), elements=st.floats(0, 1)))


def f_of(y, h):
    return 1.0 if not y.any() and not h.any() else 2 * (y & h).sum() / (y.sum() + h.sum())


@settings(max_examples=15, deadline=None)
@given(chains(7), st.integers(0, 127))
def test_exact_distribution_and_expected_f_equal_sums_over_all_vectors(conditionals, bits):
    m = len(conditionals)
    h = np.array([bits >> i & 1 for i in range(m)], dtype=bool)
    P = np.zeros((m, m + 1))
    f = 0.0
    for y, probability in joint(conditionals):
        P[:, y.sum()] += y * probability
        f += probability * f_of(y.astype(bool), h)
    found = exact_labels_by_size(conditionals)
    p_empty = np.prod(1 - conditionals[:, 0])
    np.testing.assert_allclose(found.P[0], P[:, 1:], atol=1e-12)
    np.testing.assert_allclose(found.p_empty, p_empty, atol=1e-12)
    assert found.sizes.tolist() == list(range(1, m + 1))
    Y_hat = sparse.csr_array(np.array([h, np.zeros(m, dtype=bool)]))
    np.testing.assert_allclose(expected_f(Y_hat, found), [f, p_empty], atol=1e-12)


def test_models_of_the_paper_equal_their_formulas_for_ten_labels():
    # As in the paper, label by label, with i from 1.
    m = 10
    y = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0])
    before = y.cumsum() - y
    i = np.arange(1, m + 1)
    for model, logits in (
        (dependent_labels, -(i - 1) / 2 + before),
        (signed_labels, -1 + 2 * before - (i - 1)),
    ):
        ones = 1 / (1 + np.exp(-logits))
        found = {tuple(vector): p for vector, p in joint(model(m))}
        assert found[tuple(y)] == pytest.approx(np.prod(np.where(y, ones, 1 - ones)))
    independent = exact_labels_by_size(independent_labels(m))
    np.testing.assert_allclose(independent.P, binomial(m).P, atol=1e-12)
    np.testing.assert_allclose(independent.p_empty, 0.88**m)


def test_samples_follow_their_random_streams():
    m = 4
    n_samples = 6
    conditionals = dependent_labels(m)
    drawn = draw(conditionals, n_samples, 3, seed=5, stream=70)
    twin = []
    for t in range(3):
        key = np.uint64(stream_key(np.int64(5), np.int64(70 + t)))
        for r in range(n_samples):
            y = np.zeros(m, dtype=bool)
            for i in range(m):
                y[i] = random_unit(key, np.int64(r * m + i)) < conditionals[i, y[:i].sum()]
            twin.append(y)
    assert drawn.n_samples == n_samples
    np.testing.assert_array_equal(drawn.Y.toarray(), twin)


@pytest.fixture(scope="module")
def simulated():
    return simulate(seed=1, n_trials=20, sample_sizes=SIZES, m=25, n_jobs=1)


def test_no_method_exceeds_optimum_and_exact_methods_reach_it(simulated):
    for model in simulated.values():
        for method in COMPARED:
            scores = model["methods"][method]
            assert len(scores["mean"]) == len(scores["standard_error"]) == len(SIZES)
            assert max(*scores["mean"], scores["limit"]) <= model["optimum"] + 1e-12
            assert min(scores["standard_error"]) >= 0
        assert model["methods"]["gfm"]["limit"] == pytest.approx(model["optimum"], abs=1e-12)
    # With one prior, all sets of equal size are equally good, so only sizes are compared.
    first = sparse.csr_array(np.tril(np.ones((25, 25), dtype=bool)))
    f = expected_f(first, binomial(25))
    left = simulated["independent"]
    assert left["optimum"] == pytest.approx(f.max())
    assert left["optimal_size"] == 1 + f.argmax()
    assert left["p_empty"] == pytest.approx(0.88**25)
    assert left["methods"]["meuf"]["limit"] == pytest.approx(left["optimum"])


def test_meuf_is_poor_only_in_model_with_signs(simulated):
    last = {name: model["meuf_minus_gfm"]["mean"][-1] for name, model in simulated.items()}
    assert abs(last["independent"]) < 0.01
    assert abs(last["dependent"]) < 0.01
    assert last["dependent-signed"] < -0.3


def test_printed_dependent_model_has_marginals_of_half_and_all_labels_as_optimum(simulated):
    P, p_empty, _ = exact_labels_by_size(dependent_labels(25))
    np.testing.assert_allclose(P[0].sum(axis=1), 0.5)
    np.testing.assert_allclose(P[0, :, -1], p_empty[0])  # p(Y = 1) = p(Y = 0)
    printed = simulated["dependent"]
    signed = simulated["dependent-signed"]
    assert printed["optimal_size"] == 25
    assert printed["methods"]["meuf"]["limit"] == pytest.approx(printed["optimum"])
    assert signed["optimal_size"] == 0
    assert signed["optimum"] == signed["p_empty"] > 3 * signed["methods"]["meuf"]["limit"]


def test_samples_are_equal_for_any_number_of_threads_and_trials(simulated):
    again = simulate(seed=1, n_trials=20, sample_sizes=SIZES[:1], m=25, n_jobs=2)
    for name, model in again.items():
        for method in COMPARED:
            before = simulated[name]["methods"][method]["mean"]
            assert model["methods"][method]["mean"] == before[:1]
    few = draw(dependent_labels(5), 4, 2, 0, 9).Y.toarray()
    many = draw(dependent_labels(5), 4, 3, 0, 9).Y.toarray()
    np.testing.assert_array_equal(few, many[: 2 * 4])


def test_simulation_writes_one_record(tmp_path, monkeypatch):
    small = {"AT_LEAST": 0.0, "TIMED_LABELS": (3, 4), "N_TRIALS": 3, "N_LABELS": 5}
    for name, value in (small | {"ROUNDS": 1, "SEED": 2}).items():
        monkeypatch.setattr(step, name, value)
    call(step.command, "--out", tmp_path / "simulation.json")
    record = read_json(tmp_path / "simulation.json")
    assert [record[key] for key in ("kind", "seed", "trials", "labels")] == ["simulation", 2, 3, 5]
    assert list(record["models"]) == list(MODELS)
    means = record["models"]["dependent"]["methods"]["gfm"]["mean"]
    assert len(means) == len(record["sample_sizes"])
    ms = record["growth"]["samples"]["ms"]
    assert {method: len(times) for method, times in ms.items()} == dict.fromkeys(step.TIMED, 2)
