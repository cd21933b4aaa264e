"""Test that the table and figure of docs/which_estimator.md show the measurements in
results/benchmarks.
"""

import runpy

from repository import ROOT

MAKER = runpy.run_path(str(ROOT / "docs/which_estimator.py"))


def test_table_shows_measurements():
    assert "\n".join(MAKER["table"](MAKER["read"]("searched.csv"))) in MAKER["PAGE"].read_text(
        encoding="utf-8"
    )


def test_figure_shows_measurements():
    rows = MAKER["read"]("programs.csv")
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(MAKER["figure"](rows)) + "\n"
    assert MAKER["FIGURE"].stat().st_size < 60_000


def test_only_one_default_is_more_than_3_points_behind_a_search():
    cells = [
        line.strip("| ").split(" | ") for line in MAKER["table"](MAKER["read"]("searched.csv"))
    ][2:]
    assert len(cells) == 7
    assert [(cell[0], cell[4], cell[3]) for cell in cells if float(cell[3]) > 3] == [
        ("`LdSM`", "enron", "3.1")
    ]
