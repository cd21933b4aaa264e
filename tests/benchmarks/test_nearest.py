"""The benchmark of nearest neighbours: it measures both settings, and ratios are to scaled times."""

import numpy as np
import pytest
from benchmark_rows import by_key, run_benchmark
from small_data import prepare_tiny

from benchmarks import elsewhere
from benchmarks import nearest as bench
from benchmarks.harness import PREDICTION, TRAINING, Task
from xmlc.core.errors import XmlcError
from xmlc.data.prepared import Prepared
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.nearest import SparseWeightedNearestNeighbors

SMALL, LARGE = "SWNN, S 20, alpha 1, beta 1", "SWNN, S 75, alpha 2, beta 1"
COMPARED = f"{PREDICTION}, compared"


@pytest.fixture(autouse=True)
def calibrated(monkeypatch):
    """Nothing is repeated, and the calibration needs no napkinXC; gives the shapes that it is trained on."""
    shapes = []
    task = Task("napkinXC", elsewhere.CALIBRATION, lambda: None)
    monkeypatch.setattr(bench, "AT_LEAST", 0.0)
    monkeypatch.setattr(elsewhere, "calibration_task", lambda X, Y: shapes.append((X.shape, Y.shape)) or task)
    return shapes


def scale_of(rows):
    return rows["napkinXC", "calibration", "time", 1]["value"] / 10.6


def test_both_settings_are_measured(tmp_path, calibrated, capsys):
    data = prepare_tiny(tmp_path, "delicious")
    rows = run_benchmark(tmp_path, "nearest", "--data", data, "--rounds", 2)
    assert calibrated == [((120, 20), (120, 8))]
    (X, Y), (X_test, Y_test) = (Prepared(data).part(part) for part in ("train", "test"))
    for name, setting in bench.swnn_settings().items():
        model = SparseWeightedNearestNeighbors(n_jobs=1, **setting).fit(X, Y)
        labels, _ = model.predict_top_k(X_test, 5)
        for k in (1, 3, 5):
            assert rows[name, PREDICTION, f"P@{k}", 1]["value"] == 100 * precision_at_k(Y_test, labels, k)
        assert rows[name, PREDICTION, "similarities per instance", 1]["value"] == model.inner_products_.mean()
        assert len(rows[name, PREDICTION, "time", 2]["rounds"]) == 2
        assert rows[name, PREDICTION, "same bits", 2]["value"] == 1
    assert list(bench.swnn_settings()) == [SMALL, LARGE]
    kept = sum(array.nbytes for array in model._state()[0].values())
    assert rows[bench.INDEX, TRAINING, "index with the label sets", 1]["value"] == kept / 1e6
    index = rows["authors' Go program: SWNN, index", TRAINING, "time", 1]["value"]
    assert index == pytest.approx(0.011 * scale_of(rows))
    own = rows[LARGE, PREDICTION, "time", 1]["value"]
    found = rows[f"{LARGE} / authors' Go program", COMPARED, "time", 1]["value"]
    assert found == pytest.approx(own / (0.15 * scale_of(rows)))
    assert "0.15 ms per instance on 2-core EPYC" in capsys.readouterr().out


def test_amazon_is_scaled_by_another_dataset(tmp_path, calibrated):
    data, other = (prepare_tiny(tmp_path / name, name) for name in ("amazon-670k-shape", "delicious"))
    report = bench.bench_nearest(data, rounds=1, calibration_folder=other, instances=7)
    rows = by_key(report.rows)
    assert " 7 test instances" in report.about
    assert len(calibrated) == 1
    programs = {"authors' program in the paper": 5.74, "authors' program, later version": 4.19}
    for program, ms in programs.items():  # each beside both settings
        assert rows[f"{program}: SWNN", PREDICTION, "time", 1]["value"] == pytest.approx(ms * scale_of(rows))
        assert {(f"{name} / {program}", COMPARED, "time", 1) for name in (SMALL, LARGE)} <= set(rows)
    assert "i7-7700K" in report.remarks[-1]
    with pytest.raises(XmlcError, match="amazon-670k-shape; the calibration was measured elsewhere on delicious"):
        bench.bench_nearest(other, rounds=1, calibration_folder=data)


def test_other_distances_and_frequent_labels(tmp_path, monkeypatch):
    data = prepare_tiny(tmp_path, "delicious")
    rows = run_benchmark(tmp_path, "preliminary", "--data", data, "--rounds", 1)
    (X, Y), (X_test, Y_test) = (Prepared(data).part(part) for part in ("train", "test"))
    # Of rows of unit length L2 orders as the cosine, whose votes are equal with alpha 0.
    for S in (20, 75):
        labels, _ = SparseWeightedNearestNeighbors(S=S, alpha=0, beta=0).fit(X, Y).predict_top_k(X_test, 5)
        for k in (1, 3, 5):
            found = rows[f"L2, rows of unit length, S {S}", PREDICTION, f"P@{k}", 1]["value"]
            assert found == pytest.approx(100 * precision_at_k(Y_test, labels, k))
    nearest = np.lexsort((np.arange(X.shape[0]), abs(X.toarray() - X_test.toarray()[0]).sum(axis=1)))
    found = bench._nearest(X.toarray(), X_test.toarray(), "cityblock")
    assert found[0].tolist() == nearest[:75].tolist()
    assert rows["one-versus-rest of 8 labels", PREDICTION, "CPU time", 1]["value"] > 0
    monkeypatch.setattr(bench, "DENSE", 0)
    assert {row.contender for row in bench.bench_preliminary(data, 1).rows} == {"one-versus-rest of 8 labels"}
