"""The sweeps over the grids of Section 6.2 and Table 4."""

from itertools import product

import numpy as np
import pytest
from facts import raises_with
from threshold_cases import random_case

from xmlc.core.errors import XmlcError
from xmlc.metrics import classification_metrics, macro_f
from xmlc.metrics.classification import TUNABLE
from xmlc.metrics.measures import UNLABELLED_METHODS
from xmlc.thresholds import FTA, OFO, STO, ExpectedF, apply_thresholds
from xmlc.thresholds.bounds import GRID, kappa, lower_bounds, priors
from xmlc.thresholds.sweeps import METHODS, ofo_pairs, register, scores_of, tune

# (a, b) in Table 4 of plt2016.
PUBLISHED = {
    (100, 200),
    (100, 500),
    (300, 20000),
    (700, 5000),
    (1000, 100000),
    (5000, 100000),
    (10000, 100000),
}


@pytest.fixture
def sweep_case():
    spe, Y = random_case(60, 20, seed=3, levels=50)
    return spe, Y, priors(Y)


def test_every_method_yields_a_threshold_per_label_and_grid_value(sweep_case):
    spe, Y, prior = sweep_case
    for name, method in METHODS.items():
        points = list(method.sweep(spe, Y, prior, GRID))
        exact = name.startswith(("for-micro-", "for-instance-")) or name in UNLABELLED_METHODS
        assert len(points) == (
            1 if exact else len(ofo_pairs(GRID)) if name == "ofo-ab" else len(GRID)
        )
        assert all(point.thresholds.shape == (20,) for point in points)
        assert all(point.thresholds.dtype == np.float32 for point in points)


def test_sweeps_equal_methods_with_given_parameters(sweep_case):
    spe, Y, prior = sweep_case
    nu = lower_bounds(prior)
    for point in METHODS["sto"].sweep(spe, Y, prior, GRID):
        np.testing.assert_array_equal(
            point.thresholds, STO(kappa=kappa(point.c, nu)).fit(spe, Y).thresholds_
        )
    for point in METHODS["ofo"].sweep(spe, Y, prior, GRID):
        np.testing.assert_array_equal(point.thresholds, OFO(1, point.c, nu).fit(spe, Y).thresholds_)
    for point in METHODS["fta"].sweep(spe, Y, prior, GRID):
        assert [*point.thresholds] == [
            max(np.float32(1 / point.c), np.float32(p / (1 + p))) for p in prior
        ]
        np.testing.assert_array_equal(
            point.thresholds, FTA((point.c,), lower_bounds=nu).fit(spe, Y).thresholds_
        )


def test_methods_without_labels_are_fitted_on_unlabelled_estimates(sweep_case):
    unlabelled, _ = random_case(40, 20, seed=4, levels=50)
    for name, zero_division in UNLABELLED_METHODS.items():
        for given, fitted_on in ((None, sweep_case[0]), (unlabelled, unlabelled)):
            expected = (
                ExpectedF(zero_division=zero_division, prior=sweep_case[2])
                .fit(fitted_on)
                .thresholds_
            )
            np.testing.assert_array_equal(
                tune(name, *sweep_case, unlabelled=given).thresholds, expected
            )
    for name in ("sto", "ofo"):
        plain = tune(name, *sweep_case)
        given = tune(name, *sweep_case, unlabelled=unlabelled)
        np.testing.assert_array_equal(plain.thresholds, given.thresholds)


def test_label_wise_sweep_equals_method_on_growing_grid(sweep_case):
    spe, Y, prior = sweep_case
    for i, point in enumerate(METHODS["fta-labelwise"].sweep(spe, Y, prior, GRID)):
        expected = (
            FTA(grid=GRID[: i + 1], label_wise=True, lower_bounds=lower_bounds(prior))
            .fit(spe, Y)
            .thresholds_
        )
        np.testing.assert_array_equal(point.thresholds, expected)


def test_ofo_grid_contains_pairs_of_table_4():
    pairs = ofo_pairs(GRID)
    assert set(pairs) >= PUBLISHED
    assert len(pairs) == 132
    # the pairs that the authors' program tries
    program = {(a, b) for a, b in product((1, *GRID), GRID) if 2 * a <= b}
    assert program <= set(pairs)
    assert {(1, c) for c in GRID} <= set(pairs)  # so tuning a cannot lower the validation score
    assert all(0 < a / b <= 0.5 for a, b in pairs)
    assert len(set(pairs)) == len(pairs)


