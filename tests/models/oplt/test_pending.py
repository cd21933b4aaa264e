"""Updates that wait are brought into the order of the blocks."""

import numpy as np

from xmlc.models.oplt._pending import UPDATE, add_update, empty_pending, has_room, sort_by_block, with_nodes
from xmlc.models.oplt.tree import empty_online_tree


def test_updates_of_a_block_stay_in_the_order_of_the_stream():
    tree = empty_online_tree(4)
    tree.nodes["head"], tree.nodes["padded"] = -1, 4
    pending = empty_pending(tree.nodes.size, 50, 500, np.zeros(9, dtype=np.float32))
    rng = np.random.default_rng(0)
    blocks, sizes = rng.integers(6, size=40), rng.integers(9, size=40)
    written = pending.updates, pending.positives, pending.blocks, pending.waiting, pending.counters
    for number, (v, size) in enumerate(zip(blocks.tolist(), sizes.tolist())):
        assert has_room(pending, 1, size)
        add_update(tree.nodes, *written, v, number, size)
    assert not has_room(pending, 11, 1)
    starts, pairs = sort_by_block(tree, pending)
    order = list(dict.fromkeys(blocks.tolist()))
    assert pending.by_block.dtype == UPDATE
    for i, v in enumerate(order):
        mine = np.flatnonzero(blocks == v)
        assert pending.by_block["values"][starts[i] : starts[i + 1]].tolist() == mine.tolist()
        assert pairs[i] == 4 * sizes[mine].sum()


def test_room_for_more_nodes_keeps_the_nodes_reached_and_lists_no_block():
    pending = empty_pending(3, 5, 7, np.zeros(2, dtype=np.float32))
    pending.reached[:] = [2, 0, 1]
    more = with_nodes(pending, 8)
    assert more.reached[:3].tolist() == [2, 0, 1]
    assert more.blocks["first"].tolist() == [-1] * 8
    assert not more.blocks["copies"].any()
    assert not more.blocks["listed"].any()
    assert more.slots is pending.slots
