"""docs/which_estimator.md: its table and its figure show the measurements in results/benchmarks."""

import runpy

from repository import ROOT

MAKER = runpy.run_path(str(ROOT / "docs/which_estimator.py"))


def test_table_shows_measurements():
    assert "\n".join(MAKER["table"](MAKER["read"]("searched.csv"))) in MAKER["PAGE"].read_text(encoding="utf-8")


def test_figure_shows_measurements():
    rows = MAKER["read"]("programs.csv")
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(MAKER["figure"](rows)) + "\n"
