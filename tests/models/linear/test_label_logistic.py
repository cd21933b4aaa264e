"""One regression for each label: the selection of C, and the division into tasks."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.kernels.csr import kernel_csr
from xmlc.models.linear import label_logistic
from xmlc.models.linear.label_logistic import linear_scores, make_problem, spreads


@pytest.mark.parametrize("common", [True, False])
def test_selected_c_has_smallest_mean_loss(common):
    losses = np.random.default_rng(2).random((6, 3, 5))
    losses[0, 1] = np.nan
    losses[5] = np.nan
    means = np.zeros((6, 5))
    means[:5] = np.nanmean(losses[:5], axis=1)
    expected = means.argmin(axis=1)
    if common:
        expected[:] = means.sum(axis=0).argmin()
    assert label_logistic.best_indices(losses, common).tolist() == expected.tolist()


def test_blocks_contain_each_label_once_and_start_with_costly_labels(monkeypatch):
    Y = np.arange(40)[:, None] < np.array([0, 3, 40, 20, 1, 39, 12, 30])
    widths = np.full(8, 2)
    X = sparse.csr_array(np.eye(40, 2, dtype=np.float32))
    weights = np.ones(40, dtype=np.float32)
    problem = make_problem(X, sparse.csr_array(Y), True, 1.0, widths, weights)
    monkeypatch.setattr(label_logistic, "LABELS_PER_TASK", 4)
    blocks = label_logistic.blocks_of(problem, np.ones(40, dtype=bool))
    assert [block.tolist() for block in blocks] == [[3, 7, 4], [6, 1, 5]]
    monkeypatch.setattr(label_logistic, "LABELS_PER_TASK", 6)
    blocks = label_logistic.blocks_of(problem, np.arange(40) >= 5)
    assert [block.tolist() for block in blocks] == [[3, 7, 6, 5]]


def test_scales_equal_numpy_and_are_1_for_constant_features():
    X = np.random.default_rng(1).normal([0, 100, 0, 0], size=(30, 4))
    X[:, 2] = 7.3
    X[:, 3] = 0
    for weights in (np.ones(30), np.arange(30) % 4.0):
        _, found = spreads(sparse.csr_array(X), weights)
        repeated = np.repeat(X, weights.astype(int), axis=0)
        assert np.allclose(found[:2], 1 / repeated[:, :2].std(axis=0, ddof=1))
        assert (found[2:] == 1).all()


def test_scores_add_in_order_of_features():
    rng = np.random.default_rng(1)
    X = sparse.random_array((12, 9), density=0.5, rng=rng, dtype=np.float32, format="csr")
    weights = rng.normal(size=(9, 5)).astype(np.float32)
    constants = rng.normal(size=5).astype(np.float32)
    expected = np.tile(constants.astype(float), (12, 1))
    for i, x in enumerate(X.toarray().astype(float)):
        for j in range(9):
            expected[i] += x[j] * weights[j].astype(float)
    assert (linear_scores(*kernel_csr(X), weights, constants) == expected).all()
