"""The stream goes through the kernels; where they stop because a tree is full, its arrays grow."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR
from xmlc.models.oplt._learn import learn_rows
from xmlc.models.oplt._thresholds import learn_rows_with_thresholds
from xmlc.models.oplt.tree import OnlineTree, Settings, grown
from xmlc.runtime.progress import Progress

INSTANCES_PER_CALL = 8192  # between two signs of progress


def learn(
    tree: OnlineTree, x: KernelCSR, y: KernelCSR, order: np.ndarray, settings: Settings, k: int, title: str
) -> tuple[OnlineTree, np.ndarray, np.ndarray]:
    """Learn rows one by one, in the given order, and rank the k best labels of each before it is learned.

    Returns
    -------
    tree : OnlineTree
        Changed, and longer where it had to be.
    ranking : ndarray of int32, shape (order.size, k)
    estimates : ndarray of float32, shape (order.size, k)
    """
    ranking, estimates = np.empty((order.size, k), dtype=np.int32), np.empty((order.size, k), dtype=np.float32)
    longest = int(np.diff(x.indptr).max(initial=0))
    with Progress(float(order.size), title, "instances") as progress:
        for first in range(0, order.size, INSTANCES_PER_CALL):
            part = slice(first, first + INSTANCES_PER_CALL)
            rows, start, ranked, found = order[part], 0, 0, (ranking[part], estimates[part])
            while start < rows.size:
                start, ranked = learn_rows(x, y, rows, start, ranked, tree, settings, longest, *found)
                if start < rows.size:
                    tree = grown(tree)
            progress.update(rows.size)
    return tree, ranking, estimates


def learn_with_thresholds(
    tree: OnlineTree, x: KernelCSR, y: KernelCSR, settings: Settings, hits: np.ndarray, sizes: np.ndarray
) -> tuple[OnlineTree, sparse.csr_array]:
    """Learn rows one by one and predict each one's label set before; OFO's sums ``hits`` and ``sizes`` learn too.

    Returns
    -------
    tree : OnlineTree
        Changed, and longer where it had to be.
    sets : csr_array of bool, shape (rows, hits.size)
    """
    order = np.arange(x.indptr.size - 1)
    counts, found = np.zeros(order.size, dtype=np.int64), [np.zeros(0, dtype=np.int32)]
    longest, start, predicted = int(np.diff(x.indptr).max(initial=0)), 0, 0
    while start < order.size:
        start, predicted, sets = learn_rows_with_thresholds(
            x, y, order, start, predicted, tree, settings, longest, hits, sizes, counts
        )
        found.append(sets)
        if start < order.size:
            tree = grown(tree)
    labels, indptr = np.concatenate(found), np.concatenate(([0], np.cumsum(counts)))
    result = sparse.csr_array((np.ones(labels.size, dtype=bool), labels, indptr), shape=(order.size, hits.size))
    result.sort_indices()
    return tree, result
