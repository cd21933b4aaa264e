"""One judgement for comparisons and pages."""

import math

import pytest

from xmlc.judging.tolerances import Deviations, Tolerances
from xmlc.judging.verdict import Verdict, judge_exactly, judge_published, reproduced_line, unit_of_last_digit

TOLERANCES = Tolerances(
    k=3, deviations=Deviations({"bibtex": {"plt": {"runs": 5, "p@1": 0.5}}}), unjudged={"c": "a neighbour of the grid"}
)


@pytest.mark.parametrize(
    ("published", "measured", "verdict", "allowed"),
    [
        ("63.42", 63.425, Verdict.EQUAL, 1.505),  # half a unit away, which floating point overshoots
        ("63.42", 63.4252, Verdict.WITHIN, 1.505),
        ("63.4", 63.45, Verdict.EQUAL, 1.55),
        ("63.40", 63.45, Verdict.WITHIN, 1.505),  # a printed zero is a digit
        ("63", 62.5, Verdict.EQUAL, 2.0),
        ("63.42", 64.925, Verdict.WITHIN, 1.505),
        ("63.42", 64.926, Verdict.OUTSIDE, 1.505),
        ("63.42", 61.9, Verdict.OUTSIDE, 1.505),
        ("63.42", None, Verdict.NOT_RUN, 1.505),
        ("63.42", math.nan, Verdict.NOT_RUN, 1.505),
    ],
)
def test_verdicts_beside_a_published_number(published, measured, verdict, allowed):
    judgement = judge_published(published, measured, "p@1", TOLERANCES, "plt", "bibtex")
    assert judgement.verdict is verdict
    assert judgement.allowed == pytest.approx(allowed)
    if measured is not None and not math.isnan(measured):
        assert judgement.difference == pytest.approx(measured - float(published))


def test_a_failed_experiment_is_said_to_have_failed():
    assert judge_published("63.42", None, "p@1", TOLERANCES, failed=True).verdict is Verdict.FAILED


@pytest.mark.parametrize(
    ("published", "column"),
    [(None, "p@1"), ("", "p@1"), ("-", "p@1"), ("inf", "p@1"), ("5", "train_seconds"), ("5", "c")],
)
def test_where_nothing_is_printed_or_judged_there_is_no_verdict(published, column):
    assert judge_published(published, 5.0, column, TOLERANCES) is None


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("40.0", "40", Verdict.EQUAL),
        ("0.1", "0.1000000000000000055", Verdict.EQUAL),  # the same float64
        ("0.30000000000000004", "0.3", Verdict.DIFFERENT),  # the next float64
        ("0.0", "-0.0", Verdict.EQUAL),
        ("10/100", "10/100", Verdict.EQUAL),
        ("10/100", "10", Verdict.DIFFERENT),
        ("", "", Verdict.EQUAL),
        ("nan", "", Verdict.EQUAL),
        ("40.0", "", Verdict.MISSING),
        ("", "40.0", Verdict.NEW),
        ("nan", "40.0", Verdict.NEW),
        ("inf", "inf", Verdict.EQUAL),
        ("inf", "1", Verdict.DIFFERENT),
        ("good", "good", Verdict.EQUAL),
        ("good", "bad", Verdict.DIFFERENT),
    ],
)
def test_verdicts_beside_an_earlier_number_of_ours(old, new, expected):
    assert judge_exactly(old, new).verdict is expected


def test_the_headline_counts():
    counts = {Verdict.EQUAL: 30, Verdict.WITHIN: 8, Verdict.OUTSIDE: 4, Verdict.NOT_RUN: 2, Verdict.FAILED: 0}
    assert reproduced_line(counts) == "38 of 44 cells reproduced, 4 outside, 2 not run"
    # What only our side has is no cell of the paper.
    assert reproduced_line({Verdict.EQUAL: 1, Verdict.NEW: 2}) == "1 of 1 cells reproduced, 2 new"


def test_a_unit_of_the_last_digit():
    found = [unit_of_last_digit(text) for text in ("72.4", "72.40", "2456", "1e-05", "0.000001", "2e3", "nan")]
    assert found == pytest.approx([0.1, 0.01, 1, 1e-5, 1e-6, 1, 0])
