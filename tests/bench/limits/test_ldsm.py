"""LdSM's line in the table of limits: what is counted, and that the bare accesses are those of the task."""

from __future__ import annotations

import numpy as np
import pytest
from small_data import random_multilabel

from xmlc.bench.harness import PREDICTION, TRAINING
from xmlc.bench.limits import ldsm
from xmlc.bench.limits._regressors import copy_rows, train_row
from xmlc.csr import kernel_csr


def test_works_run_and_count(monkeypatch):
    X, Y = random_multilabel(300, 40, 15, seed=1)
    setting = type("S", (), {"hyperparameters": {"n_trees": 3, "max_nodes": 20, "arity": 3, "epochs": 2}})
    monkeypatch.setattr(ldsm, "paper_setting", lambda *_: setting)
    data = type("D", (), {"X": X, "Y": Y, "X_test": X[:100]})
    training, ranking = ldsm.works(data)
    assert (training.task, ranking.task) == (TRAINING, PREDICTION)
    assert training.units >= 3 * (X.nnz + X.shape[0]) * 3 * 2  # the roots' alone
    for work in (training, ranking):
        work.bare(2)
        first, second = work.call(1), work.call(2)
        assert all(np.array_equal(first[name], second[name]) for name in first)


def test_rows_are_copied_with_features_numbered_anew():
    X = random_multilabel(50, 20, 5, seed=3)[0]
    x, node = kernel_csr(X), np.array([7, 3, 40], dtype=np.uint32)
    starts, ids, values = np.zeros(51, np.int64), np.empty(X.nnz, np.uint32), np.empty(X.nnz, np.float32)
    places, found = np.zeros(20, np.uint32), np.empty(21, np.uint32)
    copy_rows(x, node, places, found, starts, ids, values)
    given = np.concatenate([x.indices[x.indptr[i] : x.indptr[i + 1]] for i in node])
    numbers = {}
    assert ids[: given.size].tolist() == [numbers.setdefault(int(feature), len(numbers)) for feature in given]
    assert (
        values[: given.size].tolist() == np.concatenate([x.data[x.indptr[i] : x.indptr[i + 1]] for i in node]).tolist()
    )
    assert np.diff(starts[:4]).tolist() == np.diff(x.indptr)[node].tolist()
    assert not places.any()


def test_a_row_is_read_and_written():
    slots, sums = np.ones(12, dtype=np.float32), np.zeros(4, dtype=np.float32)
    slots[[0, 8]] = 3e7
    ids, values = np.array([0, 2], dtype=np.uint32), np.ones(2, dtype=np.float32)
    total = train_row(ids, values, slots, np.array([1], dtype=np.uint32), sums)
    assert total == pytest.approx(6e7, rel=1e-5)
    assert sums[:2].tolist() == [0, 0]
    assert sums[2] > 0
    assert slots[[2, 3, 6, 7, 10, 11]].tolist() == [1] * 6  # squares stay
