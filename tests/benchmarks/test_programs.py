"""Test the benchmark of programs: a new process measures each, and predictions are scored with
standard errors.
"""

from benchmark_rows import run_benchmark
from scipy import sparse
from small_data import prepare_tiny

from benchmarks import programs as bench
from benchmarks.fresh import _Pecos
from benchmarks.harness import PREDICTION
from xmlc.kernels.unit_length import unit_rows
from xmlc.metrics import micro_f, ndcg_at_k
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


def test_sparse_pecos_predictions_are_ranked_by_score():
    class Model:
        def predict(self, X, only_topk, threads):
            return sparse.csr_matrix(([0.2, 0.9, 0.5], [3, 1, 2], [0, 2, 2, 3]), shape=(3, 4))

    program = object.__new__(_Pecos)
    program.model = Model()
    labels, scores = program.rank(sparse.csr_array((3, 2)), 3)
    assert labels.tolist() == [[1, 3, -1], [-1, -1, -1], [2, -1, -1]]
    assert scores.tolist() == [[0.9, 0.2, 0], [0, 0, 0], [0.5, 0, 0]]
