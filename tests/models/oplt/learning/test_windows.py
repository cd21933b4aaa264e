"""Updates that wait are brought into the order of the blocks, and done as if one block came after the other."""

import numpy as np
import pytest
from oplt_cases import oplt, stream

from xmlc.csr import kernel_csr
from xmlc.models.oplt._blocks import empty_scratch
from xmlc.models.oplt._pending import BLOCKS_LISTED, UPDATE, UPDATES_USED, add_update, empty_pending, has_room
from xmlc.models.oplt._settle import make_changes, settle
from xmlc.models.oplt.learning._queue import take_up_rows
from xmlc.models.oplt.learning._windows import changed_and_sorted, settle_blocks, sort_by_block
from xmlc.models.oplt.tree import empty_online_tree, grown


def test_updates_of_a_block_stay_in_the_order_of_the_stream():
    tree = empty_online_tree(4)
    tree.nodes["head"], tree.nodes["padded"] = -1, 4
    pending = empty_pending(tree.nodes.size, 50, 500, 500, np.zeros(9, dtype=np.float32))
    rng = np.random.default_rng(0)
    blocks, sizes = rng.integers(6, size=40), rng.integers(9, size=40)
    written = pending.updates, pending.positives, pending.blocks, pending.waiting, pending.counters
    for number, (v, size) in enumerate(zip(blocks.tolist(), sizes.tolist())):
        assert has_room(pending, 1, size)
        add_update(tree.nodes, *written, v, number, size)
    assert not has_room(pending, 11, 0)
    starts, pairs = sort_by_block(pending)
    order = list(dict.fromkeys(blocks.tolist()))
    assert pending.by_block.dtype == UPDATE
    for i, v in enumerate(order):
        mine = np.flatnonzero(blocks == v)
        assert pending.by_block["values"][starts[i] : starts[i + 1]].tolist() == mine.tolist()
        assert pairs[i] == 4 * sizes[mine].sum()


@pytest.mark.parametrize(("policy", "max_leaf"), [("random", 2), ("random", 40), ("complete", 2)])
def test_blocks_side_by_side_learn_what_one_learns_after_the_other(policy, max_leaf):
    X, Y = stream(n=150, m=60, seed=2)
    model = oplt(policy, 2, max_leaf).partial_fit(X, Y)
    x, y, settings = model._kernel_form(X), kernel_csr(Y), model._settings()
    tree, longest = model._online, int(np.diff(x.indptr).max())
    tree.counters[-3:] = 100, 1 << 14, 1 << 14
    tree = grown(tree)
    pending = empty_pending(tree.nodes.size, 1 << 12, 1 << 15, 1 << 15, x.data)
    start = 0
    while start < 150:
        start, _ = take_up_rows(x, y, np.arange(150), start, 0, tree, pending, settings, longest, True, True)
    # Changes that wait are made first; what is left to be learned may be done in any order of the blocks.
    scratch = empty_scratch(longest, tree)
    before, blocks = tree.rows.copy(), pending.waiting[: pending.counters[BLOCKS_LISTED]].copy()
    assert blocks.size > 3
    copied = type(pending)(*(array.copy() for array in pending))
    make_changes(tree.rows, copied, scratch, settings)
    for v in blocks[::-1]:
        settle(tree.rows, copied, int(v), copied.counters[UPDATES_USED], scratch, settings)
    expected = tree.rows.copy()
    assert not np.array_equal(expected, before)
    tree.rows[:] = before
    starts, pairs = changed_and_sorted(tree, pending, settings, longest)
    before = tree.rows.copy()
    assert pairs.max() > 0
    for cut in range(blocks.size + 1):
        tree.rows[:] = before
        settle_blocks(tree, pending, starts, 0, cut, settings, longest)
        settle_blocks(tree, pending, starts, cut, blocks.size, settings, longest)
        np.testing.assert_array_equal(tree.rows, expected)
    assert not pending.blocks["listed"].any()
