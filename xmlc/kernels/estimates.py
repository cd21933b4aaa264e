"""Sparse probability estimates (SPE): how they are assembled and ranked."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def stack_estimates(counts: np.ndarray, labels: np.ndarray, estimates: np.ndarray, n_labels: int) -> sparse.csr_array:
    """Assemble an SPE from the labels found per instance, instance after instance, in any order within one."""
    indptr = np.concatenate(([0], np.cumsum(counts)))
    spe = sparse.csr_array((estimates, labels, indptr), shape=(counts.size, n_labels))
    spe.sort_indices()
    return spe


def top_k_of(spe: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rank the stored estimates of each instance.

    Returns
    -------
    labels : ndarray of int32, shape (n, k)
        Best first, ties to the smaller label; -1 where there are fewer than k estimates.
    scores : ndarray of float32, shape (n, k)
        0 where there is no label.
    """
    rows = np.repeat(np.arange(spe.shape[0]), np.diff(spe.indptr))
    order = np.lexsort((spe.indices, -spe.data, rows))
    rank = np.arange(spe.nnz) - spe.indptr[rows]
    best = rank < k
    labels = np.full((spe.shape[0], k), -1, dtype=np.int32)
    scores = np.zeros((spe.shape[0], k), dtype=np.float32)
    labels[rows[best], rank[best]] = spe.indices[order[best]]
    scores[rows[best], rank[best]] = spe.data[order[best]]
    return labels, scores
