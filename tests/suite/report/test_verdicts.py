"""Test kinds of published numbers, and verdicts by interval, on constants, and against earlier
runs.
"""

import math
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from facts import absent
from repository import ROOT

from xmlc.suite.papers import table_of
from xmlc.suite.report.compare import compare_cells
from xmlc.suite.report.verdicts import (
    NO_CHANCE,
    NO_RUNS,
    NO_SPLIT_ERROR,
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


# Difference, half of the interval, published number, and the verdict
JUDGED = """
- [0.4, 0.5, 10, inside]
- [-0.5, 0.5, 10, inside]
- [0.50001, 0.5, 10, above]
- [-0.50001, 0.5, 10, below]
# half the interval exceeds 5 % of the published number
- [0.4, 0.5, 9.99, undecided]
- [0.6, 0.5, 9.99, above]  # outside a wide interval still counts as outside
- [9.0, .nan, 10, undecided]
- [0.0051, 0.0, 10, above]
- [-0.005, 9.0, 10, equal]  # This verdict takes precedence over all other verdicts.
- [0.005, .nan, 10, equal]
"""


@pytest.mark.parametrize(("difference", "interval", "printed", "verdict"), yaml.safe_load(JUDGED))
def test_measured_number_is_judged_by_its_interval(difference, interval, printed, verdict):
    assert verdict_on(difference, 0.005, interval, printed) == verdict


@pytest.mark.parametrize(("value", "verdict"), [(14.5, Verdict.EQUAL), (14.51, Verdict.ABOVE)])
def test_statistic_is_equal_within_half_a_unit_of_last_digit(value, verdict):
    place = ("plt2016", "table1", ("yeast", "plt"), "labels_per_instance")
    assert number_with(Judge(), value, place, "14").verdict is verdict


# Earlier and new numbers. Both 0.1 are the same float64, the two 0.3 are neighbours.
NUMBERS = """old,new,verdict
0.1,0.1000000000000000055,equal
nan,,equal
10/100,10/100,equal
0.30000000000000004,0.3,below
1,inf,above
10/100,10,changed
1,good,changed
40.0,,missing
nan,40.0,new
"""


def test_numbers_are_compared_exactly_with_earlier_run():
    table = pd.read_csv(StringIO(NUMBERS), dtype=str, keep_default_na=False)
    sides = []
    for side in ("old", "new"):
        sides.append(cells_of(pd.DataFrame({"place": table.index, "x": table[side]}), ["place"]))
    cells = compare_cells(["place"], *sides)
    found = cells[cells["quantity"] == "x"].set_index("place")["verdict"]
    assert found.to_dict() == table["verdict"].to_dict()


def test_unit_of_last_digit_is_read_from_text():
    found = [
        unit_of_last_digit(text) for text in ("72.4", "72.40", "2456", "1e-05", "0.000001", "2e3")
    ]
    assert found == pytest.approx([0.1, 0.01, 1, 1e-5, 1e-6, 1])


# Maps a paper, table, column and model to the kind of the number.
KINDS = {
    "plt2016 table1 n_train plt": NumberKind.DATASET,
    # the authors ran it themselves
    "plt2016 table1 p@1 fastxml": NumberKind.MEASURED,
    "plt2016 table2 test_ms plt": NumberKind.COST,
    # Inner products are counted, so they do not depend on the machine.
    "plt2016 table2 inner_products plt": NumberKind.MEASURED,
    "plt2016 table3 low plt": NumberKind.CONFIGURATION,
    "ldsm2020 table7 p@1 ldsm": NumberKind.MEASURED,
    "ldsm2020 table7 p@1 fastxml": NumberKind.QUOTED,
    "ldsm2020 table4 depth ": NumberKind.MEASURED,
    "swnn2018 table6 p@1 dismec": NumberKind.QUOTED,
}


@pytest.mark.parametrize("number", KINDS)
def test_kind_of_published_number_follows_from_table_column_and_model(number):
    paper, table, column, model = number.split(" ")
    assert kind_of(column, table_of(table, paper), model) is KINDS[number]


def test_cell_of_deterministic_model_has_no_chance_variation():
    for value, verdict in ((10.956, Verdict.EQUAL), (12.0, Verdict.ABOVE), (10.0, Verdict.BELOW)):
        found = number_with(judge_with(value, value, value), value)
        assert (found.verdict, found.reason) == (verdict, NO_CHANCE)
        assert found.interval == pytest.approx(0.00566, abs=1e-5)


def test_number_printed_twice_is_counted_once():
    def counted(place, *rows):
        paper, table, *_ = place
        numbers = cells(place, *rows)
        found = judged(paper, table_of(table, paper), numbers, numbers, Judge())
        return found["quantity"][found["verdict"] != ""].tolist()

    ndcg = (*LDSM[2], "ndcg@1", "71.91")
    for other, expected in (
        (("p@1", "71.91"), ["p@1"]),
        (("p@3", "1.0"), ["ndcg@1", "p@3"]),
        (("p@1", "-"), ["ndcg@1"]),
    ):
        assert counted(LDSM, ndcg, (*LDSM[2], *other)) == expected
    table4 = ("plt2016", "table4", (), "fta")
    row = ("plt", "yeast")
    assert counted(table4, (*row, "fta", "20.41"), (*row, "sto", "1.0")) == []
    # If inner products do not depend on the method, only the first row counts.
    products = []
    for method, number in (("fta", "60"), ("sto", "60"), ("ofo", "61")):
        products.append(("yeast", "fastxml", method, "inner_products", number))
    assert counted(STO, *products) == ["inner_products"] * 2


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


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (("delicious", "ldsm"), NumberKind.OTHER_SPLIT),
        (("delicious-ldsm", "ldsm"), NumberKind.MEASURED),
        (("delicious", "fastxml"), NumberKind.QUOTED),
    ],
)
def test_published_number_counts_on_only_one_of_two_splits(row, kind):
    """The number on the other split is judged and counted separately, as quoted rows are."""
    judge = Judge.of_project(ROOT / "config")
    found = number_with(judge, 71.91, ("ldsm2020", "table7", row, "p@1"), "71.91")
    assert (found.kind, found.verdict) == (kind, Verdict.EQUAL)


