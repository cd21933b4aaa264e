"""What waits: its room, and what is written down."""

import numpy as np

from xmlc.models.oplt._pending import (
    CHANGES_OF_LABEL,
    CHANGES_USED,
    CLEAR,
    MOVED_USED,
    MOVED_WANTED,
    SPREAD,
    UPDATES_USED,
    add_change,
    copy_columns,
    empty_pending,
    has_room,
    has_room_to_grow,
    new_list,
    with_nodes,
)
from xmlc.models.oplt.tree import NONE


def test_room_for_more_nodes_keeps_the_nodes_reached_and_lists_no_block():
    pending = empty_pending(3, 5, 7, 4, np.zeros(2, dtype=np.float32))
    pending.reached[:] = [2, 0, 1]
    more = with_nodes(pending, 8)
    assert more.reached[:3].tolist() == [2, 0, 1]
    assert more.blocks["first"].tolist() == [-1] * 8
    assert not more.blocks["copy"].any()
    assert not more.blocks["listed"].any()
    assert more.slots is pending.slots


def test_an_instance_has_room_for_the_rows_that_its_updates_may_clear():
    pending = empty_pending(3, 5, 7, 4, np.zeros(2, dtype=np.float32))
    assert has_room(pending, 3, 2)
    assert not has_room(pending, 4, 2)  # eight slots
    new_list(pending, 5)
    assert has_room(pending, 3, 2)
    new_list(pending, 1)  # of 11
    assert not has_room(pending, 3, 2)
    pending.counters[MOVED_USED], pending.counters[CHANGES_USED] = 0, pending.changes.size - 2
    assert has_room(pending, 2, 1)
    assert not has_room(pending, 3, 1)


def test_a_label_that_finds_no_room_says_what_it_wants():
    pending = empty_pending(3, 5, 7, 4, np.zeros(2, dtype=np.float32))
    assert has_room_to_grow(pending, 11)
    assert pending.counters[MOVED_WANTED] == 0
    assert not has_room_to_grow(pending, 12)
    assert pending.counters[MOVED_WANTED] == 12
    pending.counters[CHANGES_USED] = pending.changes.size - CHANGES_OF_LABEL + 1
    assert not has_room_to_grow(pending, 1)


def test_a_change_waits_for_the_updates_before_it_where_it_must():
    pending = empty_pending(3, 5, 7, 4, np.zeros(2, dtype=np.float32))
    pending.counters[UPDATES_USED], pending.blocks[2]["copy"] = 3, 1
    source, target = new_list(pending, 2), new_list(pending, 2)
    assert add_change(pending, CLEAR, 2, False, target, target, 2, 8, 8) == 0
    assert pending.blocks[2]["copy"] == 1
    assert add_change(pending, SPREAD, 2, True, source, target, 2, 8, 16) == 1
    copy_columns(pending, 1, 0, 1, 2)
    assert pending.blocks[2]["copy"] == 0  # an inverse that is made later must be one of the rows after it
    assert pending.changes["until"][:2].tolist() == [NONE, 3]
    last = pending.changes[1]
    assert [int(last[name]) for name in ("kind", "block", "count", "source", "target", "padded", "wider")] == [
        SPREAD, 2, 2, 0, 2, 8, 16
    ]  # fmt: skip
    assert [int(last[name]) for name in ("first", "middle", "end")] == [0, 1, 2]
