"""Test that docs/label_sets.md shows the numbers in results/benchmarks/."""

import re

from repository import ROOT, measurements


def test_table_shows_measurements():
    every = measurements("label-sets.csv")
    measured = {(row["dataset"], row["value"]) for row in every if row["contender"] == "PLT"}
    page = (ROOT / "docs/label_sets.md").read_text()
    lines = re.findall(r"(?m)^\| ([\w-]+) \| [\d,]+ \| ([\d. |]+) \|$", page)
    assert lines
    for name, cells in lines:
        assert {(name, cell) for cell in cells.split(" | ")} <= measured
