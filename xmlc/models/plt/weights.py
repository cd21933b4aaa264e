"""The weights of a label tree's nodes, dense, compact or hashed, and estimates from them."""

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
# space for estimates (256 kB) and dense weights (16 MB), of which pages that are never written take
# no memory
ESTIMATES_AT_ONCE = np.int64(1 << 16)
DENSE_WEIGHTS = np.int64(1 << 22)
LOOKUPS_PER_DENSE_ROW = 2  # from which dense rows are faster than sparse ones


class NodeWeights(NamedTuple):
    """A tree and its exact weights, as arrays for the kernels.

    The children of node t are trained and stored together as block t + 1. Block 0 has only the
    root.

    Attributes
    ----------
    children, label
        As in `LabelTree`.
    feature_starts : int64 (n_nodes + 2,)
        Start of each block in ``features``.
    features : uint32
        Ascending within a block.
    weight_starts : int64 (n_nodes + 2,)
        Start of each block in ``weights``.
    weights : float32
        In a block, all siblings' weights for one feature are contiguous.
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
    """A tree and its weights without negligible ones, in a sparse row per feature of a block.

    A row takes 8 bytes, plus 6 for each weight.

    Attributes
    ----------
    children, label, feature_starts, bias
        As in `NodeWeights`.
    features : uint32
        For each block, the features with at least one stored weight, ascending.
    entry_starts : int64 (n_nodes + 2,)
        Start of each block in ``weights``.
    row_starts : uint32 (features.size + n_nodes + 1,)
        Start of each row in ``weights``, counted from the start of its block. A block of q features
        has q + 1 row starts, which begin at ``feature_starts[b] + b`` for block b.
    siblings : uint16, or uint32 if a node has more than 65,536 children
        The sibling of each weight, counted within the block and ascending in each row.
    weights : float32
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
    """A tree and its weights, hashed into one table (plt2016, Section 6).

    Attributes
    ----------
    children, label
        As in `NodeWeights`.
    table : float32 (2**k,)
        A node's weight for a feature is one of these numbers times a sign, divided by the node's
        ``scale``.
    scale : float64 (n_nodes,)
        The scale Pi of each node (plt2016, Appendix B).
    bias : float32 (n_nodes,)
        Each node's weight of the constant feature, times ``scale``.
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
    """Rebuild a tree and its weights from stored arrays.

    ``meta`` has the field ``seed`` of `HashedWeights`, otherwise nothing.

    Raises
    ------
    XmlcError
        No type of weights has these fields, or a field is malformed.
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
    """Return the tree, or raise `Malformed` if it is none or disagrees with a block of weights."""
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
    wrong = np.flatnonzero(found != expected)
    if wrong.size:
        block = wrong[0]
        raise Malformed(name, f"found {found[block]} for block {block}, expected {expected[block]}")


def _check_rows(weights: CompactNodeWeights, degrees: np.ndarray) -> None:
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
    """Return a node's first child and number of children, of which node -1 has only the root."""
    if node < 0:
        return np.int64(0), np.int64(1)
    return nodes.children[node], nodes.children[node + 1] - nodes.children[node]


@njit
def block_below(nodes, node):
    """Return the block of a node's children: its number, their number, features and biases."""
    first, degree = children_of(nodes, node)
    block = node + 1
    features = unchecked_view(
        nodes.features, nodes.feature_starts[block], nodes.feature_starts[block + 1]
    )
    return block, degree, features, unchecked_view(nodes.bias, first, first + degree)


class Scratch(NamedTuple):
    """Scratch memory of one search.

    Attributes
    ----------
    words : uint64 (n_features // 64 + 1,)
        A set of features, one bit each, empty when not in use.
    ranks : uint32 (n_features // 64 + 1,)
        For each word that is not zero, the index of its first feature in the block.
    ids, values : uint32 and float32 (max_nonzeros,)
        Features of an instance, as indices in the block, and their values.
    dense : float32
        Dense copies of a block's sparse rows, if they fit.
    estimates : float32
        Of a node's children, for at least one instance.
    """

    words: np.ndarray
    ranks: np.ndarray
    ids: np.ndarray
    values: np.ndarray
    dense: np.ndarray
    estimates: np.ndarray


