"""A forest of M-ary trees as flat arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from xmlc.gate.fields import Malformed, check_below, check_once, check_starts, field_of
from xmlc.models.forest_arrays import check_parts, joined_forest

MOST_DIRECTIONS = 8  # 2**8 sets of directions for each instance
STARTS = ("inner_starts", "tree_leaves", "weight_starts", "leaf_starts")


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


def check_forest(arrays: Mapping[str, np.ndarray], n_features: int, n_labels: int) -> None:
    """Prove a stored forest: every part is in range, and each node is reached once, in its tree, after its parent.

    Raises
    ------
    Malformed
    """
    children = field_of(arrays, "children", np.int32, (None, None))
    n_inner, arity = children.shape
    if not 2 <= arity <= MOST_DIRECTIONS:
        raise Malformed("children", f"{arity} for each node, expected 2 .. {MOST_DIRECTIONS}")
    check_parts(arrays, n_features, n_labels, (arity,))
    n_leaves = len(arrays["sizes"])
    inner_starts = field_of(arrays, "inner_starts", np.int64, (None,))
    tree_leaves = field_of(arrays, "tree_leaves", np.int64, inner_starts.shape)
    check_starts(inner_starts, "inner_starts", n_inner, "children")
    check_starts(tree_leaves, "tree_leaves", n_leaves, "sizes")
    field_of(arrays, "biases", np.float32, (n_inner, arity))
    check_below(field_of(arrays, "levels", np.int32, (n_inner,)), "levels", n_inner + 1, least=1)
    field_of(arrays, "objectives", np.float64, (n_inner, None))
    n_places = np.diff(inner_starts) * (arity - 1) + 1
    if not np.array_equal(n_places, np.diff(tree_leaves)):
        tree = int(np.argmax(n_places != np.diff(tree_leaves)))
        raise Malformed(
            "tree_leaves", f"tree {tree} has {np.diff(tree_leaves)[tree]} leaves, expected {n_places[tree]}"
        )
    roots = np.where(np.diff(inner_starts) > 0, inner_starts[:-1], ~tree_leaves[:-1])
    check_once([children, roots], "children", n_inner, n_leaves)
    own = np.repeat(np.arange(n_places.size), np.diff(inner_starts))[:, None]
    is_inner = children >= 0
    least = np.where(is_inner, np.arange(n_inner)[:, None] + 1, tree_leaves[own])
    end = np.where(is_inner, inner_starts[own + 1], tree_leaves[own + 1])
    number = np.where(is_inner, children, ~children)
    wrong = np.argwhere((number < least) | (number >= end))
    if wrong.size:
        raise Malformed(
            "children", f"node {wrong[0, 0]} has child {children[tuple(wrong[0])]}, out of its tree's order"
        )


def tree_depths(forest: Forest) -> np.ndarray:
    """Return the depth of the deepest leaf of each tree, int64 (n_trees,); a root has depth 0."""
    bounds = zip(forest.inner_starts[:-1], forest.inner_starts[1:])
    return np.array([forest.levels[first:last].max(initial=0) for first, last in bounds], dtype=np.int64)
