"""Test the harness: tasks in turns, rows and files of measurements, and differing bits."""

import csv

import numpy as np
import pytest
from repository import ROOT
from scipy import sparse

from benchmarks import costs
from benchmarks.harness import Report, Task, differing, write_report

RANKING = "prediction of the best 5"


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


def test_xmlc_and_baseline_are_compared_on_shared_measures(report):
    for name, seconds, memory in (("ours", 1.0, 3.0), ("theirs", 4.0, 0.0)):
        report.add(name, "training", "time", "s", seconds)
        report.add(name, "training", "memory", "MB", memory)
    report.add_precision("ours", "training", [[0.5, 0.4, 0.3], [0.7, 0.4, 0.3]])
    report.add_precision("theirs", "training", [[0.5, 0.4, 0.3]])
    report.add("ours", "training", "depth", "", 3)
    assert report.of("ours", "training")[2].rounds == (50.0, 70.0)
    report.compare("ours", "theirs", "training")
    rows = {row.measure: row for row in report.of("ours / theirs", "training, compared")}
    assert rows.keys() == {"time", "memory", "P@1", "P@3", "P@5"}
    assert (rows["time"].value, rows["time"].unit) == (0.25, "ratio")
    assert np.isnan(rows["memory"].value)  # The memory is too small to be measured.
    assert (rows["P@1"].value, rows["P@1"].unit) == (pytest.approx(10), "points")
    report.compare("ours", "theirs", "training", costs=False, label="a program")
    without_costs = report.of("ours / a program", "training, compared")
    assert [row.measure for row in without_costs] == ["P@1", "P@3", "P@5"]


def test_rankings_on_several_threads_are_compared_with_one_thread(report):
    Y = sparse.csr_array(np.eye(2, 6, dtype=bool))
    labels = np.array([[0, 1, 2, 3, 4]] * 2)
    scores = np.ones((2, 5), dtype=np.float32)
    for n in (1, 2):
        report.add("ours", RANKING, "time", "s", 1.5 / n, threads=n)
    rankings = {
        ("ours", RANKING, 1): (labels, scores),
        ("ours", RANKING, 2): (labels, np.nextafter(scores, np.float32(9))),
    }
    report.add_rankings("ours", rankings, Y, 2)
    assert report.value("ours", RANKING, "P@1") == 50
    assert report.value("ours", RANKING, "speed-up", 2) == 2
    (bits,) = [row for row in report.rows if row.measure == "same bits"]
    assert (bits.value, bits.note) == (0, "different bits: scores")


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
