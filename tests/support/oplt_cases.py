"""Make streams for online trees, and compute their expected weights."""

import numpy as np
from scipy import sparse

from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.unit_length import unit_rows
from xmlc.models import OPLT
from xmlc.models.plt.solvers import AdaGrad
from xmlc.models.plt.training import train_nodes


def stream(n=120, d=25, m=40, seed=0):
    """Return instances whose labels appear little by little.

    Some instances have no labels, and some have no features.
    """
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.15, rng=rng, dtype=np.float32).tocsr()
    Y = np.zeros((n, m), dtype=bool)
    for i in range(n):
        Y[i, rng.integers(max(1, m * (i + 1) // n), size=rng.integers(4))] = True
    return X, sparse.csr_array(Y)


def oplt(policy="best_greedy", arity=2, max_leaf=4, **more):
    given = {"epochs": 1, "gamma": 1.0, "eps": 0.01, "weight_threshold": None} | more
    return OPLT(policy=policy, arity=arity, max_leaf=max_leaf, **given)


def shape(tree, node=0):
    """Return a label tree as nested tuples of labels."""
    children = range(tree.children[node], tree.children[node + 1])
    return tuple(shape(tree, child) for child in children) or tree.label[node]


def trained_apart(model, X, Y, order=None, epochs=1):
    """Return the weights of Algorithm 1 (IPLT) on the model's tree, trained block by block as in a
    PLT.
    """
    x = kernel_csr(unit_rows(X) if model.unit_norm else X)
    order = np.arange(X.shape[0]) if order is None else order
    solver = AdaGrad(model.gamma, model.eps, epochs)
    return train_nodes(x, kernel_csr(Y), X.shape[1], model.tree_, order, solver, None, 1)[0]


def weights_by_feature(nodes, block):
    """Return the features and weights of a block."""
    features = nodes.features[nodes.feature_starts[block] : nodes.feature_starts[block + 1]]
    weights = nodes.weights[nodes.weight_starts[block] : nodes.weight_starts[block + 1]]
    return features, weights.reshape(features.size, -1) if features.size else weights


def assert_same_nodes(found, expected):
    np.testing.assert_array_equal(found.bias, expected.bias)
    np.testing.assert_array_equal(found.label, expected.label)
    for block in range(found.label.size + 1):
        for one, other in zip(
            weights_by_feature(found, block), weights_by_feature(expected, block)
        ):
            np.testing.assert_array_equal(one, other)
