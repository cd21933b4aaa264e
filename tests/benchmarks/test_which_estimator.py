"""Test that the tables and the figure of docs/which_estimator.md show the measurements in
results/benchmarks and the estimated costs.
"""

import csv
import re
import runpy

import pytest
from repository import ROOT

MAKER = runpy.run_path(str(ROOT / "docs/which_estimator.py"))
MODELS = ("plt-ranking-default", "plt-default", "stacking-default")


def test_table_and_figure_show_measurements():
    searched = MAKER["table"](MAKER["read"]("searched.csv"))
    assert "\n".join(searched) in MAKER["PAGE"].read_text(encoding="utf-8")
    figure = MAKER["figure"](MAKER["read"]("programs.csv"))
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(figure) + "\n"


def test_minutes_of_training_are_near_the_estimated_costs():
    with open(ROOT / "config/costs.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["step"] == "train"]
    seconds = {(row["dataset"], row["model"]): float(row["seconds"]) for row in rows}
    page = MAKER["PAGE"].read_text(encoding="utf-8")
    lines = re.findall(r"(?m)^\| ([\w-]+) \| [\d,]+ \| [\d,]+ \| [\d.]+ \| (.*) \|$", page)
    assert len(lines) == 4
    for dataset, cells in lines:
        for model, minutes in zip(MODELS, cells.split(" | "), strict=True):
            # both are known to a factor of 3 only
            assert seconds[dataset, model] / 60 == pytest.approx(float(minutes), rel=0.5)
