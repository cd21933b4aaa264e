"""Test kinds of published numbers, and verdicts by interval, on constants, and against earlier runs."""

import math

import pytest

from xmlc.suite.papers import table_of
from xmlc.suite.report.compare import equal_line, measured_line
from xmlc.suite.report.verdicts import (
    NumberKind,
    judge_constant,
    judge_exactly,
    judge_measured,
    kind_of,
    unit_of_last_digit,
)
from xmlc.suite.results.verdicts import Verdict


@pytest.mark.parametrize(
    ("difference", "interval", "printed", "verdict"),
    [
        (0.4, 0.5, 10, Verdict.INSIDE),
        (-0.5, 0.5, 10, Verdict.INSIDE),
        (0.50001, 0.5, 10, Verdict.ABOVE),
        (-0.50001, 0.5, 10, Verdict.BELOW),
        (0.4, 0.5, 9.99, Verdict.UNDECIDED),  # half the interval exceeds 5 % of the published number
        (0.1, 0.5, 0, Verdict.UNDECIDED),
        (0.6, 0.5, 9.99, Verdict.ABOVE),  # outside a wide interval still counts as outside
        (9.0, math.nan, 10, Verdict.UNDECIDED),
        (0.005, 0.5, 10, Verdict.EQUAL),  # This verdict takes precedence over all other verdicts.
        (-0.005, 9.0, 10, Verdict.EQUAL),
        (0.005, math.nan, 10, Verdict.EQUAL),
    ],
)
def test_measured_number_is_judged_by_its_interval(difference, interval, printed, verdict):
    assert judge_measured(difference, interval, printed, 0.01) is verdict


@pytest.mark.parametrize(
    ("difference", "unit", "verdict"),
    [(0.005, 0.01, Verdict.EQUAL), (0.0051, 0.01, Verdict.ABOVE), (-27, 1, Verdict.BELOW)],
)
def test_constant_is_equal_within_half_a_unit_of_last_digit(difference, unit, verdict):
    assert judge_constant(difference, unit) is verdict


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
    [(*pair, verdict) for verdict, pairs in NUMBERS.items() for pair in pairs]
    + [(text, text, Verdict.EQUAL) for text in ("10/100", "", "inf", "good")],
)
def test_number_is_compared_exactly_with_earlier_run(old, new, expected):
    assert judge_exactly(old, new) is expected


def test_headlines_count_verdicts():
    counts = {Verdict.INSIDE: 30, Verdict.ABOVE: 8, Verdict.UNDECIDED: 4, Verdict.NOT_RUN: 21}
    assert measured_line(counts, "run") == ("42 of 63 run: 0 equal, 30 inside, 8 above, 0 below, 4 undecided")
    assert measured_line({Verdict.NOT_RUN: 20}, "run") == "0 of 20 run"
    # New cells are not counted as earlier cells.
    assert equal_line({Verdict.EQUAL: 1, Verdict.MISSING: 1, Verdict.NEW: 2}) == "1 of 2 cells equal, 1 missing, 2 new"


def test_unit_of_last_digit_is_read_from_text():
    found = [unit_of_last_digit(text) for text in ("72.4", "72.40", "2456", "1e-05", "0.000001", "2e3", "nan")]
    assert found == pytest.approx([0.1, 0.01, 1, 1e-5, 1e-6, 1, 0])


@pytest.mark.parametrize(
    ("paper", "table", "column", "model", "kind"),
    [
        ("plt2016", "table1", "n_train", "plt", NumberKind.DATASET),
        ("plt2016", "table1", "p@1", "plt", NumberKind.MEASURED),
        ("plt2016", "table1", "p@1", "fastxml", NumberKind.MEASURED),  # the authors ran it themselves
        ("plt2016", "table2", "test_ms", "plt", NumberKind.COST),
        # Inner products are counted, so they do not depend on the machine.
        ("plt2016", "table2", "inner_products", "plt", NumberKind.MEASURED),
        ("plt2016", "table3", "low", "plt", NumberKind.CONFIGURATION),
        ("plt2016", "table4", "a", "plt", NumberKind.CONFIGURATION),
        ("ldsm2020", "table7", "p@1", "ldsm", NumberKind.MEASURED),
        ("ldsm2020", "table7", "p@1", "fastxml", NumberKind.QUOTED),
        ("ldsm2020", "table4", "depth", None, NumberKind.MEASURED),
        ("swnn2018", "table6", "S", "swnn-searched", NumberKind.CONFIGURATION),
        ("swnn2018", "table6", "max_p@3", "swnn-searched", NumberKind.DATASET),
        ("swnn2018", "table6", "p@1", "dismec", NumberKind.QUOTED),
        ("gfm2011", "table1", "instance_f", "br", NumberKind.MEASURED),
        ("oplt2021", "table2", "train_cpu_minutes", "iplt", NumberKind.COST),
    ],
)
def test_kind_of_published_number_follows_from_table_column_and_model(paper, table, column, model, kind):
    assert kind_of(column, table_of(table, paper), model) is kind
