"""A forest as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from xmlc.gate.stored import Field
from xmlc.models.forest_arrays import LEAF, forest_fields, joined_forest
from xmlc.runtime.kernel_cache import njit

FOREST_FIELDS = (
    *forest_fields(),
    Field("roots", np.int32, (None,), least=LEAF, below="inner"),
    Field("children", np.int32, ("2 * inner",), least=LEAF, below="inner"),
    Field("label_weights", np.float32, ("n_labels",)),
)


class Forest(NamedTuple):
    """Trees one after the other; nodes and leaves are numbered through all of them.

    Attributes
    ----------
    roots : ndarray of int32, shape (n_trees,)
        Root of each tree: an inner node, or ~leaf.
    children : ndarray of int32, shape (2 * n_inner,)
        Child of inner node t on the negative (place 2 t) and on the positive side (2 t + 1), as in ``roots``.
    weight_starts : ndarray of int64, shape (n_inner + 1,)
    features : ndarray of uint32, weights : ndarray of float32, shape (n_weights,)
        Sparse weights of each inner node, features ascending.
    biases : ndarray of float32, shape (n_inner,)
    leaf_starts : ndarray of int64, shape (n_leaves + 1,)
    labels : ndarray of uint32, counts : ndarray of uint32
        Labels of each leaf, ascending, and how many of its instances carry them.
    sizes : ndarray of uint32, shape (n_leaves,)
        Number of training instances of each leaf.
    """

    roots: np.ndarray
    children: np.ndarray
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
        return joined_forest(forests, starts=("weight_starts", "leaf_starts"), codes=("roots", "children"))

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return int(self.roots.size)

    def first(self, n: int, /) -> Self:
        """Return the first ``n`` trees, on the same arrays; what belongs to the others stays in them."""
        return self._replace(roots=self.roots[:n])


def single_tree(tree: Sequence[np.ndarray]) -> Forest:
    """Make a forest of what `grow_tree` returns."""
    root = 0 if tree[4].size else ~0
    return Forest(np.array([root], dtype=np.int32), *tree)


@njit(cache=True, nogil=True)
def leaf_depths(roots, children, n_leaves):
    """Return the number of inner nodes above each leaf, int32 (n_leaves,); a parent stands before its children."""
    depths = np.zeros(n_leaves, dtype=np.int32)
    above = np.zeros(children.size // 2, dtype=np.int32)
    for t in range(above.size):
        for child in children[2 * t : 2 * t + 2]:
            if child >= 0:
                above[child] = above[t] + 1
            else:
                depths[~child] = above[t] + 1
    return depths
