"""Grow one tree of an LdSM forest (ldsm2020, Algorithms 1 and 4).

Python code selects the next node, and compiled kernels train and split this node.
"""

from __future__ import annotations

import heapq
from typing import Annotated, NamedTuple, Self

import numpy as np

from xmlc.core.appendable import Appendable
from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import unchecked_view
from xmlc.kernels.counter_random import Stream, shuffle_stream, stream_key
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.sibling_rows import aligned_buffer
from xmlc.kernels.stored import FINITE, Field, fields_of, length
from xmlc.kernels.sums import sparse_dot
from xmlc.models.averaged_forest import LEAF
from xmlc.models.ldsm._regressors import SLOT, NodeSettings, start_slots, train_regressors

# The next class stores a forest of M-ary trees as flat arrays.


class MultiwayForest(NamedTuple):
    """Hold all trees of a forest in flat arrays.

    All inner nodes of the forest are numbered from 0, and so are all leaves.

    Within a tree, inner nodes are in the order in which they were split, so that parents precede their children.

    Attributes
    ----------
    inner_starts, tree_leaves : ndarray of int64, shape (n_trees + 1,)
        Number of the first inner node, and of the first leaf, of each tree.
    children : ndarray of int32, shape (n_inner, M)
        Child in each direction: the number of an inner node, or ~l for leaf number l. The root of a tree is the tree's
        first inner node. If a tree has no inner nodes, its root is its only leaf.
    levels : ndarray of int32, shape (n_inner,)
        Level of each inner node, 1 for a root.
    objectives : ndarray of float64, shape (n_inner, epochs)
        The objective J of each inner node after each epoch of its training.
    weight_starts : ndarray of int64, shape (n_inner + 1,)
        Start of each inner node in ``features`` and ``weights``.
    features : ndarray of uint32, shape (n_features,)
        Features of each inner node, in no particular order.
    weights : ndarray of float32, shape (n_features, M)
        Weight of each feature of a node in the node's M regressors.
    biases : ndarray of float32, shape (n_inner, M)
        Biases of each inner node's M regressors.
    leaf_starts : ndarray of int64, shape (n_leaves + 1,)
        Start of each leaf in ``labels`` and ``counts``.
    labels : ndarray of uint32, counts : ndarray of uint32
        Labels of each leaf, in no particular order, and the number of the leaf's instances with each label.
    sizes : ndarray of uint32, shape (n_leaves,)
        Number of training instances of each leaf.
    """

    inner_starts: Annotated[np.ndarray, Field("inner_starts", np.int64, ("trees + 1",), starts="inner")]
    tree_leaves: Annotated[np.ndarray, Field("tree_leaves", np.int64, ("trees + 1",), starts="leaves")]
    children: Annotated[np.ndarray, Field("children", np.int32, ("inner", "arity"), least=LEAF, below="inner")]
    levels: Annotated[np.ndarray, Field("levels", np.int32, ("inner",))]
    objectives: Annotated[np.ndarray, Field("objectives", np.float64, ("inner", None))]
    weight_starts: Annotated[np.ndarray, Field("weight_starts", np.int64, ("inner + 1",), starts="weights")]
    features: Annotated[np.ndarray, Field("features", np.uint32, ("weights",), below="n_features")]
    weights: Annotated[np.ndarray, Field("weights", np.float32, ("weights", "arity"), within=FINITE)]
    biases: Annotated[np.ndarray, Field("biases", np.float32, ("inner", "arity"), within=FINITE)]
    leaf_starts: Annotated[np.ndarray, Field("leaf_starts", np.int64, ("leaves + 1",), starts="entries")]
    labels: Annotated[np.ndarray, Field("labels", np.uint32, ("entries",), below="n_labels")]
    counts: Annotated[np.ndarray, Field("counts", np.uint32, ("entries",), least=1, below=1 << 32)]
    sizes: Annotated[np.ndarray, Field("sizes", np.uint32, ("leaves",), least=1, below=1 << 32)]

    @property
    def codes(self) -> np.ndarray:
        """Return the codes of all roots and children."""
        inner = self.inner_starts
        roots = np.where(inner[:-1] < inner[1:], inner[:-1], ~self.tree_leaves[:-1])
        return np.concatenate((roots, self.children.reshape(-1)))

    @property
    def n_trees(self) -> int:
        """Return the number of trees."""
        return int(self.inner_starts.size) - 1

    def first(self, n: int, /) -> Self:
        """Return a forest of the first ``n`` trees, whose arrays are views of the arrays of this forest."""
        inner = int(self.inner_starts[n])
        leaves = int(self.tree_leaves[n])
        sizes = {"trees": n, "inner": inner, "leaves": leaves}
        sizes |= {"weights": int(self.weight_starts[inner]), "entries": int(self.leaf_starts[leaves])}
        ends = {field.name: length(str(field.shape[0]), 0, sizes) for field in fields_of(type(self))}
        return type(self)(**{name: array[: ends[name]] for name, array in self._asdict().items()})


