"""How the training of a tree is cut into pieces, and that nothing depends on it."""

import numpy as np
import pytest
from plt_twin import positive_nodes

from xmlc.csr import kernel_csr
from xmlc.models import PLT
from xmlc.models.plt.training import _pieces
from xmlc.trees import random_complete_tree


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("instances", [1, 7, 1000])
def test_instances_of_nodes_are_listed_in_order_whatever_the_pieces(multilabel, monkeypatch, instances, n_jobs):
    monkeypatch.setattr(_pieces, "INSTANCES_PER_PIECE", instances)
    _, Y = multilabel(50, 12, 20, seed=4)
    tree, order = random_complete_tree(20, 3, seed=1), np.random.default_rng(0).permutation(50)
    reach = _pieces.reach_of(kernel_csr(Y), tree, order, n_jobs)
    expected = [[] for _ in range(tree.n_nodes)]
    for position, row in enumerate(order):
        for node in positive_nodes(tree, Y.indices[Y.indptr[row] : Y.indptr[row + 1]]):
            expected[node].append(position)
    for node, positions in enumerate(expected):
        start, end = reach.node_starts[node : node + 2]
        assert reach.node_positions[start:end].tolist() == positions
        start, end = reach.block_starts[node + 1 : node + 3]
        assert reach.block_positions[start:end].tolist() == positions
    assert reach.block_positions[: reach.block_starts[1]].tolist() == list(range(50))


@pytest.mark.parametrize("solver", ["sgd", "adagrad", "batch"])
def test_weights_do_not_depend_on_how_siblings_are_shared_out(multilabel, monkeypatch, solver):
    X, Y = multilabel(120, 25, 150, seed=3)
    model = PLT(solver=solver, tree="random", arity=150, epochs=3, n_jobs=2)
    whole = model.unfitted().fit(X, Y).nodes_
    monkeypatch.setattr(_pieces, "NONZEROS_PER_GROUP", 10)
    for siblings in (8, 64):
        monkeypatch.setattr(_pieces, "MANY_SIBLINGS", siblings)
        for one, other in zip(whole, model.unfitted().fit(X, Y).nodes_, strict=True):
            assert one.tobytes() == other.tobytes()
