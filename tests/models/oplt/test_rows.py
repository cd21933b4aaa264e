"""Rows and tables that an online tree takes from its buffers and gives back, against sets."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.models.oplt._rows import give_row, give_table, slots_of, take_row, take_table
from xmlc.models.oplt.tree import ENTRIES_USED, SLOT, SLOTS_USED, empty_online_tree


def roomy():
    tree = empty_online_tree(40)
    rows, entries = np.zeros(4000 * SLOT, dtype=np.float32), np.zeros(4000, dtype=np.uint64)
    return tree._replace(rows=rows, entries=entries)


@settings(deadline=None, max_examples=30)
@given(wishes=st.lists(st.tuples(st.sampled_from([4, 8, 16, 32, 48]), st.booleans()), max_size=60))
def test_rows_in_use_never_overlap_and_start_as_zeros(wishes):
    tree, used = roomy(), {}
    for padded, give_one_back in wishes:
        if give_one_back and used:
            slot, size = used.popitem()
            give_row(tree, size, slot)
        else:
            slot = take_row(tree, padded)
            own = tree.rows[slot * SLOT : (slot + slots_of(padded)) * SLOT]
            assert own.size == 2 * padded
            assert not own.any()
            assert padded == 4 or slot % 2 == 0  # whole cache lines
            own[:] = np.nan
            used[slot] = padded
    taken = [s for slot, padded in used.items() for s in range(slot, slot + slots_of(padded))]
    assert len(taken) == len(set(taken))
    assert all(2 <= s < tree.counters[SLOTS_USED] for s in taken)


@settings(deadline=None, max_examples=30)
@given(wishes=st.lists(st.tuples(st.integers(3, 6), st.booleans()), max_size=40))
def test_tables_in_use_never_overlap_and_what_is_given_back_is_used_again(wishes):
    tree, used = roomy(), {}
    for bits, give_one_back in wishes:
        if give_one_back and used:
            place, size = used.popitem()
            give_table(tree, size, place)
            assert take_table(tree, size) == place
            give_table(tree, size, place)
        else:
            place = take_table(tree, bits)
            assert not tree.entries[place : place + 2**bits].any()
            tree.entries[place : place + 2**bits] = 1
            used[place] = bits
    taken = [e for place, bits in used.items() for e in range(place, place + 2**bits)]
    assert len(taken) == len(set(taken))
    assert all(0 < e < tree.counters[ENTRIES_USED] for e in taken)
