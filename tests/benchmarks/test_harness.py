"""Tasks that run in turns, the rows and files that come of them, bits that differ, P@k, and processes of their own."""

import csv
import json

import numpy as np
import pytest
from repository import ROOT
from scipy import sparse

from benchmarks.harness import (
    Contender,
    Report,
    Row,
    Rows,
    Task,
    differing,
    in_own_process,
    peak_above,
    precisions,
    write_report,
)
from xmlc.core.errors import XmlcError

ROWS = [
    Row("plt", "a", "ours", "training", "time", "s", 1.5, (2.0, 1.5), 2),
    Row("plt", "a", "ours / theirs", "training, compared", "memory", "ratio", float("nan"), note="too small"),
]
REPORT = Report(
    benchmark="plt",
    dataset="a",
    about="9 instances",
    passport={"cpu": "one", "time": "now"},
    contenders=[Contender("ours", "this package", {"arity": 2}, (1, 2))],
    rows=ROWS,
)


def test_bits_are_compared_not_values():
    zero, nan = np.zeros(2, dtype=np.float32), np.full(2, np.nan)
    assert differing({"a": zero, "b": nan}, {"a": zero.copy(), "b": nan.copy()}) == []
    assert differing({"a": zero}, {"a": -zero}) == ["a"]
    assert differing({"a": zero}, {"a": zero.astype(np.float64)}) == ["a"]
    assert differing({"a": zero}, {"a": zero[:1]}) == ["a"]
    assert differing({"a": zero}, {}) == ["a"]


def test_a_ranking_is_scored_at_1_3_and_5():
    Y = sparse.csr_array(np.array([[1, 0, 1, 0, 0, 1], [0, 1, 0, 0, 0, 0]], dtype=bool))
    labels = np.array([[0, 1, 2, 3, 5], [0, 1, 2, 3, 4]], dtype=np.int32)
    assert precisions(Y, labels) == pytest.approx([1 / 2, (2 + 1) / 6, (3 + 1) / 10])


def test_tasks_take_turns_and_the_minimum_counts(monkeypatch):
    calls, clock = [], iter([3.0, 5.0, 2.0, 6.0])
    monkeypatch.setattr("xmlc.core.passport.timed", lambda task: (task(), next(clock)))
    rows = Rows("plt", "a")
    tasks = [
        Task("ours", "training", lambda: calls.append("ours")),
        Task("ours", "prediction", lambda: calls.append("two") or "ranking", "ms per instance", work=10, threads=2),
    ]
    results = rows.measure(tasks, rounds=2, cpu=True)
    assert calls == ["ours", "two"] * 2
    assert results["ours", "prediction", 2] == "ranking"
    first = rows.of("ours", "training")
    assert [(row.measure, row.unit) for row in first] == [("time", "s"), ("CPU time", "s")]
    assert (first[0].value, first[0].rounds) == (2.0, (3.0, 2.0))
    assert first[1].value == min(first[1].rounds) < 1
    assert rows.value("ours", "prediction", "time", 2) == pytest.approx(500)  # ms of one of ten instances


def test_ours_and_a_baseline_are_compared_by_what_both_have():
    rows = Rows("plt", "a")
    for name, seconds, memory in (("ours", 1.0, 3.0), ("theirs", 4.0, 0.0)):
        rows.add(name, "training", "time", "s", seconds)
        rows.add(name, "training", "memory", "MB", memory)
    rows.add_precision("ours", "training", [[0.5, 0.4, 0.3], [0.7, 0.4, 0.3]])
    rows.add_precision("theirs", "training", [[0.5, 0.4, 0.3]])
    rows.add("ours", "training", "depth", "", 3)
    assert rows.of("ours", "training")[2].rounds == (50.0, 70.0)
    rows.compare("ours", "theirs", "training")
    found = {row.measure: (row.value, row.unit) for row in rows.of("ours / theirs", "training, compared")}
    assert set(found) == {"time", "memory", "P@1", "P@3", "P@5"}
    assert found["time"] == (0.25, "ratio")
    assert np.isnan(found["memory"][0])  # too small to be measured
    assert found["P@1"] == (pytest.approx(10), "points")
    rows.compare("ours", "theirs", "training", costs=False, label="a program")
    assert [row.unit for row in rows.of("ours / a program", "training, compared")] == ["points"] * 3


def test_rankings_on_several_threads_are_compared_with_one():
    Y = sparse.csr_array(np.eye(2, 6, dtype=bool))
    labels, scores = np.array([[0, 1, 2, 3, 4]] * 2), np.ones((2, 5), dtype=np.float32)
    rows, task = Rows("plt", "a"), "prediction of the best 5"
    for n in (1, 2):
        rows.add("ours", task, "time", "s", 1.5 / n, threads=n)
    other = labels, np.nextafter(scores, np.float32(9))
    rows.add_rankings("ours", {("ours", task, 1): (labels, scores), ("ours", task, 2): other}, Y, 2)
    assert rows.value("ours", task, "P@1") == 50
    assert rows.value("ours", task, "speed-up", 2) == 2
    (bits,) = [row for row in rows.all if row.measure == "same bits"]
    assert (bits.value, bits.note) == (0, "other bits: scores")


def test_json_has_rows_contenders_and_passport_and_nan_is_null(tmp_path):
    write_report(REPORT, tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text())
    assert (content["benchmark"], content["passport"]) == ("plt", {"cpu": "one", "time": "now"})
    assert content["contenders"][0]["hyperparameters"] == {"arity": 2}
    first, second = content["rows"]
    assert (first["value"], first["rounds"], first["threads"]) == (1.5, [2.0, 1.5], 2)
    assert second["value"] is None
    assert second["note"] == "too small"


def test_csv_has_a_line_for_each_row_and_the_columns_of_the_stored_measurements(tmp_path):
    write_report(REPORT, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["contender"], first["value"], first["rounds"]) == ("ours", "1.5", "2.0 1.5")
    assert (second["value"], second["rounds"]) == ("", "")
    assert (second["machine"], second["date"]) == ("one", "now")
    for path in (ROOT / "results/benchmarks").glob("*.csv"):
        with open(path, newline="") as file:
            assert next(csv.reader(file)) == [*first], path


def test_a_process_that_fails_is_an_error(tmp_path):
    with pytest.raises(XmlcError, match=r"(?s)benchmarks\.oplt .* failed:.*no prepared dataset here"):
        in_own_process("benchmarks.oplt", str(tmp_path), "plt", "{}", "0")


def test_the_peak_of_some_work_is_its_own():
    np.ones(15_000_000)  # an earlier peak is none of its
    result, small = peak_above(lambda: np.ones(1_000_000).sum())
    _, large = peak_above(lambda: np.ones(9_000_000).sum())
    assert result == 1_000_000
    assert small < 40e6
    assert large > 60e6
