"""Test kinds of published numbers, and verdicts by interval, on constants, and against earlier
runs.
"""

import math
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from facts import absent
from repository import ROOT

from xmlc.suite.papers import table_of
from xmlc.suite.report.compare import compare_cells
from xmlc.suite.report.verdicts import (
    NO_CHANCE,
    NO_RUNS,
    Judge,
    NumberKind,
    Spread,
    judged,
    kind_of,
    unit_of_last_digit,
    verdict_on,
)
from xmlc.suite.results.numbers import cells_of
from xmlc.suite.results.verdicts import Verdict

STO = ("plt2016", "table2", ("yeast", "plt", "sto"), "macro_f")
LDSM = ("ldsm2020", "table7", ("delicious", "ldsm"), "p@1")
SAME = {("plt2016", "yeast"): {"same": True}}


def judge_with(*values, split_error=None, same=SAME, place=STO, **about):
    return Judge(
        {place: Spread(len(values), np.std(values, ddof=1), split_error)}, splits=same, **about
    )


def cells(place, *values, **about):
    """Return a frame with the numbers of a table: of one row, or of the rows in ``values``."""
    paper, table, key, quantity = place
    keys = table_of(table, paper).keys
    rows = [(*key, quantity, *values)] if len(values) == 1 else values
    frame = pd.DataFrame(rows, columns=[*keys, "quantity", "value"], dtype=object)
    return frame.assign(**({"deviation": math.nan, "seeds": 1} | about))


def number_with(judge, value, place=STO, published="10.96", **about):
    """Return the row of one published number with its verdict."""
    paper, table, *_ = place
    numbers = cells(place, value, **about), cells(place, published)
    found = judged(paper, table_of(table, paper), *numbers, judge)
    return SimpleNamespace(**found.iloc[0]) if len(found) else None


@pytest.mark.parametrize(
    ("difference", "interval", "printed", "verdict"),
    [
        (0.4, 0.5, 10, Verdict.INSIDE),
        (-0.5, 0.5, 10, Verdict.INSIDE),
        (0.50001, 0.5, 10, Verdict.ABOVE),
        (-0.50001, 0.5, 10, Verdict.BELOW),
        # half the interval exceeds 5 % of the published number
        (0.4, 0.5, 9.99, Verdict.UNDECIDED),
        (0.1, 0.5, 0, Verdict.UNDECIDED),
        (0.6, 0.5, 9.99, Verdict.ABOVE),  # outside a wide interval still counts as outside
        (9.0, math.nan, 10, Verdict.UNDECIDED),
        (0.005, 0.5, 10, Verdict.EQUAL),  # This verdict takes precedence over all other verdicts.
        (-0.005, 9.0, 10, Verdict.EQUAL),
        (0.005, math.nan, 10, Verdict.EQUAL),
    ],
)
def test_measured_number_is_judged_by_its_interval(difference, interval, printed, verdict):
    assert verdict_on(difference, 0.005, interval, printed) is verdict


@pytest.mark.parametrize(
    ("difference", "tolerance", "verdict"),
    [(0.005, 0.005, Verdict.EQUAL), (0.0051, 0.005, Verdict.ABOVE), (-27, 0.5, Verdict.BELOW)],
)
def test_constant_is_equal_within_its_tolerance(difference, tolerance, verdict):
    assert verdict_on(difference, tolerance) is verdict


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(14.5, Verdict.EQUAL), (13.5, Verdict.EQUAL), (14.51, Verdict.ABOVE), (13.0, Verdict.BELOW)],
)
def test_statistic_is_equal_within_half_a_unit_of_last_digit(value, verdict):
    place = ("plt2016", "table1", ("yeast", "plt"), "labels_per_instance")
    assert number_with(Judge(), value, place, "14").verdict is verdict


# Earlier and new numbers by verdict. Both 0.1 are the same float64, the two 0.3 are neighbours.
NUMBERS = {
    Verdict.EQUAL: [("40.0", "40"), ("0.1", "0.1000000000000000055"), ("0.0", "-0.0"), ("nan", "")],
    Verdict.BELOW: [("0.30000000000000004", "0.3"), ("inf", "1"), ("1", "-1")],
    Verdict.ABOVE: [("0.3", "0.30000000000000004"), ("1", "inf")],
    Verdict.CHANGED: [("10/100", "10"), ("good", "bad"), ("1", "good")],
    Verdict.MISSING: [("40.0", "")],
    Verdict.NEW: [("", "40.0"), ("nan", "40.0")],
}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [(old, new, verdict) for verdict, pairs in NUMBERS.items() for old, new in pairs]
    + [(text, text, Verdict.EQUAL) for text in ("10/100", "", "inf", "good")],
)
def test_number_is_compared_exactly_with_earlier_run(old, new, expected):
    sides = [pd.DataFrame({"dataset": ["a"], "x": [text]}) for text in (old, new)]
    cells = compare_cells(["dataset"], *(cells_of(side, ["dataset"]) for side in sides))
    assert cells.set_index("quantity").loc["x", "verdict"] == expected


