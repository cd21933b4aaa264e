"""Complete b-ary label trees (plt2016, Section 6: random complete trees of degree b)."""

from __future__ import annotations

import numpy as np

from xmlc.errors import XmlcError
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.streams import Stream
from xmlc.trees.label_tree import LabelTree


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
