"""The trees that policies other than those of Algorithm 8 build, and those of the authors' program."""

import numpy as np
import pytest
from oplt_cases import assert_same_nodes, oplt, shape, stream, trained_apart
from scipy import sparse


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


# As napkinXC 0.7.2 wrote them for the stream below: best-greedy by balance alone, at most 4 leaves, by arity.
TREES_OF_NAPKINXC = {
    2: (
        (
            (((0, 1, 2, 3, 4), (50, 51, 52)), ((20, 21, 33, 34), (35, 36, 37))),
            (((11, 12, 13, 14), ((42, 43, 55, 56), (57, 58, 59))), ((15, 27, 28, 29), (30, 49))),
        ),
        (
            (((5, 6, 7, 8), (39, 40, 41, 60)), ((22, 23, 24, 25), (26, 53, 54))),
            (((9, 10, 16, 17), (38,)), ((18, 19, 31, 32), ((44, 45, 46, 47), (48,)))),
        ),
    ),
    3: (
        ((((0, 1, 2, 3, 4), ((22, 23, 24, 25), (26,)), 27, 28), (40, 41), 42, 43), (51, 52), 53, 54),
        ((((5, 9, 10, 11), (13, 14, 15), 16, 17), ((33, 34, 35, 36), (37,)), 38, 39), ((55, 56, 57, 58), (59,)), 60),
        ((((6, 7, 8, 12), (18, 19), 20, 21), (29, 30), 31, 32), ((44, 45, 46, 47), (48,)), 49, 50),
    ),
}


@pytest.mark.parametrize("arity", [2, 3])
def test_the_tree_of_the_authors_program_node_by_node(arity):
    """A stream of new labels: 5, 1, 3, 2, 5, 1, ... an instance, so that the first group is beyond its bound."""
    counts = np.tile([5, 1, 3, 2], 6)[:22]
    Y = sparse.csr_array((np.ones(61, dtype=bool), np.arange(61), np.append(0, np.cumsum(counts))), shape=(22, 61))
    X = sparse.csr_array(np.eye(22, dtype=np.float32))
    model = oplt("best_greedy", arity, 4, alpha=1.0, growth="program").partial_fit(X, Y)
    assert shape(model.tree_, model.labels_) == TREES_OF_NAPKINXC[arity]
