"""Training of a PLT: the instances of nodes, divisions into tasks, and hashed weights step by
step.
"""

import numpy as np
import pytest
from plt_cases import drop_small
from plt_twin import positive_nodes
from sklearn.base import clone

from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.float32 import sigmoid
from xmlc.models import PLT
from xmlc.models.plt import training
from xmlc.models.plt.hashed_training import train_hashed
from xmlc.models.plt.solvers import Sgd
from xmlc.models.plt.training import Reach, count_nonzeros, list_features
from xmlc.models.plt.weights import node_key, slot_and_sign
from xmlc.models.trees import random_complete_tree


def test_reach_lists_instances_of_nodes_in_order(multilabel):
    _, Y = multilabel(50, 12, 20, seed=4)
    tree = random_complete_tree(20, 3, seed=1)
    order = np.random.default_rng(0).permutation(50)
    reach = training.reach_of(kernel_csr(Y), order, tree.leaf, tree.parent)
    expected = [[] for _ in range(tree.n_nodes)]
    for position, row in enumerate(order):
        for node in positive_nodes(tree, Y.indices[Y.indptr[row] : Y.indptr[row + 1]]):
            expected[node].append(position)
    for node, positions in enumerate(expected):
        start, end = reach.block_starts[node + 1 : node + 3]
        assert reach.block_positions[start:end].tolist() == positions
    assert reach.block_positions[: reach.block_starts[1]].tolist() == list(range(50))


@pytest.mark.parametrize("solver", ["sgd", "adagrad", "batch"])
def test_weights_do_not_depend_on_division_of_siblings(multilabel, monkeypatch, solver):
    X, Y = multilabel(120, 25, 150, seed=3)
    model = PLT(solver=solver, tree="random", arity=150, epochs=3, n_jobs=2)
    whole = model.unfitted().fit(X, Y).nodes_
    monkeypatch.setattr(training, "NONZEROS_PER_GROUP", 10)
    for siblings in (8, 64):
        monkeypatch.setattr(training, "MANY_SIBLINGS", siblings)
        for one, other in zip(whole, model.unfitted().fit(X, Y).nodes_, strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("n_jobs", [1, 2])
# whole blocks, and a block divided between siblings
@pytest.mark.parametrize(("m", "arity"), [(60, 4), (150, 150)])
def test_weights_dropped_during_training_equal_weights_dropped_later(
    multilabel, monkeypatch, m, arity, n_jobs
):
    X, Y = multilabel(300, 40, m, seed=4)
    model = PLT(
        tree="random", arity=arity, solver="batch", C=3, n_jobs=n_jobs, weight_threshold=None
    )
    dense = clone(model).fit(X, Y).nodes_
    expected = drop_small(dense, 0.05)
    monkeypatch.setattr(training, "WEIGHTS_PER_WAVE", 2_000)
    monkeypatch.setattr(training, "NONZEROS_PER_GROUP", 1000)
    found = model.set_params(weight_threshold=0.05).fit(X, Y).nodes_
    assert 0 < found.weights.size < dense.weights.size
    for name, array in expected._asdict().items():
        np.testing.assert_array_equal(getattr(found, name), array, err_msg=name)


@pytest.mark.parametrize("n_features", [1, 63, 64, 65, 300])
def test_features_and_nonzeros_of_blocks_are_counted(multilabel, n_features):
    X, _ = multilabel(40, n_features, 3, seed=n_features)
    x = kernel_csr(X)
    random = np.random.default_rng(1)
    order = random.permutation(40)
    reaching = [np.sort(random.choice(40, size, replace=False)) for size in (0, 1, 7, 40)]
    starts = np.concatenate(([0], np.cumsum([own.size for own in reaching])))
    positions = np.concatenate(reaching).astype(np.uint32)
    blocks = np.array([3, 0, 1, 2])
    rows = []
    for block in blocks:
        rows.append(
            [x.indices[x.indptr[row] : x.indptr[row + 1]] for row in order[reaching[block]]]
        )
    expected = [np.unique(np.concatenate([*own, np.empty(0, np.uint32)])) for own in rows]
    reach = Reach(order, starts, positions)
    nonzeros = count_nonzeros(x.indptr, reach)
    distinct, features = list_features(x, reach, blocks, nonzeros, n_features)
    assert distinct.tolist() == [own.size for own in expected]
    assert nonzeros[blocks].tolist() == [sum(map(len, own)) for own in rows]
    np.testing.assert_array_equal(features, np.concatenate(expected))


@pytest.mark.parametrize("hash_bits", [3, 12])
def test_hashed_training_equals_plain_loop(multilabel, hash_bits):
    X, Y = multilabel(40, 8, 9)
    x = kernel_csr(X)
    y = kernel_csr(Y)
    tree = random_complete_tree(Y.shape[1], 3, 0)
    order = np.random.default_rng(5).permutation(40)
    solver = Sgd(0.5, 1e-3, 2)
    importance = np.random.default_rng(6).choice([0.3, 1, 7], 40).astype(np.float32)
    found = train_hashed(x, y, tree, order, solver, hash_bits, 7, importance)
    zeros, steps = (
        {name: np.zeros_like(getattr(found, name)) for name in ("table", "bias")},
        np.zeros(tree.n_nodes),
    )
    nodes = found._replace(scale=np.ones(tree.n_nodes), **zeros)
    for row, weight in zip(
        np.tile(order, solver.epochs), np.tile(importance.astype(float), solver.epochs)
    ):
        entries = slice(x.indptr[row], x.indptr[row + 1])
        positives = set()
        for label in y.indices[y.indptr[row] : y.indptr[row + 1]]:
            node = tree.leaf[label]
            while node >= 0:
                positives.add(node)
                node = tree.parent[node]
        reached = [0] + [
            c for t in sorted(positives) for c in range(tree.children[t], tree.children[t + 1])
        ]
        for node in reached:
            key = np.uint64(node_key(nodes.seed, node))
            mask = np.uint64(nodes.table.size - 1)
            places = [slot_and_sign(key, feature, mask) for feature in x.indices[entries]]
            score = nodes.bias[node]
            for (slot, sign), value in zip(places, x.data[entries]):
                score += value * (np.float32(sign) * nodes.table[slot])
            estimate = np.float32(sigmoid(np.float32(score * np.float32(1 / nodes.scale[node]))))
            gamma = solver.step / (1 + solver.lam * solver.step * steps[node])
            step = np.float32(nodes.scale[node] * gamma * weight) * (
                estimate - np.float32(node in positives)
            )
            nodes.bias[node] -= step
            for (slot, sign), value in zip(places, x.data[entries]):
                nodes.table[slot] -= value * (np.float32(sign) * step)
            nodes.scale[node] *= 1 + solver.lam * gamma * weight
            steps[node] += weight
    for one, other in (
        (found.table, nodes.table),
        (found.bias, nodes.bias),
        (found.scale, nodes.scale),
    ):
        assert one.tobytes() == other.tobytes()
