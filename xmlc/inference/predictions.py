"""The frame that all methods share: blocks of instances in, label sets and their expected F-measures out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.inference.distributions import as_marginals
from xmlc.runtime.parallel import row_blocks, run_pieces

ROWS_PER_PIECE = 64


def predict_blocks(
    predict: Callable[[int, int], tuple[np.ndarray, np.ndarray, np.ndarray]],
    shape: tuple[int, int],
    n_jobs: int | None,
    rows_per_piece: int = ROWS_PER_PIECE,
) -> tuple[sparse.csr_array, np.ndarray]:
    """Run ``predict(start, end)`` over blocks of instances and join the results.

    Parameters
    ----------
    predict : callable
        Returns the labels of the sets, uint32, instance after instance, in any order within one; their numbers, int64;
        and the expected F-measures, float64.
    shape : (n, m)
    n_jobs : int or None
        Threads; the blocks do not depend on it.
    rows_per_piece : int

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)
    """
    results = run_pieces(predict, row_blocks(shape[0], rows_per_piece), n_jobs)
    parts = zip(*results) if results else ((), (), ())
    kept, counts, values = (_joined(part, dtype) for part, dtype in zip(parts, (np.uint32, np.int64, np.float64)))
    indptr = np.concatenate(([0], np.cumsum(counts)))
    # With both index arrays of one type scipy keeps them as they are.
    indptr = indptr.astype(np.int32 if indptr[-1] < 2**31 else np.int64)
    Y_hat = sparse.csr_array((np.ones(kept.size, dtype=bool), kept.view(np.int32), indptr), shape=shape)
    Y_hat.has_sorted_indices = False
    Y_hat.sort_indices()
    Y_hat.has_canonical_format = True
    return Y_hat, values


def _joined(parts: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *parts])


def predict_from_marginals(
    kernel: Callable[..., np.ndarray],
    marginals: object,
    n_jobs: int | None,
    *arguments: Any,
    rows_per_piece: int = ROWS_PER_PIECE,
) -> tuple[sparse.csr_array, np.ndarray]:
    """Run ``kernel(indptr, labels, marginals, *arguments, counts, values)`` over blocks; see `predict_blocks`.

    The kernel is given one block of instances as CSR, its first entry at 0, marginals in float64 and above 0; it
    returns the labels of the sets and writes the rest.
    """
    p = as_marginals(marginals)

    def predict(start: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, last = p.indptr[start], p.indptr[end]
        counts, values = np.empty(end - start, dtype=np.int64), np.empty(end - start)
        block = p.indptr[start : end + 1].astype(np.int64) - first
        labels = p.indices[first:last].astype(np.int32).view(np.uint32)
        kept = kernel(block, labels, p.data[first:last].astype(np.float64), *arguments, counts, values)
        return kept, counts, values

    return predict_blocks(predict, p.shape, n_jobs, rows_per_piece)
