"""The benchmark of forests: ratios are to the scaled program."""

import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import elsewhere
from benchmarks.harness import Task

NAME, PAIR = "FastXML, 10 trees", "FastXML, 10 trees / authors' C++ program"


def test_ratios_are_to_the_program_scaled_by_the_calibration(tmp_path, monkeypatch):
    task = Task("napkinXC", elsewhere.CALIBRATION, lambda: None)
    monkeypatch.setattr(elsewhere, "calibration_task", lambda X, Y: task)
    rows = run_benchmark(tmp_path, "fastxml", "--data", prepare_tiny(tmp_path, "delicious"), "--trees", 10)
    scale = rows["napkinXC", "calibration", "time", 1]["value"] / 10.6
    program = rows["authors' C++ program: FastXML, 10 trees", "training", "time", 1]["value"]
    assert program == pytest.approx(3.9 * scale)
    own = [rows[NAME, "training", "time", n] for n in (1, 2)]
    assert [len(row["rounds"]) for row in own] == [2, 2]
    assert rows[PAIR, "training, compared", "time", 1]["value"] == pytest.approx(own[0]["value"] / program)
    assert rows[NAME, "training", "speed-up", 2]["value"] == pytest.approx(own[0]["value"] / own[1]["value"])