def test_name_cannot_be_registered_twice():
    with raises_with(XmlcError, "'sto'"):
        register("sto")(lambda *arguments: iter(()))


@pytest.mark.parametrize("name", sorted(METHODS))
def test_tune_selects_thresholds_by_validation_score(sweep_case, name):
    spe, Y, prior = sweep_case
    test_spe, test_Y = random_case(40, 20, seed=4, levels=50)
    seen = []

    def score_test(thresholds):
        seen.append(thresholds)
        return {"macro_f": macro_f(test_Y, apply_thresholds(test_spe, thresholds))}

    tuned = tune(name, spe, Y, prior, min_probability=0.04, score_test=score_test)
    every = [classification_metrics(Y, apply_thresholds(spe, thresholds)) for thresholds in seen]
    assert [entry.validation for entry in tuned.grid] == [
        {k: s[k] for k in scores_of(name)} for s in every
    ]
    assert "macro_f" in scores_of(name)  # Figure 1 shows macro-F for every method.
    scores = [scores[METHODS[name].measure] for scores in every]
    assert tuned.best == scores.index(max(scores))
    np.testing.assert_array_equal(tuned.thresholds, seen[tuned.best])
    assert min(thresholds.min() for thresholds in seen) >= np.float32(0.04)
    assert all(0 <= entry.test["macro_f"] <= 1 for entry in tuned.grid)
    assert [entry.c for entry in tuned.grid] == sorted(entry.c for entry in tuned.grid)


def test_tune_resolves_ties_to_highest_threshold_in_any_grid_order(sweep_case):
    spe, Y, prior = sweep_case
    high = spe.copy()
    high.data[:] = 0.75  # every common threshold of the grid predicts the same
    assert tune("fta", high, Y, prior).grid[0].c == 2
    assert tune("fta", high, Y, prior).best == 0
    for name in ("sto", "fta-labelwise", "ofo"):
        one, other = (tune(name, spe, Y, prior, grid=grid) for grid in (GRID, GRID[::-1]))
        assert one.grid == other.grid
        np.testing.assert_array_equal(one.thresholds, other.thresholds)


def test_paper_methods_use_macro_f_and_others_their_own_measure(sweep_case):
    spe, Y, prior = sweep_case
    assert {METHODS[name].measure for name in ("fta", "fta-labelwise", "sto", "ofo", "ofo-ab")} == {
        "macro_f"
    }
    assert {name: METHODS["for-" + name.replace("_", "-")].measure for name in TUNABLE} == {
        n: n for n in TUNABLE
    }
    sto, same, jaccard = (
        tune(name, spe, Y, prior) for name in ("sto", "for-macro-f", "for-macro-jaccard")
    )
    np.testing.assert_array_equal(sto.thresholds, same.thresholds)
    assert sto.grid == same.grid
    for entry, twin in zip(jaccard.grid, sto.grid, strict=True):
        assert entry.validation["macro_f"] == twin.validation["macro_f"]


def test_register_refuses_unknown_measure():
    with raises_with(XmlcError, "'macro_g'", "'mine'", "macro_f"):
        register("mine", measure="macro_g")(lambda *arguments: iter(()))
    assert "mine" not in METHODS


def test_tune_refuses_unknown_method(sweep_case):
    with raises_with(XmlcError, "'stoo'", "sto"):
        tune("stoo", *sweep_case)


def test_tune_can_select_by_another_measure(sweep_case):
    spe, Y, prior = sweep_case
    often = np.arange(20) < 8
    # Twelve labels never occur but have the highest estimates. With 0/0 = 1, it is best to predict
    # none of these labels.
    spe = np.where(often, 0.2 * spe.toarray(), 0.3)
    Y = np.where(often, Y.toarray(), False)
    seen = []
    for measure in ("macro_f", "macro_f_zero", "macro_f_present"):
        tuned = tune("fta", spe, Y, 0 * prior, measure=measure)
        scores = [entry.validation[measure] for entry in tuned.grid]
        assert tuned.best == scores.index(max(scores))
        seen.append(tuned.best)
        assert (
            scores[tuned.best]
            == classification_metrics(Y, apply_thresholds(spe, tuned.thresholds))[measure]
        )
    assert seen[0] == 0 < seen[1] == seen[2]
    for measure in ("micro_g", "hamming_loss"):
        with raises_with(XmlcError, f"'{measure}'"):
            tune("fta", spe, Y, prior, measure=measure)
