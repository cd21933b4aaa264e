"""Test the comparison with published numbers of programs that are not installed."""

from hashlib import sha256

import numpy as np
import pytest
from scipy import sparse

from benchmarks import elsewhere as bench
from benchmarks.harness import Data, Report, Task

RANKING = "prediction of the best 5"
MODEL = "LdSM, 1 tree"
Y = sparse.csr_array(np.eye(3, dtype=bool))


def compared(calibrate, dataset="delicious"):
    """Return the published numbers, and the rows of a report that is compared with them."""
    data = Data(dataset, *[sparse.csr_array(np.ones((3, 2), dtype=np.float32)), Y] * 2)
    known = bench.Elsewhere(data, [MODEL], "unit", calibrate=calibrate)
    report = Report("ldsm", dataset, "")
    for task, unit in (("training", "s"), (RANKING, "ms per instance")):
        report.add(MODEL, task, "time", unit, 1.0)
    report.add_precision(MODEL, RANKING, [[0.65, 0.6, 0.55]])
    report.add("napkinXC", bench.CALIBRATION, "time", "s", 5.3)  # twice as fast as there
    known.compare(report)
    return known, report


@pytest.fixture
def napkinxc(monkeypatch):
    task = Task("napkinXC", bench.CALIBRATION, lambda: None)
    monkeypatch.setattr(bench, "calibration_task", lambda X, Y: task)


def test_split_is_identified_by_test_label_sets(monkeypatch):
    assert bench.split_of(Y) == "unknown"
    starts = np.arange(4, dtype=np.int64)
    labels = np.arange(3, dtype=np.int32)
    digest = sha256(starts.tobytes() + labels.tobytes()).hexdigest()
    monkeypatch.setitem(bench.SPLITS, digest[:16], "mine")
    assert bench.split_of(Y) == "mine"
    wide = sparse.csr_array((Y.data, labels.astype(np.int64), starts))
    assert bench.split_of(wide) == "mine"


@pytest.mark.usefixtures("napkinxc")
@pytest.mark.parametrize("calibrate", [True, False])
def test_times_are_scaled_by_calibration_or_not_compared(monkeypatch, calibrate):
    monkeypatch.setattr(bench, "split_of", lambda Y: "repository 1")
    known, report = compared(calibrate)
    assert len(known.tasks) == calibrate
    pair = f"{MODEL} / authors' C++ program"
    time = report.value(f"authors' C++ program: {MODEL}", "training", "time")
    assert time == (1.7 if calibrate else 3.4)
    assert report.value(pair, f"{RANKING}, compared", "P@1") == pytest.approx(65 - 62.66)
    assert ("time" in {row.measure for row in report.of(pair, "training, compared")}) == calibrate
    assert ("5.30 s here, 10.6 s there" in report.remarks[0]) == calibrate


@pytest.mark.usefixtures("napkinxc")
def test_another_split_and_an_unknown_dataset_are_not_compared():
    known, _ = compared(True)
    assert all(figure.is_time for figure in known.figures[MODEL])
    known, report = compared(True, "tiny")
    assert known.tasks == []
    assert report.remarks == []
    assert {row.contender for row in report.rows} == {MODEL, "napkinXC"}