@njit
def scratch_for(n_rows, shape):
    """Return the scratch memory for a search, with ``shape`` as in `estimate_by_levels`.

    A single instance gets little, because allocating megabytes would take longer than its search.
    """
    n_features, max_nonzeros, max_degree = shape
    n_dense = np.int64(0)
    if n_rows > 1:
        n_dense = DENSE_WEIGHTS
    # one estimate for a root without children, which is itself a child of node -1
    n_estimates = max(min(ESTIMATES_AT_ONCE, n_rows * max_degree), max_degree, 1)
    words = np.zeros(n_features // 64 + 1, dtype=np.uint64)
    ids = np.empty(max_nonzeros, dtype=np.uint32)
    values = np.empty(max_nonzeros, dtype=np.float32)
    dense = np.empty(n_dense, dtype=np.float32)
    estimates = np.empty(n_estimates, dtype=np.float32)
    return Scratch(words, np.empty(words.size, dtype=np.uint32), ids, values, dense, estimates)


@njit
def dense_estimates(x, rows, node, nodes, link, scratch, estimates):
    """Compute `child_estimates` from `NodeWeights`.

    On an AMD EPYC, the 16 weights of a row take 1.4 ns from the second-level cache, the least that
    the hardware needs, 2 to 4 ns from the third-level cache, and at least 6.5 ns from memory.
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
    """Compute `child_estimates` from `CompactNodeWeights`.

    Many look-ups first copy the sparse rows to dense ones, which are two to four times faster.
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
    """Compute `child_estimates` from `HashedWeights`, prefetching the slots of the next node."""
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
    """Write the estimates P(z_child = 1 | z_node = 1, x) of a node's children for some instances.

    The type of the weights selects the kernel from `CHILD_ESTIMATES`.

    Parameters
    ----------
    x : KernelCSR
    rows : int32 (q,)
        Numbers of the instances in ``x``.
    node : int
        The parent node, or -1, whose only child is the root.
    nodes : NodeWeights, CompactNodeWeights or HashedWeights
    link : int
        See `estimate_scores`. Hashed weights always have the logistic link.
    scratch : Scratch
    estimates : float32 (q * siblings,)
        Overwritten, one instance after another.
    """
    CHILD_ESTIMATES[type(nodes)](x, rows, node, nodes, link, scratch, estimates)


@overload(child_estimates)
def _choose_child_estimates(x, rows, node, nodes, link, scratch, estimates):
    return CHILD_ESTIMATES[nodes.instance_class].py_func


@njit
def expected_nonzeros(x, rows):
    """Return the non-zeros that ``rows`` have if each has the mean number of all instances."""
    return rows.size * (x.indptr[-1] - x.indptr[0]) / max(x.indptr.size - 1, 1)


@njit
def estimate_scores(scores, link):
    """Turn linear scores (float32) into probability estimates, in place.

    Link 0, for the logistic loss, is 1 / (1 + exp(-s)). A link p >= 1, for the squared hinge loss,
    is exp(-max(0, 1 - s)**p), with p = 2 in Parabel (Prabhu et al., WWW 2018, Section 4).
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
    """Return the slot (index in the table) and the sign of a node's weight for a feature."""
    bits = mix64(key + np.uint64(feature))
    if bits >> np.uint64(63):
        sign = np.float32(1.0)
    else:
        sign = np.float32(-1.0)
    return bits & mask, sign


@njit
def ask_for_slots(ids, values, nodes, node, slots, signed):
    """Compute and prefetch the table slots of one node for one instance.

    ``slots``, uint64, receives the slot of each feature, and ``signed``, float32, its signed value.
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
    """Return the probability estimate of one node for the instance of `ask_for_slots`."""
    score = nodes.bias[node]
    for k in range(slots.size):
        score += signed[k] * nodes.table[slots[k]]
    return sigmoid(np.float32(score * np.float32(1.0 / nodes.scale[node])))
