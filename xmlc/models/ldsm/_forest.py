"""The trees of an LdSM forest, and the way of instances through them (ldsm2020, Section 2 and
Algorithms 4 and 5).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, Self

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of_csr, unowned
from xmlc.kernels.stored import FINITE, Field, fields_of, length
from xmlc.kernels.sums import sparse_dot
from xmlc.models._averages import Reached, places_of_row
from xmlc.models.averaged_forest import LEAF


class MultiwayForest(NamedTuple):
    """All trees of a forest in flat arrays, with inner nodes and leaves numbered over the forest.

    Within a tree, inner nodes are in the order of their splits, so parents precede their children.

    Attributes
    ----------
    inner_starts, tree_leaves : ndarray
        First inner node, and first leaf, of each tree.
    children : ndarray
        Child of each inner node in each of M directions: the number of an inner node, or ~l for
        leaf number l. The root of a tree is its first inner node, or else its only leaf.
    levels : ndarray
        Level of each inner node, 1 for a root.
    objectives : ndarray
        The objective J of each inner node after each epoch.
    weight_starts : ndarray
        Start of each inner node in ``features`` and ``weights``.
    features : ndarray
        Features of each inner node, in no particular order.
    weights, biases : ndarray
        The M regressors of each inner node.
    leaf_starts : ndarray
        Start of each leaf in ``labels`` and ``counts``.
    labels, counts : ndarray
        Labels of each leaf, in no particular order, and how many of its instances have them.
    sizes : ndarray
        Number of training instances of each leaf.
    """

    inner_starts: Annotated[
        np.ndarray, Field("inner_starts", np.int64, ("trees + 1",), starts="inner")
    ]
    tree_leaves: Annotated[
        np.ndarray, Field("tree_leaves", np.int64, ("trees + 1",), starts="leaves")
    ]
    children: Annotated[
        np.ndarray, Field("children", np.int32, ("inner", "arity"), least=LEAF, below="inner")
    ]
    levels: Annotated[np.ndarray, Field("levels", np.int32, ("inner",))]
    objectives: Annotated[np.ndarray, Field("objectives", np.float64, ("inner", None))]
    weight_starts: Annotated[
        np.ndarray, Field("weight_starts", np.int64, ("inner + 1",), starts="weights")
    ]
    features: Annotated[np.ndarray, Field("features", np.uint32, ("weights",), below="n_features")]
    weights: Annotated[
        np.ndarray, Field("weights", np.float32, ("weights", "arity"), within=FINITE)
    ]
    biases: Annotated[np.ndarray, Field("biases", np.float32, ("inner", "arity"), within=FINITE)]
    leaf_starts: Annotated[
        np.ndarray, Field("leaf_starts", np.int64, ("leaves + 1",), starts="entries")
    ]
    labels: Annotated[np.ndarray, Field("labels", np.uint32, ("entries",), below="n_labels")]
    counts: Annotated[np.ndarray, Field("counts", np.uint32, ("entries",), least=1, below=1 << 32)]
    sizes: Annotated[np.ndarray, Field("sizes", np.uint32, ("leaves",), least=1, below=1 << 32)]

    @property
    def codes(self) -> np.ndarray:
        """All roots and children, coded as in ``children``."""
        inner = self.inner_starts
        roots = np.where(inner[:-1] < inner[1:], inner[:-1], ~self.tree_leaves[:-1])
        return np.concatenate((roots, self.children.reshape(-1)))

    @property
    def n_trees(self) -> int:
        return int(self.inner_starts.size) - 1

    def first(self, n: int, /) -> Self:
        """Return the first ``n`` trees, as views of these arrays."""
        inner = int(self.inner_starts[n])
        leaves = int(self.tree_leaves[n])
        sizes = {"trees": n, "inner": inner, "leaves": leaves}
        sizes |= {
            "weights": int(self.weight_starts[inner]),
            "entries": int(self.leaf_starts[leaves]),
        }
        ends = {
            field.name: length(str(field.shape[0]), 0, sizes) for field in fields_of(type(self))
        }
        return type(self)(**{name: array[: ends[name]] for name, array in self._asdict().items()})


SENT = np.float32(0.5)  # least margin of a direction in which an instance goes


@njit
def directions_of(ids, values, dense, biases, margins):
    """Return the directions in which an instance goes, one bit each.

    They are all whose margin is at least 1/2 (greater than 1/2 in Algorithms 4 and 5), or else the
    first one with the largest margin. ``margins``, float32 (M,), is overwritten.
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


# The next kernels find the leaves that instances reach (Algorithm 5).


