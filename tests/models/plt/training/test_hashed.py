"""Training of hashed weights, compared with one instance, one node and one slot after the other."""

import numpy as np
import pytest

from xmlc.csr import kernel_csr
from xmlc.kernels.float32 import sigmoid
from xmlc.models.plt.search._hashed_scores import node_key, slot_and_sign
from xmlc.models.plt.training import Sgd, train_hashed
from xmlc.models.plt.training._hashed import untrained
from xmlc.trees import random_complete_tree


@pytest.mark.parametrize("hash_bits", [3, 12])
def test_training_equals_a_plain_pass(multilabel, hash_bits):
    X, Y = multilabel(40, 8, 9)
    x, y, tree = kernel_csr(X), kernel_csr(Y), random_complete_tree(Y.shape[1], 3, 0)
    order, solver = np.random.default_rng(5).permutation(40), Sgd(0.5, 1e-3, 2)
    found = train_hashed(x, y, tree, order, solver, hash_bits, 7)
    nodes, steps, _ = untrained(tree, hash_bits, 7)
    for row in np.tile(order, solver.epochs):
        entries = slice(x.indptr[row], x.indptr[row + 1])
        positives = set()
        for label in y.indices[y.indptr[row] : y.indptr[row + 1]]:
            node = tree.leaf[label]
            while node >= 0:
                positives.add(node)
                node = tree.parent[node]
        reached = [0] + [c for t in sorted(positives) for c in range(tree.children[t], tree.children[t + 1])]
        for node in reached:
            key, mask = np.uint64(node_key(nodes.seed, node)), np.uint64(nodes.table.size - 1)
            places = [slot_and_sign(key, feature, mask) for feature in x.indices[entries]]
            score = nodes.bias[node]
            for (slot, sign), value in zip(places, x.data[entries]):
                score += value * (np.float32(sign) * nodes.table[slot])
            estimate = np.float32(sigmoid(np.float32(score * np.float32(1 / nodes.scale[node]))))
            gamma = solver.step / (1 + solver.lam * solver.step * steps[node])
            step = np.float32(nodes.scale[node] * gamma) * (estimate - np.float32(node in positives))
            nodes.bias[node] -= step
            for (slot, sign), value in zip(places, x.data[entries]):
                nodes.table[slot] -= value * (np.float32(sign) * step)
            nodes.scale[node] *= 1 + solver.lam * gamma
            steps[node] += 1
    for one, other in ((found.table, nodes.table), (found.bias, nodes.bias), (found.scale, nodes.scale)):
        assert one.tobytes() == other.tobytes()
