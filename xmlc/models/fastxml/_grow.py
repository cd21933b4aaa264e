"""Grow one tree of a FastXML forest with compiled kernels (Prabhu and Varma, KDD 2014, Algorithms 1-2)."""

from __future__ import annotations

from typing import Annotated, NamedTuple, Self

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import copy_into, sort, unchecked_view, unowned
from xmlc.kernels.counter_random import Stream, random_bits, stream_key
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.stored import FINITE, Field
from xmlc.kernels.sums import sparse_dot
from xmlc.kernels.top_k import key_number, rank_key
from xmlc.models.averaged_forest import LEAF, Tree
from xmlc.models.fastxml._logistic import StoppingCriteria, fit_logistic
from xmlc.models.fastxml._partition import partition_by_ndcg

# The next class stores a forest as flat arrays.


class BinaryForest(NamedTuple):
    """Hold all trees of a forest in flat arrays.

    All inner nodes of the forest are numbered from 0, and so are all leaves.

    Attributes
    ----------
    roots : ndarray of int32, shape (n_trees,)
        Root of each tree: the number of an inner node, or ~l for leaf number l.
    children : ndarray of int32, shape (2 * n_inner,)
        Children of each inner node. Index 2 t contains the child of inner node t on the negative side, and index
        2 t + 1 the child on the positive side. A child is the number of an inner node, or ~l for leaf number l.
    weight_starts : ndarray of int64, shape (n_inner + 1,)
        Start of each inner node in ``features`` and ``weights``.
    features : ndarray of uint32, weights : ndarray of float32, shape (n_weights,)
        Sparse weights of each inner node, in ascending order of features.
    biases : ndarray of float32, shape (n_inner,)
        Bias of each inner node.
    leaf_starts : ndarray of int64, shape (n_leaves + 1,)
        Start of each leaf in ``labels`` and ``counts``.
    labels : ndarray of uint32, counts : ndarray of uint32
        Labels of each leaf in ascending order, and the number of the leaf's instances with each label.
    sizes : ndarray of uint32, shape (n_leaves,)
        Number of training instances of each leaf.
    """

    roots: Annotated[np.ndarray, Field("roots", np.int32, (None,), least=LEAF, below="inner")]
    children: Annotated[np.ndarray, Field("children", np.int32, ("2 * inner",), least=LEAF, below="inner")]
    weight_starts: Annotated[np.ndarray, Field("weight_starts", np.int64, ("inner + 1",), starts="weights")]
    features: Annotated[np.ndarray, Field("features", np.uint32, ("weights",), below="n_features")]
    weights: Annotated[np.ndarray, Field("weights", np.float32, ("weights",), within=FINITE)]
    biases: Annotated[np.ndarray, Field("biases", np.float32, ("inner",), within=FINITE)]
    leaf_starts: Annotated[np.ndarray, Field("leaf_starts", np.int64, ("leaves + 1",), starts="entries")]
    labels: Annotated[np.ndarray, Field("labels", np.uint32, ("entries",), below="n_labels")]
    counts: Annotated[np.ndarray, Field("counts", np.uint32, ("entries",), least=1, below=1 << 32)]
    sizes: Annotated[np.ndarray, Field("sizes", np.uint32, ("leaves",), least=1, below=1 << 32)]

    @property
    def codes(self) -> np.ndarray:
        """Return the codes of all roots and children."""
        return np.concatenate((self.roots, self.children))

    @property
    def n_trees(self) -> int:
        """Return the number of trees."""
        return int(self.roots.size)

    def first(self, n: int, /) -> Self:
        """Return a forest of the first ``n`` trees. The new forest shares the arrays of this forest."""
        return self._replace(roots=self.roots[:n])


MOST_NONZEROS = np.iinfo(np.uint32).max  # `gather_columns` counts a node's non-zeros in uint32


class Workspace(NamedTuple):
    """Hold the scratch memory of a tree, which its nodes use one after the other."""

    order: np.ndarray  # All instances, contiguous for each node, uint32 (n,).
    side: np.ndarray  # Side of each instance of a node, 1 or -1, int8 (n,).
    margins: np.ndarray  # Margin of each instance of a node, float32 (n,).
    moved: np.ndarray  # Scratch for `divide`, uint32 (n,).
    dense: np.ndarray  # Weights of a node's classifier, float32 (d,), all zero between uses.
    label_counts: np.ndarray  # Scratch with one entry per label, uint32 (m,), all zero between uses.
    feature_counts: np.ndarray  # Scratch with one entry per feature, uint32 (d,), all zero between uses.
    bounds: np.ndarray  # Bounds of the loss's derivatives, float32 (d, 2), all zero between uses.
    features: np.ndarray  # Feature of each column of a node, uint32 (d + 1,), see `gather_columns`.
    starts: np.ndarray  # Start of each column in ``rows`` and ``values``, int64 (d + 2,).
    rows: np.ndarray  # Instances with a non-zero in each column, uint32 (nnz + n,).
    values: np.ndarray  # Values of the non-zeros in each column, float32 (nnz + n,).


