"""Training of a PLT: the instances of nodes, divisions into tasks, and hashed weights step by
step.
"""

import numpy as np
import pytest
from plt_cases import drop_small
from plt_twin import positive_nodes

from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.float32 import sigmoid
from xmlc.models import PLT
from xmlc.models.plt import training
from xmlc.models.plt.hashed_training import train_hashed
from xmlc.models.plt.solvers import Sgd
from xmlc.models.plt.weights import node_key, slot_and_sign
from xmlc.models.trees import random_complete_tree


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


# whole blocks, and a block divided between siblings
@pytest.mark.parametrize(("m", "arity", "n_jobs"), [(60, 4, 2), (150, 150, 1), (150, 150, 2)])
def test_weights_dropped_during_training_equal_weights_dropped_later(
    multilabel, monkeypatch, m, arity, n_jobs
):
    X, Y = multilabel(300, 40, m, seed=4)
    model = PLT(tree="random", arity=arity, C=3, n_jobs=n_jobs, weight_threshold=None)
    dense = model.unfitted().fit(X, Y).nodes_
    monkeypatch.setattr(training, "WEIGHTS_PER_WAVE", 2_000)
    monkeypatch.setattr(training, "NONZEROS_PER_GROUP", 1000)
    found = model.set_params(weight_threshold=0.05).fit(X, Y).nodes_
    assert 0 < found.weights.size < dense.weights.size
    for name, array in drop_small(dense, 0.05)._asdict().items():
        np.testing.assert_array_equal(getattr(found, name), array, err_msg=name)


@pytest.mark.parametrize("hash_bits", [3, 12])
def test_hashed_training_equals_plain_loop(multilabel, hash_bits):
    X, Y = multilabel(40, 8, 9)
    tree = random_complete_tree(9, 3, 0)
    order = np.random.default_rng(5).permutation(40)
    importance = np.random.default_rng(6).choice([0.3, 1, 7], 40).astype(np.float32)
    x = kernel_csr(X)
    solver = Sgd(0.5, 1e-3, 2)
    found = train_hashed(x, kernel_csr(Y), tree, order, solver, hash_bits, 7, importance)
    table = np.zeros_like(found.table)
    bias = np.zeros_like(found.bias)
    scale = np.ones(tree.n_nodes)
    steps = np.zeros(tree.n_nodes)
    for row, weight in [*zip(order, importance.astype(float))] * 2:
        entries = slice(x.indptr[row], x.indptr[row + 1])
        positives = positive_nodes(tree, Y[[row]].indices)
        for node in range(tree.n_nodes):
            if node > 0 and tree.parent[node] not in positives:
                continue
            key = np.uint64(node_key(found.seed, node))
            places = [slot_and_sign(key, j, np.uint64(table.size - 1)) for j in x.indices[entries]]
            slots = np.array([slot for slot, _ in places], dtype=int)
            values = x.data[entries] * np.array([sign for _, sign in places], dtype=np.float32)
            score = np.add.accumulate(np.append(bias[node], values * table[slots]))[-1]
            estimate = np.float32(sigmoid(np.float32(score * np.float32(1 / scale[node]))))
            gamma = 0.5 / (1 + 1e-3 * 0.5 * steps[node])
            error = estimate - np.float32(node in positives)
            step = np.float32(scale[node] * gamma * weight) * error
            bias[node] -= step
            np.subtract.at(table, slots, values * step)
            scale[node] *= 1 + 1e-3 * gamma * weight
            steps[node] += weight
    assert found.table.tobytes() == table.tobytes()
    assert found.bias.tobytes() == bias.tobytes()
    assert found.scale.tobytes() == scale.tobytes()
