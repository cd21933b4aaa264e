"""Store the weights of a label tree's nodes as dense, compact or hashed weights, and compute
estimates from them.

The kernels estimate the probabilities of one node's children for the instances that reach the node.
All tree searches call the kernels of this module.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.core.appendable import give_back
from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import cost_blocks
from xmlc.kernels.arrays import prefetch, row_of_csr, unchecked_view, unowned
from xmlc.kernels.counter_random import mix64
from xmlc.kernels.float32 import exp_of_negative, sigmoid
from xmlc.kernels.indices import VALUES_PER_TASK, Malformed, check_ascending
from xmlc.kernels.sibling_rows import dense_scores
from xmlc.kernels.stored import FINITE, Field, check_fields
from xmlc.models.plt.matching import (
    clear_features,
    find_features,
    mark_if_it_pays,
    sparse_child_scores,
)
from xmlc.models.trees.label_tree import LabelTree

LOGISTIC_LINK = 0
# These are the estimates (256 kB) and the dense weights (16 MB) for which the scratch memory has
# space. Memory pages that are never written take no memory.
ESTIMATES_AT_ONCE = np.int64(1 << 16)
DENSE_WEIGHTS = np.int64(1 << 22)
LOOKUPS_PER_DENSE_ROW = 2  # dense rows are faster if there are at least 2 look-ups per sparse row


class NodeWeights(NamedTuple):
    """Hold a tree and its exact weights as arrays for the kernels.

    The children of node t are trained and stored together as block t + 1. Block 0 has only the
    root.

    Attributes
    ----------
    children : int64 (n_nodes + 1,)
        First child of each node.
    label : int32 (n_nodes,)
        Label of each leaf, -1 for inner nodes.
    feature_starts : int64 (n_nodes + 2,)
        Start of each block in ``features``.
    features : uint32
        The features of one block after another, ascending within a block.
    weight_starts : int64 (n_nodes + 2,)
        Start of each block in ``weights``.
    weights : float32
        The weights of one block after another. In a block, the weights of all siblings for one
        feature are contiguous.
    bias : float32 (n_nodes,)
        Each node's weight of the constant feature.
    """

    children: np.ndarray
    label: np.ndarray
    feature_starts: np.ndarray
    features: np.ndarray
    weight_starts: np.ndarray
    weights: np.ndarray
    bias: np.ndarray


class CompactNodeWeights(NamedTuple):
    """Hold a tree and its weights as `NodeWeights` does, but as sparse rows without negligible
    weights.

    A row has the weights of one feature for the siblings of a block. Each weight takes 6 bytes.
    Each row takes 8 bytes in addition to its weights.

    Attributes
    ----------
    children : int64 (n_nodes + 1,)
        As in `NodeWeights`.
    label : int32 (n_nodes,)
        As in `NodeWeights`.
    feature_starts : int64 (n_nodes + 2,)
        Start of each block in ``features``.
    features : uint32
        For each block, the features with at least one stored weight, ascending.
    entry_starts : int64 (n_nodes + 2,)
        Start of each block in ``weights``.
    row_starts : uint32 (features.size + n_nodes + 1,)
        Start of each row in ``weights``, relative to the start of its block. A block of q features
        has q + 1 row starts. The row starts of block b begin at ``feature_starts[b] + b``.
    siblings : uint16, or uint32 if a node has more than 65,536 children
        The sibling to which each weight belongs, counted within the block. In each row, the sibling
        numbers ascend.
    weights : float32
        The weights of one row after another.
    bias : float32 (n_nodes,)
        Each node's weight of the constant feature.
    """

    children: np.ndarray
    label: np.ndarray
    feature_starts: np.ndarray
    features: np.ndarray
    entry_starts: np.ndarray
    row_starts: np.ndarray
    siblings: np.ndarray
    weights: np.ndarray
    bias: np.ndarray


class HashedWeights(NamedTuple):
    """Hold a tree and its weights, hashed into one table (plt2016, Section 6), as arrays for the
    kernels.

    Attributes
    ----------
    children : int64 (n_nodes + 1,)
        As in `NodeWeights`.
    label : int32 (n_nodes,)
        As in `NodeWeights`.
    table : float32 (2**k,)
        The shared numbers, from which the weights of all nodes are computed. A node's weight for a
        feature is a number of the table times a sign, divided by the node's ``scale``.
    scale : float64 (n_nodes,)
        The scale Pi of each node (plt2016, Appendix B).
    bias : float32 (n_nodes,)
        Each node's weight of the constant feature, multiplied by ``scale`` but not hashed.
    seed : uint64
        Key of the hash function.
    """

    children: np.ndarray
    label: np.ndarray
    table: np.ndarray
    scale: np.ndarray
    bias: np.ndarray
    seed: np.uint64


TreeWeights = NodeWeights | CompactNodeWeights | HashedWeights

TREE = (
    Field("children", np.int64, ("nodes + 1",)),
    Field("label", np.int32, ("nodes",), least=-1, below="n_labels"),
    Field("bias", np.float32, ("nodes",), within=FINITE),
)
OWN = (
    *TREE,
    Field("feature_starts", np.int64, ("nodes + 2",), starts="features"),
    Field("features", np.uint32, ("features",), below="n_features", ascending="feature_starts"),
    Field("weights", np.float32, ("weights",), within=FINITE),
)
FIELDS: dict[Any, tuple[Field, ...]] = {
    NodeWeights: (*OWN, Field("weight_starts", np.int64, ("nodes + 2",), starts="weights")),
    CompactNodeWeights: (
        *OWN,
        Field("entry_starts", np.int64, ("nodes + 2",), starts="weights"),
        Field("row_starts", np.uint32, (None,)),
        Field("siblings", None, ("weights",)),
    ),
    HashedWeights: (
        *TREE,
        Field("table", np.float32, (None,), within=FINITE),
        Field(
            "scale", np.float64, ("nodes",), within=(float(np.finfo(np.float32).tiny), FINITE[1])
        ),
    ),
}


def weights_from_state(
    arrays: dict[str, np.ndarray], meta: dict[str, float], n_features: int, n_labels: int
) -> tuple[TreeWeights, LabelTree]:
    """Rebuild the weights of a tree from their stored arrays and their seed, and the tree.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Arrays by field name.
    meta : dict of str to float
        The field ``seed`` for `HashedWeights`, and an empty dictionary for other types of weights.
    n_features, n_labels : int
        Number of features and number of labels of the model.

    Raises
    ------
    XmlcError
        No type of weights has the given fields, or a field is malformed.
    """
    for kind, fields in FIELDS.items():
        if set(kind._fields) == {*arrays, *meta}:
            check_fields(arrays, fields, n_features=n_features, n_labels=n_labels)
            seed = {name: np.uint64(number) for name, number in meta.items()}
            weights: TreeWeights = kind(**arrays, **seed)
            return weights, checked_tree(weights)
    found = ", ".join(sorted({*arrays, *meta}))
    raise XmlcError(
        f"weights: found the entries {found}, expected the entries of a label tree. Train the "
        "model again."
    )


def checked_tree(weights: TreeWeights) -> LabelTree:
    """Return the tree, and check what `FIELDS` cannot say: that each block has the weights of its
    siblings.

    Raises
    ------
    Malformed
        The nodes are not a tree, or a block has too many or too few weights, rows or siblings.
    """
    tree = LabelTree.from_children(weights.children, weights.label)
    degrees = np.append(1, np.diff(weights.children))
    if isinstance(weights, HashedWeights):
        size = weights.table.size
        if size == 0 or size & (size - 1):
            raise Malformed("table", f"found {size} numbers, expected a power of two")
    elif isinstance(weights, NodeWeights):
        sizes = np.diff(weights.feature_starts) * degrees
        _check_equal("weight_starts", np.diff(weights.weight_starts), sizes)
    else:
        _check_rows(weights, degrees)
    return tree


def _check_equal(name: str, found: np.ndarray, expected: np.ndarray) -> None:
    """Check a number of each block."""
    wrong = np.flatnonzero(found != expected)
    if wrong.size:
        block = wrong[0]
        raise Malformed(name, f"found {found[block]} for block {block}, expected {expected[block]}")


def _check_rows(weights: CompactNodeWeights, degrees: np.ndarray) -> None:
    """Check the rows and siblings of each block of sparse weights.

    ``degrees`` has each block's number of siblings.
    """
    rows = weights.row_starts
    expected = weights.features.size + degrees.size
    if rows.size != expected:
        raise Malformed(
            "row_starts", f"found {rows.size} entries, expected {expected}, one per row and block"
        )
    blocks = np.arange(degrees.size)
    firsts = weights.feature_starts[:-1] + blocks
    sizes = np.diff(weights.entry_starts)
    _check_equal("row_starts", rows[firsts], np.zeros_like(sizes))
    _check_equal("row_starts", rows[weights.feature_starts[1:] + blocks], sizes)
    check_ascending(rows, "row_starts", firsts, strictly=False, after=give_back)
    siblings = weights.siblings
    if siblings.dtype not in (np.uint16, np.uint32):
        raise Malformed("siblings", f"found {siblings.dtype}, expected uint16 or uint32")
    for first, last in cost_blocks(sizes, VALUES_PER_TASK):
        own = siblings[weights.entry_starts[first] : weights.entry_starts[last]]
        excess = own >= np.repeat(degrees[first:last], sizes[first:last])
        if excess.any():
            raise Malformed(
                "siblings", f"found sibling {own[excess][0]}, which is not in its block"
            )
        give_back(own)


@njit
def children_of(nodes, node):
    """Return the first child of a node and the number of its children.

    Node -1 has the root as its only child.
    """
    if node < 0:
        return np.int64(0), np.int64(1)
    return nodes.children[node], nodes.children[node + 1] - nodes.children[node]


@njit
def block_below(nodes, node):
    """Return the block of a node's children: its number, the number of children, its features and
    its biases.
    """
    first, degree = children_of(nodes, node)
    block = node + 1
    features = unchecked_view(
        nodes.features, nodes.feature_starts[block], nodes.feature_starts[block + 1]
    )
    return block, degree, features, unchecked_view(nodes.bias, first, first + degree)


class Scratch(NamedTuple):
    """Hold the scratch memory of one search.

    Attributes
    ----------
    words : uint64 (n_features // 64 + 1,)
        A set of features, with one bit per feature. All words are zero when the scratch memory is
        not in use.
    ranks : uint32 (n_features // 64 + 1,)
        For each word that is not zero, the index of the word's first feature in the block.
    ids : uint32 (max_nonzeros,)
        Features of an instance, as indices within the block.
    values : float32 (max_nonzeros,)
        Values of the features in ``ids``.
    dense : float32
        Dense copies of a block's sparse rows, if the array is long enough.
    estimates : float32
        Space for the estimates of a node's children for at least one instance.
    """

    words: np.ndarray
    ranks: np.ndarray
    ids: np.ndarray
    values: np.ndarray
    dense: np.ndarray
    estimates: np.ndarray


@njit
def scratch_for(n_rows, shape):
    """Return a `Scratch` for a search.

    A single instance gets little memory, because allocating megabytes would take longer than its
    search.

    Parameters
    ----------
    n_rows : int
        Number of instances.
    shape : tuple of int
        The number of features, the largest number of non-zeros in an instance, and the largest
        number of children of a node.
    """
    n_features, max_nonzeros, max_degree = shape
    n_dense = np.int64(0)
    if n_rows > 1:
        n_dense = DENSE_WEIGHTS
    # a root without children needs one estimate, because it is the only child of node -1
    n_estimates = max(min(ESTIMATES_AT_ONCE, n_rows * max_degree), max_degree, 1)
    words = np.zeros(n_features // 64 + 1, dtype=np.uint64)
    ids = np.empty(max_nonzeros, dtype=np.uint32)
    values = np.empty(max_nonzeros, dtype=np.float32)
    dense = np.empty(n_dense, dtype=np.float32)
    estimates = np.empty(n_estimates, dtype=np.float32)
    return Scratch(words, np.empty(words.size, dtype=np.uint32), ids, values, dense, estimates)


@njit
def dense_estimates(x, rows, node, nodes, link, scratch, estimates):
    """Compute the estimates of `child_estimates` from `NodeWeights`.

    On an AMD EPYC, a look-up takes 1.4 ns per non-zero, and marking the features of the block takes
    1.3 ns each. If the block contains the feature, the kernel also reads the feature's row. The
    read of 16 weights takes 1.4 ns from the second-level cache and 2 to 4 ns from the third-level
    cache. The hardware needs at least 1.4 ns for 16 weights from the second-level cache, and 6.5 ns
    from memory.
    """
    scratch = unowned(scratch)
    block, degree, features, bias = block_below(nodes, node)
    weights = unchecked_view(
        nodes.weights, nodes.weight_starts[block], nodes.weight_starts[block + 1]
    )
    marked = mark_if_it_pays(features, expected_nonzeros(x, rows), scratch)
    for q in range(rows.size):
        ids, values = find_features(x, rows[q], features, marked, scratch)
        dense_scores(
            ids,
            values,
            weights,
            degree,
            bias,
            unchecked_view(estimates, q * degree, (q + 1) * degree),
        )
    if marked:
        clear_features(features, scratch)
    estimate_scores(estimates, link)


@njit
def compact_estimates(x, rows, node, nodes, link, scratch, estimates):
    """Compute the estimates of `child_estimates` from `CompactNodeWeights`.

    If there are many look-ups, the sparse rows are first copied to dense rows. A look-up is two to
    four times faster with dense rows.
    """
    scratch = unowned(scratch)
    block, degree, features, bias = block_below(nodes, node)
    begin = nodes.entry_starts[block]
    end = nodes.entry_starts[block + 1]
    siblings = unchecked_view(nodes.siblings, begin, end)
    weights = unchecked_view(nodes.weights, begin, end)
    start = nodes.feature_starts[block] + block
    n_rows = features.size
    row_starts = unchecked_view(nodes.row_starts, start, start + n_rows + 1)
    n_lookups = expected_nonzeros(x, rows)
    is_dense = n_lookups >= LOOKUPS_PER_DENSE_ROW * n_rows and n_rows * degree <= scratch.dense.size
    dense = unchecked_view(scratch.dense, 0, n_rows * degree if is_dense else 0)
    if is_dense:
        dense[:] = 0
        for row in range(n_rows):
            for entry in range(np.uint64(row_starts[row]), np.uint64(row_starts[row + 1])):
                dense[row * degree + siblings[entry]] = weights[entry]
    marked = mark_if_it_pays(features, n_lookups, scratch)
    for q in range(rows.size):
        ids, values = find_features(x, rows[q], features, marked, scratch)
        scores = unchecked_view(estimates, q * degree, (q + 1) * degree)
        if is_dense:
            dense_scores(ids, values, dense, degree, bias, scores)
        else:
            sparse_child_scores(ids, values, row_starts, siblings, weights, bias, scores)
    if marked:
        clear_features(features, scratch)
    estimate_scores(estimates, link)


@njit
def hashed_estimates(x, rows, node, nodes, link, scratch, estimates):
    """Compute the estimates of `child_estimates` from `HashedWeights`.

    The slots of the next node are prefetched while the slots of the current node are read.
    """
    first, degree = children_of(nodes, node)
    for q in range(rows.size):
        ids, values = row_of_csr(x, rows[q])
        slots = np.empty((2, ids.size), dtype=np.uint64)
        signed = np.empty((2, ids.size), dtype=np.float32)
        ask_for_slots(ids, values, nodes, first, slots[0], signed[0])
        for c in range(degree):
            now = c & 1
            if c + 1 < degree:
                ask_for_slots(ids, values, nodes, first + c + 1, slots[1 - now], signed[1 - now])
            estimates[q * degree + c] = slots_estimate(slots[now], signed[now], nodes, first + c)


CHILD_ESTIMATES: dict[Any, Any] = {
    NodeWeights: dense_estimates,
    CompactNodeWeights: compact_estimates,
    HashedWeights: hashed_estimates,
}


def child_estimates(
    x: Any, rows: np.ndarray, node: int, nodes: Any, link: int, scratch: Any, estimates: Any
) -> None:
    """Write the conditional estimates P(z_child = 1 | z_node = 1, x) of all children of a node for
    some instances.

    The type of the weights selects the kernel from `CHILD_ESTIMATES`, in Python and in compiled
    code.

    Parameters
    ----------
    x : KernelCSR
        Features of all instances.
    rows : int32 (q,)
        Numbers of the instances.
    node : int
        Number of the parent node. Node -1 has the root as its only child.
    nodes : NodeWeights, CompactNodeWeights or HashedWeights
        The tree and its weights.
    link : int
        See `estimate_scores`. Hashed weights ignore ``link`` and use the logistic link.
    scratch : Scratch
        Scratch memory.
    estimates : float32 (q * siblings,)
        On return, the estimates of one instance after another.
    """
    CHILD_ESTIMATES[type(nodes)](x, rows, node, nodes, link, scratch, estimates)


@overload(child_estimates)
def _choose_child_estimates(x, rows, node, nodes, link, scratch, estimates):
    return CHILD_ESTIMATES[nodes.instance_class].py_func


@njit
def expected_nonzeros(x, rows):
    """Return the expected total number of non-zeros of the instances ``rows``, from the average
    over all instances.
    """
    return rows.size * (x.indptr[-1] - x.indptr[0]) / max(x.indptr.size - 1, 1)


@njit
def estimate_scores(scores, link):
    """Turn linear scores (float32) into probability estimates, in place.

    With link 0, for the logistic loss, an estimate is 1 / (1 + exp(-s)). With a link p >= 1, for
    the squared hinge loss, an estimate is exp(-max(0, 1 - s)**p). Parabel uses p = 2 (Prabhu et
    al., WWW 2018, Section 4).
    """
    if link == LOGISTIC_LINK:
        for c in range(scores.size):
            scores[c] = sigmoid(scores[c])
    else:
        for c in range(scores.size):
            gap = max(np.float32(1.0) - scores[c], np.float32(0.0))
            power = gap
            for _ in range(1, link):
                power *= gap
            scores[c] = exp_of_negative(-power)


@njit
def node_key(seed, node):
    """Return the key of one node's hash function, uint64."""
    return mix64(np.uint64(seed) ^ mix64(np.uint64(node) + np.uint64(1)))


@njit
def slot_and_sign(key, feature, mask):
    """Return the slot (index in the table) and the sign of a node's weight for a feature.

    Parameters
    ----------
    key : uint64
        `node_key` of the node.
    feature : int
        The feature.
    mask : uint64
        Size of the table minus 1.
    """
    bits = mix64(key + np.uint64(feature))
    if bits >> np.uint64(63):
        sign = np.float32(1.0)
    else:
        sign = np.float32(-1.0)
    return bits & mask, sign


@njit
def ask_for_slots(ids, values, nodes, node, slots, signed):
    """Compute and prefetch the table slots of one node for one instance.

    Multiply each value of the instance by the sign of its slot.

    Parameters
    ----------
    ids : uint32
        Features of the instance.
    values : float32
        Values of the features.
    nodes : HashedWeights
        The tree and its weights.
    node : int
        The number of the node in the tree.
    slots : uint64 (ids.size,)
        On return, the slot of each feature.
    signed : float32 (ids.size,)
        On return, each value times the sign of its slot.
    """
    key = node_key(nodes.seed, node)
    mask = np.uint64(nodes.table.size - 1)
    for k in range(ids.size):
        slot, sign = slot_and_sign(key, ids[k], mask)
        slots[k] = slot
        signed[k] = sign * values[k]
        prefetch(nodes.table, np.int64(slot))


@njit
def slots_estimate(slots, signed, nodes, node):
    """Return the probability estimate of one node for one instance.

    Parameters
    ----------
    slots, signed
        Results of `ask_for_slots`.
    nodes : HashedWeights
        The tree and its weights.
    node : int
        The number of the node in the tree.
    """
    score = nodes.bias[node]
    for k in range(slots.size):
        score += signed[k] * nodes.table[slots[k]]
    return sigmoid(np.float32(score * np.float32(1.0 / nodes.scale[node])))
