"""The one renderer of benchmarks."""

from benchmarks.harness import Contender, Report, Row
from benchmarks.render import counted, task_table, to_text, value_text

PASSPORT = {"cpu": "a processor", "xmlc": "1.2", "numba": "0.61", "time": "noon"}


def row(contender, measure, unit, value, **more):
    return Row("plt", "a", contender, more.pop("task", "training"), measure, unit, value, **more)


def test_contenders_stand_in_lines_and_measures_in_columns():
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


def test_many_measures_of_few_contenders_stand_in_lines():
    lines = task_table("steps", [row("plt", f"step {i}", "s", i) for i in range(5)]).splitlines()
    assert lines[0] == "**Steps (1 thread)**"
    assert lines[4].startswith("| step 0, s |")
    assert len(lines) == 4 + 5


def test_values_have_the_decimals_of_their_unit():
    assert value_text(row("", "", "yes or no", 1.0)) == "yes"
    assert value_text(row("", "", "yes or no", 0.0)) == "no"
    assert value_text(row("", "", "ratio", float("nan"))) == "-"
    assert value_text(row("", "", "ms per instance", 0.25)) == "0.2500"
    assert value_text(row("", "", "points", 0.5)) == "+0.50"
    assert value_text(row("", "", "", 1234567.0)) == "1,234,567"
    assert value_text(row("", "", "", 8.78e-21)) == "8.78e-21"


def test_a_report_has_a_head_contenders_tables_and_remarks():
    rows = [row("plt", "time", "s", 1.0), row("plt", "time", "s", 1.0, task="hidden")]
    contenders = [Contender("plt", "this package", {"arity": 2})]
    report = Report(
        benchmark="plt",
        dataset="a",
        about="9 instances",
        passport=PASSPORT,
        contenders=contenders,
        rows=rows,
        remarks=["A remark."],
        unprinted=frozenset({"hidden"}),
    )
    parts = to_text(report).split("\n\n")
    assert parts[0] == "a: 9 instances; a processor, xmlc 1.2, numba 0.61, noon"
    assert parts[1] == "- plt: this package (arity=2)"
    assert parts[2] == "**Training (1 thread)**"
    assert parts[-1] == "A remark."
    assert "Hidden" not in to_text(report)


def test_things_are_counted():
    assert [counted(n, "thread") for n in (0, 1, 2)] == ["0 threads", "1 thread", "2 threads"]
