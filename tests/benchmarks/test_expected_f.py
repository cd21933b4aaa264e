"""Test that each contender of the benchmark of expected macro-F runs the method that it names."""

import lzma
import re
import runpy
from collections import defaultdict

from benchmark_rows import run_benchmark
from repository import ROOT, measurements

MAKER = runpy.run_path(str(ROOT / "docs/expected_f.py"))


def test_estimates_of_another_program_are_split_into_halves(tmp_path):
    for name, line in (("estimates", "0:0.9 1:0.01\n"), ("labels", "0\n")):
        with lzma.open(tmp_path / f"{name}.txt.xz", "wt") as file:
            file.write(line * 20)
    rows = run_benchmark(tmp_path, "expected-f", "--data", tmp_path, "--seeds", 2)
    assert rows["given, 80 %", "ExpectedF(zero_division=1)", "macro_f", 1]["rounds"] == [100, 100]
    assert rows["given, 80 %", "labels, training instances from 1", "labels", 1]["value"] == 0


NAMES = {"plt": "PLT, SGD", "plt-batch": "PLT", "fastxml": "FastXML", "swnn": "SWNN"}


def test_page_numbers_equal_measurements():
    measured = defaultdict(set)
    for row in measurements("expected-f.csv"):
        value = float(row["value"] or "nan")
        model = NAMES.get(row["contender"].split(", ")[0])
        measured[row["dataset"], model].update((f"{value:.1f}", f"{value:+.1f}"))
    lines = re.findall(
        r"(?m)^\| ([\w-]+) \| ([\w, ]+) \| (.*\d\.\d.*) \|$",
        (ROOT / "docs/expected_f.md").read_text(),
    )
    assert len(lines) == 3
    for name, model, cells in lines:
        assert {*re.findall(r"[-+]?\d+\.\d", cells)} <= measured[name, model]


def test_figure_shows_measurements():
    figure = MAKER["figure"](MAKER["read"]())
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(figure) + "\n"
