"""docs/label_sets.md and expected_f.md show the numbers of results/benchmarks/label-sets.csv and expected-f.csv."""

import csv
import re
import runpy

from repository import ROOT

MAKER = runpy.run_path(str(ROOT / "docs/label_sets.py"))


def test_figure_shows_measurements():
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(MAKER["figure"](MAKER["read"]())) + "\n"
    assert MAKER["FIGURE"].stat().st_size < 20_000


def test_every_dataset_and_model_has_a_line():
    gains = MAKER["read"]()
    assert len(gains) > 5
    for name, models in gains.items():
        assert models.keys() <= {"PLT", "PLT (SGD)", "FastXML", "SWNN"} or name == "attentionxml-eurlex"
        assert all(low - 0.005 <= gain <= high + 0.005 for of in models.values() for gain, low, high in of.values())


def test_table_shows_measurements():
    with open(ROOT / "results/benchmarks/label-sets.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if "three splits" in row["note"] and row["contender"] == "PLT"]
    measured = {(row["dataset"], row["task"]): row["value"] for row in rows if row["measure"] == "macro_f_present"}
    tasks = (
        "LabelSets, labels of the other 20 %",
        "LabelSets, calibration from the other 20 %, thresholds of the test set",
        "LabelSets, prior alone, model of the whole training set",
    )
    page = (ROOT / "docs/label_sets.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| ([\w-]+) \| [\d,]+ \| ([\d. |]+) \|$", page, re.MULTILINE)
    assert len(lines) == 5
    for name, cells in lines:
        assert cells.split(" | ") == [measured[name, task] for task in tasks]
