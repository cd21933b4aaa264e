"""The one form of a label tree: nodes in breadth-first order, described by three arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xmlc.gate.arrays import Malformed


@dataclass(frozen=True)
class LabelTree:
    """A rooted tree whose leaves are the labels (plt2016, Section 5.2).

    Nodes are numbered in breadth-first order, the root is 0. The children of node ``t`` are therefore the
    contiguous numbers ``children[t] .. children[t + 1] - 1``, and a leaf has none.

    Attributes
    ----------
    children : ndarray of int64, shape (n_nodes + 1,)
        Number of the first child of each node.
    parent : ndarray of int32, shape (n_nodes,)
        Parent of each node; -1 for the root.
    label : ndarray of int32, shape (n_nodes,)
        Label of each leaf; -1 for an inner node.
    """

    children: np.ndarray
    parent: np.ndarray
    label: np.ndarray

    @classmethod
    def from_children(cls, children: np.ndarray, label: np.ndarray) -> LabelTree:
        """Build a tree from the two arrays that determine it, and check them.

        Raises
        ------
        Malformed
            The arrays are not a tree in breadth-first order whose leaves carry each label exactly once.
        """
        children = np.asarray(children, dtype=np.int64)
        label = np.asarray(label, dtype=np.int32)
        n_nodes = label.size
        degree = np.diff(children)
        if children.size != n_nodes + 1 or n_nodes == 0 or children[0] != 1 or children[-1] != n_nodes:
            raise Malformed("children", "not a label tree: children must run from 1 to the number of nodes")
        if (degree < 0).any() or (children[:-1] <= np.arange(n_nodes)).any():
            raise Malformed("children", "not a label tree: nodes are not in breadth-first order")
        leaves = degree == 0
        if (label[~leaves] != -1).any() or not np.array_equal(np.sort(label[leaves]), np.arange(leaves.sum())):
            raise Malformed("label", "not a label tree: the leaves must carry each label exactly once")
        parent = np.empty(n_nodes, dtype=np.int32)
        parent[0] = -1
        parent[1:] = np.repeat(np.arange(n_nodes, dtype=np.int32), degree)
        return cls(children, parent, label)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, the root and the leaves included."""
        return self.label.size

    @property
    def n_labels(self) -> int:
        """Number of labels, that is of leaves."""
        return int((self.label >= 0).sum())

    @property
    def leaf(self) -> np.ndarray:
        """Leaf of each label, int32, shape (m,)."""
        leaves = np.flatnonzero(self.label >= 0)
        result = np.empty(leaves.size, dtype=np.int32)
        result[self.label[leaves]] = leaves
        return result

    @property
    def depth(self) -> np.ndarray:
        """Number of edges from the root to each node, int32, shape (n_nodes,)."""
        level_ends = self._level_ends()
        return np.repeat(np.arange(len(level_ends), dtype=np.int32), np.diff([0, *level_ends]))

    def node_thresholds(self, thresholds: np.ndarray) -> np.ndarray:
        """Threshold of each node: a leaf's own, an inner node's the minimum of its children's.

        plt2016, Section 5.2: with them one search serves a different threshold for each label.

        Parameters
        ----------
        thresholds : ndarray of float32, shape (m,)

        Returns
        -------
        ndarray of float32, shape (n_nodes,)
        """
        result = np.full(self.n_nodes, np.inf, dtype=np.float32)
        leaves = self.label >= 0
        result[leaves] = thresholds[self.label[leaves]]
        inner = np.flatnonzero(~leaves)
        if inner.size == 0:
            return result
        # Children of consecutive inner nodes lie side by side, so one level is one segmented minimum;
        # levels are taken from the deepest, because a minimum needs its children's minima first.
        level_ends = self._level_ends()
        for start, end in reversed(list(zip([0, *level_ends[:-1]], level_ends))):
            level = inner[np.searchsorted(inner, start) : np.searchsorted(inner, end)]
            if level.size:
                result[level] = np.minimum.reduceat(result, self.children[level])
                last = level[-1]
                result[last] = result[self.children[last] : self.children[last + 1]].min()
        return result

    def _level_ends(self) -> list[int]:
        ends, start, end = [], 0, 1
        while start < end:
            ends.append(end)
            start, end = end, int(self.children[end])
        return ends
