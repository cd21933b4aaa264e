"""Allocation of rows in an online tree, and hash tables, compared with dictionaries."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from xmlc.models.oplt.rows import bits_for, find_slot, give_row, insert_slot, slots_of, take_row
from xmlc.models.oplt.tree import SLOT, SLOTS_USED, empty_online_tree

FEATURES = st.lists(st.integers(0, 2**32 - 1), unique=True, max_size=56)


def tree_with_free_memory():
    tree = empty_online_tree()
    rows = np.zeros(4000 * SLOT, dtype=np.float32)
    return tree._replace(rows=rows)


def requests(sizes, most):
    """Return requested sizes, each with a flag to release an entry in use instead."""
    return st.lists(st.tuples(sizes, st.booleans()), max_size=most)


def serve(requests, take, give):
    """Serve the requests. Return the sizes of entries in use by their place."""
    used = {}
    for wanted, release in requests:
        if release and used:
            give(*used.popitem())
        else:
            used[take(wanted)] = wanted
    return used


@settings(deadline=None, max_examples=30)
@given(requests=requests(st.sampled_from([4, 8, 16, 32, 64]), 60))
def test_rows_in_use_never_overlap_and_released_ones_are_reused_with_zeros(requests):
    tree = tree_with_free_memory()

    def take(padded):
        slot = take_row(tree, padded)
        own = tree.rows[slot * SLOT : (slot + slots_of(padded)) * SLOT]
        assert own.size == 2 * padded
        assert not own.any()
        assert padded == 4 or slot % 2 == 0  # Rows fill whole cache lines.
        own[:] = np.nan
        return slot

    def give(slot, padded):
        give_row(tree, padded, slot)
        assert take_row(tree, padded) == slot
        give_row(tree, padded, slot)

    used = serve(requests, take, give)
    taken = []
    for slot, padded in used.items():
        taken += range(slot, slot + slots_of(padded))
    assert len(taken) == len(set(taken))
    assert all(2 <= s < tree.counters[SLOTS_USED] for s in taken)


@njit
def fill(bits, features):
    table = np.zeros(1 << bits, dtype=np.uint64)
    for k in range(features.size):
        insert_slot(table, bits, features[k], k + 1)
    return table


@njit
def found(table, bits, features):
    slots = np.empty(features.size, dtype=np.uint64)
    for k in range(features.size):
        slots[k] = find_slot(table, bits, features[k])
    return slots


@settings(deadline=None, max_examples=40)
@given(inside=FEATURES, others=FEATURES)
def test_hash_table_equals_a_dictionary(inside, others):
    bits = bits_for(len(inside), 3)
    features = np.array(inside, dtype=np.uint32)
    table = fill(bits, features)
    np.testing.assert_array_equal(found(table, bits, features), np.arange(features.size) + 1)
    assert not found(
        table, bits, np.array(sorted(set(others) - set(inside)), dtype=np.uint32)
    ).any()