def new_workspace(n: int, m: int, d: int, nnz: int) -> Workspace:
    """Return a `Workspace` of 8 nnz + 21 n + 28 d + 4 m bytes for n instances with nnz non-zeros."""
    return Workspace(
        np.arange(n, dtype=np.uint32),
        np.empty(n, dtype=np.int8),
        np.empty(n, dtype=np.float32),
        np.empty(n, dtype=np.uint32),
        np.zeros(d, dtype=np.float32),
        np.zeros(m, dtype=np.uint32),
        np.zeros(d, dtype=np.uint32),
        np.zeros((d, 2), dtype=np.float32),
        np.empty(d + 1, dtype=np.uint32),
        np.empty(d + 2, dtype=np.int64),
        np.empty(nnz + n, dtype=np.uint32),
        np.empty(nnz + n, dtype=np.float32),
    )


class TreeSettings(NamedTuple):
    """Hold the settings for growing a tree."""

    label_weights: np.ndarray  # Gain of each label in nDCG, float32 (m,).
    ideal: np.ndarray  # Result of `ideal_table` or `dcg_table`, int64.
    discounts: np.ndarray  # Result of `discount_table`, float64.
    max_leaf: int  # A node with at most this number of instances becomes a leaf.
    labels_per_leaf: int  # A leaf keeps at most this number of labels, with the largest weighted counts.
    stopping: StoppingCriteria = StoppingCriteria()  # Stopping criteria of the logistic regression.


def grow_tree(x: KernelCSR, y: KernelCSR, n_features: int, settings: TreeSettings, seed: int, tree: int) -> Tree:
    """Grow a tree with `grow_binary_tree`, and return its arrays as a dict, named as in `BinaryForest`."""
    work = new_workspace(x.indptr.size - 1, settings.label_weights.size, n_features, x.indices.size)
    children, features, weights, biases, labels, counts, sizes = grow_binary_tree(x, y, work, settings, seed, tree)
    codes = np.array(children, dtype=np.int32)
    # Each list begins with an empty array, so that the cumulative sums begin with 0, like the starts of a CSR matrix.
    weight_starts = np.cumsum([part.size for part in features], dtype=np.int64)
    leaf_starts = np.cumsum([part.size for part in labels], dtype=np.int64)
    forest = BinaryForest(
        codes[:1],
        codes[1:],
        weight_starts,
        np.concatenate(features),
        np.concatenate(weights),
        np.array(biases[1:], dtype=np.float32),
        leaf_starts,
        np.concatenate(labels),
        np.concatenate(counts),
        np.array(sizes[1:], dtype=np.uint32),
    )
    return dict(forest._asdict())


@njit
def grow_binary_tree(x, y, work, settings, seed, tree):
    """Grow a binary tree.

    The nodes of the tree are numbered in preorder. In this order, the child on the positive side precedes the child on
    the negative side.

    Parameters
    ----------
    x, y : KernelCSR
        Instances (n, d) and label sets (n, m).
    work : Workspace
        Scratch memory from `new_workspace`.
    settings : TreeSettings
        Settings for growing the tree.
    seed, tree : int
        The random numbers of a node depend only on the seed, the number of the tree and the node's number in preorder.

    Returns
    -------
    children : list of int32
        The root at index 0, then the children of each inner node. Index 2 t + 1 contains the child of inner node t on
        the negative side. Index 2 t + 2 contains the child on the positive side. A child is the number of an inner
        node, or ~l for leaf number l.
    features, weights, biases : lists of uint32 (any,), float32 (any,), float32
        Sparse weights of each inner node, in ascending order of features, and its bias.
    labels, counts, sizes : lists of uint32 (any,), uint32 (any,), uint32
        Labels of each leaf (ascending), number of the leaf's instances with each label, and number of all instances of
        the leaf. Each list except ``children`` begins with an extra entry, from which numba infers the type of the
        list.
    """
    n = x.indptr.size - 1
    key = stream_key(np.uint64(seed) ^ np.uint64(Stream.FASTXML_TREE.value), tree)
    children = [np.int32(0)]
    biases = [np.float32(0)]
    sizes = [np.uint32(0)]
    none = work.features[:0]
    features = [none]
    weights = [work.margins[:0]]
    labels = [none]
    counts = [none]
    # An entry of ``todo`` contains the start and end of a node in ``work.order``, and the node's index in ``children``.
    todo = [(0, n, 0)]
    while len(todo) > 0:
        start, end, place = todo.pop()
        node = work.order[start:end]
        n_negative = 0
        own = node[:0]
        if node.size > settings.max_leaf:
            node_key = stream_key(key, len(biases) + len(sizes))
            n_negative, own, own_weights, bias = split_node(x, y, node, settings, node_key, work)
        if 0 < n_negative < node.size:
            children[place] = len(biases) - 1
            todo.append((start, start + n_negative, len(children)))
            todo.append((start + n_negative, end, len(children) + 1))
            children.extend([np.int32(0), np.int32(0)])
            biases.append(bias)
            features.append(own)
            weights.append(own_weights)
        else:
            children[place] = ~(len(sizes) - 1)
            own_labels, own_counts = labels_of_leaf(
                y, node, settings.label_weights, work.label_counts, settings.labels_per_leaf
            )
            sizes.append(np.uint32(node.size))
            labels.append(own_labels)
            counts.append(own_counts)
    return children, features, weights, biases, labels, counts, sizes


