"""Test published numbers of programs that are not installed: their source, and their comparison
with xmlc.
"""

import numpy as np
import pytest
from scipy import sparse

from benchmarks import elsewhere as bench
from benchmarks.harness import Data, Report, Task

RANKING = "prediction of the best 5"


def data_of(name):
    X = sparse.csr_array(np.ones((3, 2), dtype=np.float32))
    Y = sparse.csr_array(np.eye(3, dtype=bool))
    return Data(name, X, Y, X, Y)


def test_each_figure_has_source_split_and_row_form():
    figures = bench.read_figures()
    assert len(figures) > 50
    assert {figure.rows for figure in figures} == {"unit", "raw", "any"}
    for figure in figures:
        assert all((figure.source, figure.split, figure.machine, figure.program))
        assert figure.is_time == (figure.measure == "time")
        assert figure.is_time or figure.split != "any"
    keys = [(f.dataset, f.name, f.task, f.measure, f.split, f.rows, f.subset) for f in figures]
    assert len(set(keys)) == len(keys)


def test_split_is_identified_by_test_label_sets(monkeypatch):
    Y = sparse.csr_array(np.eye(3, dtype=bool))
    assert bench.split_of(Y) == "unknown"
    digests = []
    monkeypatch.setattr(
        bench, "SPLITS", type("Seen", (), {"get": lambda self, key, other: digests.append(key)})()
    )
    bench.split_of(Y)
    wide = sparse.csr_array(
        (Y.data, Y.indices.astype(np.int64), Y.indptr.astype(np.int64)), shape=Y.shape
    )
    bench.split_of(wide)
    assert digests[0] == digests[1]  # The digest does not depend on the type of the indices.


def measured(contender, dataset="delicious"):
    rows = Report("ldsm", dataset, "")
    for task, unit in (("training", "s"), (RANKING, "ms per instance")):
        rows.add(contender, task, "time", unit, 1.0)
    rows.add_precision(contender, RANKING, [[0.65, 0.6, 0.55]])
    return rows


@pytest.mark.parametrize("calibrate", [True, False])
def test_times_are_scaled_by_calibration_or_not_compared(monkeypatch, calibrate):
    monkeypatch.setattr(bench, "split_of", lambda Y: "repository 1")
    monkeypatch.setattr(
        bench, "calibration_task", lambda X, Y: Task("napkinXC", bench.CALIBRATION, lambda: None)
    )
    known = bench.Elsewhere(data_of("delicious"), ["LdSM, 1 tree"], "unit", calibrate=calibrate)
    assert len(known.tasks) == calibrate
    rows = measured("LdSM, 1 tree")
    rows.add("napkinXC", bench.CALIBRATION, "time", "s", 5.3)  # This machine is twice as fast.
    known.compare(rows)
    pair = "LdSM, 1 tree / authors' C++ program"
    program = "authors' C++ program: LdSM, 1 tree"
    assert rows.value(program, "training", "time") == (1.7 if calibrate else 3.4)
    assert rows.value(pair, f"{RANKING}, compared", "P@1") == pytest.approx(65 - 62.66)
    assert ("time" in {row.measure for row in rows.of(pair, "training, compared")}) == calibrate
    assert ("5.30 s here, 10.6 s there" in rows.remarks[0]) == calibrate


def test_another_split_and_an_unknown_dataset_are_not_compared():
    other = bench.Elsewhere(data_of("delicious"), ["LdSM, 1 tree"], "unit", calibrate=False)
    assert all(figure.is_time for figure in other.figures["LdSM, 1 tree"])
    none = bench.Elsewhere(data_of("tiny"), ["LdSM, 1 tree"], "unit")
    rows = measured("LdSM, 1 tree", "tiny")
    none.compare(rows)
    assert (none.tasks, rows.remarks, len(rows.rows)) == ([], [], 5)
