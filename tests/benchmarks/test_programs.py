"""Test the benchmark of programs: a new process measures each, and predictions are scored with
standard errors.
"""

import json

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from scipy import sparse
from small_data import prepare_tiny

from benchmarks import programs as bench
from benchmarks.fresh import _Pecos
from benchmarks.harness import PREDICTION, TRAINING, Data, Report
from xmlc.kernels.unit_length import unit_rows
from xmlc.metrics import instance_f, micro_f, ndcg_at_k
from xmlc.metrics.resampling import REPLICATES, draws
from xmlc.models import SparseWeightedNearestNeighbors
from xmlc.suite.steps.prepared import Prepared


def test_program_is_measured_in_separate_process_and_scored(tmp_path):
    data = prepare_tiny(tmp_path / "tiny", "data")
    rows = run_benchmark(tmp_path, "programs", "--data", data, "--program", "SWNN")
    assert {key[0] for key in rows} == {"SWNN"}
    X, Y = Prepared(data).part("train")
    X_test, Y_test = Prepared(data).part("test")
    model = SparseWeightedNearestNeighbors(n_jobs=1).fit(unit_rows(X), Y)
    labels, _ = model.predict_top_k(unit_rows(X_test), 5)
    ndcg = 100 * ndcg_at_k(Y_test, labels, 5)
    assert rows["SWNN", PREDICTION, "nDCG@5", 1]["value"] == ndcg
    f = 100 * micro_f(Y_test, model.predict(unit_rows(X_test)))
    assert rows["SWNN", bench.SETS, "micro-F", 1]["value"] == f
    for task, measure, _, _ in bench.COSTS.values():
        assert rows["SWNN", task, measure, 1]["value"] > 0
    assert (tmp_path / "tiny/programs/SWNN/costs.json").exists()
    assert not (tmp_path / "tiny/programs/SWNN/model").exists()


@pytest.fixture
def answered(tmp_path, multilabel):
    """Return a dataset, rankings of two programs, and a report on them.

    Stacking predicts the true labels, and PECOS random ones.
    """
    X, Y = multilabel(90, 10, 8, density=0.5)
    data = Data("tiny", X[:50], Y[:50], X[50:], Y[50:])
    rng = np.random.default_rng(0)
    rankings = {}
    for name, known in (("Stacking", data.Y_test.toarray()), ("PECOS", 0)):
        scores = (known + rng.random((40, 8))).astype(np.float32) / 2
        labels = np.argsort(-scores, axis=1)
        rankings[name] = labels
        folder = tmp_path / name
        folder.mkdir()
        ranked = np.take_along_axis(scores, labels, axis=1)
        np.savez(folder / "ranking.npz", labels=labels, scores=ranked)
        program = "libpecos 1.2" if name == "PECOS" else ""
        costs = dict.fromkeys(bench.COSTS, 1.5) | {"program": program}
        (folder / "costs.json").write_text(json.dumps(costs))
        (folder / "commit").write_text("abc")
    sparse.save_npz(tmp_path / "Stacking/sets.npz", sparse.csr_matrix(data.Y_test))
    report = Report("programs", "tiny", "")
    bench.add_rows(report, data, {name: tmp_path / name for name in rankings})
    return data, rankings, report


def test_lead_has_standard_error_of_paired_differences(answered):
    data, rankings, report = answered
    leads = []
    for each in range(REPLICATES):
        rows = np.repeat(np.arange(40), draws(40, each))
        ours, theirs = (
            ndcg_at_k(data.Y_test[rows], labels[rows], 5) for labels in rankings.values()
        )
        leads.append(100 * (ours - theirs))
    (row,) = [row for row in report.rows if row.measure == bench.AHEAD]
    assert row.contender == "PECOS"
    ours, theirs = (report.value(name, PREDICTION, "nDCG@5") for name in rankings)
    assert row.value == pytest.approx(ours - theirs)
    assert row.note == f"± {np.std(leads, ddof=1):.2f}"
    assert {row.note for row in report.of("PECOS", TRAINING)} == {"libpecos 1.2"}
    assert {row.note for row in report.of("Stacking", TRAINING)} == {"commit abc"}


def test_ranking_only_program_predicts_average_training_label_count(answered):
    data, rankings, report = answered
    assert report.value("Stacking", bench.SETS, "micro-F") == 100
    predicted = np.zeros((40, 8), dtype=bool)
    best = rankings["PECOS"][:, : round(data.Y.nnz / 50)]
    np.put_along_axis(predicted, best, True, axis=1)
    f = 100 * instance_f(data.Y_test, predicted)
    assert report.value("PECOS", bench.SETS, "instance-F") == f


def test_sparse_pecos_predictions_are_ranked_by_score():
    class Model:
        def predict(self, X, only_topk, threads):
            return sparse.csr_matrix(([0.2, 0.9, 0.5], [3, 1, 2], [0, 2, 2, 3]), shape=(3, 4))

    program = object.__new__(_Pecos)
    program.model = Model()
    labels, scores = program.rank(sparse.csr_array((3, 2)), 3)
    assert labels.tolist() == [[1, 3, -1], [-1, -1, -1], [2, -1, -1]]
    assert scores.tolist() == [[0.9, 0.2, 0], [0, 0, 0], [0.5, 0, 0]]
