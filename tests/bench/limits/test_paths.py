"""The paths of instances through a forest, and kernels that do nothing but follow them."""

from __future__ import annotations

import numpy as np
import pytest
from small_data import random_multilabel

from xmlc.bench.limits._paths import paths_to, read_leaves, read_paths
from xmlc.csr import kernel_csr
from xmlc.models import LdSM


def test_paths_lead_from_the_leaves_to_the_roots():
    """Two trees: nodes 0 and 1 above leaves 0, 1 and 2, and a root of its own that is leaf 3."""
    children = np.array([[1, ~0], [~1, ~2]], dtype=np.int32)
    leaves, instances = np.array([0, 1, 2, 1, 3, 3]), np.array([5, 6, 7, 5, 6, 7])
    paths = paths_to(leaves, instances, children)
    passing = {int(node): own.tolist() for node, own in zip(paths.nodes, np.split(paths.instances, paths.starts[1:-1]))}
    assert passing == {0: [5, 6, 7], 1: [5, 6, 7]}
    assert paths.of(1, 2).nodes.tolist() == [1]
    assert np.diff(paths.of(1, 2).starts).tolist() == [3]


@pytest.fixture(scope="module")
def fitted():
    X, Y = random_multilabel(300, 40, 15, seed=1)
    return LdSM(n_trees=3, max_nodes=30, n_jobs=1).fit(X, Y), X


def test_bare_descents_read_every_margin(fitted):
    from xmlc.bench.limits.ldsm import reached_by

    model, X = fitted
    x, forest = kernel_csr(X), model.forest_
    _, paths = reached_by(model, x, X.shape[0])
    dense = np.zeros(X.shape[1] * model.arity, dtype=np.float32)
    total = read_paths(x, paths, forest.weight_starts, forest.features, forest.weights, dense)
    expected, rows = 0.0, X.toarray()
    for node, own in zip(paths.nodes, np.split(paths.instances, paths.starts[1:-1])):
        part = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
        expected += (rows[own][:, forest.features[part]] @ forest.weights[part]).sum()
    assert total == pytest.approx(expected, rel=1e-3)
    assert not dense.any()
    model.predict_top_k(X, 1)
    assert paths.instances.size * model.arity == model.inner_products_.sum()


def test_bare_sums_add_every_count(fitted):
    from xmlc.bench.limits.ldsm import reached_by

    model, X = fitted
    forest, sums = model.forest_, np.zeros(model.n_labels_)
    reached, _ = reached_by(model, kernel_csr(X), X.shape[0])
    total = read_leaves(*reached, forest.leaf_starts, forest.labels, forest.counts, 0, X.shape[0], sums)
    ends = np.concatenate([[0], np.cumsum(forest.counts)])[forest.leaf_starts]
    assert total == np.diff(ends)[reached.leaves].sum()
    assert not sums.any()
