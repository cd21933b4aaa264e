"""Test that the simulated rates of verdicts on docs/claims.md are right, and what they show."""

import re
import runpy

import numpy as np
import pytest
from repository import ROOT

from xmlc.suite.results.verdicts import ClaimVerdict, Verdict

MAKER = runpy.run_path(str(ROOT / "docs/error_rates.py"))
FEW = 1000


def on_page(table):
    """Return the lines of the page's table that has the same header."""
    lines = MAKER["PAGE"].read_text(encoding="utf-8").splitlines()
    start = lines.index(table[0])
    return lines[start : lines.index("", start)]


def test_rates_of_numbers_are_on_page():
    table = list(MAKER["numbers"]())
    assert on_page(table) == table


def test_rates_of_statements_are_on_page():
    table = list(MAKER["statements"](FEW))
    rate = re.compile(r"(?:[<>] )?\d+(?= \(|\))")
    halves = {"< 1": 0.5, "> 99": 99.5}
    for actual, expected in zip(on_page(table), table, strict=True):
        assert rate.sub("", actual) == rate.sub("", expected)
        for rates in zip(rate.findall(actual), rate.findall(expected), strict=True):
            on_paper, here = (float(halves.get(text, text)) for text in rates)
            likely = min(max(on_paper, 0.5), 99.5)
            error = np.sqrt(likely * (100 - likely) / FEW)
            assert abs(on_paper - here) <= 4 * error + 1  # both rates are rounded


@pytest.mark.parametrize(("level", "deviation"), [(64, 0.6), (10, 1.0)])
def test_interval_covers_at_least_94_percent_of_faithful_numbers(level, deviation):
    verdicts = MAKER["number_verdicts"](level, deviation, 0)
    outside = verdicts[Verdict.ABOVE] + verdicts[Verdict.BELOW]
    assert outside <= 0.06 * MAKER["RUNS"]
    assert verdicts[Verdict.ABOVE] == pytest.approx(verdicts[Verdict.BELOW], rel=0.2)


@pytest.mark.parametrize("kind", MAKER["KINDS"])
def test_verdicts_separate_true_and_false_statements(kind):
    for effect, right, wrong in ((2, "holds", "does not hold"), (-2, "does not hold", "holds")):
        _, effects = MAKER["simulated"](effect, kind, FEW)
        verdicts = [plain for plain, _ in MAKER["claim_verdicts"](effects)]
        assert verdicts.count(right) >= 0.93 * FEW
        assert verdicts.count(wrong) == 0


def varying(effect):
    """Return simulated effects that vary, and whether the plain and the universal statement
    hold.
    """
    true, effects = MAKER["simulated"](effect, "effects vary", 4000)
    plain, universal = zip(*MAKER["claim_verdicts"](effects), strict=True)
    return true, np.array(plain) == ClaimVerdict.HOLDS, np.array(universal) == ClaimVerdict.HOLDS


def test_verdict_is_about_datasets_tested():
    true, holds, _ = varying(0)
    assert 0.02 <= holds.mean() <= 0.05
    positive = (true > 0).sum(axis=1)
    assert (positive[holds] >= 3).mean() >= 0.97


def test_quarter_of_universal_statements_that_hold_is_false_on_a_dataset():
    true, _, holds = varying(1)
    assert (true[holds].min(axis=1) < 0).mean() == pytest.approx(0.25, abs=0.04)
