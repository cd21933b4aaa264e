"""Rows and tables that an online tree takes from its buffers and gives back, against sets."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.models.oplt._rows import (
    give_row,
    give_table,
    rows_in_advance,
    slots_of,
    stored_arrays,
    take_row,
    take_table,
)
from xmlc.models.oplt.tree import ENTRIES_USED, SLOT, SLOTS_USED, empty_online_tree


def roomy():
    tree = empty_online_tree(40)
    rows, entries = np.zeros(4000 * SLOT, dtype=np.float32), np.zeros(4000, dtype=np.uint64)
    return tree._replace(rows=rows, entries=entries, links=np.zeros(4000, dtype=np.uint32))


def wishes(sizes, most):
    """Sizes that are asked for, each with whether one in use is given back instead."""
    return st.lists(st.tuples(sizes, st.booleans()), max_size=most)


def served(wishes, take, give):
    """Grant the wishes; return the size of what is in use by its place."""
    used = {}
    for wanted, give_one_back in wishes:
        if give_one_back and used:
            give(*used.popitem())
        else:
            used[take(wanted)] = wanted
    return used


def after(wishes):
    """A tree from which rows were taken and given back."""
    tree = roomy()
    served(wishes, lambda padded: take_row(tree, padded), lambda slot, padded: give_row(tree, padded, slot))
    return tree


@settings(deadline=None, max_examples=30)
@given(wishes=wishes(st.sampled_from([4, 8, 16, 32, 48]), 60))
def test_rows_in_use_never_overlap_and_those_never_used_are_zero(wishes):
    tree = roomy()

    def take(padded):
        was_used = tree.free_rows[slots_of(padded)] != 0
        slot = take_row(tree, padded)
        own = tree.rows[slot * SLOT : (slot + slots_of(padded)) * SLOT]
        assert own.size == 2 * padded
        assert was_used or not own.any()
        assert padded == 4 or slot % 2 == 0  # whole cache lines
        own[:] = np.nan
        return slot

    used = served(wishes, take, lambda slot, padded: give_row(tree, padded, slot))
    taken = [s for slot, padded in used.items() for s in range(slot, slot + slots_of(padded))]
    assert len(taken) == len(set(taken))
    assert all(2 <= s < tree.counters[SLOTS_USED] for s in taken)


@settings(deadline=None, max_examples=30)
@given(wishes=wishes(st.sampled_from([4, 8, 16]), 30), padded=st.sampled_from([4, 8, 16, 32]), count=st.integers(0, 5))
def test_rows_taken_in_advance_are_those_that_one_call_after_the_other_gives(wishes, padded, count):
    tree, other = after(wishes), after(wishes)
    expected = [take_row(tree, padded) for _ in range(count)]
    if count == 0 or other.free_rows[slots_of(padded)] != 0:
        used = other.counters.tolist()
        assert rows_in_advance(other, padded, count) == 0
        assert other.counters.tolist() == used
    else:
        first = rows_in_advance(other, padded, count)
        assert [first + i * slots_of(padded) for i in range(count)] == expected
        assert other.counters.tolist() == tree.counters.tolist()
        assert other.free_rows.tolist() == tree.free_rows.tolist()


@settings(deadline=None, max_examples=30)
@given(wishes=wishes(st.integers(3, 6), 40))
def test_tables_in_use_never_overlap_and_what_is_given_back_is_used_again(wishes):
    tree = roomy()

    def take(bits):
        place = take_table(tree, bits)
        assert not tree.entries[place : place + 2**bits].any()
        tree.entries[place : place + 2**bits] = 1
        return place

    def give(place, bits):
        give_table(tree, bits, place)
        assert take_table(tree, bits) == place
        give_table(tree, bits, place)

    used = served(wishes, take, give)
    taken = [e for place, bits in used.items() for e in range(place, place + 2**bits)]
    assert len(taken) == len(set(taken))
    assert all(0 < e < tree.counters[ENTRIES_USED] for e in taken)


@settings(deadline=None, max_examples=30)
@given(wishes=wishes(st.sampled_from([4, 8, 16]), 40), mapped=st.booleans())
def test_free_rows_are_stored_as_a_chain_of_each_size(wishes, mapped):
    tree = after(wishes)
    if mapped:  # from a file: what is stored is written to a copy
        tree.rows.flags.writeable = False
    arrays = stored_arrays(tree)
    assert sorted(arrays) == sorted(set(tree._fields) - {"links"})
    assert arrays["rows"].size == tree.counters[SLOTS_USED] * SLOT
    assert not (mapped and tree.rows.any())
    firsts = arrays["rows"].view(np.uint32)[::SLOT]
    for size in (1, 2, 4):
        chain, slot = [], int(tree.free_rows[size])
        while slot != 0:
            chain.append(slot)
            assert firsts[slot] == tree.links[slot]
            slot = int(firsts[slot])
        again = [take_row(tree, size * SLOT // 2) for _ in chain]
        assert again == chain
