"""Test the benchmark of one-vs-rest: subsets of labels, programs of scikit-learn, and trainings
that are stopped.
"""

import numpy as np
from benchmark_rows import run_benchmark
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
    counts = Y[:50].toarray().sum(axis=0)
    frequent = Y.toarray()[:, np.sort(np.argsort(-counts, kind="stable")[:3])]
    rows = frequent.any(axis=1)
    np.testing.assert_array_equal(part.Y.toarray(), frequent[:50][rows[:50]])
    np.testing.assert_array_equal(part.Y_test.toarray(), frequent[50:][rows[50:]])
    features = X[:50].toarray()[rows[:50]].any(axis=0)
    expected = unit_rows(X[50:][rows[50:]][:, features])
    np.testing.assert_array_equal(part.X_test.toarray(), expected.toarray())
    assert part.X.shape == (rows[:50].sum(), features.sum())


def test_one_vs_rest_ranks_and_predicts_sets_by_decision_values(multilabel):
    X, Y = multilabel(300, 10, 8, density=0.5)
    program = ONE_VS_REST["LinearSVC"]()
    program.fit(X, Y)
    values = program.model.decision_function(X.toarray())
    labels, scores = program.rank(X, 3)
    np.testing.assert_array_equal(labels, np.argsort(-values, axis=1, kind="stable")[:, :3])
    np.testing.assert_array_equal(scores > 0.5, np.take_along_axis(values, labels, axis=1) > 0)
    np.testing.assert_array_equal(program.sets(X).toarray() > 0, values > 0)
    np.testing.assert_array_equal(program.one(program.request(X[:1]))[0][:, :3], labels[:1])


def test_runs_are_scored_and_stopped_runs_have_a_time_only(tmp_path):
    data = prepare_tiny(tmp_path / "tiny", "data")
    answers = tmp_path / "tiny/one-vs-rest/6"
    (answers / "LinearSVC").mkdir(parents=True)
    costs = {"train_s": 2400.0, "finished": False, "program": "scikit-learn 1.9"}
    write_json(answers / "LinearSVC/costs.json", costs)
    options = ("--data", data, "--labels", 6, "--program", "LogisticRegression")
    rows = run_benchmark(tmp_path, "one-vs-rest", *options)
    assert read_json(answers / "LogisticRegression/costs.json")["finished"]
    part = bench.most_frequent(Data.read(data), 6)
    labels = np.load(answers / "LogisticRegression/ranking.npz")["labels"]
    score = 100 * ndcg_at_k(part.Y_test, labels, 5)
    assert rows["LogisticRegression", PREDICTION, "nDCG@5", 1]["value"] == score
    assert rows["LogisticRegression", TRAINING, "instances", 1]["value"] == part.X.shape[0]
    assert {key[2] for key in rows if key[0] == "LinearSVC"} == {"instances", CPU_TIME}
    stopped = rows["LinearSVC", TRAINING, CPU_TIME, 1]
    assert stopped["value"] == 2400
    assert stopped["note"].startswith(bench.STOPPED)
