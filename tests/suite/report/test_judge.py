"""Test verdicts on published numbers from runs, splits and settings."""

import math
from dataclasses import replace

import numpy as np
import pytest
from facts import absent
from repository import ROOT

from xmlc.suite.papers import table_of
from xmlc.suite.report.verdicts import NO_CHANCE, NO_RUNS, Judge, NumberKind, Spread, repeats
from xmlc.suite.results.frame import Number, make_row
from xmlc.suite.results.verdicts import Verdict

STO = ("plt2016", "table2", ("yeast", "plt", "sto"), "macro_f")
LDSM = ("ldsm2020", "table7", ("delicious", "ldsm"), "p@1")
SAME = frozenset({("plt2016", "yeast")})


def judge_with(*values, split_error=None, same=SAME, place=STO, **about):
    return Judge({place: Spread(len(values), np.std(values, ddof=1), split_error)}, same_split=same, **about)


def number(place, published, value=None, **about):
    paper, table, key, quantity = place
    named = dict(zip(table_of(table, paper).keys, key))
    about |= {name: named.get(name, "") for name in ("dataset", "model", "method")}
    return Number(quantity=quantity, key=key, published=published, value=value, **about)


def judged(judge, value, place=STO, published="10.96", seeds=1, deviation=math.nan, **about):
    paper, table, key, quantity = place
    ours = number(place, published, value, **about)
    ours = replace(ours, kind=judge.kind(paper, table_of(table, paper), ours))
    row = {quantity: replace(ours, deviation=deviation)} | make_row(key, {"seeds": seeds})
    return judge.judge(paper, table, ours, row)


def test_number_is_inside_its_interval_above_or_below():
    judge = judge_with(10.96, 10.95, 10.97)
    assert judged(judge, 10.956).verdict is Verdict.EQUAL
    inside = judged(judge, 10.97)
    assert inside.verdict is Verdict.INSIDE
    assert absent(inside.reason, 0.01, "3 runs") == []
    assert judged(judge, 11.20).verdict is Verdict.ABOVE
    assert judged(judge, 10.72).verdict is Verdict.BELOW


@pytest.mark.parametrize(("value", "verdict"), [(10.956, Verdict.EQUAL), (12.0, Verdict.ABOVE), (10.0, Verdict.BELOW)])
def test_cell_of_deterministic_model_has_no_chance_variation(value, verdict):
    found = judged(judge_with(value, value, value), value)
    assert (found.verdict, found.reason) == (verdict, NO_CHANCE)
    assert found.interval == pytest.approx(0.00566, abs=1e-5)
    # Another split adds the error of splits. Without that error, the cell is undecided.
    assert judged(judge_with(12.0, 12.0, same=frozenset(), split_error=0.1), 12.0).verdict is Verdict.ABOVE
    assert judged(judge_with(12.0, 12.0, same=frozenset()), 12.0).verdict is Verdict.UNDECIDED


def test_number_printed_twice_is_counted_once():
    def is_repeated(place, published):
        rows = {key: make_row(key, {place[3]: text} | more) for key, (text, more) in published.items()}
        return repeats(number(place, published[place[2]][0]), rows)

    ndcg = (*LDSM[:3], "ndcg@1")
    assert is_repeated(ndcg, {LDSM[2]: ("71.91", {"p@1": "71.91"})})
    assert not is_repeated(ndcg, {LDSM[2]: ("71.91", {})})
    assert is_repeated(("plt2016", "table4", ("plt", "yeast"), "fta"), {("plt", "yeast"): ("20.41", {})})
    # If inner products do not depend on the method, only the first row counts.
    rows = {("yeast", "fastxml", method): ("60", {}) for method in ("fta", "sto", "ofo")}
    assert [is_repeated(("plt2016", "table2", row, "inner_products"), rows) for row in rows] == [False, True, True]


def test_published_number_counts_on_only_one_of_two_splits():
    """The number on the other split is judged and counted separately, as quoted rows are."""
    judge = Judge.of_project(ROOT / "config", {})
    found = {
        (row, name): judged(judge, 71.91, ("ldsm2020", "table7", row, name), "71.91")
        for row in (("delicious", "ldsm"), ("delicious-ldsm", "ldsm"), ("delicious", "fastxml"))
        for name in ("p@1", "n_test")
    }
    assert [one.kind for (_, name), one in found.items() if name == "p@1"] == [
        NumberKind.OTHER_SPLIT, NumberKind.MEASURED, NumberKind.QUOTED
    ]  # fmt: skip
    assert {one.kind for (_, name), one in found.items() if name == "n_test"} == {NumberKind.DATASET}
    other = found[LDSM[2], "p@1"]
    assert other.verdict is Verdict.EQUAL
    assert absent(other.reason, "delicious-ldsm") == []


