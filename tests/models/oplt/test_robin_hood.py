"""The hash table of an online tree against a dictionary."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from xmlc.models.oplt._robin_hood import bits_for, find_slot, home_of, insert_slot

FEATURES = st.lists(st.integers(0, 2**32 - 1), unique=True, max_size=56)


@njit
def filled(bits, features):
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


@njit
def homes(features, bits):
    places = np.empty(features.size, dtype=np.uint64)
    for k in range(features.size):
        places[k] = home_of(features[k], bits)
    return places


@settings(deadline=None, max_examples=40)
@given(inside=FEATURES, others=FEATURES)
def test_a_table_is_a_dictionary(inside, others):
    bits = bits_for(len(inside), 3)
    features = np.array(inside, dtype=np.uint32)
    table = filled(bits, features)
    np.testing.assert_array_equal(found(table, bits, features), np.arange(features.size) + 1)
    absent = np.array(sorted(set(others) - set(inside)), dtype=np.uint32)
    assert not found(table, bits, absent).any()


@settings(deadline=None, max_examples=40)
@given(inside=FEATURES)
def test_no_entry_is_farther_from_home_than_the_one_it_could_displace(inside):
    """The invariant of Robin Hood hashing: along a run, distances from home grow by at most one from place to place."""
    bits = bits_for(len(inside), 3)
    table = filled(bits, np.array(inside, dtype=np.uint32))
    taken = np.flatnonzero(table)
    keys = (table[taken] >> np.uint64(32)).astype(np.uint32)
    assert sorted(keys.tolist()) == sorted(inside)
    distance = np.full(table.size, -1)
    distance[taken] = (taken - homes(keys, bits).astype(np.int64)) % table.size
    assert (distance <= np.roll(distance, 1) + 1).all()


def test_a_table_is_as_large_as_seven_eighths_ask():
    assert [bits_for(n, 3) for n in (0, 7, 8, 14, 15, 28, 29)] == [3, 3, 4, 4, 5, 5, 6]
    assert bits_for(1, 6) == 6
