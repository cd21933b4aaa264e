"""Scale rows to Euclidean length 1, with squares summed in a fixed order."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.kernels.csr import CSR, KernelCSR, with_values
from xmlc.kernels.sums import pairwise

NONZEROS_PER_TASK = 1 << 17  # roughly


@njit(error_model="numpy")
def scale_rows(indptr, values, scaled, start, end):
    """Write rows ``start .. end - 1`` to ``scaled``, float32, with length 1 except rows of zeros.

    Like NumPy's ``add.reduceat``, the kernel adds the first square to the `pairwise` sum of the
    others. It reads 4 bytes per non-zero and writes 4.
    """
    longest = 0
    for i in range(start, end):
        longest = max(longest, indptr[i + 1] - indptr[i])
    squares = np.empty(longest)
    for i in range(start, end):
        first = indptr[i]
        last = indptr[i + 1]
        if first < last:
            for p in range(first, last):
                squares[p - first] = np.float64(values[p]) * np.float64(values[p])
            square = squares[0] + pairwise(squares[1 : last - first])
            length = 1.0
            if square > 0:
                length = np.sqrt(square)
            for p in range(first, last):
                scaled[p] = np.float32(np.float64(values[p]) / length)


def unit_rows(X: CSR, n_jobs: int | None = 1) -> CSR:
    """Return the instances scaled to Euclidean length 1, if they have features."""
    n = X.shape[0]
    indptr = np.asarray(X.indptr, dtype=np.int64)
    values = np.asarray(X.data)
    scaled = np.empty(values.size, dtype=np.float32)
    blocks = row_blocks(n, max(1, n * NONZEROS_PER_TASK // max(values.size, 1)))
    run_tasks(scale_rows, [(indptr, values, scaled, *block) for block in blocks], n_jobs)
    return with_values(X, scaled)


def unit_row(x: KernelCSR) -> KernelCSR:
    """Return a matrix with one row, scaled as in `unit_rows`."""
    scaled = np.empty_like(x.data)
    scale_rows(x.indptr, x.data, scaled, 0, 1)
    return KernelCSR(x.indptr, x.indices, scaled)
