"""Test the comparison with published numbers of programs that are not installed."""

import numpy as np
import pytest
from scipy import sparse

from benchmarks import elsewhere as bench
from benchmarks.harness import Data, Report, Task

RANKING = "prediction of the best 5"
MODEL = "LdSM, 1 tree"


@pytest.mark.parametrize("calibrate", [True, False])
def test_times_are_scaled_by_calibration_or_not_compared(monkeypatch, calibrate):
    task = Task("napkinXC", bench.CALIBRATION, lambda: None)
    monkeypatch.setattr(bench, "calibration_task", lambda X, Y: task)
    monkeypatch.setattr(bench, "split_of", lambda Y: "repository 1")
    part = sparse.csr_array(np.ones((3, 2), dtype=np.float32)), sparse.csr_array(np.eye(3) > 0)
    known = bench.Elsewhere(Data("delicious", *part, *part), [MODEL], "unit", calibrate=calibrate)
    assert len(known.tasks) == calibrate
    report = Report("ldsm", "delicious", "")
    for task, unit in (("training", "s"), (RANKING, "ms per instance")):
        report.add(MODEL, task, "time", unit, 1.0)
    report.add_precision(MODEL, RANKING, [[0.65, 0.6, 0.55]])
    report.add("napkinXC", bench.CALIBRATION, "time", "s", 5.3)  # twice as fast as there
    known.compare(report)
    pair = f"{MODEL} / authors' C++ program"
    time = report.value(f"authors' C++ program: {MODEL}", "training", "time")
    assert time == (1.7 if calibrate else 3.4)
    assert report.value(pair, f"{RANKING}, compared", "P@1") == pytest.approx(65 - 62.66)
    assert ("time" in {row.measure for row in report.of(pair, "training, compared")}) == calibrate
    assert ("5.30 s here, 10.6 s there" in report.remarks[0]) == calibrate