@njit
def split_node(x, y, node, settings, key, work):
    """Assign a node's instances to two sides by nDCG, and fit a classifier that separates the sides.

    Finally, the instances of the node are ordered by the side that the classifier predicts.

    Returns
    -------
    n_negative : int
        The instances ``node[:n_negative]`` go to the negative side. A node with an empty side becomes a leaf.
    features : uint32, weights : float32, bias : float32
        Non-zero weights of the classifier, in ascending order of features, and its bias.
    """
    x = unowned(x)
    y = unowned(y)
    work = unowned(work)
    settings = unowned(settings)
    side = work.side[: node.size]
    margins = work.margins[: node.size]
    for i in range(node.size):
        side[i] = 1 if random_bits(key, i) & np.uint64(1) else -1
    starts, labels, found = number_labels(y, node, work.label_counts)
    own_weights = np.empty(found.size, dtype=np.float32)
    for number in range(found.size):
        own_weights[number] = settings.label_weights[found[number]]
    partition_by_ndcg(starts, labels, own_weights, settings.ideal, settings.discounts, side)
    n_positive = 0
    for i in range(side.size):
        n_positive += side[i] > 0
    if n_positive == 0 or n_positive == node.size:
        return 0, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.float32), np.float32(0)
    share = n_positive / node.size
    # The loss of an instance is multiplied by C and divided by the share of instances on the instance's side. As in the
    # authors' program, C = 1.
    costs = np.float32(1.0 / share), np.float32(1.0 / (1.0 - share))
    n_columns = gather_columns(x, node, side, costs, work)
    weights = np.empty(n_columns, dtype=np.float32)
    columns = KernelCSR(work.starts[: n_columns + 1], work.rows, work.values)
    fit_logistic(columns, side, costs, settings.stopping, ~key, weights, margins)
    keys = np.empty(n_columns, dtype=np.uint64)
    n_kept = 0
    for column in range(n_columns - 1):
        if weights[column] != 0:
            keys[n_kept] = np.uint64(work.features[column]) << np.uint64(32) | np.uint64(column)
            n_kept += 1
    sort(unchecked_view(keys, 0, n_kept))
    features = np.empty(n_kept, dtype=np.uint32)
    kept = np.empty(n_kept, dtype=np.float32)
    for k in range(n_kept):
        features[k] = keys[k] >> np.uint64(32)
        kept[k] = weights[keys[k] & np.uint64(0xFFFFFFFF)]
    bias = weights[n_columns - 1]
    return divide(x, node, features, kept, bias, work.dense, work.moved), features, kept, bias


