"""Linear functions of sparse instances, and the variances of their features: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def linear_scores(indptr, indices, data, weights, constants):
    """Return the scores of all labels, float64 (n, m), each summed in the order of the instance's features.

    Reads 4 bytes per non-zero and label, one row of ``weights`` for each non-zero.

    Parameters
    ----------
    indptr : int64 (n + 1,), indices : uint32, data : float32
        Instances in CSR.
    weights : float32 (d, m)
    constants : float32 (m,)
    """
    n, m = indptr.size - 1, constants.size
    scores = np.empty((n, m))
    for i in range(n):
        row = scores[i]
        row[:] = constants
        for place in range(indptr[i], indptr[i + 1]):
            value, weights_of = np.float64(data[place]), weights[indices[place]]
            for j in range(m):
                row[j] += value * np.float64(weights_of[j])
    return scores


@njit(cache=True, nogil=True, error_model="numpy")
def column_variances(columns, data, n, d):
    """Return the variance of each column, with divisor n - 1, and the mean of its squares, float64 (d,).

    Parameters
    ----------
    columns : uint32, data : float64
        Column and value of each non-zero.
    n, d : int
        Shape of the matrix.
    """
    counts, means, squares, variances = np.zeros(d, dtype=np.int64), np.zeros(d), np.zeros(d), np.zeros(d)
    for place in range(data.size):
        column = columns[place]
        counts[column] += 1
        means[column] += data[place]
        squares[column] += data[place] * data[place]
    means /= n
    squares /= n
    for place in range(data.size):
        deviation = data[place] - means[columns[place]]
        variances[columns[place]] += deviation * deviation
    # What is not stored is 0.
    variances += (n - counts) * means * means
    return variances / max(n - 1, 1), squares
