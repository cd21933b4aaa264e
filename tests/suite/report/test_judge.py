"""Printed numbers judged with all that is known of them."""

import math
from collections import Counter

import numpy as np
import pytest
from repository import ROOT

from xmlc.suite.papers import table_of
from xmlc.suite.report.judge import Judge, OurNumber
from xmlc.suite.report.runs import CellRuns, Place, Runs
from xmlc.suite.report.verdict import OUTCOMES, Kind, Verdict

TABLE2, TABLE7 = table_of("table2", "plt2016"), table_of("table7", "ldsm2020")
PRINTED = {
    ("yeast", "plt", method): {"macro_f": text, "inner_products": "55"}
    for method, text in {"fta": "11.12", "sto": "10.96", "ofo": "11.20"}.items()
} | {("yeast", "fastxml", "sto"): {"macro_f": "12.00"}}
STO = Place("plt2016", "table2", ("yeast", "plt", "sto"), "macro_f")
SAME = frozenset({("plt2016", "yeast")})


def judge_with(*values, split_error=None, same=SAME, place=STO, **about):
    return Judge(Runs({place: CellRuns(dict(enumerate(values)), split_error)}), same_split=same, **about)


def verdict_of(judge, value, place=STO, definition=TABLE2, printed=PRINTED, **found):
    return judge.judge(definition, place, printed, OurNumber(value, **found))


def test_a_number_is_inside_or_outside_of_its_interval_with_the_sign():
    judge = judge_with(10.96, 10.95, 10.97)
    assert verdict_of(judge, 10.956).verdict is Verdict.AS_PRINTED
    inside = verdict_of(judge, 10.97)
    assert inside.verdict is Verdict.INSIDE
    assert inside.difference == pytest.approx(0.01)
    assert "deviation 0.01 of 3 runs, 1 beside 1" in inside.reason
    assert verdict_of(judge, 11.20).verdict is Verdict.ABOVE
    assert verdict_of(judge, 10.72).verdict is Verdict.BELOW


@pytest.mark.parametrize(("value", "verdict"), [(10.956, Verdict.AS_PRINTED), (12.0, Verdict.DIFFERENT)])
def test_a_cell_of_a_model_that_draws_nothing_is_equal_as_printed_or_different(value, verdict):
    judgement = verdict_of(judge_with(value, value, value), value)
    assert judgement.verdict is verdict
    assert judgement.interval == pytest.approx(0.00566, abs=1e-5)
    assert "vary by no more than the rounding" in judgement.reason
    # On another split it may differ as much as splits do; where that was not measured, nothing is decided.
    assert verdict_of(judge_with(12.0, 12.0, same=frozenset(), split_error=0.1), 12.0).verdict is Verdict.ABOVE
    assert verdict_of(judge_with(12.0, 12.0, same=frozenset()), 12.0).verdict is Verdict.UNDECIDED


def test_a_number_that_a_paper_prints_twice_is_judged_once():
    place = Place("ldsm2020", "table7", ("delicious", "ldsm"), "ndcg@1")
    for texts, verdict in (({"p@1": "71.91", "ndcg@1": "71.91"}, None), ({"ndcg@1": "71.91"}, Verdict.UNDECIDED)):
        judgement = verdict_of(Judge(), 70.0, place, TABLE7, {place.row: texts})
        assert (judgement and judgement.verdict) is verdict
    place = Place("plt2016", "table4", ("plt", "yeast"), "fta")  # Table 2 has it
    table4 = table_of("table4", "plt2016")
    assert verdict_of(Judge(), 70.0, place, table4, {place.row: {"fta": "20.41"}}) is None
    # Inner products that do not depend on the method count in the first row.
    other = {("yeast", "fastxml", method): {"inner_products": "60"} for method in ("fta", "sto", "ofo")}
    for row in other:
        judgement = verdict_of(Judge(), 50, Place("plt2016", "table2", row, "inner_products"), printed=other)
        assert bool(judgement) == (row[2] == "fta"), row


def test_what_a_paper_measured_counts_on_one_of_two_splits():
    """The other is judged and counted apart, as the quoted rows, which are of that split, are."""
    judge = Judge.of_project(ROOT / "config")
    kinds = {
        (row, name): judge.kind(TABLE7, Place("ldsm2020", "table7", row, name))
        for row in (("delicious", "ldsm"), ("delicious-ldsm", "ldsm"), ("delicious", "fastxml"))
        for name in ("p@1", "n_test")
    }
    assert [kinds[row, "p@1"] for row, name in kinds if name == "p@1"] == [
        Kind.OTHER_SPLIT, Kind.MEASURED, Kind.QUOTED
    ]  # fmt: skip
    assert {kind for (_, name), kind in kinds.items() if name == "n_test"} == {Kind.DATASET}
    printed = {("delicious", "ldsm"): {"p@1": "71.91"}}
    place = Place("ldsm2020", "table7", ("delicious", "ldsm"), "p@1")
    judgement = verdict_of(judge, 71.91, place, TABLE7, printed)
    assert judgement.verdict is Verdict.AS_PRINTED
    assert judgement.reason.endswith("; the printed number is counted on delicious-ldsm")


