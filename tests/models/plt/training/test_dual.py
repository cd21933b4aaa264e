"""The batch solver of the PLT against scikit-learn's solvers, and weights dropped while training."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from xmlc.csr import kernel_csr, unit_rows
from xmlc.kernels.sibling_rows import padded_size
from xmlc.models import PLT
from xmlc.models.plt.training._dual import train_children_dual

EXACT = {"tree": "random", "tol": 1e-7, "epochs": 2000, "solver": "batch"}


@pytest.mark.parametrize("C", [0.3, 10.0])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_each_node_minimises_what_scikit_learn_minimises(multilabel, loss, C):
    X, Y = multilabel(200, 30, 9, seed=1)
    model = PLT(arity=9, loss=loss, C=C, **EXACT).fit(X, Y)
    nodes, tree = model.nodes_, model.tree_
    reached = np.flatnonzero(np.diff(Y.indptr))  # the root's children see the instances with labels
    rows = unit_rows(X)[reached]
    start, end = nodes.weight_starts[1:3]
    weights = np.zeros((model.n_features_in_, 9))
    weights[nodes.features[slice(*nodes.feature_starts[1:3])]] = nodes.weights[start:end].reshape(-1, 9)
    for c in range(9):
        target = Y[reached, tree.label[1 + c]].toarray().ravel()
        if loss == "logistic":
            expected = LogisticRegression(C=C, solver="liblinear", tol=1e-10, max_iter=10_000).fit(rows, target)
        else:
            expected = LinearSVC(C=C, tol=1e-10, max_iter=1_000_000).fit(rows, target)
        np.testing.assert_allclose(weights[:, c], expected.coef_[0], atol=2e-4 * max(1, C))
        np.testing.assert_allclose(nodes.bias[1 + c], expected.intercept_[0], atol=2e-4 * max(1, C))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("m", "arity"), [(60, 4), (150, 150)])  # blocks as they are, and one cut between its siblings
def test_weights_dropped_while_training_are_those_dropped_after_it(multilabel, monkeypatch, m, arity, n_jobs):
    from xmlc.models.plt.training import _pieces

    X, Y = multilabel(300, 40, m, seed=4)
    model = PLT(tree="random", arity=arity, solver="batch", n_jobs=n_jobs)
    dense = clone(model).fit(X, Y).nodes_
    expected = dense.drop(0.05)
    monkeypatch.setattr(_pieces, "PAIRS_PER_WAVE", 20_000)
    monkeypatch.setattr(_pieces, "NONZEROS_PER_GROUP", 1000)
    found = model.set_params(weight_cut=0.05).fit(X, Y).nodes_
    assert 0 < found.weights.size < dense.weights.size
    for name, array in expected._asdict().items():
        np.testing.assert_array_equal(getattr(found, name), array, err_msg=name)


def test_stronger_regularisation_gives_smaller_weights(multilabel):
    X, Y = multilabel(200, 30, 20, seed=2)
    sizes = [np.abs(PLT(solver="batch", C=C).fit(X, Y).nodes_.weights).sum() for C in (0.01, 1.0, 100.0)]
    assert sizes == sorted(sizes)


def test_a_feature_of_one_class_only_has_finite_weights():
    X = sparse.csr_array(np.eye(6, dtype=np.float32))
    Y = sparse.csr_array(np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]], dtype=bool))
    for loss in ("logistic", "squared_hinge"):
        model = PLT(tree="random", arity=2, loss=loss, C=1000.0, epochs=500, solver="batch", tol=1e-4).fit(X, Y)
        assert np.isfinite(model.nodes_.weights).all()
        assert (model.predict_top_k(X, 1)[0].ravel() == [0, 0, 0, 1, 1, 1]).all()


@pytest.mark.parametrize("squared_hinge", [False, True])
def test_siblings_do_not_change_one_another(multilabel, squared_hinge):
    """Trained together, when those that stop leave the others to go on by themselves, or each alone: the same bits."""
    X, Y = multilabel(150, 30, 75, seed=6)
    x, targets = kernel_csr(unit_rows(X)), Y.toarray().astype(np.uint8)

    def train(columns):
        size = padded_size(columns.size)
        weights, bias = np.zeros(30 * size, dtype=np.float32), np.zeros(size, dtype=np.float32)
        padded = np.zeros((150, size), dtype=np.uint8)
        padded[:, : columns.size] = targets[:, columns]
        training = (columns.size, squared_hinge, 3.0, 0.02, 60, np.uint64(7))
        train_children_dual(x.indptr, x.indices, x.data, padded, weights, bias, *training)
        return np.vstack([weights.reshape(30, size), bias])[:, : columns.size]

    together = train(np.arange(75))
    alone = np.hstack([train(np.array([c])) for c in range(75)])
    assert together.tobytes() == alone.tobytes()
    assert (together != 0).any(axis=0).all()


@pytest.mark.parametrize(("solver", "tol", "expected"), [("batch", 10.0, 1), ("batch", 1e-9, 3), ("adagrad", 0.1, 3)])
def test_passes_are_those_until_a_node_stops(multilabel, solver, tol, expected):
    X, Y = multilabel(200, 30, 20, seed=2)
    model = PLT(solver=solver, tol=tol, epochs=3, weight_cut=0.01).fit(X, Y)
    assert model.passes_ == expected
    assert PLT(epochs=2, hash_bits=8).fit(X, Y).passes_ == 2
