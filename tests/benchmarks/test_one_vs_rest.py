"""Test the benchmark of one-vs-rest: subsets of labels, programs of scikit-learn, and trainings
that are stopped.
"""

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import one_vs_rest as bench
from benchmarks.fresh import trained_within
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
    X, Y = multilabel(50, 10, 8, density=0.5)
    part = bench.most_frequent(Data("tiny", X, Y, X, Y), 3)
    best = np.argsort(-Y.sum(axis=0), kind="stable")[:3]
    frequent = Y.toarray()[:, np.sort(best)]
    rows = frequent.any(axis=1)
    for found in (part.Y, part.Y_test):
        np.testing.assert_array_equal(found.toarray(), frequent[rows])
    np.testing.assert_array_equal(part.X_test.toarray(), unit_rows(X[rows]).toarray())


@pytest.mark.slow
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
