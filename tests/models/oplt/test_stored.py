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


def tree_of(X, Y, **options):
    return trimmed_tree(OPLT(**options).partial_fit(X, Y)._model)


@pytest.fixture(scope="module")
def tree():
    tree = tree_of(*stream(n=200, m=60, d=40, seed=4), arity=16, max_leaf=40)
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


COUNTERS = {
    SLOTS_USED: 2**61,  # eight times as much is the right number modulo 2**64
    SLOTS_WANTED: -1,
    SELECTED_FOR: 10**6,
    N_NODES: -1,
    N_LEARNED: -(10**6),
}


def test_changed_numbers_are_refused(tree):
    counters = tree.counters
    first, second = tree.leaves[:2]
    without_block = np.flatnonzero(tree.nodes["padded"] == 0)[0]
    kind = np.flatnonzero(tree.free_rows)[-1]  # a size of rows of which some are free
    free = tree.free_rows[kind]
    n_slots = tree.rows.size // SLOT
    selected = ("counters", SELECTED_FOR, counters[N_LEARNED])
    check_tree(changed(tree, selected), 40)
    cases = [("counters", ("counters", at, counters[at] + more)) for at, more in COUNTERS.items()]
    cases += [
        ("counters", selected, ("counters", SELECTED, without_block)),
        # a leaf that another label claims
        ("nodes", ("label", first, 1), ("label", second, 0), ("leaves", 1, first)),
        ("nodes", ("auxiliary", without_block, 1)),
        ("root", ("parent", first, 0)),
        # free rows in a circle
        ("free_rows", ("rows", int(free) * SLOT, np.uint32(free).view(np.float32))),
    ]
    for slot in (tree.nodes["bias"][1], n_slots - 1, n_slots, 2**32 - 1):  # in use or outside
        cases.append(("free_rows", ("free_rows", kind, slot)))
    for array, *changes in cases:
        with raises_with(Malformed, array):
            check_tree(changed(tree, *changes), 40)


def test_leaf_without_a_block_that_a_label_would_extend_is_refused():
    tree = tree_of(np.eye(4), np.eye(4, dtype=bool), arity=3, max_leaf=3)
    leaf = tree.leaves[3]  # its only sibling is the parent of the other leaves
    without = changed(tree, ("auxiliary", leaf, 0), ("padded", leaf, 0))
    check_tree(without, 4, program=True)
    with raises_with(Malformed, "nodes"):
        check_tree(without, 4)


def test_row_for_more_siblings_than_labels_is_refused():
    tree = tree_of(np.zeros((4, 4)), np.eye(4, dtype=bool))
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
