"""Test the checks of stored online trees."""

import numpy as np
import pytest
from facts import raises_with
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


def tree_of(model, X, Y):
    return trimmed_tree(model.partial_fit(X, Y)._model)


@pytest.fixture(scope="module")
def tree():
    X, Y = stream(n=200, m=60, d=40, seed=4)
    tree = tree_of(OPLT(arity=16, max_leaf=40), X, Y)
    check_tree(tree, 40)
    return tree


def changed(tree, *changes):
    """Return a copy of a tree in which numbers of nodes or of other arrays are replaced."""
    copy = OnlineTree(*map(np.array, tree))
    for field, place, value in changes:
        if field in copy.nodes.dtype.names:
            copy.nodes[field][place] = value
        else:
            getattr(copy, field)[place] = value
    return copy


def bare_node(tree):
    """Return a node without a block of weights."""
    return int(np.flatnonzero(tree.nodes["padded"] == 0)[0])


def used_kind(tree):
    """Return a size of rows of which some are free."""
    return int(np.flatnonzero(tree.free_rows)[-1])


@pytest.mark.parametrize(
    ("counter", "change"),
    [
        (SLOTS_USED, 2**61),  # eight times as much is the right number modulo 2**64
        (SLOTS_WANTED, -1),
        (SELECTED_FOR, 10**6),
        (N_NODES, -1),
        (N_LEARNED, -(10**6)),
    ],
)
def test_changed_counters_are_refused(tree, counter, change):
    with raises_with(Malformed, "counters"):
        check_tree(changed(tree, ("counters", counter, tree.counters[counter] + change)), 40)


def test_leaf_that_another_label_claims_is_refused(tree):
    first, second = tree.leaves[:2]
    swapped = [("label", first, 1), ("label", second, 0), ("leaves", 1, first)]
    with raises_with(Malformed, "nodes"):
        check_tree(changed(tree, *swapped), 40)


def test_free_rows_that_are_in_use_or_outside_or_in_a_circle_are_refused(tree):
    kind = used_kind(tree)
    n_slots = tree.rows.size // SLOT
    first = int(tree.free_rows[kind])
    changes = [("rows", first * SLOT, np.uint32(first).view(np.float32))]
    for slot in (tree.nodes["bias"][1], n_slots - 1, n_slots, 2**32 - 1):
        changes.append(("free_rows", kind, slot))
    for change in changes:
        with raises_with(Malformed, "free_rows"):
            check_tree(changed(tree, change), 40)


def test_selected_node_that_no_label_extends_is_refused(tree):
    selected = changed(tree, ("counters", SELECTED_FOR, tree.counters[N_LEARNED]))
    check_tree(selected, 40)
    with raises_with(Malformed, "counters"):
        check_tree(changed(selected, ("counters", SELECTED, bare_node(tree))), 40)


def test_auxiliary_classifier_without_a_block_is_refused(tree):
    with raises_with(Malformed, "nodes"):
        check_tree(changed(tree, ("auxiliary", bare_node(tree), 1)), 40)


def test_leaf_without_a_block_that_a_label_would_extend_is_refused():
    tree = tree_of(OPLT(arity=3, max_leaf=3), np.eye(4), np.eye(4, dtype=bool))
    leaf = tree.leaves[3]  # its only sibling is the parent of the other leaves
    without = changed(tree, ("auxiliary", leaf, 0), ("padded", leaf, 0))
    check_tree(without, 4, program=True)
    with raises_with(Malformed, "nodes"):
        check_tree(without, 4)


def test_row_for_more_siblings_than_labels_is_refused():
    tree = tree_of(OPLT(), np.zeros((4, 4)), np.eye(4, dtype=bool))
    used = tree.rows.size // SLOT
    rows = np.append(tree.rows, np.zeros(40 * SLOT, dtype=np.float32))
    wide = changed(
        tree._replace(rows=rows),
        ("padded", 0, 128),
        ("bias", 0, used),
        ("counters", SLOTS_USED, used + 40),
    )
    check_tree(wide._replace(leaves=np.pad(wide.leaves, (0, 96), constant_values=-1)), 4)
    with raises_with(Malformed, "nodes"):
        check_tree(wide, 4)


def test_second_root_is_refused(tree):
    with raises_with(Malformed, "root"):
        check_tree(changed(tree, ("parent", tree.leaves[0], 0)), 40)
