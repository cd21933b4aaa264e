"""Test that the table and figure of docs/which_estimator.md show the measurements in
results/benchmarks.
"""

import runpy

from repository import ROOT

MAKER = runpy.run_path(str(ROOT / "docs/which_estimator.py"))


def test_table_and_figure_show_measurements():
    searched = MAKER["table"](MAKER["read"]("searched.csv"))
    assert "\n".join(searched) in MAKER["PAGE"].read_text(encoding="utf-8")
    figure = MAKER["figure"](MAKER["read"]("programs.csv"))
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(figure) + "\n"
