"""The benchmark of expected macro-F: its contenders are what they are called."""

import csv
import lzma
import re
from collections import defaultdict

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from repository import ROOT
from small_data import prepare_tiny

from benchmarks.expected_f import BEST, METHODS, PART, WHOLE, estimates_of
from benchmarks.harness import Data
from xmlc.metrics import macro_f
from xmlc.thresholds import ExpectedF, apply_thresholds, tune


def test_each_contender_is_measured_and_compared(tmp_path):
    folder = prepare_tiny(tmp_path)
    rows = run_benchmark(tmp_path, "expected-f", "--data", folder, "--model", "swnn", "--seeds", 2)
    data = Data.read(folder)
    runs = [estimates_of(data, "swnn", seed) for seed in range(2)]

    def check(portion, task, measure, scores):
        found = rows[f"swnn, {portion}", task, measure, 1]["rounds"]
        assert found == pytest.approx([100 * score for score in scores])
        return found

    for portion in (PART, WHOLE):
        for zero in (0, 1):
            sets = [ExpectedF(zero_division=zero).fit(run.of_test[portion]) for run in runs]
            sets = [method.predict(run.of_test[portion]) for method, run in zip(sets, runs, strict=True)]
            scores = [macro_f(data.Y_test, one, average="present") for one in sets]
            check(portion, f"ExpectedF(zero_division={zero})", "macro_f_present", scores)
    scores = {}
    for method in METHODS:
        tuned = [tune(method, *run[:3], floor=1e-4) for run in runs]
        sets = [apply_thresholds(run.of_test[PART], one.thresholds) for run, one in zip(runs, tuned, strict=True)]
        chosen = [one.grid[one.best].validation["macro_f"] for one in tuned]
        scores[method] = chosen, check(PART, method, "macro_f", [macro_f(data.Y_test, one) for one in sets])
    best = [max(METHODS, key=lambda method: scores[method][0][run]) for run in range(2)]
    check(PART, BEST, "macro_f", [scores[method][1][run] / 100 for run, method in enumerate(best)])
    gain = rows[f"swnn, {PART} / fta, {PART}", "ExpectedF(zero_division=1)", "macro_f", 1]["rounds"]
    ours = rows[f"swnn, {PART}", "ExpectedF(zero_division=1)", "macro_f", 1]["rounds"]
    assert gain == pytest.approx(np.subtract(ours, scores["fta"][1]))


def test_estimates_of_another_program_are_halved(tmp_path):
    for name, line in (("estimates", "0:0.9 1:0.01\n"), ("labels", "0\n")):
        with lzma.open(tmp_path / f"{name}.txt.xz", "wt") as file:
            file.write(line * 20)
    rows = run_benchmark(tmp_path, "expected-f", "--data", tmp_path, "--seeds", 2)
    assert rows["given, 80 %", "ExpectedF(zero_division=1)", "macro_f", 1]["rounds"] == [100, 100]
    assert rows["given, 80 %", "labels, training instances from 1", "labels", 1]["value"] == 0


NAMES = {"plt": "PLT, SGD", "plt-batch": "PLT", "fastxml": "FastXML", "swnn": "SWNN", "given": "given"}
LARGE = "tib-core-26k"


def texts_of(row, value):
    """How a page may write a value; bold is a gain over a tuned method whose interval excludes 0."""
    if not row["note"].count(" to ") or row["unit"] != "points":
        return f"{value:.1f}", f"{value:,.0f}"
    low, high = map(float, row["note"].rpartition(": ")[2].split(" to "))
    is_bold = (low > 0 or high < 0) and not row["contender"].startswith("given")
    return (f"**{value:+.1f}**" if is_bold else f"{value:+.1f}",)


def test_the_numbers_of_the_page_are_what_was_measured():
    measured = defaultdict(set)
    with open(ROOT / "results/benchmarks/expected-f.csv", newline="") as file:
        for row in csv.DictReader(file):
            model = NAMES.get(row["contender"].split(", ")[0])
            measured[row["dataset"], model].update(texts_of(row, float(row["value"] or "nan")))
    tables = re.findall(r"^\| (.*) \|$", (ROOT / "docs/expected_f.md").read_text(), re.MULTILINE)
    subjects = 0
    for cells in (line.split(" | ") for line in tables):
        subject = (LARGE, cells[0]) if cells[0] in NAMES.values() else tuple(cells[:2])
        if subject in measured:
            numbers = {word for cell in cells for word in cell.split() if re.match(r"\W*\d", word)}
            assert numbers <= measured[subject], (subject, numbers - measured[subject])
            subjects += 1
    assert subjects > 40
