"""The trees that policies other than those of Algorithm 8 build."""

import numpy as np
from oplt_cases import assert_same_nodes, oplt, stream, trained_apart


def test_trees_of_the_other_policies_have_their_shapes():
    X, Y = stream(seed=3)
    m = np.unique(Y.indices).size
    for arity in (2, 3, 5):
        tree = oplt("complete", arity, 5).partial_fit(X, Y).tree_
        depths = tree.depth[tree.label >= 0]
        assert depths.min() >= depths.max() - 1
        degrees = np.diff(tree.children)[np.diff(tree.children) > 0]
        assert (degrees[:-1] == arity).all()
    assert set(np.diff(oplt("cpet").partial_fit(X, Y).tree_.children)) == {0, 2}
    flat = oplt("one_vs_rest").partial_fit(X, Y)
    assert (flat.tree_depths_.tolist(), flat.n_nodes_.tolist()) == ([1], [m + 1])


def test_a_tree_of_one_level_takes_more_labels_than_were_known_of():
    X, Y = stream(n=400, m=300, seed=3)
    model, whole = oplt("one_vs_rest"), oplt("one_vs_rest").partial_fit(X, Y)
    for i in range(0, 400, 40):
        model.partial_fit(X[i : i + 40], Y[i : i + 40, : Y[: i + 40].indices.max() + 1])
    assert_same_nodes(model.to_plt().nodes_, whole.to_plt().nodes_)
    assert_same_nodes(whole.to_plt().nodes_, trained_apart(whole, X, Y))


def test_a_bound_on_children_that_no_tree_reaches_takes_no_memory():
    model = oplt("best_greedy", 2, 2**31 - 1).fit(*stream())
    assert model._online.free_rows.size < 100
    assert model.tree_.n_labels == model.labels_.size > 25
