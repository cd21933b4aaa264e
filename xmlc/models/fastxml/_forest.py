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
    """All trees of a forest in flat arrays, with inner nodes and leaves numbered over the forest.

    Attributes
    ----------
    roots : ndarray
        Root of each tree: the number of an inner node, or ~l for leaf number l.
    children : ndarray
        Children of each inner node t in the same form, at index 2 t on the negative and 2 t + 1 on
        the positive side.
    weight_starts : ndarray
        Start of each inner node in ``features`` and ``weights``.
    features, weights, biases : ndarray
        Classifier of each inner node, with ascending features.
    leaf_starts : ndarray
        Start of each leaf in ``labels`` and ``counts``.
    labels, counts : ndarray
        Labels of each leaf, ascending, and how many of its instances have them.
    sizes : ndarray
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
        """All roots and children, coded as in ``children``."""
        return np.concatenate((self.roots, self.children))

    @property
    def n_trees(self) -> int:
        return int(self.roots.size)

    def first(self, n: int, /) -> Self:
        """Return the first ``n`` trees, as views of these arrays."""
        return self._replace(roots=self.roots[:n])


@njit
def divide(x, node, features, weights, bias, dense, moved):
    """Order a node's instances by side, the negative one first, and return its size.

    Training and prediction both call this, so that a training instance reaches the same leaf in
    both. The weights are first copied to ``dense``, which stays in the cache.

    ``node``, uint32 (k,), is reordered in place, and keeps the order within each side. A score of
    at least 0 means the positive side, as in the published program. Exactly 0 is common, for an
    instance without the features if the bias is 0. The scratch array ``dense``, float32 (d,), is
    all zero before and after the call, and ``moved``, uint32, has at least k entries.
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
        # written to both sides, because a branch would often be mispredicted, and the next instance
        # overwrites the wrong entry
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
    """Return the leaf of each tree that the only instance of ``x`` reaches, as `Reached`.

    Unlike `find_leaf`, it copies a node's weights only for the features of the instance.
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
    """Find the leaf of one tree that instances ``first .. last - 1`` reach, all of a node together.

    Returns
    -------
    None
    leaves : int32 (last - first,)
    n_products : int64 (last - first,)
        Number of inner nodes that each instance passes.
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
