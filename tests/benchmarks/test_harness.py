"""Test the harness: tasks in turns, rows and files of measurements, and differing bits."""

import csv

import numpy as np
import pytest
from repository import ROOT

from benchmarks import costs
from benchmarks.harness import Report, Task, differing, write_report


@pytest.fixture
def report():
    return Report("plt", "a", "9 instances")


def test_comparison_uses_bits_instead_of_values():
    zero = np.zeros(2, dtype=np.float32)
    nan = np.full(2, np.nan)
    assert differing({"a": zero, "b": nan}, {"a": zero.copy(), "b": nan.copy()}) == []
    for other in (-zero, zero.astype(np.int32), zero[:1]):
        assert differing({"a": zero}, {"a": other}) == ["a"]
    assert differing({"a": zero}, {}) == ["a"]


def test_tasks_take_turns_and_minimum_is_reported(report, monkeypatch):
    calls = []
    clock = iter([3.0, 5.0, 2.0, 6.0])
    monkeypatch.setattr(
        "xmlc.suite.provenance.environment.timed", lambda task: (task(), next(clock))
    )

    def rank():
        calls.append("rank")
        return "ranking"

    tasks = [
        Task("ours", "training", lambda: calls.append("train")),
        Task("ours", "prediction", rank, "ms per instance", work=10, threads=2),
    ]
    results = report.measure(tasks, rounds=2)
    assert calls == ["train", "rank"] * 2
    assert results["ours", "prediction", 2] == "ranking"
    (training,) = report.of("ours", "training")
    assert (training.measure, training.unit) == ("time", "s")
    assert (training.value, training.rounds) == (2.0, (3.0, 2.0))
    # These are milliseconds per instance, for ten instances.
    assert report.value("ours", "prediction", "time", 2) == pytest.approx(500)


def test_csv_has_line_per_row_and_stored_columns(report, tmp_path):
    report.add("ours", "training", "time", "s", 1.5, (2.0, 1.5), threads=2)
    report.add("ours / theirs", "training", "memory", "ratio", float("nan"), note="too small")
    write_report(report, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        first, second = csv.DictReader(file)
    assert first.items() >= {"value": "1.5", "rounds": "2.0 1.5", "threads": "2"}.items()
    assert second.items() >= {"value": "", "rounds": "", "note": "too small"}.items()
    assert second["machine"] == report.environment["cpu"]
    assert second["date"] == report.environment["time"]
    for path in (ROOT / "results/benchmarks").glob("*.csv"):
        with open(path, newline="") as file:
            # Each row of costs.csv describes a job, with the quantities in columns.
            expected = costs.COLUMNS if path == costs.OUT else [*first]
            assert next(csv.reader(file)) == [*expected], path
