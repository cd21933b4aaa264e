"""Test that docs/label_sets.md and docs/expected_f.md show the numbers in results/benchmarks/."""

import re
import runpy

from repository import ROOT, measurements

MAKER = runpy.run_path(str(ROOT / "docs/label_sets.py"))


def test_figure_shows_measurements():
    assert (
        MAKER["FIGURE"].read_text(encoding="utf-8")
        == "\n".join(MAKER["figure"](MAKER["read"]())) + "\n"
    )
    assert MAKER["FIGURE"].stat().st_size < 20_000


def test_every_dataset_and_model_has_a_line():
    gains = MAKER["read"]()
    assert len(gains) > 5
    for name, models in gains.items():
        assert (
            models.keys() <= {"PLT", "PLT (SGD)", "FastXML", "SWNN"}
            or name == "attentionxml-eurlex"
        )
        for gains in models.values():
            assert all(low - 0.005 <= gain <= high + 0.005 for gain, low, high in gains.values())


def test_table_shows_measurements():
    every = measurements("label-sets.csv")
    measured = {(row["dataset"], row["value"]) for row in every if row["contender"] == "PLT"}
    lines = re.findall(
        r"(?m)^\| ([\w-]+) \| [\d,]+ \| ([\d. |]+) \|$", (ROOT / "docs/label_sets.md").read_text()
    )
    assert len(lines) == 5
    for name, cells in lines:
        assert {(name, cell) for cell in cells.split(" | ")} <= measured
