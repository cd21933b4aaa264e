"""Test simulations: exact distribution of a chain, samples from it, and statements on Figure 1."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import binom

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
    return st.integers(1, max_m).flatmap(
        lambda m: st.lists(st.floats(0, 1), min_size=m * m, max_size=m * m).map(
            lambda p: np.reshape(p, (m, m))
        )
    )


def f_of(y, h):
    return 1.0 if not y.any() and not h.any() else 2 * (y & h).sum() / (y.sum() + h.sum())


@settings(max_examples=15, deadline=None)
@given(chains(7))
def test_exact_distribution_equals_sum_over_all_vectors(conditionals):
    m = len(conditionals)
    P = np.zeros((m, m + 1))
    p_empty = 0.0
    for y, probability in joint(conditionals):
        P[:, y.sum()] += y * probability
        p_empty += probability * (not y.any())
    found = exact_labels_by_size(conditionals)
    np.testing.assert_allclose(found.P[0], P[:, 1:], atol=1e-12)
    np.testing.assert_allclose(found.p_empty, [p_empty], atol=1e-12)
    assert found.sizes.tolist() == list(range(1, m + 1))


def test_models_of_the_paper_equal_their_formulas_for_ten_labels():
    # As in the paper, label by label, with i from 1.
    m = 10
    y = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0])
    logits = [-(i - 1) / 2 + sum(y[: i - 1]) for i in range(1, m + 1)]
    ones = 1 / (1 + np.exp(-np.array(logits)))
    found = {tuple(vector): p for vector, p in joint(dependent_labels(m))}
    assert found[tuple(y)] == pytest.approx(np.prod(np.where(y, ones, 1 - ones)))
    logits = [-1 + sum(2 * y[: i - 1] - 1) for i in range(1, m + 1)]
    ones = 1 / (1 + np.exp(-np.array(logits)))
    found = {tuple(vector): p for vector, p in joint(signed_labels(m))}
    assert found[tuple(y)] == pytest.approx(np.prod(np.where(y, ones, 1 - ones)))
    independent = exact_labels_by_size(independent_labels(m))
    np.testing.assert_allclose(independent.P, binomial(m).P, atol=1e-12)
    np.testing.assert_allclose(independent.p_empty, 0.88**m)


@settings(max_examples=10, deadline=None)
@given(chains(5), st.integers(0, 31))
def test_expected_f_equals_sum_over_all_vectors(conditionals, bits):
    m = len(conditionals)
    h = np.array([bits >> i & 1 for i in range(m)], dtype=bool)
    by_hand = sum(probability * f_of(y.astype(bool), h) for y, probability in joint(conditionals))
    found = expected_f(
        sparse.csr_array(np.array([h, np.zeros(m, dtype=bool)])), exact_labels_by_size(conditionals)
    )
    np.testing.assert_allclose(found[0], by_hand, atol=1e-12)
    np.testing.assert_allclose(found[1], exact_labels_by_size(conditionals).p_empty[0])


def test_samples_follow_their_random_streams():
    conditionals = dependent_labels(4)
    n_samples = 6
    m = 4
    drawn = draw(conditionals, n_samples, 3, seed=5, stream=70)
    twin = np.zeros((3 * n_samples, m), dtype=bool)
    for t in range(3):
        key = np.uint64(stream_key(np.int64(5), np.int64(70 + t)))
        for r in range(n_samples):
            y = twin[t * n_samples + r]
            for i in range(m):
                y[i] = random_unit(key, np.int64(r * m + i)) < conditionals[i, y[:i].sum()]
    assert drawn.n_samples == n_samples
    assert (drawn.Y.toarray() == twin).all()


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
    truth = binomial(25)
    first = sparse.csr_array(np.tril(np.ones((25, 25), dtype=bool)))
    left = simulated["independent"]
    assert left["optimum"] == pytest.approx(expected_f(first, truth).max())
    assert left["optimal_size"] == 1 + int(np.argmax(expected_f(first, truth)))
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
    for name, model in simulate(
        seed=1, n_trials=20, sample_sizes=SIZES[:1], m=25, n_jobs=2
    ).items():
        for method in COMPARED:
            assert (
                model["methods"][method]["mean"][0] == simulated[name]["methods"][method]["mean"][0]
            )
    few, many = (draw(dependent_labels(5), 4, n, 0, 9).Y.toarray() for n in (2, 3))
    assert (few == many[: 2 * 4]).all()


def test_simulation_writes_one_record(tmp_path, monkeypatch):
    small = {
        "AT_LEAST": 0.0,
        "TIMED_LABELS": (3, 4),
        "N_TRIALS": 3,
        "N_LABELS": 5,
        "ROUNDS": 1,
        "SEED": 2,
    }
    for name, value in small.items():
        monkeypatch.setattr(step, name, value)
    out = tmp_path / "simulation.json"
    step.command.main(["--out", str(out)], standalone_mode=False)
    record = json.loads(out.read_text())
    assert (record["kind"], record["seed"], record["trials"], record["labels"]) == (
        "simulation",
        2,
        3,
        5,
    )
    assert list(record["models"]) == list(MODELS)
    assert len(record["models"]["dependent"]["methods"]["gfm"]["mean"]) == len(
        record["sample_sizes"]
    )
    assert set(record["growth"]["samples"]["ms"]) == set(step.TIMED)
    assert {len(ms) for ms in record["growth"]["samples"]["ms"].values()} == {2}