def test_unit_of_last_digit_is_read_from_text():
    found = [
        unit_of_last_digit(text) for text in ("72.4", "72.40", "2456", "1e-05", "0.000001", "2e3")
    ]
    assert found == pytest.approx([0.1, 0.01, 1, 1e-5, 1e-6, 1])


@pytest.mark.parametrize(
    ("paper", "table", "column", "model", "kind"),
    [
        ("plt2016", "table1", "n_train", "plt", NumberKind.DATASET),
        ("plt2016", "table1", "p@1", "plt", NumberKind.MEASURED),
        # the authors ran it themselves
        ("plt2016", "table1", "p@1", "fastxml", NumberKind.MEASURED),
        ("plt2016", "table2", "test_ms", "plt", NumberKind.COST),
        # Inner products are counted, so they do not depend on the machine.
        ("plt2016", "table2", "inner_products", "plt", NumberKind.MEASURED),
        ("plt2016", "table3", "low", "plt", NumberKind.CONFIGURATION),
        ("plt2016", "table4", "a", "plt", NumberKind.CONFIGURATION),
        ("ldsm2020", "table7", "p@1", "ldsm", NumberKind.MEASURED),
        ("ldsm2020", "table7", "p@1", "fastxml", NumberKind.QUOTED),
        ("ldsm2020", "table4", "depth", "", NumberKind.MEASURED),
        ("swnn2018", "table6", "S", "swnn-searched", NumberKind.CONFIGURATION),
        ("swnn2018", "table6", "max_p@3", "swnn-searched", NumberKind.DATASET),
        ("swnn2018", "table6", "p@1", "dismec", NumberKind.QUOTED),
        ("gfm2011", "table1", "instance_f", "br", NumberKind.MEASURED),
        ("oplt2021", "table2", "train_cpu_minutes", "iplt", NumberKind.COST),
    ],
)
def test_kind_of_published_number_follows_from_table_column_and_model(
    paper, table, column, model, kind
):
    assert kind_of(column, table_of(table, paper), model) is kind


def test_number_is_inside_its_interval_above_or_below():
    judge = judge_with(10.96, 10.95, 10.97)
    assert number_with(judge, 10.956).verdict is Verdict.EQUAL
    inside = number_with(judge, 10.97)
    assert inside.verdict is Verdict.INSIDE
    assert absent(inside.reason, 0.01, "3 runs") == []
    assert number_with(judge, 11.20).verdict is Verdict.ABOVE
    assert number_with(judge, 10.72).verdict is Verdict.BELOW


@pytest.mark.parametrize(
    ("value", "verdict"), [(10.956, Verdict.EQUAL), (12.0, Verdict.ABOVE), (10.0, Verdict.BELOW)]
)
def test_cell_of_deterministic_model_has_no_chance_variation(value, verdict):
    found = number_with(judge_with(value, value, value), value)
    assert (found.verdict, found.reason) == (verdict, NO_CHANCE)
    assert found.interval == pytest.approx(0.00566, abs=1e-5)
    # Another split adds the error of splits. Without that error, the cell is undecided.
    assert (
        number_with(judge_with(12.0, 12.0, same={}, split_error=0.1), 12.0).verdict is Verdict.ABOVE
    )
    assert number_with(judge_with(12.0, 12.0, same={}), 12.0).verdict is Verdict.UNDECIDED


def test_number_printed_twice_is_counted_once():
    def counted(place, *rows):
        paper, table, *_ = place
        found = judged(
            paper, table_of(table, paper), cells(place, *rows), cells(place, *rows), Judge()
        )
        return [
            quantity for quantity, verdict in zip(found["quantity"], found["verdict"]) if verdict
        ]

    ndcg = (*LDSM[2], "ndcg@1", "71.91")
    precision = (*LDSM[2], "p@1", "71.91")
    assert counted(LDSM, ndcg, precision) == ["p@1"]
    assert counted(LDSM, ndcg, (*LDSM[2], "p@3", "1.0")) == ["ndcg@1", "p@3"]
    assert counted(LDSM, ndcg, (*LDSM[2], "p@1", "-")) == ["ndcg@1"]
    table4 = ("plt2016", "table4", ("plt", "yeast"), "fta")
    assert counted(table4, (*table4[2], "fta", "20.41"), (*table4[2], "sto", "1.0")) == []
    # If inner products do not depend on the method, only the first row counts.
    rows = [
        ("yeast", "fastxml", method, "inner_products", text)
        for method, text in (("fta", "60"), ("sto", "60"))
    ]
    assert counted(STO, *rows) == ["inner_products"]
    assert (
        counted(STO, *rows, ("yeast", "fastxml", "ofo", "inner_products", "61"))
        == ["inner_products"] * 2
    )


def test_statistic_of_a_dataset_is_judged_once_and_found_in_any_row():
    place = ("plt2016", "table1", (), "m")
    printed = cells(
        place, ("a", "plt", "m", "14"), ("a", "fastxml", "m", "14"), ("b", "plt", "m", "6")
    )
    ours = cells(place, ("a", "swnn", "m", 15), ("a", "swnn", "p@1", 3.0))
    found = judged("plt2016", table_of("table1", "plt2016"), ours, printed, Judge())
    assert [*zip(found["dataset"], found["value"].fillna("none"), found["verdict"])] == [
        ("a", 15, "above"), ("b", "none", "not run")
    ]  # fmt: skip


