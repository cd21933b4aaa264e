"""What the training of an online tree reads and writes, and hardly anything else: a kernel."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.kernels.sibling_rows import adagrad_to_rows, dense_scores
from xmlc.models.oplt import ask_for_homes, find_rows, table_of
from xmlc.models.oplt.tree import SLOT
from xmlc.runtime.kernel_cache import njit

SMALL = np.float32(-1e-6)  # of a sum, as its derivative: numbers stay what they were, nearly


@njit(cache=True, nogil=True)
def touch_blocks(x, tree, nodes, starts, rows, first, end):
    """Look up the features of all instances that reach some blocks, and take AdaGrad's steps in the rows found.

    Block after block, so that its rows stay in the cache as long as they can: any order of the blocks gives the same
    classifiers. Moves 24 bytes per non-zero and column, and 8 to 16 per look-up. Left out are the growth of the tree
    (rows and tables that are made, moved and copied), who reaches which block, targets, the logistic function, and the
    constant feature. The tree's weights change.

    Parameters
    ----------
    x : KernelCSR
    tree : OnlineTree
        After the training, so that the tables have the features.
    nodes : int32 (blocks,)
        Whose blocks.
    starts : int64 (blocks + 1,), rows : int64
        The rows of x that reach each.
    first, end : int
        Which of them to touch.
    """
    longest = np.int64(0)
    for row in rows[starts[first] : starts[end]]:
        longest = max(longest, x.indptr[row + 1] - x.indptr[row])
    all_slots, all_sums = np.empty(longest, dtype=np.uint32), np.empty(tree.free_rows.size * SLOT, dtype=np.float32)
    weights = tree.rows
    for b in range(first, end):
        v = np.int64(nodes[b])
        node, table = tree.nodes[v], table_of(tree, v)
        sums, bias = borrowed(all_sums, 0, np.int64(node.padded)), np.int64(node.bias) * SLOT
        initial = borrowed(weights, bias, bias + node.padded)
        for i in range(starts[b], starts[b + 1]):
            begin, last = x.indptr[rows[i]], x.indptr[rows[i] + 1]
            ids, values = borrowed(x.indices, begin, last), borrowed(x.data, begin, last)
            slots = borrowed(all_slots, 0, last - begin)
            ask_for_homes(table, node.table_bits, ids)
            find_rows(table, node.table_bits, ids, slots)
            dense_scores(slots, values, weights, SLOT, initial, sums)
            for c in range(sums.size):
                sums[c] *= SMALL
            adagrad_to_rows(slots, values, sums, np.float32(1.0), np.float32(0.01), weights, SLOT)