def test_mean_of_whole_numbers_equals_published_number_only_exactly():
    place = ("ldsm2020", "table4", ("bibtex",), "depth")
    assert number_with(Judge(), 9.0, place, "9").verdict is Verdict.EQUAL
    assert number_with(Judge(), 8.6, place, "9").verdict is Verdict.UNDECIDED
    same = {("ldsm2020", "bibtex"): {"same": True}}
    deviating = judge_with(9.0, 9.0, 9.0, 9.0, 8.0, place=place, same=same)
    assert number_with(deviating, 6.0, place, "9").verdict is Verdict.BELOW


def test_cell_without_runs_is_undecided():
    found = number_with(Judge(splits=SAME), 10.9)
    assert (found.verdict, found.reason) == (Verdict.UNDECIDED, NO_RUNS)
    # The variation of another model, method, dataset or table does not apply to this cell.
    for row in (("yeast", "plt", "fta"), ("scene", "plt", "sto"), ("yeast", "fastxml", "sto")):
        judge = judge_with(10.0, 12.0, place=(*STO[:2], row, "macro_f"))
        assert number_with(judge, 10.9).verdict is Verdict.UNDECIDED


def test_current_runs_take_precedence_over_stored_runs():
    found = number_with(judge_with(1.0, 20.0), 10.97, seeds=5, deviation=0.01)
    assert found.verdict is Verdict.INSIDE
    assert absent(found.reason, 0.01, "5 runs") == []


def test_other_split_adds_its_error_or_leaves_number_undecided():
    found = number_with(judge_with(12.0, 12.0, same={}), 12.0)
    assert (found.verdict, found.reason) == (Verdict.UNDECIDED, NO_SPLIT_ERROR)
    found = number_with(judge_with(10.96, 10.95, 10.97, same={}, split_error=0.5), 10.0)
    assert found.interval == pytest.approx(1.96 * 0.5 * math.sqrt(2), rel=1e-3)
    assert found.verdict is Verdict.UNDECIDED


def test_project_judge_uses_splits_and_published_runs():
    judge = Judge.of_project(ROOT / "config")
    assert judge.printed_runs["oplt2021"] == 5
    assert judge.printed_runs["plt2016"] == 1
    assert judge.splits["gfm2011", "scene"]["same"]
    assert not judge.splits["ldsm2020", "delicious"]["same"]
    assert "Table 1 on scene" in judge.fitted["gfm2011", "br"]
    assert judge.fitted["plt2016", "plt"] == ""


FITTED = "C_grid: kept because a printed row has its digits then"


def test_number_fitted_to_published_results_is_marked():
    for place, fitted in (
        (("plt2016", "plt"), FITTED),
        (("plt2016", "plt", "yeast", "macro_f"), FITTED),
        (("plt2016", "fastxml"), ""),
        (("plt2016", "plt", "yeast", "p@1"), ""),
    ):
        found = number_with(judge_with(10.95, 10.96, 10.97, fitted={place: FITTED}), 10.97)
        assert (found.verdict, found.fitted) == (Verdict.INSIDE, fitted)
