"""A forest of M-ary trees as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from xmlc.gate.stored import Field
from xmlc.models.forest_arrays import LEAF, forest_fields, joined_forest

MOST_DIRECTIONS = 8  # 2**8 sets of directions for each instance
STARTS = ("inner_starts", "tree_leaves", "weight_starts", "leaf_starts")
FOREST_FIELDS = (
    *forest_fields("arity"),
    Field("inner_starts", np.int64, ("trees + 1",), starts="inner"),
    Field("tree_leaves", np.int64, ("trees + 1",), starts="leaves"),
    Field("children", np.int32, ("inner", "arity"), least=LEAF, below="inner"),
    Field("levels", np.int32, ("inner",)),
    Field("objectives", np.float64, ("inner", None)),
)


class Forest(NamedTuple):
    """Trees one after the other; inner nodes and leaves are numbered through all of them.

    Within a tree inner nodes stand in the order in which they were split, a parent before its children.

    Attributes
    ----------
    inner_starts, tree_leaves : ndarray of int64, shape (n_trees + 1,)
        First inner node and first leaf of each tree.
    children : ndarray of int32, shape (n_inner, M)
        Child in each direction: an inner node, or ~leaf. The root of tree t is its first inner node, or its first leaf
        if it has none.
    levels : ndarray of int32, shape (n_inner,)
        1 for a root.
    objectives : ndarray of float64, shape (n_inner, epochs)
        The node's J at the end of each epoch of its training.
    weight_starts : ndarray of int64, shape (n_inner + 1,)
    features : ndarray of uint32, shape (n_features,)
    weights : ndarray of float32, shape (n_features, M)
        Features of each inner node, in no order, and their weights in its regressors.
    biases : ndarray of float32, shape (n_inner, M)
    leaf_starts : ndarray of int64, shape (n_leaves + 1,)
    labels : ndarray of uint32, counts : ndarray of uint32
        Labels of each leaf, in no order, and how many of its instances carry them.
    sizes : ndarray of uint32, shape (n_leaves,)
        Number of training instances of each leaf.
    """

    inner_starts: np.ndarray
    tree_leaves: np.ndarray
    children: np.ndarray
    levels: np.ndarray
    objectives: np.ndarray
    weight_starts: np.ndarray
    features: np.ndarray
    weights: np.ndarray
    biases: np.ndarray
    leaf_starts: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    sizes: np.ndarray

    @classmethod
    def joined(cls, forests: Sequence[Self], /) -> Self:
        """Put forests one after the other."""
        return joined_forest(forests, starts=STARTS, codes=("children",))

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return int(self.inner_starts.size) - 1

    def first(self, n: int, /) -> Self:
        """Return the first ``n`` trees; their arrays are views."""
        inner, leaf = int(self.inner_starts[n]), int(self.tree_leaves[n])
        weight, label = int(self.weight_starts[inner]), int(self.leaf_starts[leaf])
        ends = {
            **dict.fromkeys(("inner_starts", "tree_leaves"), n + 1),
            **dict.fromkeys(("children", "levels", "objectives", "biases"), inner),
            **dict.fromkeys(("features", "weights"), weight),
            **dict.fromkeys(("labels", "counts"), label),
            "weight_starts": inner + 1,
            "leaf_starts": leaf + 1,
            "sizes": leaf,
        }
        return type(self)(**{name: array[: ends[name]] for name, array in self._asdict().items()})


def tree_depths(forest: Forest) -> np.ndarray:
    """Return the depth of the deepest leaf of each tree, int64 (n_trees,); a root has depth 0."""
    bounds = zip(forest.inner_starts[:-1], forest.inner_starts[1:])
    return np.array([forest.levels[first:last].max(initial=0) for first, last in bounds], dtype=np.int64)