@njit
def divide(x, node, features, weights, bias, dense, moved):
    """Order a node's instances by side, negative side first, and return the size of the negative side.

    Training and prediction both call this function, so that a training instance reaches the same leaf in both.

    Parameters
    ----------
    x : KernelCSR
        All instances.
    node : uint32 (k,)
        Instances of the node. The instances are reordered in place. Within each side, the instances keep their order.
    features : uint32, weights : float32, bias : float32
        Sparse weights and bias of the node's classifier. An instance whose score is at least 0 goes to the positive
        side, as in the published program. A score of exactly 0 is common, because an instance may have none of the
        features and the bias may be 0.
    dense : float32 (d,)
        Scratch array, all zero before and after the call.
    moved : uint32
        Scratch array of at least k entries.

    Notes
    -----
    The weights are first copied to the array ``dense``, which stays in the cache. Each non-zero of an instance takes
    one read of 8 bytes from memory and one read of ``dense``.
    """
    indptr = x.indptr
    indices = x.indices
    data = x.data
    for k in range(features.size):
        dense[features[k]] = weights[k]
    n_negative = 0
    n_positive = 0
    for place in range(node.size):
        i = node[place]
        ids = unchecked_view(indices, indptr[i], indptr[i + 1])
        values = unchecked_view(data, indptr[i], indptr[i + 1])
        is_positive = bias + sparse_dot(ids, values, dense) >= 0
        # A branch would often be mispredicted, so the instance is written to both sides. The next instance overwrites
        # the entry on the wrong side.
        moved[n_positive] = i
        node[n_negative] = i
        n_positive += is_positive
        n_negative += not is_positive
    copy_into(node[n_negative:], moved[:n_positive])
    for feature in features:
        dense[feature] = 0
    return n_negative


# The next kernels collect the instances of one node, feature by feature.


@njit
def gather_columns(x, node, side, costs, work):
    r"""Transpose the instances of a node and keep only the features whose weight can become non-zero.

    A weight stays zero while the derivative of the loss has a magnitude of at most 1, the factor of the L1 norm. For
    each feature, two sums bound the magnitudes of a positive and of a negative derivative. Instance i adds its cost
    times \|x_ij\| to one of the two sums of feature j. The sign of x_ij and the class of instance i determine which of
    the two sums of feature j grows. A feature is dropped if neither of its two sums exceeds 1. At a node with few
    instances, most features are dropped.

    Parameters
    ----------
    x : KernelCSR
        All instances.
    node : uint32 (k,)
        Instances of the node.
    side : int8 (k,)
        Class of each instance, 1 or -1.
    costs : (float32, float32)
        Factor of the loss of positive instances, and of negative instances.
    work : Workspace
        Memory that receives the columns.

    Returns
    -------
    int
        Number of columns p. ``work.features[:p]`` contains the features of the columns in the order of their first
        appearance. The last column is the constant feature, which has number d. In ``work``, the
        range ``starts[j] : starts[j + 1]`` of ``rows`` and ``values`` contains the instances of column j (as positions
        in ``node``) and their values.

    Notes
    -----
    The first pass over the instances reads 8 bytes per non-zero, and updates 12 bytes of scratch memory at a random
    address. The second pass over the instances reads 8 bytes per non-zero, updates 4 bytes at a random address, and
    writes 8 bytes.
    """
    counts = work.feature_counts
    bounds = work.bounds
    features = work.features
    starts = work.starts
    rows = work.rows
    values = work.values
    n_touched = bound_features(x, node, side, costs, counts, bounds, features)
    n_columns = 0
    end = np.uint32(0)
    for i in range(n_touched):
        feature = features[i]
        is_useful = bounds[features[i], 0] > 1.0 or bounds[features[i], 1] > 1.0
        bounds[feature, 0] = 0.0
        bounds[feature, 1] = 0.0
        if is_useful:
            n_own = counts[feature]
            counts[feature] = end  # From here on, this entry of ``counts`` is the position of the feature's next value.
            starts[n_columns] = end
            end += n_own
            # Dropped features move behind the kept features. The loop below sets the positions of dropped features to
            # ``end``.
            features[n_columns], features[i] = feature, features[n_columns]
            n_columns += 1
    for feature in features[n_columns:n_touched]:
        counts[feature] = end
    fill_columns(x, node, counts, end, rows, values)
    for feature in features[:n_touched]:
        counts[feature] = 0
    starts[n_columns] = end
    features[n_columns] = counts.size
    for i in range(node.size):
        rows[end + i] = i
        values[end + i] = 1.0
    starts[n_columns + 1] = end + node.size
    return n_columns + 1


@njit
def bound_features(x, node, side, costs, counts, bounds, features):
    """Write each feature of a node, its number of instances, and two bounds of the loss's derivative."""
    indptr = x.indptr
    indices = x.indices
    data = x.data
    zero = np.float32(0)
    n_touched = 0
    for i in range(node.size):
        start = indptr[node[i]]
        end = indptr[node[i] + 1]
        ids = unchecked_view(indices, start, end)
        own = unchecked_view(data, start, end)
        pull = costs[0] if side[i] > 0 else -costs[1]
        for k in range(ids.size):
            feature = ids[k]
            # To avoid a branch, features that are not new are also written. The next feature to be written overwrites a
            # feature that is not new.
            features[n_touched] = feature
            n_touched += counts[feature] == 0
            counts[feature] += np.uint32(1)
            value = own[k] * pull
            bounds[feature, 0] += max(value, zero)
            bounds[feature, 1] -= min(value, zero)
    return n_touched


