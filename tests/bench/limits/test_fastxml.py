"""FastXML's line in the table of limits: what is counted, and that the bare accesses are those of the task."""

from __future__ import annotations

import numpy as np
import pytest
from small_data import random_multilabel

from xmlc.bench.harness import PREDICTION, TRAINING
from xmlc.bench.limits import fastxml
from xmlc.bench.limits._columns import read_labels, walk_columns, write_columns
from xmlc.csr import kernel_csr
from xmlc.models import FastXML


@pytest.fixture(scope="module")
def drawn():
    return random_multilabel(300, 40, 15, seed=1)


@pytest.fixture(scope="module")
def tape(drawn):
    X, Y = drawn
    return fastxml.record(FastXML(unit_norm=True), kernel_csr(X), kernel_csr(Y), X.shape[1], Y.shape[1], 0)


def test_the_nodes_of_the_tape_are_those_of_the_tree(drawn, tape):
    X, Y = drawn
    model = FastXML(n_trees=1, n_jobs=1).fit(X, Y)
    sizes = np.diff(tape.starts)
    assert sizes[0] == X.shape[0]
    assert len(sizes) >= len(model.forest_.biases)  # some are tried and not divided
    model.predict_top_k(X, 1)
    passed = model.inner_products_.sum()
    undivided = model.forest_.sizes[model.forest_.sizes > model.max_leaf].sum()
    assert sizes.sum() == passed + undivided


def test_bare_columns_are_the_transposed_rows_of_a_node(drawn, tape):
    X, _ = drawn
    x, d = kernel_csr(X), X.shape[1]
    node, features = tape.instances[: tape.starts[1]][::2].copy(), tape.features[: tape.feature_starts[1]]
    places, found = np.zeros(d, np.uint32), np.empty(d + 1, np.uint32)
    starts, room = np.empty(d + 2, np.int64), X.nnz + X.shape[0] + 1
    rows, values = np.empty(room, np.uint32), np.empty(room, np.float32)
    write_columns(x, node, features, places, found, starts, rows, values)
    dense = X.toarray()[node]
    for j, feature in enumerate(features):
        own = slice(starts[j], starts[j + 1])
        assert rows[own].tolist() == np.flatnonzero(dense[:, feature]).tolist()
        assert values[own].tolist() == dense[rows[own], feature].tolist()
    assert starts[features.size + 1] - starts[features.size] == node.size
    assert not places.any()


def test_bare_labels_are_read_once_a_round():
    y = kernel_csr(random_multilabel(30, 5, 15, seed=2)[1])
    node = np.arange(0, 30, 3).astype(np.uint32)
    sizes = np.diff(y.indptr)[node]
    own = np.empty(y.indices.size, np.uint32)
    args = np.arange(15).astype(np.uint32), np.ones(15, np.int64), own
    assert read_labels(y, node, *args, 1) == np.bitwise_xor.reduce(sizes)
    assert read_labels(y, node, *args, 2) == 0
    assert (
        own[: sizes.sum()].tolist() == np.concatenate([y.indices[y.indptr[i] : y.indptr[i + 1]] for i in node]).tolist()
    )


def test_bare_walks_end_after_as_many_non_zeros():
    starts, rows = np.array([0, 2, 3, 6]), np.array([0, 1, 1, 0, 1, 2], dtype=np.uint32)
    by_row = np.ones((3, 3), dtype=np.float32)
    assert walk_columns(starts, rows, np.ones(6, np.float32), by_row, 3, 0) == 3
    walk_columns(starts, rows, np.ones(6, np.float32), by_row, 0, 6)
    assert by_row[2].tolist() == [3, 4, 2]


def test_works_run_and_count(drawn, monkeypatch):
    X, Y = drawn
    monkeypatch.setattr(fastxml, "paper_setting", lambda *_: type("S", (), {"hyperparameters": {}}))
    monkeypatch.setattr(fastxml, "TREES", 3)
    data = type("D", (), {"X": X, "Y": Y, "X_test": X[:100]})
    training, ranking = fastxml.works(data)
    assert (training.task, ranking.task) == (TRAINING, PREDICTION)
    for work in (training, ranking):
        assert work.units > 1000
        work.bare(2)
        first, second = work.call(1), work.call(2)
        assert all(np.array_equal(first[name], second[name]) for name in first)
