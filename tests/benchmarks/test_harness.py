"""Test the benchmarks' harness: tasks that run in turns, their rows and files, differing bits, and
P@k.
"""

import csv

import numpy as np
import pytest
from repository import ROOT
from scipy import sparse

from benchmarks import costs
from benchmarks.harness import Report, Task, differing, precisions, write_report


@pytest.fixture
def report():
    return Report("plt", "a", "9 instances")


def test_comparison_uses_bits_instead_of_values():
    zero = np.zeros(2, dtype=np.float32)
    nan = np.full(2, np.nan)
    assert differing({"a": zero, "b": nan}, {"a": zero.copy(), "b": nan.copy()}) == []
    assert differing({"a": zero}, {"a": -zero}) == ["a"]
    assert differing({"a": zero}, {"a": zero.astype(np.float64)}) == ["a"]
    assert differing({"a": zero}, {"a": zero[:1]}) == ["a"]
    assert differing({"a": zero}, {}) == ["a"]


def test_a_ranking_is_scored_at_1_3_and_5():
    Y = sparse.csr_array(np.array([[1, 0, 1, 0, 0, 1], [0, 1, 0, 0, 0, 0]], dtype=bool))
    labels = np.array([[0, 1, 2, 3, 5], [0, 1, 2, 3, 4]], dtype=np.int32)
    assert precisions(Y, labels) == pytest.approx([1 / 2, (2 + 1) / 6, (3 + 1) / 10])


def test_tasks_take_turns_and_minimum_is_reported(report, monkeypatch):
    calls = []
    clock = iter([3.0, 5.0, 2.0, 6.0])
    monkeypatch.setattr(
        "xmlc.suite.provenance.environment.timed", lambda task: (task(), next(clock))
    )
    tasks = [
        Task("ours", "training", lambda: calls.append("ours")),
        Task(
            "ours",
            "prediction",
            lambda: calls.append("two") or "ranking",
            "ms per instance",
            work=10,
            threads=2,
        ),
    ]
    results = report.measure(tasks, rounds=2)
    assert calls == ["ours", "two"] * 2
    assert results["ours", "prediction", 2] == "ranking"
    (first,) = report.of("ours", "training")
    assert (first.measure, first.unit, first.value, first.rounds) == ("time", "s", 2.0, (3.0, 2.0))
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
    found = {
        row.measure: (row.value, row.unit)
        for row in report.of("ours / theirs", "training, compared")
    }
    assert set(found) == {"time", "memory", "P@1", "P@3", "P@5"}
    assert found["time"] == (0.25, "ratio")
    assert np.isnan(found["memory"][0])  # The memory is too small to be measured.
    assert found["P@1"] == (pytest.approx(10), "points")
    report.compare("ours", "theirs", "training", costs=False, label="a program")
    assert [row.unit for row in report.of("ours / a program", "training, compared")] == [
        "points"
    ] * 3


def test_rankings_on_several_threads_are_compared_with_one_thread(report):
    Y = sparse.csr_array(np.eye(2, 6, dtype=bool))
    labels = np.array([[0, 1, 2, 3, 4]] * 2)
    scores = np.ones((2, 5), dtype=np.float32)
    task = "prediction of the best 5"
    for n in (1, 2):
        report.add("ours", task, "time", "s", 1.5 / n, threads=n)
    other = labels, np.nextafter(scores, np.float32(9))
    report.add_rankings(
        "ours", {("ours", task, 1): (labels, scores), ("ours", task, 2): other}, Y, 2
    )
    assert report.value("ours", task, "P@1") == 50
    assert report.value("ours", task, "speed-up", 2) == 2
    (bits,) = [row for row in report.rows if row.measure == "same bits"]
    assert (bits.value, bits.note) == (0, "different bits: scores")


def test_csv_has_line_per_row_and_stored_columns(report, tmp_path):
    report.add("ours", "training", "time", "s", 1.5, (2.0, 1.5), threads=2)
    report.add(
        "ours / theirs", "training, compared", "memory", "ratio", float("nan"), note="too small"
    )
    write_report(report, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["contender"], first["value"], first["rounds"], first["threads"]) == (
        "ours",
        "1.5",
        "2.0 1.5",
        "2",
    )
    assert (second["value"], second["rounds"], second["note"]) == ("", "", "too small")
    assert (second["machine"], second["date"]) == (
        report.environment["cpu"],
        report.environment["time"],
    )
    for path in (ROOT / "results/benchmarks").glob("*.csv"):
        with open(path, newline="") as file:
            # Each row of costs.csv describes a job, with the quantities in columns.
            expected = costs.COLUMNS if path == costs.OUT else [*first]
            assert next(csv.reader(file)) == [*expected], path
