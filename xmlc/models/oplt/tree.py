"""Store a growing label tree: its nodes, the weights of their children, and arrays with spare
capacity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit

ABOVE = 0  # Node 0 is the parent of the root, so that the root is no special case.
ROOT = 1
NONE = -1  # The number -1 means that there is no node or no label.
# Memory for rows of weights and hash tables is allocated in slots of 8 float32 numbers. A row of
# weights for four siblings takes one slot.
SLOT = 8
# A table of 2**b entries takes as many slots as a row of weights for 2**b siblings.
ENTRIES_PER_SLOT = SLOT // 2
# The number of a slot has to fit into half of a hash table entry.
MOST_SLOTS = np.iinfo(np.uint32).max
SMALLEST_TABLE = 3  # A table has at least 2**3 entries, which fill a cache line.

# The following constants are indices of the array `OnlineTree.counters`.
N_NODES, SLOTS_USED = range(2)
N_LEARNED, MARK, SELECTED, SELECTED_FOR = range(2, 6)
NODES_WANTED, SLOTS_WANTED = range(6, 8)
N_COUNTERS = 8

# The record of a node also describes the block of its children. A block has one row for each
# feature of the instances that reached the node. A row holds the weights of all children, and then
# the sums of squared derivatives for these weights. A node's record has an even number of 4-byte
# fields, so that a stored node has no undefined padding bytes.
NODE = np.dtype(
    [
        ("parent", np.int32),
        ("label", np.int32),  # The label of a leaf, or NONE for an inner node.
        ("first_child", np.int32),
        ("last_child", np.int32),
        ("next_sibling", np.int32),
        ("column", np.int32),  # The column of the node in the block of its parent.
        ("degree", np.int32),  # Number of children.
        ("leaf_children", np.int32),  # The number of children that are leaves.
        ("n_leaves", np.int32),  # The number of leaves below the node, or 1 for a leaf.
        # The number of columns in each row of the block, or 0 if the node has no block.
        ("padded", np.int32),
        ("width", np.int32),  # The number of columns of the block that are in use.
        # Has the value 1 if column 0 of the block is the node's auxiliary classifier, else 0.
        ("auxiliary", np.int32),
        # The number of rows of the block, without the row of the constant feature.
        ("n_features", np.int32),
        ("table_bits", np.int32),  # The hash table of the block has 2**table_bits entries.
        ("bias", np.int64),  # The slot of the row of the constant feature.
        ("table", np.int64),  # The first slot of the block's hash table.
        ("stamp", np.int64),  # The mark of the last instance for which the node was positive.
        # The first of the node's children that are positive for the marked instance.
        ("head", np.int32),
        ("next_positive", np.int32),  # The next positive child of the node's parent.
    ],
    align=True,
)


class OnlineTree(NamedTuple):
    """Hold a tree as arrays for the kernels. The arrays have spare capacity, which `grown` extends.

    Attributes
    ----------
    nodes : NODE (capacity,)
        Nodes in the order of their creation.
    leaves : int32 (labels,)
        Leaf of each label, or NONE for a label that no instance had.
    rows : float32 (capacity,)
        Rows of weights, and one hash table per block. The row of weights at slot s begins at index
        ``SLOT * s``. The slot 0 means that there is no row. The entries of a hash table are the
        bits of uint64 numbers. The upper half of an entry is a feature, and the lower half is the
        slot of the feature's row. An entry is empty if it is 0.
    free_rows : uint32 (64,)
        Entry b is the slot of the first free row for 2**b siblings. The first number of a free row
        encodes the slot of the next free row. The slot 0 means that there is no further free row.
    counters : int64 (N_COUNTERS,)
        Counts, marks and required capacities. The constants ``N_NODES`` to ``SLOTS_WANTED`` are the
        indices of the counters.
    """

    nodes: np.ndarray
    leaves: np.ndarray
    rows: np.ndarray
    free_rows: np.ndarray
    counters: np.ndarray


class GrowthSettings(NamedTuple):
    """Hold the settings that determine how a tree grows and learns."""

    #: True for the policy "random", False for the policy "best_greedy".
    random: bool
    #: Whether the tree grows as in the authors' program.
    program: bool
    #: Weight of the tree's balance in the scores of the policy "best_greedy".
    alpha: float
    #: Whether the balance of the tree is measured by the formula printed in the paper.
    printed: bool
    #: The largest degree of an inner node (b in the paper), and of a node whose children are all
    #: leaves (b_max).
    arity: int
    max_leaf: int
    #: The learning rate and the constant epsilon of AdaGrad, float32.
    rate: np.float32
    eps: np.float32
    #: Key of the random numbers for the policy "random", uint64.
    key: np.uint64


def empty_online_tree() -> OnlineTree:
    """Return a tree without nodes that has capacity for a root."""
    counters = np.zeros(N_COUNTERS, dtype=np.int64)
    counters[SLOTS_USED] = 2
    counters[SELECTED_FOR] = NONE
    return OnlineTree(
        nodes=np.zeros(16, dtype=NODE),
        leaves=np.zeros(0, dtype=np.int32),
        rows=np.zeros(64 * SLOT, dtype=np.float32),
        free_rows=np.zeros(64, dtype=np.uint32),
        counters=counters,
    )


@njit
def has_capacity(tree, nodes, slots):
    """Return whether the arrays have space for the given numbers of additional nodes and slots.

    If there is not enough space, the function stores the required capacity, and `grown` provides
    it.
    """
    counters = tree.counters
    if (
        counters[N_NODES] + nodes <= tree.nodes.size
        and (counters[SLOTS_USED] + slots) * SLOT <= tree.rows.size
    ):
        return True
    counters[NODES_WANTED] = nodes
    counters[SLOTS_WANTED] = slots
    return False


def grown(tree: OnlineTree) -> OnlineTree:
    """Return the tree with the same content, and with at least the capacity that its counters
    require.
    """
    needed = tree.counters[:N_LEARNED] + tree.counters[NODES_WANTED:]
    tree.counters[NODES_WANTED:] = 0
    n_nodes, n_slots = needed.tolist()
    if n_slots > MOST_SLOTS:
        raise XmlcError(
            f"OPLT: found more than {MOST_SLOTS * SLOT * 4 >> 30} GB of weights. Use fewer "
            "features."
        )
    return tree._replace(
        nodes=_longer(tree.nodes, n_nodes), rows=_longer(tree.rows, n_slots * SLOT)
    )


def _longer(array: np.ndarray, size: int) -> np.ndarray:
    """Return an array of at least ``size`` entries that begins with ``array``.

    Its other entries are zero.

    An array that owns its memory grows in place, without a second copy. This is safe, because
    kernels keep no views of the array between calls, and `OPLT` returns copies.
    """
    if size <= array.size:
        return array
    if not (array.flags.owndata and array.flags.writeable):
        array = np.array(array)
    array.resize(max(size, array.size * 5 // 4 // SLOT * SLOT), refcheck=False)
    return array


def with_labels(tree: OnlineTree, n_labels: int) -> OnlineTree:
    """Return the tree with capacity for the labels ``0 .. n_labels - 1``."""
    more = n_labels - tree.leaves.size
    if more <= 0:
        return tree
    return tree._replace(leaves=np.pad(tree.leaves, (0, more), constant_values=NONE))


def trimmed_tree(tree: OnlineTree) -> OnlineTree:
    """Return the tree in the form for storage: views of its arrays without the spare capacity."""
    counters = tree.counters
    return tree._replace(
        nodes=tree.nodes[: counters[N_NODES]], rows=tree.rows[: counters[SLOTS_USED] * SLOT]
    )