@njit
def create_children(x, node, features, weights, biases, dense):
    """Send a node's instances to its children, in training and in prediction (Algorithm 4).

    ``dense``, float32 (M d,), is all zero before and after the call.

    Returns
    -------
    sent : uint32
        Instances of one child after the other, in unchanged order.
    starts : int64 (M + 1,)
        Start of each child in ``sent``.
    """
    x = unowned(x)
    arity = biases.size
    margins = np.empty(arity, dtype=np.float32)
    chosen = np.empty(node.size, dtype=np.uint8)
    starts = np.zeros(arity + 1, dtype=np.int64)
    for k in range(features.size):
        for j in range(arity):
            dense[np.int64(features[k]) * arity + j] = weights[k, j]
    for i in range(node.size):
        ids, values = row_of_csr(x, node[i])
        chosen[i] = directions_of(ids, values, dense, biases, margins)
    for feature in features:
        for j in range(arity):
            dense[np.int64(feature) * arity + j] = 0
    for j in range(arity):
        starts[j + 1] = starts[j]
        for bits in chosen:
            starts[j + 1] += (bits >> j) & 1
    sent = np.empty(starts[arity], dtype=np.uint32)
    end = 0
    for j in range(arity):
        for i in range(node.size):
            if (chosen[i] >> j) & 1:
                sent[end] = node[i]
                end += 1
    return sent, starts


@njit
def root_of(forest, tree):
    root = forest.inner_starts[tree]
    if root == forest.inner_starts[tree + 1]:
        return ~forest.tree_leaves[tree]
    return root


@njit
def leaves_of_row(x, forest, d):
    """Return all leaves that the only instance of ``x`` reaches in all trees, as `Reached`.

    Unlike `find_leaves`, it copies a node's weights only for the features of the instance.
    """
    n_trees = forest.tree_leaves.size - 1
    arity = forest.biases.shape[1]
    forest = unowned(forest)
    features, values = row_of_csr(unowned(x), 0)
    places = places_of_row(features, d)
    ids = np.arange(features.size).astype(np.uint32)
    dense = np.zeros(features.size * arity, dtype=np.float32)
    margins = np.empty(arity, dtype=np.float32)
    starts = np.empty((n_trees, 2), dtype=np.int64)
    leaves = np.empty(forest.sizes.size, dtype=np.int32)
    used = 0
    for tree in range(n_trees):
        starts[tree, 0] = used
        todo = [root_of(forest, tree)]
        while len(todo) > 0:
            node = todo.pop()
            if node < 0:
                leaves[used] = ~node
                used += 1
                continue
            for k in range(forest.weight_starts[node], forest.weight_starts[node + 1]):
                place = places[forest.features[k]]
                for j in range(arity if place >= 0 else 0):
                    dense[place * arity + j] = forest.weights[k, j]
            chosen = directions_of(ids, values, dense, forest.biases[node], margins)
            for j in range(arity):
                if (chosen >> j) & 1:
                    todo.append(np.int64(forest.children[node, j]))
            dense[:] = 0
        starts[tree, 1] = used
    return Reached(starts, leaves)


@njit
def find_leaves(x, first, last, forest, tree, d):
    """Find the leaves of instances ``first .. last - 1`` in a tree (GetLeaves of Algorithm 5).

    All instances of a node are processed together, so that its weights become dense only once.

    Returns
    -------
    starts : int64 (last - first + 1,), leaves : int32 (starts[-1],)
        Leaves of each instance, in CSR form.
    n_products : int64 (last - first,)
        Number of inner products for each instance.
    """
    arity = forest.biases.shape[1]
    dense = np.zeros(d * arity, dtype=np.float32)
    starts = np.zeros(last - first + 2, dtype=np.int64)
    n_products = np.zeros(last - first, dtype=np.int64)
    todo = [(root_of(forest, tree), np.arange(first, last).astype(np.uint32))]
    reached = todo[:0]
    while len(todo) > 0:
        node, instances = todo.pop()
        if node < 0:
            reached.append((node, instances))
            for i in instances:
                starts[np.int64(i) - first + 2] += 1
            continue
        for i in instances:
            n_products[np.int64(i) - first] += arity
        own = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
        regressors = (forest.features[own], forest.weights[own], forest.biases[node])
        sent, ends = create_children(x, instances, *regressors, dense)
        for j in range(arity):
            if ends[j] < ends[j + 1]:
                todo.append((np.int64(forest.children[node, j]), sent[ends[j] : ends[j + 1]]))
    for i in range(1, starts.size):
        starts[i] += starts[i - 1]
    leaves = np.empty(starts[-1], dtype=np.int32)
    for node, instances in reached:
        for i in instances:
            leaves[starts[np.int64(i) - first + 1]] = ~node
            starts[np.int64(i) - first + 1] += 1
    return starts[:-1].copy(), leaves, n_products
