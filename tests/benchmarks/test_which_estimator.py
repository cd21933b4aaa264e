"""docs/which_estimator.md: its table and its figure are those of results/benchmarks/searched.csv."""

import runpy

from repository import ROOT

MAKER = runpy.run_path(str(ROOT / "docs/which_estimator.py"))
ROWS = MAKER["read"]()


def test_table_shows_measurements():
    text = MAKER["PAGE"].read_text(encoding="utf-8")
    assert MAKER["page"](text, ROWS) == text
    assert len([line for line in text.splitlines() if line.startswith("| ")]) > 36


def test_figure_shows_measurements():
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(MAKER["figure"](ROWS)) + "\n"
    assert MAKER["FIGURE"].stat().st_size < 60_000


def test_only_one_default_loses_more_than_3_points():
    cells = [line.strip("| ").split(" | ") for line in MAKER["table"](ROWS)][2:]
    assert [(cell[0], cell[2], cell[-1]) for cell in cells if float(cell[-1]) > 3] == [("enron", "LdSM", "3.1")]
