"""Allocation of rows in an online tree, and hash tables, compared with dictionaries."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.models.oplt.rows import bits_for, find_slot, give_row, insert_slot, slots_of, take_row
from xmlc.models.oplt.tree import SLOT, SLOTS_USED, empty_online_tree

FEATURES = st.lists(st.integers(0, 2**32 - 1), unique=True, max_size=56)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from([4, 8, 16, 32, 64]), st.booleans()), max_size=60))
def test_rows_in_use_never_overlap_and_released_ones_are_reused_with_zeros(requests):
    tree = empty_online_tree()._replace(rows=np.zeros(4000 * SLOT, dtype=np.float32))
    used = {}
    for wanted, release in requests:
        if release and used:
            slot, padded = used.popitem()
            give_row(tree, padded, slot)
            assert take_row(tree, padded) == slot
            give_row(tree, padded, slot)
            continue
        slot = take_row(tree, wanted)
        own = tree.rows[slot * SLOT : (slot + slots_of(wanted)) * SLOT]
        assert own.size == 2 * wanted
        assert not own.any()
        assert wanted == 4 or slot % 2 == 0  # Rows fill whole cache lines.
        own[:] = np.nan
        used[slot] = wanted
    taken = []
    for slot, padded in used.items():
        taken += range(slot, slot + slots_of(padded))
    assert len(taken) == len(set(taken))
    assert all(2 <= s < tree.counters[SLOTS_USED] for s in taken)


@settings(max_examples=40)
@given(inside=FEATURES, others=FEATURES)
def test_hash_table_equals_a_dictionary(inside, others):
    bits = bits_for(len(inside), 3)
    table = np.zeros(1 << bits, dtype=np.uint64)
    expected = dict.fromkeys(others, 0)
    for place, feature in enumerate(inside, 1):
        insert_slot(table, bits, np.uint32(feature), place)
        expected[feature] = place
    for feature, place in expected.items():
        assert find_slot(table, bits, np.uint32(feature)) == place
