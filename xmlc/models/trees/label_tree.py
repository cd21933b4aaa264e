"""Provide label trees whose nodes are in breadth-first order, and build complete trees."""

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
    """Represent a rooted tree whose leaves are labels (plt2016, Section 5.2).

    Nodes are numbered in breadth-first order from the root, which has number 0. The children of
    node ``t`` have the contiguous numbers ``children[t] .. children[t + 1] - 1``. A leaf has no
    children.

    Attributes
    ----------
    children : ndarray of int64, shape (n_nodes + 1,)
        The number of the first child of each node.
    parent : ndarray of int32, shape (n_nodes,)
        Parent of each node, -1 for the root.
    label : ndarray of int32, shape (n_nodes,)
        Label of each leaf, -1 for an inner node.
    """

    children: np.ndarray
    parent: np.ndarray
    label: np.ndarray

    @classmethod
    def from_children(cls, children: np.ndarray, label: np.ndarray) -> LabelTree:
        """Check the two arrays that define a tree, and build the tree.

        Parameters
        ----------
        children : ndarray of int, shape (n_nodes + 1,)
            The number of the first child of each node.
        label : ndarray of int, shape (n_nodes,)
            Label of each leaf, -1 for an inner node.

        Raises
        ------
        Malformed
            The nodes are not a tree in breadth-first order, a leaf has no label, or two leaves have
            the same label.
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
        """Return the number of nodes, including the root and the leaves."""
        return self.label.size

    @property
    def n_labels(self) -> int:
        """Return the number of labels, which is the number of leaves."""
        return int((self.label >= 0).sum())

    # cached, because computing the degree takes longer than a search for one instance
    @cached_property
    def max_degree(self) -> int:
        """Return the largest number of children of a node."""
        return int(np.diff(self.children).max())

    @property
    def leaf(self) -> np.ndarray:
        """Return the leaf of each label from 0 to the tree's largest label, int32.

        The result for a label without a leaf is -1.
        """
        leaves = np.flatnonzero(self.label >= 0)
        result = np.full(self.label.max() + 1, -1, dtype=np.int32)
        result[self.label[leaves]] = leaves
        return result

    @property
    def depth(self) -> np.ndarray:
        """Return the number of edges from the root to each node, int32, shape (n_nodes,)."""
        level_ends = self._level_ends()
        return np.repeat(np.arange(len(level_ends), dtype=np.int32), np.diff([0, *level_ends]))

    def node_thresholds(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the threshold of each node, given the thresholds of the labels.

        The threshold of a leaf is the threshold of its label. The threshold of an inner node is the
        minimum of its children's thresholds. With node thresholds, one search can use a different
        threshold for each label (plt2016, Section 5.2).

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
        # The loop starts at the deepest level, because the minimum of a node depends on the minima
        # of its children.
        for start, end in reversed(list(pairwise(self._level_ends()))):
            np.minimum.at(result, self.parent[start:end], result[start:end])
        return result

    def largest_below(self, weights: np.ndarray) -> np.ndarray:
        """Return for each node the largest weight of the labels below the node, float64 (n_nodes,).

        The result for a node is NaN if all labels below the node have weight 0. The last result is
        cached, because its computation takes longer than a search. The cache is replaced as a
        whole, so threads may call this at once.

        Parameters
        ----------
        weights : ndarray of float64, shape (m,)
            Weight of each label, at least 0. The caller does not change the array afterwards. If
            the array is empty, labels have no weights, and the result is empty.
        """
        if weights.size == 0:
            return weights
        last, largest = vars(self).get("_last_weights", (None, None))
        if last is None or not np.array_equal(last, weights):
            of_nodes = -self.node_thresholds(-weights)
            largest = np.where(of_nodes > 0, of_nodes, np.nan)
            # An assignment would fail, because the dataclass is frozen.
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
    """Return the complete ``arity``-ary tree whose leaves, in breadth-first order, have the given
    labels.

    Every inner node has ``arity`` children, except the last inner node, which has at least two.

    Parameters
    ----------
    labels : ndarray of int, shape (m,)
        The labels of the leaves, a permutation of 0 .. m - 1.
    arity : int
        Degree b of the tree, at least 2.
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
    """Return a complete ``arity``-ary tree over ``m`` labels in random order."""
    return complete_tree(random_permutation(m, seed, Stream.COMPLETE_TREE, np.int32), arity)