def test_without_runs_there_is_no_judgement():
    judgement = verdict_of(Judge(same_split=SAME), 10.9)
    assert judgement.verdict is Verdict.UNDECIDED
    assert "xmlc deviations" in judgement.reason
    # The deviation of another model, method, dataset or table is none of this cell.
    for row in (("yeast", "plt", "fta"), ("scene", "plt", "sto"), ("yeast", "fastxml", "sto")):
        place = Place("plt2016", "table2", row, "macro_f")
        assert verdict_of(judge_with(10.0, 12.0, place=place), 10.9).verdict is Verdict.UNDECIDED


def test_runs_at_hand_count_before_those_on_file():
    judgement = verdict_of(Judge(same_split=SAME), 10.97, seeds=5, deviation=0.01)
    assert judgement.verdict is Verdict.INSIDE
    assert "of 5 runs, 5 beside 1" in judgement.reason


def test_another_split_adds_its_error_or_leaves_the_number_unjudged():
    unknown = judge_with(10.96, 10.95, 10.97, same=frozenset())
    assert verdict_of(unknown, 10.97).verdict is Verdict.UNDECIDED
    known = judge_with(10.96, 10.95, 10.97, same=frozenset(), split_error=0.5)
    judgement = verdict_of(known, 10.0)
    assert judgement.interval == pytest.approx(1.96 * 0.5 * math.sqrt(2), rel=1e-3)
    assert judgement.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("place", "value", "failed", "verdict"),
    [
        (STO, None, False, Verdict.NOT_RUN),
        (STO, math.nan, False, Verdict.NOT_RUN),
        (STO, None, True, Verdict.FAILED),
        (Place("plt2016", "table2", ("yeast", "fastxml", "sto"), "inner_products"), 5.0, False, None),  # "-" is printed
        (Place("plt2016", "table2", ("scene", "plt", "sto"), "macro_f"), 5.0, False, None),  # nothing is printed
        (Place("plt2016", "table2", ("yeast", "plt", "sto"), "macro_f_std"), 5.0, False, None),
    ],
)
def test_cells_without_a_number(place, value, failed, verdict):
    judgement = verdict_of(judge_with(10.96, 10.95), value, place, failed=failed)
    assert (judgement and judgement.verdict) is verdict


def test_the_projects_judge_knows_splits_and_printed_runs():
    judge = Judge.of_project(ROOT / "config")
    assert judge.printed_runs["oplt2021"] == 5
    assert judge.printed_runs["plt2016"] == 1
    assert ("gfm2011", "scene") in judge.same_split
    assert ("ldsm2020", "delicious") not in judge.same_split
    assert "Table 1 on scene" in judge.calibrated["gfm2011", "br"]
    assert ("plt2016", "plt") not in judge.calibrated


# A printed number and our mean of five runs are drawn 2000 times about a level, where one run of either deviates by
# `deviation` and ours are off by `shift`: the percentages of equal as printed, inside, outside +, outside -, different
# and undecided.
SHARES = {
    (64, 0.6, 0): (1, 94, 2.5, 2.5, 0, 0),  # faithful
    (64, 0.6, 2): (0, 36, 63, 0, 0, 1),  # off by two or three points, in deviations of one run by 3.3 to 10
    (64, 0.6, 3): (0, 8, 92, 0, 0, 0),
    (64, 0.3, -3): (0, 0, 0, 100, 0, 0),
    (10, 1.0, 0): (0, 0, 2.5, 2.5, 0, 95),  # runs that vary by a tenth of the number tell what is far outside
    (10, 1.0, 6): (0, 0, 96, 0, 0, 4),
    (64, 0, 0): (100, 0, 0, 0, 0, 0),  # a model that draws nothing, faithful or not
    (64, 0, 2): (0, 0, 0, 0, 100, 0),
}


@pytest.mark.parametrize(("level", "deviation", "shift"), SHARES)
def test_simulated_faithful_and_unfaithful_reproductions(level, deviation, shift):
    place = Place("ldsm2020", "table7", ("delicious", "ldsm"), "p@1")
    judge = Judge(same_split=frozenset({("ldsm2020", "delicious")}))
    rng, found, trials = np.random.default_rng(0), Counter(), 2000
    for _ in range(trials):
        ours = level + shift + deviation * rng.standard_normal(5)
        printed = {place.row: {"p@1": f"{level + deviation * rng.standard_normal():.2f}"}}
        number = OurNumber(ours.mean(), 5, ours.std(ddof=1))
        found[judge.judge(TABLE7, place, printed, number).verdict.value] += 100 / trials
    assert [found[one] for one in OUTCOMES] == pytest.approx(SHARES[level, deviation, shift], abs=2)


def test_a_number_with_settings_from_printed_results_is_marked():
    about = {("plt2016", "plt"): "C_grid: kept because a printed row has its digits then"}
    judgement = verdict_of(judge_with(10.95, 10.96, 10.97, calibrated=about), 10.97)
    assert judgement.verdict is Verdict.INSIDE
    assert judgement.calibrated.startswith("C_grid: ")
    other = {("plt2016", "fastxml"): "max_leaf: kept"}
    assert verdict_of(judge_with(10.96, 10.96, calibrated=other), 10.96).calibrated == ""
