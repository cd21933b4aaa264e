"""The benchmark of expected macro-F: its contenders are what they are called."""

import csv
import lzma

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from repository import ROOT
from small_data import prepare_tiny

from benchmarks.expected_f import BEST, METHODS, PART, PRIOR, WHOLE, estimates_of
from benchmarks.harness import Data
from xmlc.kernels.csr import top_k_of
from xmlc.metrics import macro_f
from xmlc.thresholds import ExpectedF, apply_thresholds, tune


def test_each_contender_is_measured_and_compared(tmp_path):
    folder = prepare_tiny(tmp_path)
    rows = run_benchmark(tmp_path, "expected-f", "--data", folder, "--model", "swnn", "--seeds", 2)
    data = Data.read(folder)
    runs = [estimates_of(data, "swnn", seed) for seed in range(2)]

    def of(portion, task, measure):
        return rows[f"swnn, {portion}", task, measure, 1]["rounds"]

    for portion in (PART, WHOLE):
        for zero in (0, 1):
            sets = [ExpectedF(zero_division=zero).fit(run.of_test[portion]) for run in runs]
            sets = [method.predict(run.of_test[portion]) for method, run in zip(sets, runs, strict=True)]
            expected = [100 * macro_f(data.Y_test, one, average="present") for one in sets]
            assert of(portion, f"ExpectedF(zero_division={zero})", "macro_f_present") == pytest.approx(expected)
        tuned = [[tune(m, *run[:3], floor=1e-4) for m in METHODS] for run in runs]
        scores = [
            [100 * macro_f(data.Y_test, apply_thresholds(run.of_test[portion], one.thresholds)) for one in of_run]
            for of_run, run in zip(tuned, runs, strict=True)
        ]
        for method, expected in zip(METHODS, zip(*scores, strict=True), strict=True):
            assert of(portion, method, "macro_f") == pytest.approx(expected)
        best = [np.argmax([one.grid[one.best].validation["macro_f"] for one in of_run]) for of_run in tuned]
        assert of(portion, BEST, "macro_f") == pytest.approx(
            [of_run[i] for of_run, i in zip(scores, best, strict=True)]
        )
        gain = rows[f"swnn, {portion} / fta, {PART}", "ExpectedF(zero_division=1)", "macro_f", 1]["rounds"]
        ours = of(portion, "ExpectedF(zero_division=1)", "macro_f")
        assert gain == pytest.approx(np.subtract(ours, of(PART, "fta", "macro_f")))
    top = top_k_of(runs[0].of_test[PART], 5)[0]
    sets = [[label in row for label in range(data.Y.shape[1])] for row in top.tolist()]
    assert of(PART, "top 5", "macro_f")[0] == pytest.approx(100 * macro_f(data.Y_test, sets))
    raised = ExpectedF(zero_division=1, floor=0.25).fit(runs[1].held_out).predict(runs[1].of_test[PART])
    name = "ExpectedF(zero_division=1) of the 20 %, floor=0.25"
    assert of(PART, name, "macro_f")[1] == pytest.approx(100 * macro_f(data.Y_test, raised))


def test_estimates_of_another_program_are_halved(tmp_path):
    for name, line in (("estimates", "0:0.9 1:0.01\n"), ("labels", "0\n")):
        with lzma.open(tmp_path / f"{name}.txt.xz", "wt") as file:
            file.write(line * 20)
    rows = run_benchmark(tmp_path, "expected-f", "--data", tmp_path, "--seeds", 2)
    assert rows["given, 80 %", "ExpectedF(zero_division=1)", "macro_f", 1]["rounds"] == [100, 100]
    assert rows["given, 80 %", "labels, training instances from 1", "labels", 1]["value"] == 0


NAMES = {"plt": "PLT, SGD", "plt-batch": "PLT", "fastxml": "FastXML", "swnn": "SWNN", "given": "given"}
CONVENTION = {"macro_f_present": "ExpectedF(zero_division=0)", "macro_f": "ExpectedF(zero_division=1)"}
FITTED = ("100", "300", "1000", "3000", "the 20 %")
BANDS = (0, 1, 2, 4, 11, 101)


def gain_cells(rows, dataset, model, measure, ours):
    """The best tuned method on the test set, and the points gained over it; bold where the interval excludes 0."""
    value = {method: rows[dataset, f"{model}, {PART}", method, measure]["value"] for method in METHODS}
    best = max(METHODS, key=lambda method: float(value[method]))
    yield f"{best.upper()} {float(value[best]):.1f}"
    for portion, prior in ((PART, ""), (PART, PRIOR), (WHOLE, ""), (WHOLE, PRIOR)):
        if gain := rows.get((dataset, f"{model}, {portion} / {best}, {PART}", ours + prior, measure)):
            low, high = map(float, gain["note"].rpartition(": ")[2].split(" to "))
            text = f"{float(gain['value']):+.1f}"
            yield f"**{text}**" if model != "given" and (low > 0 or high < 0) else text
        else:
            yield ""


def page_lines(rows):
    """The lines of the page's tables."""
    subjects = dict.fromkeys((dataset, who.split(", ")[0]) for dataset, who, *_ in rows if " / " not in who)
    for measure, ours in CONVENTION.items():
        for dataset, model in subjects:
            yield [dataset, NAMES[model], *gain_cells(rows, dataset, model, measure, ours)]
    for dataset, model in subjects:
        if dataset not in ("scene", "yeast", "enron"):
            cells = []
            for measure, ours in CONVENTION.items():
                for size in FITTED:
                    names = [f"{ours} of {size}, floor={floor}" for floor in (0, 0.25)]
                    found = [rows.get((dataset, f"{model}, {PART}", name, measure)) for name in names]
                    cells.append(" / ".join(f"{float(row['value']):.1f}" for row in found if row))
                cells.append(f"{float(rows[dataset, f'{model}, {PART}', ours, measure]['value']):.1f}")
            yield [dataset, NAMES[model], *cells]
    for dataset, model in subjects:
        if dataset == "tib-core-26k":
            cells = []
            for band in BANDS:
                name = f"labels, training instances from {band}"
                sums = [rows[dataset, f"{model}, {PART}", name, what]["value"] for what in ("estimates", "positives")]
                cells.append(" / ".join(f"{float(one):,.0f}" for one in sums))
            yield [NAMES[model], *cells]


def test_the_tables_of_the_page_are_what_was_measured():
    with open(ROOT / "results/benchmarks/expected-f.csv", newline="") as file:
        rows = {(row["dataset"], row["contender"], row["task"], row["measure"]): row for row in csv.DictReader(file)}
    page = (ROOT / "docs/expected_f.md").read_text()
    lines = list(page_lines(rows))
    assert len(lines) > 40
    for line in lines:
        assert f"| {' | '.join(line)} |\n" in page
