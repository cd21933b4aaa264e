"""Room for what waits."""

import numpy as np

from xmlc.models.oplt._pending import empty_pending, with_nodes


def test_room_for_more_nodes_keeps_the_nodes_reached_and_lists_no_block():
    pending = empty_pending(3, 5, 7, np.zeros(2, dtype=np.float32))
    pending.reached[:] = [2, 0, 1]
    more = with_nodes(pending, 8)
    assert more.reached[:3].tolist() == [2, 0, 1]
    assert more.blocks["first"].tolist() == [-1] * 8
    assert not more.blocks["copies"].any()
    assert not more.blocks["listed"].any()
    assert more.slots is pending.slots
