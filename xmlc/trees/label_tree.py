"""The one form of a label tree, nodes in breadth-first order; complete trees, and Huffman's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xmlc.errors import XmlcError
from xmlc.gate.arrays import Malformed
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.streams import Stream
from xmlc.runtime.kernel_cache import njit


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


def complete_tree(labels: np.ndarray, arity: int) -> LabelTree:
    """Return the complete ``arity``-ary tree whose leaves, in breadth-first order, carry ``labels``.

    Every inner node has ``arity`` children but for the last one, which has at least two.

    Parameters
    ----------
    labels : ndarray of int, shape (m,)
        A permutation of 0 .. m - 1.
    arity : int
        The degree b of the tree, at least 2.
    """
    m = labels.size
    if arity < 2:
        raise XmlcError(f"arity={arity}: a label tree needs at least 2 children per node")
    if m == 0:
        raise XmlcError("a label tree needs at least one label, found none")
    n_inner = -(-(m - 1) // (arity - 1))
    n_nodes = n_inner + m
    children = np.minimum(1 + arity * np.arange(n_nodes + 1, dtype=np.int64), n_nodes)
    label = np.full(n_nodes, -1, dtype=np.int32)
    label[n_inner:] = labels
    return LabelTree.from_children(children, label)


def random_complete_tree(m: int, arity: int, seed: int) -> LabelTree:
    """Return a complete ``arity``-ary tree over ``m`` labels in random order."""
    return complete_tree(random_permutation(m, seed, Stream.COMPLETE_TREE, np.int32), arity)


def huffman_tree(frequencies: np.ndarray, arity: int) -> LabelTree:
    """Return the ``arity``-ary tree that minimises the sum over labels of frequency times depth.

    With one label per instance, that sum is the number of positive examples of all node classifiers (Huffman, "A
    method for the construction of minimum-redundancy codes", Proceedings of the IRE 1952; Busa-Fekete et al., "On the
    computational complexity of the probabilistic label tree algorithms", 2019); with several it bounds it from above.
    Every inner node has ``arity`` children but for one of the deepest, which has at least two. Takes O(m log m).

    Parameters
    ----------
    frequencies : ndarray of float or int, shape (m,)
        How often each label occurs, at least 0. Ties go to the smaller label, and to labels before merged nodes.
    arity : int
        The degree b of the tree, at least 2.

    Raises
    ------
    XmlcError
        ``arity`` is below 2, or ``frequencies`` is empty, negative or not finite.
    """
    frequencies = np.ascontiguousarray(frequencies, dtype=np.float64)
    if arity < 2:
        raise XmlcError(f"arity={arity}: a label tree needs at least 2 children per node")
    if frequencies.ndim != 1 or frequencies.size == 0:
        raise XmlcError(f"frequencies of shape {frequencies.shape}: expected one number for each of at least one label")
    if not (np.isfinite(frequencies) & (frequencies >= 0)).all():
        raise XmlcError("frequencies must be finite and not negative")
    m = frequencies.size
    if m == 1:
        return LabelTree.from_children(np.array([1, 1]), np.array([0]))
    order = np.argsort(frequencies, kind="stable")
    taken, starts = merge_lightest(order, frequencies, int(arity))
    return LabelTree.from_children(*number_breadth_first(taken, starts, m))


@njit(cache=True, nogil=True)
def merge_lightest(order, frequencies, arity):
    """Merge the lightest nodes, ``arity`` at a time, until one is left.

    Merged nodes come into being in ascending weight, so two queues, leaves and merged nodes, take the place of a
    heap. Of equally light nodes the leaf goes first, then the older: this is also what keeps the tree shallow.

    Parameters
    ----------
    order : int64 (m,)
        Labels by ascending frequency, ties to the smaller label; at least two.
    frequencies : float64 (m,)
    arity : int

    Returns
    -------
    taken : int64 (n_nodes - 1,)
        Nodes in the order in which they were merged; label l is node l, the i-th merged node is m + i.
    starts : int64 (n_merged + 1,)
        Where in ``taken`` the nodes of each merge start.
    """
    m = order.size
    n_merged = (m - 1 + arity - 2) // (arity - 1)
    taken = np.empty(m + n_merged - 1, dtype=np.int64)
    starts = np.zeros(n_merged + 1, dtype=np.int64)
    weights = np.zeros(n_merged, dtype=np.float64)
    next_leaf, next_merged = 0, 0
    # Only the first, lightest merge may have fewer than arity nodes: it is the one that stands deepest.
    width = 2 + (m - 2) % (arity - 1)
    for new in range(n_merged):
        for i in range(starts[new], starts[new] + width):
            leaf_first = next_leaf < m and (next_merged == new or frequencies[order[next_leaf]] <= weights[next_merged])
            if leaf_first:
                taken[i] = order[next_leaf]
                weights[new] += frequencies[order[next_leaf]]
                next_leaf += 1
            else:
                taken[i] = m + next_merged
                weights[new] += weights[next_merged]
                next_merged += 1
        starts[new + 1] = starts[new] + width
        width = arity
    return taken, starts


@njit(cache=True, nogil=True)
def number_breadth_first(taken, starts, m):
    """Number the nodes of `merge_lightest` in breadth-first order.

    Returns
    -------
    children : int64 (n_nodes + 1,), label : int32 (n_nodes,)
        The arrays of `LabelTree`.
    """
    n_nodes = taken.size + 1
    children = np.empty(n_nodes + 1, dtype=np.int64)
    label = np.full(n_nodes, -1, dtype=np.int32)
    queue = np.empty(n_nodes, dtype=np.int64)
    queue[0] = n_nodes - 1  # the last merge is the root
    end = 1
    for node in range(n_nodes):
        children[node] = end
        if queue[node] < m:
            label[node] = queue[node]
        else:
            merge = queue[node] - m
            for i in range(starts[merge], starts[merge + 1]):
                queue[end] = taken[i]
                end += 1
    children[n_nodes] = end
    return children, label
