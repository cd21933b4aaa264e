"""The PLT on complete trees and on 2-means trees, whose nodes have any degree."""

import numpy as np
import plt_twin
import pytest
from facts import raises_with

from xmlc.core.errors import XmlcError
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.unit_length import unit_rows
from xmlc.models import PLT
from xmlc.models.plt.solvers import AdaGrad
from xmlc.models.plt.training import train_nodes

SGD = {"gamma": 0.7, "lam": 0.01, "epochs": 3}
SHAPES = [
    {"tree": "random", "arity": 3},
    {"tree": "kmeans", "arity": 4, "max_leaf": 3},
    {"tree": "kmeans", "arity": 2, "max_leaf": 100},  # all 40 labels are children of the root
]


@pytest.mark.parametrize("shape", SHAPES)
def test_estimates_equal_plain_implementation_and_searches_agree(multilabel, shape):
    X, Y = multilabel(60, 15, 40, seed=2, labels=8)
    model = PLT(random_state=5, weight_threshold=None, **shape, **SGD).fit(X, Y)
    features = np.hstack([unit_rows(X).toarray().astype(np.float64), np.ones((60, 1))])
    label_sets = [row.tolist() for row in np.split(Y.indices, Y.indptr[1:-1])]
    order = random_permutation(60, 5, Stream.PLT_ORDER)
    weights = plt_twin.train(model.tree_, features, label_sets, order, **SGD)
    expected = [plt_twin.estimates(model.tree_, weights, x) for x in features]
    spe = model.predict_proba(X)
    assert spe.dtype == np.float32
    assert spe.nnz == 60 * 40  # with threshold 0, every label has an estimate
    found = spe.toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    np.testing.assert_array_equal(model.predict_top_k(X, 5)[1], -np.sort(-found, axis=1)[:, :5])
    limits = np.random.default_rng(0).choice(found.ravel(), 40)  # one threshold for each label
    above = np.where(found > limits, found, 0)
    np.testing.assert_array_equal(model.predict_proba(X, limits).toarray(), above)


def test_max_samples_equals_training_on_the_sample(multilabel):
    X, Y = multilabel(60, 15, 40, seed=2)
    every = PLT(tree="kmeans", arity=2, max_leaf=4, solver="adagrad", epochs=2, random_state=5)
    model = every.unfitted().set_params(max_samples=0.3).fit(X, Y)
    sample = random_permutation(60, 5, Stream.PLT_ORDER)[:18]
    tree = every.unfitted().fit(X[sample], Y[sample]).tree_
    np.testing.assert_array_equal(model.tree_.children, tree.children)
    np.testing.assert_array_equal(model.tree_.label, tree.label)
    solver = AdaGrad(model.gamma, model.eps, 2)
    data = (kernel_csr(unit_rows(X)), kernel_csr(Y), 15, tree, sample, solver)
    for found, array in zip(model.nodes_, train_nodes(*data, None, 1)[0], strict=True):
        np.testing.assert_array_equal(found, array)
    bias = every.fit(X, Y).nodes_.bias
    np.testing.assert_array_equal(every.set_params(max_samples=1.0).fit(X, Y).nodes_.bias, bias)
    with raises_with(XmlcError, "max_samples=1.5"):
        every.set_params(max_samples=1.5).fit(X, Y)
