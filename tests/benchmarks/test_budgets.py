"""Budgets: which rows they concern, what is within them, and that the command fails if one is not."""

import pytest

from benchmarks.__main__ import finish, group
from benchmarks.budgets import Budget, check, read_budgets, verdict_table
from benchmarks.harness import Report, Rows
from xmlc.core.errors import XmlcError
from xmlc.core.passport import passport

SPEED = Budget(name="speed", benchmark="plt", contender="PLT* / *", measure="time", at_most=0.5, why="because")
BITS = Budget(name="bits", benchmark="plt", measure="same bits", threads=2, at_least=1, why="because")


def rows_of(ratio, same):
    rows = Rows("plt", "a")
    rows.add("PLT / peer", "training, compared", "time", "ratio", ratio)
    rows.add("other / peer", "training, compared", "time", "ratio", 9.0)
    rows.add("PLT", "training", "same bits", "yes or no", same, threads=2)
    return rows.all


@pytest.mark.parametrize(("ratio", "within"), [(0.5, True), (0.51, False), (float("nan"), False)])
def test_a_limit_holds_for_the_rows_that_it_names(ratio, within):
    (verdict,) = check(rows_of(ratio, True), "plt", "a", [SPEED])
    assert verdict.row.contender == "PLT / peer"
    assert verdict.within is within


def test_what_was_not_measured_is_within_no_budget():
    speed, bits = check([], "plt", "a", [SPEED, BITS])
    assert (speed.text, bits.text) == ("not measured", "not measured")
    assert check(rows_of(0.1, True), "oplt", "a", [SPEED]) == []
    text = verdict_table(check(rows_of(0.6, True), "plt", "a", [SPEED, BITS]))
    assert "over budget" in text
    assert "| yes        | within budget |" in text
    assert verdict_table([]) == "No budget is for this benchmark on this dataset."


def test_every_budget_has_a_name_of_its_own_a_reason_and_a_benchmark():
    budgets = read_budgets()
    assert len({budget.name for budget in budgets}) == len(budgets)
    assert all(budget.why for budget in budgets)
    assert {budget.benchmark for budget in budgets} <= set(group.commands)


@pytest.mark.parametrize("same", [True, False])
def test_the_command_fails_if_a_figure_is_over_its_budget(same, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.budgets.read_budgets", lambda: (BITS,))
    report = Report(
        benchmark="plt", dataset="a", about="", passport=passport(1), contenders=[], rows=rows_of(0.1, same)
    )
    if same:
        finish(report, None, budgets=True)
    else:
        with pytest.raises(XmlcError, match="over budget or not measured: bits"):
            finish(report, None, budgets=True)
        finish(report, None, budgets=False)
    assert f"| {'within' if same else 'over'} budget" in capsys.readouterr().out
