"""The benchmark of expected macro-F: its contenders are what they are called."""

import lzma

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks.expected_f import BEST, METHODS, PART, WHOLE, estimates_of
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