# For each inner node, training writes arrays with these names.
LEARNED = ("features", "weights", "biases", "objectives")
NODES_AT_A_TIME = 64


def grow_multiway_tree(
    x: KernelCSR, y: KernelCSR, d: int, m: int, seed: int, tree: int, most: int, shuffled: bool, settings: NodeSettings
) -> dict[str, np.ndarray]:
    """Grow a tree by Algorithm 1.

    Each step splits the leaf with the highest priority, or the newest of several such leaves.

    Parameters
    ----------
    x, y : KernelCSR
        Instances (n, d) and label sets (n, m).
    d, m : int
        Numbers of features and labels.
    seed, tree : int
        The random numbers of a node depend only on the seed, the number of the tree and the number of the node.
    most : int
        The tree stops growing when it has at least this number of nodes, inner nodes and leaves together.
    shuffled : bool
        Whether training visits the instances in a random order, which is drawn once for the tree.
    settings : NodeSettings
        Hyperparameters of a node's training.

    Returns
    -------
    dict
        Arrays of a `MultiwayForest` that consists of this single tree.

    Notes
    -----
    In addition to `NodeData`, a growing tree takes 12 d M bytes, and 4 bytes for each pair of a leaf and one of its
    instances. The arrays of a few nodes at a time are appended to the arrays of the tree, so that the tree is never in
    memory twice.
    """
    n = x.indptr.size - 1
    arity = settings.arity
    key = int(stream_key(np.int64(seed ^ Stream.LDSM_TREE), np.int64(tree)))
    root = np.arange(n, dtype=np.uint32)
    if shuffled:
        shuffle_stream(root, np.uint64(key), np.int64(Stream.LDSM_ORDER))
    data = new_node_data(n, d, m, x.indices.size + n if settings.adaptive else n * (d + 1), y.indices.size)
    scratch = [aligned_buffer((arity + 1) // 2 * SLOT * (d + 1))]
    scratch += [np.zeros(arity * d, np.float32), np.zeros(m, np.uint32)]
    members = [root]
    depths = [0]
    none = np.zeros(0, dtype=np.uint32)
    # Each list has one entry per split node.
    inner = list[int]()
    first_children = list[int]()
    n_weights = list[int]()
    tree_arrays = Appendable()
    empty = np.zeros((0, arity), dtype=np.float32)
    learned: list[tuple[np.ndarray, ...]] = [(none, empty, empty, np.zeros((0, settings.epochs)))]
    queue = [(-priority_of(y, root, scratch[-1]), 0)]
    while queue and len(members) < most:  # Algorithm 1: "while Q is not empty and t < T_max".
        priority, negative = heapq.heappop(queue)  # Algorithm 1: "v = Q.pop()".
        node = members[-negative]
        if priority == 0 or node.size < 2:
            continue
        node_key = np.uint64(stream_key(np.uint64(key), np.int64(-negative)))
        # This call performs TrainRegressors (Algorithm 2) and CreateChildren (Algorithm 4).
        sent, sizes, priorities, features, *others = make_children(x, y, node, d, data, settings, node_key, *scratch)
        if not priorities.size:
            continue
        inner.append(-negative)
        first_children.append(len(members))
        n_weights.append(features.size)
        learned.append((features, *others))
        if len(learned) == NODES_AT_A_TIME:
            join_parts(tree_arrays, learned, *LEARNED)
        end = 0
        for size, own_priority in zip(sizes.tolist(), priorities.tolist()):
            heapq.heappush(queue, (-own_priority, -len(members)))  # Q.push(ch[m], priority)
            members.append(sent[end : end + size].copy())
            depths.append(depths[-negative] + 1)
            end += size
        members[-negative] = none
    join_parts(tree_arrays, learned, *LEARNED)
    # Up to this line, nodes are numbered in the order of their creation. From this line on, inner nodes and leaves are
    # numbered separately.
    n_inner = len(inner)
    leaves = np.setdiff1d(np.arange(len(members)), inner)
    codes = np.empty(len(members), dtype=np.int32)
    codes[inner] = np.arange(n_inner)
    codes[leaves] = ~np.arange(leaves.size)
    n_labels = list[int]()
    histograms = list[tuple[np.ndarray, ...]]()
    for leaf in leaves:
        histograms.append(label_histogram(y, members[leaf], scratch[-1]))
        n_labels.append(histograms[-1][0].size)
        if len(histograms) == NODES_AT_A_TIME or leaf == leaves[-1]:
            join_parts(tree_arrays, histograms, "labels", "counts")
    return tree_arrays.finished() | {
        "inner_starts": np.array([0, n_inner]),
        "tree_leaves": np.array([0, leaves.size]),
        "children": codes[np.reshape(first_children, (n_inner, 1)).astype(np.int64) + np.arange(arity)],
        "levels": np.array([depths[node] + 1 for node in inner], dtype=np.int32),
        "weight_starts": np.cumsum([0, *n_weights]),
        "leaf_starts": np.cumsum([0, *n_labels]),
        "sizes": np.array([members[leaf].size for leaf in leaves], dtype=np.uint32),
    }


def join_parts(arrays: Appendable, parts: list[tuple[np.ndarray, ...]], *names: str) -> None:
    """Append the arrays of some nodes to the tree's arrays ``names``, and empty the list ``parts``."""
    arrays.append(**{name: np.concatenate(own) for name, own in zip(names, zip(*parts))})
    parts.clear()


@njit
def make_children(x, y, node, d, data, settings, key, scratch, dense, label_counts):
    """Train the regressors of a node (Algorithm 2) and send the node's instances to its children (Algorithm 4).

    Returns
    -------
    sent : uint32
        Instances of each child, one child after the other.
    sizes : int64 (M,)
        Number of instances of each child.
    priorities : int64 (M,)
        Priorities of the children. ``priorities`` is empty if the node stays a leaf, because a child would get none or
        all of the instances.
    features : uint32 (p,), weights : float32 (p, M), biases : float32 (1, M)
        Regressors of the node.
    objectives : float64 (1, epochs)
        The objective J of the node after each epoch.
    """
    arity = settings.arity
    objectives = np.zeros(settings.epochs, dtype=np.float64)
    sizes = np.zeros(arity, dtype=np.int64)
    features, weights, biases = fit_node(x, y, node, d, data, settings, key, scratch, objectives)
    chosen = np.empty(node.size, dtype=np.uint8)
    route(x, node, features, weights, biases, dense, chosen)
    if not divides(chosen, sizes):
        return node[:0].copy(), sizes, sizes[:0], features, weights, biases.reshape(1, -1), objectives.reshape(1, -1)
    sent = np.empty(sizes.sum(), dtype=np.uint32)
    priorities = np.empty(arity, dtype=np.int64)
    end = 0
    for j in range(arity):
        child = sent[end : end + sizes[j]]
        sent_to(node, chosen, j, child)
        priorities[j] = priority_of(y, child, label_counts)
        end += sizes[j]
    return sent, sizes, priorities, features, weights, biases.reshape(1, -1), objectives.reshape(1, -1)


@njit
def fit_node(x, y, node, d, data, settings, key, scratch, objectives):
    """Train a node's M regressors. Return the node's features (uint32), weights (p, M) and biases (M,), float32.

    The returned weights apply to unscaled features, because w (x - mean) / scale = (w / scale) x - w mean / scale.
    """
    arity = settings.arity
    n_labels = gather_labels(y, node, data)
    p = gather_scaled(x, node, data) if settings.adaptive else gather_standardised(x, node, data)
    n_pairs = (arity + 1) // 2
    slots = scratch[: n_pairs * p * SLOT].reshape(n_pairs, p, SLOT)
    start_slots(slots, arity, d + 1 if settings.uniform_start else 0, ~key)
    train_regressors(data, node.size, n_labels, settings, key, slots, objectives)
    smallest = np.float32(1.0 / (d + 1)) if settings.prune else np.float32(0)
    features = np.empty(p - 1, dtype=np.uint32)
    weights = np.empty((p - 1, arity), dtype=np.float32)
    biases = np.empty(arity, dtype=np.float32)
    n_kept = 0
    for j in range(arity):
        biases[j] = slots[j // 2, p - 1, j % 2]
    for k in range(p - 1):
        kept = False
        for j in range(arity):
            weight = slots[j // 2, k, j % 2] / data.scales[k]
            if abs(weight) < smallest:
                weight = np.float32(0)
            weights[n_kept, j] = weight
            biases[j] -= weight * data.means[k]
            kept |= weight != 0
        features[n_kept] = data.features[k]
        n_kept += kept
    return features[:n_kept].copy(), weights[:n_kept].copy(), biases


@njit
def priority_of(y, node, label_counts):
    """Return the priority of Algorithm 1: the sum of a node's label histogram minus the histogram's maximum.

    ``label_counts`` is a scratch array, all zero before and after the call.
    """
    total = 0
    largest = 0
    indptr = y.indptr
    indices = y.indices
    for i in node:
        for label in unchecked_view(indices, indptr[i], indptr[i + 1]):
            label_counts[label] += np.uint32(1)
            largest = max(largest, np.int64(label_counts[label]))
            total += 1
    for i in node:
        for label in unchecked_view(indices, indptr[i], indptr[i + 1]):
            label_counts[label] = 0
    return total - largest


@njit
def label_histogram(y, node, label_counts):
    """Return the labels of a node in order of first appearance, and the number of instances per label, uint32."""
    n_found = 0
    indptr = y.indptr
    indices = y.indices
    for i in node:
        for label in unchecked_view(indices, indptr[i], indptr[i + 1]):
            n_found += label_counts[label] == 0
            label_counts[label] += np.uint32(1)
    labels = np.empty(n_found, dtype=np.uint32)
    counts = np.empty(n_found, dtype=np.uint32)
    n_found = 0
    for i in node:
        for label in unchecked_view(indices, indptr[i], indptr[i + 1]):
            if label_counts[label] > 0:
                labels[n_found] = label
                counts[n_found] = label_counts[label]
                label_counts[label] = 0
                n_found += 1
    return labels, counts


# The next kernels copy the instances of one node. In the copy, the node's features and labels are numbered from 0.


NO_PLACE = np.uint32(0xFFFFFFFF)


class NodeData(NamedTuple):
    """Hold the instances of one node of a tree, in the order of training.

    All nodes of a tree use the same memory in turn.

    Attributes
    ----------
    starts : int64 (n + 1,), ids : uint32, values : float32
        Features and values of each instance in CSR form. Features are numbered within the node. The last feature of an
        instance is the constant feature.
    label_starts : int64 (n + 1,), label_ids : uint32
        Labels of each instance in CSR form. Labels are numbered within the node.
    features : uint32 (d + 1,)
        The original number of each feature of the node. The constant feature has the original number d.
    scales, means : float32 (d + 1,)
        Scale and mean of each feature. A value x of a feature is stored as (x - mean) / scale.
    places : uint32 (d + 1,), label_places : uint32 (m,)
        The number of each feature, and of each label, within the node. All entries are `NO_PLACE` before and after the
        work on a node.
    labels : uint32 (m,)
        The original number of each label of the node.
    """

    starts: np.ndarray
    ids: np.ndarray
    values: np.ndarray
    label_starts: np.ndarray
    label_ids: np.ndarray
    features: np.ndarray
    scales: np.ndarray
    means: np.ndarray
    places: np.ndarray
    label_places: np.ndarray
    labels: np.ndarray


def new_node_data(n: int, d: int, m: int, n_values: int, n_labels: int) -> NodeData:
    """Return a `NodeData` for n instances with ``n_values`` values and ``n_labels`` labels in total.

    The arrays take 8 ``n_values`` + 4 ``n_labels`` + 16 n + 16 d + 8 m bytes.
    """
    return NodeData(
        np.zeros(n + 1, dtype=np.int64),
        np.empty(n_values, dtype=np.uint32),
        np.empty(n_values, dtype=np.float32),
        np.zeros(n + 1, dtype=np.int64),
        np.empty(n_labels, dtype=np.uint32),
        np.empty(d + 1, dtype=np.uint32),
        np.empty(d + 1, dtype=np.float32),
        np.empty(d + 1, dtype=np.float32),
        np.full(d + 1, NO_PLACE, dtype=np.uint32),
        np.full(m, NO_PLACE, dtype=np.uint32),
        np.empty(m, dtype=np.uint32),
    )


@njit
def gather_labels(y, node, data):
    """Number a node's labels in order of first appearance, copy the label sets, and return the number of labels."""
    n_found = 0
    end = 0
    indptr = y.indptr
    indices = y.indices
    for i in range(node.size):
        for label in unchecked_view(indices, indptr[node[i]], indptr[node[i] + 1]):
            if data.label_places[label] == NO_PLACE:
                data.label_places[label] = n_found
                data.labels[n_found] = label
                n_found += 1
            data.label_ids[end] = data.label_places[label]
            end += 1
        data.label_starts[i + 1] = end
    for label in data.labels[:n_found]:
        data.label_places[label] = NO_PLACE
    return n_found


@njit
def gather_scaled(x, node, data):
    """Number the features of a node in order of first appearance, and copy the node's instances with scaled features.

    The scale of a feature is its largest magnitude at the node, so that scaled values lie in -1 .. 1. Ross, Mineiro and
    Langford introduced this normalisation (Normalized online learning, 2013). In an online algorithm, the scale of a
    feature may grow during training, and the feature's weight must then shrink. In xmlc, all instances of a node are
    available, so that the scales are exact from the start.

    Returns
    -------
    int
        Number of features p, including the constant feature.

    Notes
    -----
    For each non-zero, the first pass reads 8 bytes, updates 12 bytes of scratch memory at random addresses, and writes
    8 bytes. For each non-zero, the second pass reads 8 bytes and writes 4 bytes.
    """
    indptr = x.indptr
    indices = x.indices
    values_of = x.data
    constant = np.uint32(data.places.size - 1)
    n_found = 0
    end = 0
    for i in range(node.size):
        start = indptr[node[i]]
        stop = indptr[node[i] + 1]
        ids = unchecked_view(indices, start, stop)
        own = unchecked_view(values_of, start, stop)
        for k in range(ids.size):
            place = data.places[ids[k]]
            if place == NO_PLACE:
                place = np.uint32(n_found)
                data.places[ids[k]] = place
                data.features[place] = ids[k]
                data.scales[place] = 0
                n_found += 1
            data.scales[place] = max(data.scales[place], abs(own[k]))
            data.ids[end + k] = place
            data.values[end + k] = own[k]
        end += ids.size + 1
        data.ids[end - 1] = constant
        data.values[end - 1] = 1.0
        data.starts[i + 1] = end
    for j in range(n_found):
        data.places[data.features[j]] = NO_PLACE
        if data.scales[j] == 0:
            data.scales[j] = 1.0
    data.features[n_found] = constant
    data.scales[n_found] = 1.0
    data.means[: n_found + 1] = 0.0
    ids = data.ids[:end]
    values = data.values[:end]
    for k in range(end):
        if ids[k] == constant:
            ids[k] = n_found
        else:
            values[k] /= data.scales[ids[k]]
    return n_found + 1


@njit
def gather_standardised(x, node, data):
    """Copy the instances of a node to dense rows, in which each feature has mean 0 and variance 1 at the node.

    Parameters and result are the same as in `gather_scaled`. All features of an instance are copied, including zeros.
    The constant feature stays 1, and other features without variance become 0.
    """
    n_features = data.places.size
    rows = data.values[: node.size * n_features].reshape(node.size, n_features)
    rows[:] = 0.0
    for i in range(node.size):
        for k in range(x.indptr[node[i]], x.indptr[node[i] + 1]):
            rows[i, x.indices[k]] += x.data[k]
        data.starts[i + 1] = (i + 1) * n_features
    for j in range(n_features - 1):
        mean = 0.0
        square = 0.0
        for i in range(node.size):
            mean += rows[i, j]
        mean /= node.size
        for i in range(node.size):
            square += (rows[i, j] - mean) ** 2
        deviation = np.sqrt(square / max(1, node.size - 1))
        data.means[j] = mean
        data.scales[j] = deviation if deviation > 1e-6 * abs(mean) else 1.0
        for i in range(node.size):
            rows[i, j] = (rows[i, j] - data.means[j]) / data.scales[j] if deviation > 1e-6 * abs(mean) else 0.0
    rows[:, n_features - 1] = 1.0
    data.means[n_features - 1] = 0.0
    data.scales[n_features - 1] = 1.0
    for j in range(n_features):
        data.features[j] = j
    for k in range(node.size * n_features):
        data.ids[k] = k % n_features
    return n_features


# The next kernels send instances from a node to its children (ldsm2020, Section 2 and Algorithms 4 and 5).


SENT = np.float32(0.5)  # an instance goes in each direction whose margin is at least 1/2


@njit
def directions_of(ids, values, dense, biases, margins):
    """Return the directions in which an instance goes, as an integer with one bit per direction.

    An instance goes in each direction whose margin is at least 1/2 (in Algorithms 4 and 5, greater than 1/2). If no
    margin reaches 1/2, the instance goes in the direction with the largest margin. If several margins are the largest,
    the instance goes in the first of their directions. ``margins``, float32 (M,), is overwritten with the margin of
    each direction.
    """
    arity = biases.size
    for j in range(biases.size):
        margins[j] = biases[j] + sparse_dot(ids, values, dense[j::arity])
    chosen = 0
    for j in range(biases.size):
        chosen |= (margins[j] >= SENT) << j
    if chosen == 0:
        largest = 0
        for j in range(1, biases.size):
            if margins[j] > margins[largest]:
                largest = j
        chosen = 1 << largest
    return chosen


@njit
def route(x, instances, features, weights, biases, dense, chosen):
    """Find the directions in which the instances of a node go.

    Parameters
    ----------
    x : KernelCSR
        All instances.
    instances : uint32 (n,)
        Instances of the node.
    features : uint32 (p,), weights : float32 (p, M), biases : float32 (M,)
        Regressors of the node.
    dense : float32 (d * M,)
        Scratch array, all zero before and after the call.
    chosen : uint8 (n,)
        Overwritten with the directions of each instance, as integers with one bit per direction.
    """
    arity = biases.size
    margins = np.empty(biases.size, dtype=np.float32)
    for k in range(features.size):
        for j in range(arity):
            dense[np.int64(features[k]) * arity + j] = weights[k, j]
    indptr = x.indptr
    indices = x.indices
    data = x.data
    for i in range(instances.size):
        start = indptr[instances[i]]
        end = indptr[instances[i] + 1]
        ids = unchecked_view(indices, start, end)
        values = unchecked_view(data, start, end)
        chosen[i] = directions_of(ids, values, dense, biases, margins)
    for feature in features:
        for j in range(arity):
            dense[np.int64(feature) * arity + j] = 0


@njit
def divides(chosen, sizes):
    """Write the number of instances in each direction to ``sizes``, int64 (M,).

    Return whether every direction has some but not all of the instances.
    """
    sizes[:] = 0
    for i in range(chosen.size):
        for j in range(sizes.size):
            sizes[j] += (chosen[i] >> j) & 1
    result = True
    for j in range(sizes.size):
        result &= 0 < sizes[j] < chosen.size
    return result


@njit
def sent_to(instances, chosen, direction, sent):
    """Write the instances that go in a direction to ``sent``, in unchanged order.

    ``sent`` has exactly as many entries as instances go in the direction.
    """
    n_sent = 0
    for i in range(instances.size):
        if (chosen[i] >> direction) & 1:
            sent[n_sent] = instances[i]
            n_sent += 1