def test_mean_of_whole_numbers_equals_published_number_only_exactly():
    place = ("ldsm2020", "table4", ("bibtex",), "depth")
    verdicts = [judged(Judge(), mean, place, "9").verdict for mean in (9.0, 8.6, 9.4)]
    assert verdicts == [Verdict.EQUAL, Verdict.UNDECIDED, Verdict.UNDECIDED]
    deviating = judge_with(9.0, 9.0, 9.0, 9.0, 8.0, place=place, same=frozenset({("ldsm2020", "bibtex")}))
    assert judged(deviating, 6.0, place, "9").verdict is Verdict.BELOW


def test_quantity_that_helped_to_choose_settings_is_fitted():
    place = ("ldsm2020", "table4", ("bibtex",), "depth")
    found = judged(Judge(fitted_quantities={("ldsm2020", "", "bibtex", "depth"): "the printed depth"}), 9.0, place, "9")
    assert (found.verdict, found.fitted_settings) == (Verdict.EQUAL, "the printed depth")


def test_cell_without_runs_is_undecided():
    found = judged(Judge(same_split=SAME), 10.9)
    assert (found.verdict, found.reason) == (Verdict.UNDECIDED, NO_RUNS)
    # The variation of another model, method, dataset or table does not apply to this cell.
    for row in (("yeast", "plt", "fta"), ("scene", "plt", "sto"), ("yeast", "fastxml", "sto")):
        assert judged(judge_with(10.0, 12.0, place=(*STO[:2], row, "macro_f")), 10.9).verdict is Verdict.UNDECIDED


def test_current_runs_take_precedence_over_stored_runs():
    found = judged(judge_with(1.0, 20.0), 10.97, seeds=5, deviation=0.01)
    assert found.verdict is Verdict.INSIDE
    assert absent(found.reason, 0.01, "5 runs") == []


def test_other_split_adds_its_error_or_leaves_number_undecided():
    assert judged(judge_with(10.96, 10.95, 10.97, same=frozenset()), 10.97).verdict is Verdict.UNDECIDED
    found = judged(judge_with(10.96, 10.95, 10.97, same=frozenset(), split_error=0.5), 10.0)
    assert found.interval == pytest.approx(1.96 * 0.5 * math.sqrt(2), rel=1e-3)
    assert found.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("place", "published", "about", "verdict"),
    [
        (STO, "10.96", {"value": None}, Verdict.NOT_RUN),
        (STO, "10.96", {"value": math.nan}, Verdict.NOT_RUN),
        (STO, "10.96", {"value": None, "reason": "no room left"}, Verdict.NOT_RUN),
        (STO, "-", {"value": 5.0}, None),
        (STO, "", {"value": 5.0}, None),
        ((*STO[:3], "macro_f_std"), "1.0", {"value": 5.0}, None),
        ((*STO[:3], "test_ms"), "1.0", {"value": 5.0}, None),
    ],
)
def test_cells_without_comparable_numbers_get_no_judgement(place, published, about, verdict):
    assert judged(judge_with(10.96, 10.95), place=place, published=published, **about).verdict is verdict


def test_project_judge_uses_splits_and_published_runs():
    judge = Judge.of_project(ROOT / "config", {})
    assert judge.printed_runs["oplt2021"] == 5
    assert judge.printed_runs["plt2016"] == 1
    assert ("gfm2011", "scene") in judge.same_split
    assert ("ldsm2020", "delicious") not in judge.same_split
    assert "Table 1 on scene" in judge.fitted_settings["gfm2011", "br"]
    assert ("plt2016", "plt") not in judge.fitted_settings


def test_number_fitted_to_published_results_is_marked():
    about = {("plt2016", "plt"): "C_grid: kept because a printed row has its digits then"}
    found = judged(judge_with(10.95, 10.96, 10.97, fitted_settings=about), 10.97)
    assert (found.verdict, found.fitted_settings) == (Verdict.INSIDE, about["plt2016", "plt"])
    other = {("plt2016", "fastxml"): "max_leaf: kept"}
    assert judged(judge_with(10.96, 10.96, fitted_settings=other), 10.96).fitted_settings == ""