def test_published_number_counts_on_only_one_of_two_splits():
    """The number on the other split is judged and counted separately, as quoted rows are."""
    judge = Judge.of_project(ROOT / "config")
    found = {
        (row, name): number_with(judge, 71.91, ("ldsm2020", "table7", row, name), "71.91")
        for row, name in product(
            (("delicious", "ldsm"), ("delicious-ldsm", "ldsm"), ("delicious", "fastxml")),
            ("p@1", "n_test"),
        )
    }
    assert [one.kind for (_, name), one in found.items() if name == "p@1"] == [
        NumberKind.OTHER_SPLIT, NumberKind.MEASURED, NumberKind.QUOTED
    ]  # fmt: skip
    assert {one.kind for (_, name), one in found.items() if name == "n_test"} == {
        NumberKind.DATASET
    }
    other = found[LDSM[2], "p@1"]
    assert other.verdict is Verdict.EQUAL


def test_mean_of_whole_numbers_equals_published_number_only_exactly():
    place = ("ldsm2020", "table4", ("bibtex",), "depth")
    verdicts = [number_with(Judge(), mean, place, "9").verdict for mean in (9.0, 8.6, 9.4)]
    assert verdicts == [Verdict.EQUAL, Verdict.UNDECIDED, Verdict.UNDECIDED]
    deviating = judge_with(
        9.0, 9.0, 9.0, 9.0, 8.0, place=place, same={("ldsm2020", "bibtex"): {"same": True}}
    )
    assert number_with(deviating, 6.0, place, "9").verdict is Verdict.BELOW


def test_quantity_that_helped_to_choose_settings_is_fitted():
    place = ("ldsm2020", "table4", ("bibtex",), "depth")
    found = number_with(
        Judge(fitted={("ldsm2020", "", "bibtex", "depth"): "the printed depth"}), 9.0, place, "9"
    )
    assert (found.verdict, found.fitted) == (Verdict.EQUAL, "the printed depth")


def test_cell_without_runs_is_undecided():
    found = number_with(Judge(splits=SAME), 10.9)
    assert (found.verdict, found.reason) == (Verdict.UNDECIDED, NO_RUNS)
    # The variation of another model, method, dataset or table does not apply to this cell.
    for row in (("yeast", "plt", "fta"), ("scene", "plt", "sto"), ("yeast", "fastxml", "sto")):
        assert (
            number_with(judge_with(10.0, 12.0, place=(*STO[:2], row, "macro_f")), 10.9).verdict
            is Verdict.UNDECIDED
        )


def test_current_runs_take_precedence_over_stored_runs():
    found = number_with(judge_with(1.0, 20.0), 10.97, seeds=5, deviation=0.01)
    assert found.verdict is Verdict.INSIDE
    assert absent(found.reason, 0.01, "5 runs") == []


def test_other_split_adds_its_error_or_leaves_number_undecided():
    assert number_with(judge_with(10.96, 10.95, 10.97, same={}), 10.97).verdict is Verdict.UNDECIDED
    found = number_with(judge_with(10.96, 10.95, 10.97, same={}, split_error=0.5), 10.0)
    assert found.interval == pytest.approx(1.96 * 0.5 * math.sqrt(2), rel=1e-3)
    assert found.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("quantity", "published", "value", "verdict"),
    [
        ("macro_f", "10.96", None, Verdict.NOT_RUN),
        ("macro_f", "10.96", math.nan, Verdict.NOT_RUN),
        ("test_ms", "1.0", 5.0, ""),
    ],
)
def test_missing_numbers_and_costs_get_no_judgement(quantity, published, value, verdict):
    assert (
        number_with(judge_with(10.96, 10.95), value, (*STO[:3], quantity), published).verdict
        == verdict
    )


@pytest.mark.parametrize("published", ["-", "", "nan"])
def test_cell_without_a_published_number_is_left_out(published):
    assert number_with(judge_with(10.96, 10.95), 5.0, published=published) is None


def test_project_judge_uses_splits_and_published_runs():
    judge = Judge.of_project(ROOT / "config")
    assert judge.printed_runs["oplt2021"] == 5
    assert judge.printed_runs["plt2016"] == 1
    assert judge.splits["gfm2011", "scene"]["same"]
    assert not judge.splits["ldsm2020", "delicious"]["same"]
    assert "Table 1 on scene" in judge.fitted["gfm2011", "br"]
    assert judge.fitted["plt2016", "plt"] == ""


def test_number_fitted_to_published_results_is_marked():
    about = {("plt2016", "plt"): "C_grid: kept because a printed row has its digits then"}
    found = number_with(judge_with(10.95, 10.96, 10.97, fitted=about), 10.97)
    assert (found.verdict, found.fitted) == (Verdict.INSIDE, about["plt2016", "plt"])
    other = {("plt2016", "fastxml"): "max_leaf: kept"}
    assert number_with(judge_with(10.96, 10.96, fitted=other), 10.96).fitted == ""
