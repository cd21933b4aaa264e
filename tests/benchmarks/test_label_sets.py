"""Test that docs/label_sets.md shows the numbers in results/benchmarks/."""

import re
import runpy

from repository import ROOT, measurements

MAKER = runpy.run_path(str(ROOT / "docs/label_sets.py"))


def test_figure_shows_measurements():
    figure = MAKER["figure"](MAKER["read"]())
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(figure) + "\n"


def test_table_shows_measurements():
    every = measurements("label-sets.csv")
    measured = {(row["dataset"], row["value"]) for row in every if row["contender"] == "PLT"}
    page = (ROOT / "docs/label_sets.md").read_text()
    lines = re.findall(r"(?m)^\| ([\w-]+) \| [\d,]+ \| ([\d. |]+) \|$", page)
    assert lines
    for name, cells in lines:
        assert {(name, cell) for cell in cells.split(" | ")} <= measured
