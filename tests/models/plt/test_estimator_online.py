"""OFO while a PLT trains, against Algorithms 2 and 3 of plt2016 written out, dense and in double precision."""

import numpy as np
import pytest
from plt_twin import ancestors, positive_nodes

from xmlc.errors import XmlcError
from xmlc.models import PLT
from xmlc.models.plt.training import Sgd, train_hashed
from xmlc.models.plt.training._online import set_threshold
from xmlc.thresholds import OFO
from xmlc.trees import random_complete_tree

ONLINE = {"tree": "random", "arity": 3, "gamma": 0.7, "lam": 1e-3, "epochs": 1, "hash_bits": 26, "unit_norm": False}


def naive_stream(tree, X, label_sets, gamma, lam, a, b):
    """Instance by instance: estimate every label, predict, let OFO count, take a step at every node reached."""
    X = np.column_stack((X, np.ones(len(X))))
    weights, steps = np.zeros((tree.n_nodes, X.shape[1])), np.zeros(tree.n_nodes)
    a, b = np.full(tree.n_labels, float(a)), np.full(tree.n_labels, float(b))
    sets = []
    for x, labels in zip(X, label_sets, strict=True):
        at_nodes = 1 / (1 + np.exp(-(weights @ x)))
        estimates = np.array([np.prod(at_nodes[ancestors(tree, leaf)]) for leaf in tree.leaf])
        predicted = set(np.flatnonzero(estimates > a / b).tolist())
        sets.append(predicted)
        for j in predicted | set(labels):
            a[j] += j in predicted and j in labels
            b[j] += (j in predicted) + (j in labels)
        positive = positive_nodes(tree, labels)
        for node in range(tree.n_nodes):
            if node == 0 or tree.parent[node] in positive:
                gamma_t = gamma / (1 + lam * gamma * steps[node])
                gradient = (at_nodes[node] - (node in positive)) * x
                weights[node] = (weights[node] - gamma_t * gradient) / (1 + lam * gamma_t)
                steps[node] += 1
    return sets, a / b


@pytest.mark.parametrize("seed", range(4))
def test_sets_and_thresholds_equal_the_algorithms_written_out(multilabel, seed):
    X, Y = multilabel(n=120, d=8, m=9, seed=seed)
    model = PLT(**ONLINE, random_state=seed)
    sets = model.progressive_sets(X, Y, a=1, b=4)
    label_sets = [np.flatnonzero(row).tolist() for row in Y.toarray()]
    expected, thresholds = naive_stream(model.tree_, X.toarray(), label_sets, 0.7, 1e-3, 1, 4)
    assert [set(np.flatnonzero(row).tolist()) for row in sets.toarray()] == expected
    assert sets.nnz > 20
    np.testing.assert_allclose(model.thresholds_, thresholds, rtol=1e-6)


def test_weights_are_those_of_one_pass_in_this_order(multilabel):
    X, Y = multilabel(n=90, d=8, m=9, seed=5)
    model = PLT(**ONLINE | {"hash_bits": 5})
    model.progressive_sets(X, Y)
    x, y = model._kernel_form(X), model._kernel_form(Y)
    expected = train_hashed(x, y, model.tree_, np.arange(90), Sgd(0.7, 1e-3, 1), 5, 0)
    for name in ("table", "scale", "bias"):
        np.testing.assert_array_equal(getattr(model.nodes_, name), getattr(expected, name))


def test_thresholds_are_ofo_s_on_what_was_predicted(multilabel):
    """The sets alone determine the thresholds: those of OFO whose estimates are 1 for what was predicted."""
    X, Y = multilabel(n=90, d=8, m=9, seed=6)
    model = PLT(**ONLINE)
    sets = model.progressive_sets(X, Y, a=2, b=10)
    np.testing.assert_array_equal(model.thresholds_, OFO(a=2, b=10).fit(sets.astype(np.float32), Y).thresholds_)


def test_thresholds_are_saved_and_forgotten_by_fit(multilabel, tmp_path):
    X, Y = multilabel(n=60, d=8, m=9, seed=7)
    model = PLT(**ONLINE)
    model.progressive_sets(X, Y)
    model.save(tmp_path / "model")
    loaded = PLT.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.thresholds_, model.thresholds_)
    assert (loaded.predict_proba(X, loaded.thresholds_) != model.predict_proba(X, model.thresholds_)).nnz == 0
    with pytest.raises(XmlcError, match="no thresholds were learned; call progressive_sets"):
        _ = model.fit(X, Y).thresholds_


def test_a_threshold_that_moves_moves_the_minima_above():
    tree, rng = random_complete_tree(13, 3, 1), np.random.default_rng(2)
    thresholds = tree.node_thresholds(np.full(13, 0.5, dtype=np.float32))
    for _ in range(60):
        label, value = rng.integers(13), np.float32(rng.integers(1, 6) / 8)
        set_threshold(tree.leaf[label], value, tree.children, tree.parent, thresholds)
        np.testing.assert_array_equal(thresholds, tree.node_thresholds(thresholds[tree.leaf]))


def test_what_is_not_trained_instance_by_instance_is_refused(multilabel):
    X, Y = multilabel(n=20, d=8, m=9, seed=8)
    for options in ({"hash_bits": None}, {"epochs": 2}):
        with pytest.raises(XmlcError, match="expected a number of hash_bits, and epochs=1"):
            PLT(**ONLINE | options).progressive_sets(X, Y)
    with pytest.raises(XmlcError, match="a=1, b=1: the initial threshold"):
        PLT(**ONLINE).progressive_sets(X, Y, a=1, b=1)
