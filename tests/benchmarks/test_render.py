"""Test the renderer that all benchmarks share."""

from benchmarks.harness import Row
from benchmarks.render import task_table, value_text


def row(contender, measure, unit, value, **more):
    return Row("plt", "a", contender, more.pop("task", "training"), measure, unit, value, **more)


def test_contenders_are_lines_and_measures_are_columns():
    rows = [
        row("plt", "time", "s", 1.5),
        row("plt", "P@1", "%", 60.0, rounds=(59.0, 61.0)),
        row("a longer name", "time", "s", 12.0, note="elsewhere"),
        row("a longer name", "time", "s", 7.0, threads=2),
    ]
    assert task_table("training", rows).splitlines() == [
        "**Training**",
        "",
        "|                          |   time, s |       P@1, % |",
        "|:-------------------------|----------:|-------------:|",
        "| plt, 1 thread            |     1.500 | 60.00 ± 1.41 |",
        "| a longer name, 1 thread  |    12.000 |              |",
        "| a longer name, 2 threads |     7.000 |              |",
        "",
        "- a longer name: elsewhere",
    ]


def test_unit_determines_decimals_of_values():
    assert value_text(row("", "", "yes or no", 1.0)) == "yes"
    assert value_text(row("", "", "yes or no", 0.0)) == "no"
    assert value_text(row("", "", "ratio", float("nan"))) == "-"
    assert value_text(row("", "", "ms per instance", 0.25)) == "0.2500"
    assert value_text(row("", "", "points", 0.5)) == "+0.50"
    assert value_text(row("", "", "", 1234567.0)) == "1,234,567"
    assert value_text(row("", "", "", 8.78e-21)) == "8.78e-21"
