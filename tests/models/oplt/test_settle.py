"""What waits is done, against plain loops over rows: changes, the updates that they wait for, and inverses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oplt_cases import oplt

from xmlc.models.oplt._blocks import empty_scratch, learn_rows
from xmlc.models.oplt._pending import (
    CHANGES_USED,
    CLEAR,
    COPY,
    MADE,
    MOVED_USED,
    SPREAD,
    UPDATES_USED,
    WIDER,
    add_change,
    add_update,
    copy_columns,
    empty_pending,
    new_list,
)
from xmlc.models.oplt._settle import make_change, make_changes, make_changes_now, make_inverses, settle_in_turn
from xmlc.models.oplt.tree import NONE, SLOT, empty_online_tree

N_SLOTS = 200
VALUES = np.array([0.5, -1.0, 2.0], dtype=np.float32)


def some_rows(seed=0):
    return np.random.default_rng(seed).normal(size=N_SLOTS * SLOT).astype(np.float32)


def row_of(rows, slot, padded):
    """Weights and sums of squares of a row, shape (2, padded), to be written to."""
    return rows[slot * SLOT : slot * SLOT + 2 * padded].reshape(2, padded)


def changed(rows, kind, sources, targets, padded, wider, first, middle, end):
    """What a change leaves behind, row by row."""
    rows = rows.copy()
    for source, target in zip(sources, targets):
        old = row_of(rows, source, padded).copy()
        new = row_of(rows, target, wider)
        if kind == CLEAR:
            new[:] = 0
            continue
        if kind == WIDER:
            new[:, :padded], new[:, padded:] = old, 0
        if kind == SPREAD:
            new[:] = 0
        new[:, first:middle] = old[:, :1]
        new[0, middle:end], new[1, middle:end] = 0 - old[0, 0], old[1, 0]
    return rows


def pending_with(kind, sources, targets, padded, wider, columns, v=0, settled=False, pending=None):
    pending = pending or empty_pending(4, 50, 500, 500, VALUES)
    source, target = new_list(pending, len(sources)), new_list(pending, len(targets))
    pending.moved[source : source + len(sources)], pending.moved[target : target + len(targets)] = sources, targets
    number = add_change(pending, kind, v, settled, source, target, len(targets), padded, wider)
    copy_columns(pending, number, *columns)
    return pending


@settings(deadline=None, max_examples=60)
@given(
    kind=st.sampled_from([CLEAR, WIDER, COPY, SPREAD]),
    padded=st.sampled_from([4, 8, 16]),
    n_wider=st.integers(1, 2),
    count=st.integers(0, 40),
    columns=st.tuples(*[st.integers(0, 4)] * 3).map(sorted),
    seed=st.integers(0, 99),
)
def test_changes_leave_what_plain_loops_leave(kind, padded, n_wider, count, columns, seed):
    wider = padded if kind in (CLEAR, COPY) else padded * n_wider
    size, rng = 2 * max(padded, wider) // SLOT, np.random.default_rng(seed)
    count = min(count, N_SLOTS // size // 2)
    places = rng.permutation(N_SLOTS // size)[: 2 * count] * size
    sources, targets = places[:count], places[count:]
    sources = targets if kind in (CLEAR, COPY) else sources  # which work where the rows are
    rows = some_rows(seed)
    rows[places * SLOT] *= seed % 3 != 0  # weights that are zero have inverses without a sign
    expected = changed(rows, kind, sources, targets, padded, wider, *columns)
    pending = pending_with(kind, sources, targets, padded, wider, columns)
    make_change(rows, pending.moved, pending.changes[0])
    assert rows.tobytes() == expected.tobytes()


def add_updates(tree, pending, v, slots):
    """Have block v learn from VALUES, of features in some rows; its bias stands in the row before them."""
    tree.nodes[v]["padded"], tree.nodes[v]["head"], tree.nodes[v]["bias"] = 4, NONE, slots[0] - 1
    tree.nodes[v]["auxiliary"] = 1
    written = pending.updates, pending.positives, pending.blocks, pending.waiting, pending.counters
    first = add_update(tree.nodes, *written, v, 0, VALUES.size)
    pending.slots[first : first + VALUES.size] = slots


def learned(rows, slots, hyper, scratch):
    """What an update of `add_updates` leaves behind."""
    rows, own = rows.copy(), scratch.scores[:4]
    positives, slots = np.zeros(1, dtype=np.int32), np.array(slots, dtype=np.uint32)
    learn_rows(rows, slots[0] - 1, slots, VALUES, positives, scratch.targets, own, hyper.rate, hyper.eps)
    return rows


@pytest.mark.parametrize("settled", [True, False])
def test_a_change_is_made_after_the_updates_that_it_waits_for_and_before_all_others(settled):
    tree, rows, hyper = empty_online_tree(4), some_rows(), oplt()._settings()
    tree, scratch = tree._replace(rows=rows), empty_scratch(8, tree)
    pending = empty_pending(4, 50, 500, 500, VALUES)
    add_updates(tree, pending, 0, [3, 4, 5])
    add_updates(tree, pending, 1, [13, 14, 15])
    pending_with(COPY, [2, 3, 4, 5], [2, 3, 4, 5], 4, 4, (1, 2, 3), settled=settled, pending=pending)
    add_updates(tree, pending, 0, [3, 4, 5])
    change = COPY, [2, 3, 4, 5], [2, 3, 4, 5], 4, 4, 1, 2, 3
    expected = changed(rows, *change) if not settled else changed(learned(rows, [3, 4, 5], hyper, scratch), *change)
    found = rows.copy()
    make_changes(found, pending, scratch, hyper)
    assert found.tobytes() == expected.tobytes()  # block 1 goes on waiting
    assert pending.counters[CHANGES_USED] == pending.counters[MOVED_USED] == 0
    settle_in_turn(tree._replace(rows=found), pending, scratch, hyper)
    for slots in [[13, 14, 15]] + [[3, 4, 5]] * (1 if settled else 2):
        expected = learned(expected, slots, hyper, scratch)
    assert found.tobytes() == expected.tobytes()
    assert pending.counters[UPDATES_USED] == 0
    assert (pending.blocks["first"] == NONE).all()


def test_only_inverses_wait_where_rows_are_read_until_they_are_asked_for():
    rows, hyper = some_rows(), oplt()._settings()
    scratch = empty_scratch(8, empty_online_tree(4))
    inverse, wider = (COPY, [7], [7], 4, 4, (2, 2, 3)), (WIDER, [20], [40], 4, 8, (4, 4, 4))
    pending = pending_with(*inverse, v=2)
    pending.blocks[2]["copy"] = 1
    pending_with(*wider, v=1, pending=pending)
    make_changes_now(rows, pending, 0, 0, scratch, hyper)
    assert rows.tobytes() == (expected := changed(some_rows(), *wider[:5], *wider[5])).tobytes()
    assert pending.changes["kind"][:2].tolist() == [COPY, MADE]
    make_inverses(rows, pending, 1, scratch, hyper)  # which has none
    assert rows.tobytes() == expected.tobytes()
    make_inverses(rows, pending, 2, scratch, hyper)
    assert rows.tobytes() == changed(expected, *inverse[:5], *inverse[5]).tobytes()
    assert pending.blocks["copy"][2] == 0
    after = rows.copy()
    make_changes(rows, pending, scratch, hyper)  # each is made once
    assert rows.tobytes() == after.tobytes()


def test_changes_made_at_once_take_no_room():
    rows, hyper = some_rows(), oplt()._settings()
    pending = pending_with(CLEAR, [8], [8], 4, 4, (0, 0, 0))
    pending_with(CLEAR, [9], [9], 4, 4, (0, 0, 0), pending=pending)
    make_changes_now(rows, pending, 1, 2, empty_scratch(8, empty_online_tree(4)), hyper)
    assert not row_of(rows, 9, 4).any()
    assert row_of(rows, 8, 4).all()
    assert pending.counters[[CHANGES_USED, MOVED_USED]].tolist() == [1, 2]
