"""How many pairs of a non-zero and a node classifier training and prediction of a PLT touch."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.csr import kernel_csr
from xmlc.models.plt.training import Reach, reach_of
from xmlc.trees import LabelTree


def training_reach(X: sparse.csr_array, Y: sparse.csr_array, tree: LabelTree) -> Reach:
    """Return which instances reach which nodes, in the order of the rows."""
    return reach_of(kernel_csr(Y), tree, np.arange(X.shape[0], dtype=np.int64))


def block_degrees(tree: LabelTree) -> np.ndarray:
    """Return how many classifiers each block holds: 1 for the root's, for node t + 1 the children of node t."""
    return np.concatenate(([1], np.diff(tree.children)))


def training_pairs(X: sparse.csr_array, Y: sparse.csr_array, tree: LabelTree) -> int:
    """Count the pairs (non-zero, node) of a pass: the non-zeros of an instance for each node classifier it trains."""
    reach = training_reach(X, Y, tree)
    nonzeros = np.concatenate(([0], np.cumsum(np.diff(X.indptr)[reach.block_positions])))
    return int(np.diff(nonzeros[reach.block_starts]) @ block_degrees(tree))
