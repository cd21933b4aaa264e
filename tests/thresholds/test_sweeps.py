"""The sweeps over the grids of Section 6.2 and Table 4."""

from itertools import product

import numpy as np
import pytest
from facts import raises_with
from threshold_cases import random_case

from xmlc.core.errors import XmlcError
from xmlc.metrics import classification_metrics
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


def test_sweeps_equal_methods_with_given_parameters(sweep_case):
    spe, Y, prior = sweep_case
    nu = lower_bounds(prior)
    makers = {
        "sto": lambda c: STO(kappa=kappa(c, nu)),
        "ofo": lambda c: OFO(1, c, nu),
        "fta": lambda c: FTA((c,), lower_bounds=nu),
        "fta-labelwise": lambda c: FTA(
            [other for other in GRID if other <= c], label_wise=True, lower_bounds=nu
        ),
    }
    for name, make in makers.items():
        points = list(METHODS[name].sweep(spe, Y, prior, GRID))
        assert [point.c for point in points] == sorted(GRID)
        for point in points:
            expected = make(point.c).fit(spe, Y).thresholds_
            np.testing.assert_array_equal(point.thresholds, expected)


def test_methods_without_labels_are_fitted_on_unlabelled_estimates(sweep_case):
    unlabelled, _ = random_case(40, 20, seed=4, levels=50)
    for name, zero_division in UNLABELLED_METHODS.items():
        for given, fitted_on in ((None, sweep_case[0]), (unlabelled, unlabelled)):
            expected = ExpectedF(zero_division=zero_division, prior=sweep_case[2]).fit(fitted_on)
            found = tune(name, *sweep_case, unlabelled=given).thresholds
            np.testing.assert_array_equal(found, expected.thresholds_)
    found = tune("sto", *sweep_case, unlabelled=unlabelled).thresholds
    np.testing.assert_array_equal(found, tune("sto", *sweep_case).thresholds)


def test_ofo_grid_contains_pairs_of_table_4():
    pairs = ofo_pairs(GRID)
    # the pairs that the authors' program tries
    program = {(a, b) for a, b in product((1, *GRID), GRID) if 2 * a <= b}
    assert PUBLISHED | program <= set(pairs)
    assert len(pairs) == len(set(pairs)) == 132
    assert all(0 < a / b <= 0.5 for a, b in pairs)


def test_taken_names_and_unknown_measures_are_refused():
    with raises_with(XmlcError, "'sto'"):
        register("sto")(lambda *arguments: iter(()))
    with raises_with(XmlcError, "'macro_g'", "'mine'", "macro_f"):
        register("mine", measure="macro_g")(lambda *arguments: iter(()))
    assert "mine" not in METHODS


@pytest.mark.parametrize("name", sorted(METHODS))
def test_tune_selects_thresholds_by_validation_score(sweep_case, name):
    spe, Y, prior = sweep_case
    seen = []

    def score_test(thresholds):
        seen.append(thresholds)
        return len(seen)

    tuned = tune(name, spe, Y, prior, min_probability=0.04, score_test=score_test)
    every = [classification_metrics(Y, apply_thresholds(spe, thresholds)) for thresholds in seen]
    names = scores_of(name)
    assert "macro_f" in names  # Figure 1 shows macro-F for every method.
    for entry, scores in zip(tuned.grid, every, strict=True):
        assert entry.validation == {measure: scores[measure] for measure in names}
    assert [entry.test for entry in tuned.grid] == [*range(1, len(seen) + 1)]
    scores = [scores[METHODS[name].measure] for scores in every]
    assert tuned.best == scores.index(max(scores))
    np.testing.assert_array_equal(tuned.thresholds, seen[tuned.best])
    assert min(thresholds.min() for thresholds in seen) >= np.float32(0.04)
    assert {thresholds.dtype for thresholds in seen} == {np.dtype(np.float32)}
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
    for name in ("fta", "fta-labelwise", "sto", "ofo", "ofo-ab"):
        assert METHODS[name].measure == "macro_f"
    for name in TUNABLE:
        assert METHODS["for-" + name.replace("_", "-")].measure == name
    sto = tune("sto", *sweep_case)
    assert sto.grid == tune("for-macro-f", *sweep_case).grid


def test_tune_can_select_by_another_measure(sweep_case):
    spe, Y, prior = sweep_case
    often = np.arange(20) < 8
    # Twelve labels never occur but have the highest estimates. With 0/0 = 1, it is best to predict
    # none of these labels.
    spe = np.where(often, 0.2 * spe.toarray(), 0.3)
    Y = np.where(often, Y.toarray(), False)
    best = {}
    for measure in ("macro_f", "macro_f_zero", "macro_f_present"):
        tuned = tune("fta", spe, Y, 0 * prior, measure=measure)
        scores = [entry.validation[measure] for entry in tuned.grid]
        best[measure] = tuned.best
        assert tuned.best == scores.index(max(scores))
    assert best["macro_f"] == 0 < best["macro_f_zero"] == best["macro_f_present"]
