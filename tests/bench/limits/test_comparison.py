"""The table of limits: what it computes of the times of a task and of its bare accesses."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from bench_rows import by_key
from small_data import prepare_tiny

from xmlc.bench.limits import comparison
from xmlc.bench.limits.work import Work
from xmlc.errors import XmlcError

NAME = "a model, 3 trees: training, non-zero x node"


def sleeping(seconds, result=None):
    def sleep(threads):
        time.sleep(seconds / threads)
        return result(threads) if result else {}

    return sleep


def measured(tmp_path, monkeypatch, result):
    work = Work(
        contender="a model, 3 trees", task="training", unit="non-zero x node", units=2e6, note="a pass",
        call=sleeping(0.08, result), bare=sleeping(0.02), bare_units=1e6,
    )  # fmt: skip
    monkeypatch.setattr(comparison, "ESTIMATORS", {"a-model": "fake"})
    monkeypatch.setattr(comparison, "import_module", lambda name: SimpleNamespace(works=lambda data: [work]))
    return comparison.bench_limits(prepare_tiny(tmp_path), rounds=2)


def test_times_are_of_a_unit_and_compared(tmp_path, monkeypatch):
    report = measured(tmp_path, monkeypatch, lambda threads: {"weights": np.arange(3)})
    rows = by_key(report.rows)
    ours, bare = (rows[NAME, comparison.LIMITS, measure, 1]["value"] for measure in ("ours", "bare accesses"))
    assert 40 <= ours < 80  # ns: 0.08 s for 2 million units
    assert 20 <= bare < 40  # 0.02 s for one million
    assert rows[NAME, comparison.LIMITS, "ours / bare accesses", 1]["value"] == pytest.approx(ours / bare)
    assert rows[NAME, comparison.LIMITS, "units", 1]["value"] == 2
    for measure in ("ours", "of the bare accesses"):
        assert 1.4 <= rows[NAME, comparison.THREADS, measure, 2]["value"] <= 2.6
    assert rows[NAME, comparison.THREADS, "same bits", 2]["value"] == 1
    assert "training, bare accesses" in report.unprinted


def test_a_thread_that_changes_a_bit_is_told(tmp_path, monkeypatch):
    report = measured(tmp_path, monkeypatch, lambda threads: {"weights": np.arange(3), "bias": np.float32([threads])})
    row = by_key(report.rows)[NAME, comparison.THREADS, "same bits", 2]
    assert (row["value"], row["note"]) == (0, "other bits: bias")


def test_an_unknown_estimator_is_named_with_those_that_there_are(tmp_path):
    with pytest.raises(XmlcError, match="plt2: no such estimator here; there are plt, plt-ranking"):
        comparison.bench_limits(prepare_tiny(tmp_path), ["plt", "plt2"])