@njit
def fill_columns(x, node, places, end, rows, values):
    """Write each non-zero to the next position of its feature's column.

    Non-zeros of features without a column are written to position ``end``, behind the columns. A branch that skips
    non-zeros of features without a column would often be mispredicted.
    """
    indptr = x.indptr
    indices = x.indices
    data = x.data
    for i in range(node.size):
        first = indptr[node[i]]
        last = indptr[node[i] + 1]
        ids = unchecked_view(indices, first, last)
        own = unchecked_view(data, first, last)
        for k in range(ids.size):
            place = places[ids[k]]
            rows[place] = np.uint32(i)
            values[place] = own[k]
            places[ids[k]] = place + np.uint32(place != end)


# The next kernels count the labels of one node.


@njit
def number_labels(y, node, numbers):
    """Number the labels of a node's instances from 0, in ascending order.

    Parameters
    ----------
    y : KernelCSR
        All label sets, n x m.
    node : uint32 (k,)
        Instances of the node.
    numbers : uint32 (m,)
        Scratch array, all zero before and after the call.

    Returns
    -------
    starts : int64 (k + 1,), labels : uint32
        Label sets of the node's instances in CSR form. In ``labels``, each label is replaced by its new number.
    found : uint32
        The original label of each new number.
    """
    indptr = y.indptr
    indices = y.indices
    starts = np.empty(node.size + 1, dtype=np.int64)
    starts[0] = 0
    for i in range(node.size):
        starts[i + 1] = starts[i] + indptr[node[i] + 1] - indptr[node[i]]
    labels = np.empty(starts[node.size], dtype=np.uint32)
    found = distinct_labels(y, node, numbers)
    for number in range(found.size):
        numbers[found[number]] = number
    for i in range(node.size):
        own = unchecked_view(indices, indptr[node[i]], indptr[node[i] + 1])
        numbered = unchecked_view(labels, starts[i], starts[i + 1])
        for k in range(own.size):
            numbered[k] = numbers[own[k]]
    for label in found:
        numbers[label] = 0
    return starts, labels, found


@njit
def distinct_labels(y, node, counts):
    """Return the labels of a node's instances, ascending. Write the number of instances per label to ``counts``."""
    indptr = y.indptr
    indices = y.indices
    total = np.int64(0)
    for i in node:
        total += indptr[i + 1] - indptr[i]
    found = np.empty(min(total, counts.size) + 1, dtype=np.uint32)  # the extra entry receives labels that are not new
    n_found = 0
    for i in node:
        for label in unchecked_view(indices, indptr[i], indptr[i + 1]):
            found[n_found] = label
            n_found += counts[label] == 0
            counts[label] += np.uint32(1)
    # Sorting takes about log2(n) steps per label. If many labels are found, a scan of all labels is faster than
    # sorting.
    if 16 * n_found > counts.size:
        n_found = 0
        for label in range(counts.size):  # this loop has no branch, because a branch would often be mispredicted
            found[n_found] = label
            n_found += counts[label] > 0
        return found[:n_found]
    found = found[:n_found]
    sort(found)
    return found


@njit
def labels_of_leaf(y, node, label_weights, counts, max_labels):
    """Count the labels of a leaf and keep the labels with the largest weighted counts.

    Among labels with equal weighted counts, labels with smaller numbers are kept first.

    Parameters
    ----------
    y : KernelCSR
        All label sets, n x m.
    node : uint32 (k,)
        Instances of the leaf.
    label_weights : float32 (m,)
        Weight of each label.
    counts : uint32 (m,)
        Scratch array, all zero before and after the call.
    max_labels : int
        Largest number of labels to keep.

    Returns
    -------
    labels, counts : uint32
        At most ``max_labels`` labels, ascending, and the number of instances with each label.
    """
    found = distinct_labels(y, node, counts)
    kept = found
    if found.size > max_labels:
        keys = np.empty(found.size, dtype=np.int64)
        kept = np.empty(max_labels, dtype=np.uint32)
        for k in range(found.size):
            keys[k] = rank_key(found[k], label_weights[found[k]] * np.float32(counts[found[k]]))
        sort(keys)
        for k in range(max_labels):
            kept[k] = key_number(keys[found.size - 1 - k])
        sort(kept)
    kept_counts = counts[kept]
    for label in found:
        counts[label] = 0
    return kept.copy(), kept_counts
