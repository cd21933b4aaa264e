"""Test the checks of stored online trees."""

import numpy as np
import pytest
from oplt_cases import stream

from xmlc.kernels.indices import Malformed
from xmlc.models import OPLT
from xmlc.models.oplt.stored import check_tree
from xmlc.models.oplt.tree import SLOT, trimmed_tree


def test_a_leaf_that_another_label_claims_is_refused():
    model = OPLT().partial_fit(np.eye(4), np.eye(4, dtype=bool))
    tree = trimmed_tree(model._model)
    check_tree(tree, 4)
    first, second = tree.leaves[:2]
    nodes = tree.nodes.copy()
    nodes["label"][first] = 1
    nodes["label"][second] = 0
    leaves = tree.leaves.copy()
    leaves[1] = first
    with pytest.raises(Malformed):
        check_tree(tree._replace(nodes=nodes, leaves=leaves), 4)


def test_loaded_tree_reuses_free_memory_like_the_saved_tree(tmp_path):
    X, Y = stream(n=300, m=60, d=40, seed=4)
    model = OPLT(arity=16, max_leaf=40).partial_fit(X[:200], Y[:200])
    model.save(tmp_path / "model")
    loaded = OPLT.load(tmp_path / "model")
    assert np.count_nonzero(loaded._model.free_rows) > 2
    for other in (model, loaded):
        other.partial_fit(X[200:], Y[200:])
    expected = trimmed_tree(model._model)
    found = trimmed_tree(loaded._model)
    np.testing.assert_array_equal(found.free_rows, expected.free_rows)
    np.testing.assert_array_equal(found.rows.view(np.uint32), expected.rows.view(np.uint32))


def test_free_rows_that_are_in_use_or_outside_or_in_a_circle_are_refused():
    X, Y = stream(n=200, m=60, d=40, seed=4)
    tree = trimmed_tree(OPLT(arity=16, max_leaf=40).partial_fit(X, Y)._model)
    n_slots = tree.rows.size // SLOT
    kind = int(np.flatnonzero(tree.free_rows)[-1])
    links = tree.rows.view(np.uint32)
    for slot in (int(tree.nodes["bias"][1]), n_slots - 1, n_slots, 2**32 - 1):
        free_rows = tree.free_rows.copy()
        free_rows[kind] = slot
        with pytest.raises(Malformed):
            check_tree(tree._replace(free_rows=free_rows), 40)
    rows = tree.rows.copy()
    first = int(tree.free_rows[kind])
    assert links[first * SLOT] != first
    rows.view(np.uint32)[first * SLOT] = first
    with pytest.raises(Malformed):
        check_tree(tree._replace(rows=rows), 40)
