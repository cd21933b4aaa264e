"""Test the checks of stored online trees."""

import numpy as np
import pytest
from oplt_cases import stream

from xmlc.kernels.indices import Malformed
from xmlc.models import OPLT
from xmlc.models.oplt.stored import check_tree
from xmlc.models.oplt.tree import (
    N_LEARNED,
    N_NODES,
    SELECTED,
    SELECTED_FOR,
    SLOT,
    SLOTS_USED,
    SLOTS_WANTED,
    OnlineTree,
    trimmed_tree,
)


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


def changed(tree, field, place, value):
    """Return a copy of a tree in which one number of a node or of another array is replaced."""
    copy = OnlineTree(*map(np.array, tree))
    if field in copy.nodes.dtype.names:
        copy.nodes[field][place] = value
    else:
        getattr(copy, field)[place] = value
    return copy


def test_changed_counters_are_refused():
    X, Y = stream(n=200, m=60, d=40, seed=4)
    tree = trimmed_tree(OPLT().partial_fit(X, Y)._model)
    check_tree(tree, 40)
    # eight times as much is the right number modulo 2**64
    many = int(tree.counters[SLOTS_USED]) + 2**61
    n = int(tree.counters[N_LEARNED])
    for counter, value in (
        (SLOTS_USED, many),
        (SLOTS_WANTED, -1),
        (SELECTED_FOR, n + 1),
        (N_NODES, 1),
        (N_LEARNED, -1),
    ):
        with pytest.raises(Malformed):
            check_tree(changed(tree, "counters", counter, value), 40)


def test_selected_node_that_no_label_extends_is_refused():
    X, Y = stream(n=200, m=60, d=40, seed=4)
    tree = trimmed_tree(OPLT().partial_fit(X, Y)._model)
    selected = changed(tree, "counters", SELECTED_FOR, tree.counters[N_LEARNED])
    bare = int(np.flatnonzero(tree.nodes["padded"] == 0)[0])
    check_tree(selected, 40)
    with pytest.raises(Malformed):
        check_tree(changed(selected, "counters", SELECTED, bare), 40)


def test_auxiliary_classifier_without_a_block_is_refused():
    X, Y = stream(n=200, m=60, d=40, seed=4)
    tree = trimmed_tree(OPLT().partial_fit(X, Y)._model)
    bare = int(np.flatnonzero(tree.nodes["padded"] == 0)[0])
    with pytest.raises(Malformed):
        check_tree(changed(tree, "auxiliary", bare, 1), 40)


def test_leaf_without_a_block_that_a_label_would_extend_is_refused():
    tree = trimmed_tree(
        OPLT(arity=3, max_leaf=3).partial_fit(np.eye(4), np.eye(4, dtype=bool))._model
    )
    check_tree(tree, 4)
    leaf = tree.leaves[3]  # its only sibling is the parent of the other leaves
    without = changed(changed(tree, "auxiliary", leaf, 0), "padded", leaf, 0)
    check_tree(without, 4, program=True)
    with pytest.raises(Malformed):
        check_tree(without, 4)


def test_row_for_more_siblings_than_labels_is_refused():
    tree = trimmed_tree(OPLT().partial_fit(np.zeros((4, 4)), np.eye(4, dtype=bool))._model)
    used = tree.rows.size // SLOT
    rows = np.concatenate((tree.rows, np.zeros(40 * SLOT, dtype=np.float32)))
    nodes = tree.nodes.copy()
    nodes["padded"][0] = 128
    nodes["bias"][0] = used
    counters = tree.counters.copy()
    counters[SLOTS_USED] += 40
    wide = tree._replace(rows=rows, nodes=nodes, counters=counters)
    check_tree(wide._replace(leaves=np.pad(wide.leaves, (0, 96), constant_values=-1)), 4)
    with pytest.raises(Malformed):
        check_tree(wide, 4)


def test_second_root_is_refused():
    tree = trimmed_tree(OPLT().partial_fit(np.eye(4), np.eye(4, dtype=bool))._model)
    nodes = np.append(tree.nodes, tree.nodes[-1:])
    second = tree.nodes.size
    nodes[second] = nodes[tree.leaves[0]]
    nodes["parent"][second] = 0
    nodes["label"][second] = 4
    nodes["next_sibling"][[1, second]] = second, -1
    nodes["last_child"][0] = second
    nodes["degree"][0] += 1
    nodes["n_leaves"][0] += 1
    nodes["leaf_children"][0] += 1
    nodes["width"][0] += 1
    nodes["auxiliary"][0] = 1
    nodes["padded"][second] = 0
    nodes["auxiliary"][second] = 0
    counters = tree.counters.copy()
    counters[N_NODES] += 1
    with pytest.raises(Malformed, match="root"):
        check_tree(
            tree._replace(
                nodes=nodes,
                leaves=np.append(tree.leaves, second).astype(np.int32),
                counters=counters,
            ),
            4,
        )
