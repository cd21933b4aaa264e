"""The trees of a FastXML forest, and the way of instances through them."""

from __future__ import annotations

from typing import Annotated, NamedTuple, Self

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import copy_into, row_of_csr, unowned
from xmlc.kernels.stored import FINITE, Field
from xmlc.kernels.sums import sparse_dot
from xmlc.models._averages import Reached, places_of_row
from xmlc.models.averaged_forest import LEAF


class BinaryForest(NamedTuple):
    """Hold all trees of a forest in flat arrays.

    All inner nodes of the forest are numbered from 0, and so are all leaves.

    Attributes
    ----------
    roots : ndarray of int32, shape (n_trees,)
        Root of each tree: the number of an inner node, or ~l for leaf number l.
    children : ndarray of int32, shape (2 * n_inner,)
        Children of each inner node. Index 2 t contains the child of inner node t on the negative
        side, and index 2 t + 1 the child on the positive side. A child is the number of an inner
        node, or ~l for leaf number l.
    weight_starts : ndarray of int64, shape (n_inner + 1,)
        Start of each inner node in ``features`` and ``weights``.
    features : ndarray of uint32, weights : ndarray of float32, shape (n_weights,)
        Sparse weights of each inner node, in ascending order of features.
    biases : ndarray of float32, shape (n_inner,)
        Bias of each inner node.
    leaf_starts : ndarray of int64, shape (n_leaves + 1,)
        Start of each leaf in ``labels`` and ``counts``.
    labels : ndarray of uint32, counts : ndarray of uint32
        Labels of each leaf in ascending order, and the number of the leaf's instances with each
        label.
    sizes : ndarray of uint32, shape (n_leaves,)
        Number of training instances of each leaf.
    """

    roots: Annotated[np.ndarray, Field("roots", np.int32, (None,), least=LEAF, below="inner")]
    children: Annotated[
        np.ndarray, Field("children", np.int32, ("2 * inner",), least=LEAF, below="inner")
    ]
    weight_starts: Annotated[
        np.ndarray, Field("weight_starts", np.int64, ("inner + 1",), starts="weights")
    ]
    features: Annotated[np.ndarray, Field("features", np.uint32, ("weights",), below="n_features")]
    weights: Annotated[np.ndarray, Field("weights", np.float32, ("weights",), within=FINITE)]
    biases: Annotated[np.ndarray, Field("biases", np.float32, ("inner",), within=FINITE)]
    leaf_starts: Annotated[
        np.ndarray, Field("leaf_starts", np.int64, ("leaves + 1",), starts="entries")
    ]
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
        """Return a forest of the first ``n`` trees.

        The new forest shares the arrays of this forest.
        """
        return self._replace(roots=self.roots[:n])


@njit
def divide(x, node, features, weights, bias, dense, moved):
    """Order a node's instances by side, negative side first, and return the size of the negative
    side.

    Training and prediction both call this function, so that a training instance reaches the same
    leaf in both.

    Parameters
    ----------
    x : KernelCSR
        All instances.
    node : uint32 (k,)
        Instances of the node. The instances are reordered in place. Within each side, the instances
        keep their order.
    features : uint32, weights : float32, bias : float32
        Sparse weights and bias of the node's classifier. An instance whose score is at least 0 goes
        to the positive side, as in the published program. A score of exactly 0 is common, because
        an instance may have none of the features and the bias may be 0.
    dense : float32 (d,)
        Scratch array, all zero before and after the call.
    moved : uint32
        Scratch array of at least k entries.

    Notes
    -----
    The weights are first copied to the array ``dense``, which stays in the cache. Each non-zero of
    an instance takes one read of 8 bytes from memory and one read of ``dense``.
    """
    x = unowned(x)
    for k in range(features.size):
        dense[features[k]] = weights[k]
    n_negative = 0
    n_positive = 0
    for place in range(node.size):
        i = node[place]
        ids, values = row_of_csr(x, i)
        is_positive = bias + sparse_dot(ids, values, dense) >= 0
        # A branch would often be mispredicted, so the instance is written to both sides. The next
        # instance overwrites the entry on the wrong side.
        moved[n_positive] = i
        node[n_negative] = i
        n_positive += is_positive
        n_negative += not is_positive
    copy_into(node[n_negative:], moved[:n_positive])
    for feature in features:
        dense[feature] = 0
    return n_negative


@njit
def leaves_of_row(x, forest, n_features):
    """Return the leaf of each tree that a single instance reaches, as `Reached`.

    The weights of a node are copied only for the features of the instance.

    Parameters
    ----------
    x : KernelCSR
        The instance.
    forest, n_features
        As for `find_leaf`.
    """
    n_trees = forest.roots.size
    forest = unowned(forest)
    features, values = row_of_csr(unowned(x), 0)
    places = places_of_row(features, n_features)
    ids = np.arange(features.size).astype(np.uint32)
    dense = np.zeros(features.size, dtype=np.float32)
    starts = np.empty((n_trees, 2), dtype=np.int64)
    leaves = np.empty(n_trees, dtype=np.int32)
    for tree in range(n_trees):
        node = forest.roots[tree]
        while node >= 0:
            for k in range(forest.weight_starts[node], forest.weight_starts[node + 1]):
                place = places[forest.features[k]]
                if place >= 0:
                    dense[place] = forest.weights[k]
            is_positive = forest.biases[node] + sparse_dot(ids, values, dense) >= 0
            node = forest.children[2 * node + is_positive]
            dense[:] = 0
        leaves[tree] = ~node
        starts[tree, 0] = tree
        starts[tree, 1] = tree + 1
    return Reached(starts, leaves)


@njit
def find_leaf(x, first, last, forest, tree, n_features):
    """Find the leaf of one tree that each instance of a block reaches.

    Parameters
    ----------
    x : KernelCSR
        Instances.
    first, last : int
        The block consists of the instances first to last - 1.
    forest : BinaryForest
        All trees.
    tree : int
        Number of the tree.
    n_features : int
        Number of features in training.

    Returns
    -------
    None
    leaves : int32 (last - first,)
        The leaf that each instance reaches.
    n_products : int64 (last - first,)
        Number of inner nodes that each instance passes.

    Notes
    -----
    All instances of the block that reach a node are processed together. `divide` sends the
    instances of a node to its children, both in training and in prediction.
    """
    order = np.arange(first, last).astype(np.uint32)
    dense = np.zeros(n_features, dtype=np.float32)
    moved = np.empty(order.size, dtype=np.uint32)
    leaves = np.empty(order.size, dtype=np.int32)
    n_products = np.empty(order.size, dtype=np.int64)
    todo = [(forest.roots[tree], np.int64(0), np.int64(order.size), np.int64(0))]
    while len(todo) > 0:
        node, start, end, depth = todo.pop()
        if node < 0:
            for i in order[start:end]:
                leaves[i - first] = ~node
                n_products[i - first] = depth
            continue
        own = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
        classifier = (forest.features[own], forest.weights[own], forest.biases[node])
        middle = start + divide(x, order[start:end], *classifier, dense, moved)
        if middle > start:
            todo.append((forest.children[2 * node], start, middle, depth + 1))
        if middle < end:
            todo.append((forest.children[2 * node + 1], middle, end, depth + 1))
    return None, leaves, n_products
