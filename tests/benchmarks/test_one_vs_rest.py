"""Test the benchmark of one-vs-rest: subsets of labels, programs of scikit-learn, and trainings
that are stopped.
"""

import numpy as np
from benchmark_rows import run_benchmark
from scipy import sparse
from small_data import prepare_tiny

from benchmarks import one_vs_rest as bench
from benchmarks.fresh import ONE_VS_REST, trained_within
from benchmarks.harness import CPU_TIME, PREDICTION, TRAINING, Data
from xmlc.core.files import read_json, write_json
from xmlc.kernels.unit_length import unit_rows
from xmlc.metrics import ndcg_at_k


def spin():
    while True:
        sum(range(1000))


def test_training_is_stopped_after_its_time():
    assert not trained_within(0.05, spin)
    assert trained_within(0, lambda: None)
    assert trained_within(60, lambda: None)


def test_part_has_most_frequent_labels_and_no_row_without_label(multilabel):
    X, Y = multilabel(90, 10, 8, density=0.5)
    part = bench.most_frequent(Data("tiny", X[:50], Y[:50], X[50:], Y[50:]), 3)
    labels = np.sort(np.argsort(-Y[:50].toarray().sum(axis=0), kind="stable")[:3])
    for Y_part, Y_whole, X_part in (
        (part.Y, Y[:50], part.X),
        (part.Y_test, Y[50:], part.X_test),
    ):
        rows = Y_whole.toarray()[:, labels].any(axis=1)
        np.testing.assert_array_equal(Y_part.toarray(), Y_whole.toarray()[rows][:, labels])
        assert X_part.shape[0] == rows.sum()
    kept = X[:50].toarray()[Y[:50].toarray()[:, labels].any(axis=1)].any(axis=0)
    assert part.X.shape[1] == part.X_test.shape[1] == kept.sum()
    filled = np.diff(part.X.indptr) > 0
    np.testing.assert_allclose(part.X.multiply(part.X).sum(axis=1)[filled], 1, rtol=1e-5)


def test_one_vs_rest_ranks_and_predicts_sets_by_decision_values(multilabel):
    X, Y = multilabel(300, 10, 8, density=0.5)
    X = unit_rows(X)
    program = ONE_VS_REST["LinearSVC"]()
    program.fit(X, Y)
    values = program.model.decision_function(X.toarray())
    labels, scores = program.rank(X, 3)
    np.testing.assert_array_equal(labels, np.argsort(-values, axis=1, kind="stable")[:, :3])
    assert ((scores > 0.5) == (np.take_along_axis(values, labels, axis=1) > 0)).all()
    np.testing.assert_array_equal(program.sets(X).toarray() > 0, values > 0)
    np.testing.assert_array_equal(program.one(program.request(X[:1]))[0], program.rank(X[:1], 5)[0])


def test_runs_are_scored_and_stopped_runs_have_a_time_only(tmp_path):
    data = prepare_tiny(tmp_path / "tiny", "data")
    stopped = tmp_path / "tiny/one-vs-rest/6/LinearSVC"
    stopped.mkdir(parents=True)
    write_json(
        stopped / "costs.json",
        {"train_s": 2400.0, "finished": False, "program": "scikit-learn 1.9"},
    )
    rows = run_benchmark(
        tmp_path, "one-vs-rest", "--data", data, "--labels", 6, "--program", "LogisticRegression"
    )
    answers = stopped.parent / "LogisticRegression"
    assert read_json(answers / "costs.json")["finished"]
    part = bench.most_frequent(Data.read(data), 6)
    labels = np.load(answers / "ranking.npz")["labels"]
    assert rows["LogisticRegression", PREDICTION, "nDCG@5", 1]["value"] == 100 * ndcg_at_k(
        part.Y_test, labels, 5
    )
    assert rows["LogisticRegression", TRAINING, "instances", 1]["value"] == part.X.shape[0]
    assert rows["LinearSVC", TRAINING, CPU_TIME, 1]["value"] == 2400
    assert rows["LinearSVC", TRAINING, CPU_TIME, 1]["note"].startswith(bench.STOPPED)
    assert {row["dataset"] for row in rows.values()} == {"data, 6 labels"}
    assert sparse.load_npz(answers / "sets.npz").shape == part.Y_test.shape
