"""Label trees with nodes in breadth-first order, and complete trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from xmlc.core.errors import InvalidDataError, InvalidParameterError
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.indices import Malformed


@dataclass(frozen=True)
class LabelTree:
    """A rooted tree whose leaves are labels (plt2016, Section 5.2).

    Nodes are numbered in breadth-first order, so the root is node 0 and the children of node ``t``
    are the nodes ``children[t] .. children[t + 1] - 1``. A leaf has none.

    Attributes
    ----------
    children : ndarray of int64, shape (n_nodes + 1,)
        First child of each node.
    parent : ndarray of int32, shape (n_nodes,)
        Parent of each node, -1 for the root.
    label : ndarray of int32, shape (n_nodes,)
        Label of each leaf, -1 for an inner node.

    See Also
    --------
    complete_tree, random_complete_tree, xmlc.models.trees.kmeans.kmeans_tree

    Examples
    --------
    >>> from xmlc.models.trees import LabelTree
    >>> tree = LabelTree.from_children([1, 3, 5, 5, 5, 5], [-1, -1, 2, 0, 1])
    >>> tree.parent.tolist(), tree.depth.tolist()
    ([-1, 0, 0, 1, 1], [0, 1, 1, 2, 2])
    """

    children: np.ndarray
    parent: np.ndarray
    label: np.ndarray

    @classmethod
    def from_children(cls, children: np.ndarray, label: np.ndarray) -> LabelTree:
        """Build a tree from the two arrays that define it, as in `LabelTree`.

        Parameters
        ----------
        children, label : ndarray of int, shape (n_nodes + 1,) and (n_nodes,)

        Returns
        -------
        LabelTree

        Raises
        ------
        Malformed
            The nodes are not a tree in breadth-first order, or leaves lack distinct labels.
        """
        children = np.asarray(children, dtype=np.int64)
        label = np.asarray(label, dtype=np.int32)
        n_nodes = label.size
        degree = np.diff(children)
        if (
            children.size != n_nodes + 1
            or n_nodes == 0
            or children[0] != 1
            or children[-1] != n_nodes
        ):
            raise Malformed(
                "children", "found no label tree, expected first entry 1 and last entry n_nodes"
            )
        if (degree < 0).any() or (children[:-1] <= np.arange(n_nodes)).any():
            raise Malformed(
                "children", "found no label tree, expected nodes in breadth-first order"
            )
        leaves = degree == 0
        carried = np.sort(label[leaves])
        if (label[~leaves] != -1).any() or carried[0] < 0 or (carried[1:] == carried[:-1]).any():
            raise Malformed("label", "found no label tree, expected one distinct label per leaf")
        parent = np.append(np.int32(-1), np.repeat(np.arange(n_nodes, dtype=np.int32), degree))
        return cls(children, parent, label)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return self.label.size

    @property
    def n_labels(self) -> int:
        """Number of leaves."""
        return int((self.label >= 0).sum())

    # cached, because it takes longer than a search for one instance
    @cached_property
    def max_degree(self) -> int:
        """The largest number of children of a node."""
        return int(np.diff(self.children).max())

    @property
    def leaf(self) -> np.ndarray:
        """Leaf of each label up to the tree's largest one, int32, or -1 without a leaf."""
        leaves = np.flatnonzero(self.label >= 0)
        result = np.full(self.label.max() + 1, -1, dtype=np.int32)
        result[self.label[leaves]] = leaves
        return result

    @property
    def depth(self) -> np.ndarray:
        """Number of edges from the root to each node, int32, shape (n_nodes,)."""
        level_ends = self._level_ends()
        return np.repeat(np.arange(len(level_ends), dtype=np.int32), np.diff([0, *level_ends]))

    def node_thresholds(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the smallest threshold among the labels below each node.

        With these, one search serves labels with different thresholds (plt2016, Section 5.2).

        Parameters
        ----------
        thresholds : ndarray of a float type, shape (m,)
            Threshold of each label.

        Returns
        -------
        ndarray of the dtype of ``thresholds``, shape (n_nodes,)
        """
        result = np.full(self.n_nodes, np.inf, dtype=thresholds.dtype)
        leaves = self.label >= 0
        result[leaves] = thresholds[self.label[leaves]]
        # from the deepest level, because a node needs the minima of its children
        for start, end in reversed(list(pairwise(self._level_ends()))):
            np.minimum.at(result, self.parent[start:end], result[start:end])
        return result

    def largest_below(self, weights: np.ndarray) -> np.ndarray:
        """Return the largest weight among the labels below each node, float64 (n_nodes,).

        It is NaN if all these weights are 0. The last result is cached, because this takes longer
        than a search. The cache is replaced as a whole, so threads may call this at once.

        Parameters
        ----------
        weights : ndarray of float64, shape (m,)
            Weight of each label, at least 0, in an array that does not change afterwards. An empty
            array gives an empty result.
        """
        if weights.size == 0:
            return weights
        last, largest = vars(self).get("_last_weights", (None, None))
        if last is None or not np.array_equal(last, weights):
            of_nodes = -self.node_thresholds(-weights)
            largest = np.where(of_nodes > 0, of_nodes, np.nan)
            # an assignment would fail, because the dataclass is frozen
            vars(self)["_last_weights"] = (weights, largest)
        found: np.ndarray = largest
        return found

    def over(self, labels: np.ndarray) -> LabelTree:
        """Return a copy of the tree in which ``labels[j]`` replaces label j."""
        return replace(
            self, label=np.where(self.label >= 0, labels[self.label], -1).astype(np.int32)
        )

    def _level_ends(self) -> list[int]:
        ends = []
        start = 0
        end = 1
        while start < end:
            ends.append(end)
            start, end = end, int(self.children[end])
        return ends


def complete_tree(labels: np.ndarray, arity: int) -> LabelTree:
    """Return the complete tree with the given labels on its leaves, in breadth-first order.

    Every inner node has ``arity`` children, except the last one, which has at least two.

    Parameters
    ----------
    labels : ndarray of int, shape (m,)
        A permutation of 0 .. m - 1.
    arity : int
        Degree b of the tree, at least 2.

    Returns
    -------
    LabelTree

    Raises
    ------
    XmlcError
        There are no labels, or ``arity`` is below 2.

    See Also
    --------
    random_complete_tree

    Examples
    --------
    >>> import numpy as np
    >>> from xmlc.models.trees import complete_tree
    >>> complete_tree(np.array([2, 0, 1]), arity=2).label.tolist()
    [-1, -1, 2, 0, 1]
    """
    m = labels.size
    if arity < 2:
        raise InvalidParameterError(f"found arity={arity}, expected at least 2 children per node")
    if m == 0:
        raise InvalidDataError("label tree: found no labels, expected at least one")
    n_inner = -(-(m - 1) // (arity - 1))
    n_nodes = n_inner + m
    children = np.minimum(1 + arity * np.arange(n_nodes + 1, dtype=np.int64), n_nodes)
    label = np.full(n_nodes, -1, dtype=np.int32)
    label[n_inner:] = labels
    return LabelTree.from_children(children, label)


def random_complete_tree(m: int, arity: int, seed: int) -> LabelTree:
    """Return a complete tree over labels in random order (plt2016, Section 6).

    Parameters
    ----------
    m : int
        Number of labels.
    arity : int
        Degree b of the tree, at least 2.
    seed : int
        Seed of the order.

    Returns
    -------
    LabelTree

    Raises
    ------
    XmlcError
        As for `complete_tree`.

    See Also
    --------
    complete_tree, xmlc.models.trees.kmeans.kmeans_tree

    Examples
    --------
    >>> from xmlc.models.trees import random_complete_tree
    >>> tree = random_complete_tree(m=3, arity=2, seed=0)
    >>> tree.n_labels, tree.n_nodes
    (3, 5)
    """
    return complete_tree(random_permutation(m, seed, Stream.COMPLETE_TREE, np.int32), arity)
