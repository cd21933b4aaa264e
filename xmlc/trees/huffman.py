"""Huffman label trees: frequent labels near the root."""

from __future__ import annotations

import numpy as np

from xmlc.errors import XmlcError
from xmlc.trees._huffman import merge_lightest, number_breadth_first
from xmlc.trees.label_tree import LabelTree


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
