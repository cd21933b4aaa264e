"""A growing label tree in arrays with spare capacity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit

ABOVE = 0  # the parent of the root, so that the root is no special case
ROOT = 1
NONE = -1  # no node or no label
# unit of allocation of rows and hash tables: 8 float32 numbers, a row for four siblings
SLOT = 8
# a table of 2**b entries takes the slots of a row for 2**b siblings
ENTRIES_PER_SLOT = SLOT // 2
# the number of a slot has to fit into half of a hash table entry
MOST_SLOTS = np.iinfo(np.uint32).max
SMALLEST_TABLE = 3  # 2**3 entries fill a cache line

# indices of `OnlineTree.counters`
N_NODES, SLOTS_USED = range(2)
N_LEARNED, MARK, SELECTED, SELECTED_FOR = range(2, 6)
NODES_WANTED, SLOTS_WANTED = range(6, 8)
N_COUNTERS = 8

# A node's record also describes the block of its children, with a row for each feature of the
# instances that reached the node: the weights of all children, then their sums of squared
# derivatives. An even number of 4-byte fields leaves no undefined padding bytes in a stored node.
NODE = np.dtype(
    [
        ("parent", np.int32),
        ("label", np.int32),  # NONE for an inner node
        ("first_child", np.int32),
        ("last_child", np.int32),
        ("next_sibling", np.int32),
        ("column", np.int32),  # its column in the block of the parent
        ("degree", np.int32),  # number of children
        ("leaf_children", np.int32),  # number of children that are leaves
        ("n_leaves", np.int32),  # number of leaves below, or 1 for a leaf
        ("padded", np.int32),  # columns of the block, or 0 without a block
        ("width", np.int32),  # columns in use
        ("auxiliary", np.int32),  # 1 if column 0 is the node's auxiliary classifier, else 0
        ("n_features", np.int32),  # rows without the constant feature's
        ("table_bits", np.int32),  # the hash table has 2**table_bits entries
        ("bias", np.int64),  # slot of the constant feature's row
        ("table", np.int64),  # first slot of the hash table
        ("stamp", np.int64),  # mark of the last instance for which the node was positive
        ("head", np.int32),  # first child that is positive for the marked instance
        ("next_positive", np.int32),  # next positive child of the parent
    ],
    align=True,
)


class OnlineTree(NamedTuple):
    """A tree as arrays for the kernels, with spare capacity that `grown` extends.

    Attributes
    ----------
    nodes : NODE (capacity,)
        Nodes in the order of their creation.
    leaves : int32 (labels,)
        Leaf of each label, or NONE for a label that no instance had.
    rows : float32 (capacity,)
        Rows of weights and hash tables (`xmlc.models.oplt.rows`). Slot s begins at index ``SLOT *
        s``, and slot 0 means no row.
    free_rows : uint32 (64,)
        Entry b is the slot of the first free row for 2**b siblings, or 0. The bits of a free row's
        first number are the slot of the next.
    counters : int64 (N_COUNTERS,)
        Counts, marks and required capacities, indexed by ``N_NODES`` to ``SLOTS_WANTED``.
    """

    nodes: np.ndarray
    leaves: np.ndarray
    rows: np.ndarray
    free_rows: np.ndarray
    counters: np.ndarray


class GrowthSettings(NamedTuple):
    """Settings of the growth and the learning of a tree, as the hyperparameters of `OPLT`."""

    random: bool  #: whether policy="random"
    program: bool  #: whether growth="program"
    alpha: float
    printed: bool  #: whether balance="printed"
    arity: int
    max_leaf: int
    rate: np.float32  #: gamma of AdaGrad
    eps: np.float32
    key: np.uint64  #: of the random numbers for the policy


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
    """Return whether the arrays have space for more nodes and slots, or note both for `grown`."""
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
    """Return the tree with at least the capacity that its counters require."""
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
    """Return ``array`` extended by zeros to at least ``size`` entries.

    It grows in place if it owns its memory, which is safe because kernels keep no views of it
    between calls, and `OPLT` returns copies.
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
    """Return the tree for storage: views of its arrays without the spare capacity."""
    counters = tree.counters
    return tree._replace(
        nodes=tree.nodes[: counters[N_NODES]], rows=tree.rows[: counters[SLOTS_USED] * SLOT]
    )
