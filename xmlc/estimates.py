"""Estimates of models: sparse probability estimates (SPE), and label sets drawn from a joint distribution.

Here is their canonical form, and how an SPE is assembled and ranked. Kernels are imported where something is computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.csr import as_csr, as_labels, with_values, without_zeros
from xmlc.errors import InvalidDataError, XmlcError

ROUNDING = 1e-6  # by which the sigmoid of a float32 may exceed 1


def as_estimates(spe: Any, dtype: type = np.float32, name: str = "the SPE") -> sparse.csr_array:
    """Return estimates as a canonical CSR array with values in (0, 1], without copying one that is so already.

    Stored zeros are dropped, as they come from dense matrices; what exceeds 1 by rounding becomes 1.

    Parameters
    ----------
    spe : sparse matrix or array-like, shape (n, m)
    dtype : type
        float32 or float64.
    name : str
        What messages call it.

    Raises
    ------
    InvalidDataError
        It is not two-dimensional, its index arrays lead out of it, or a value is no probability.
    """
    result = without_zeros(as_csr(spe, dtype, name))
    check_probabilities(result.data, name, 1 + ROUNDING)
    return with_values(result, np.minimum(result.data, 1)) if result.nnz and result.data.max() > 1 else result


def check_probabilities(values: np.ndarray, name: str, most: float = 1.0) -> None:
    """Refuse values that are NaN, negative or above ``most``."""
    if values.size and not (values.min() >= 0 and values.max() <= most):
        wrong = values[~((values >= 0) & (values <= most))].flat[0]
        raise InvalidDataError(
            f"{name} holds {wrong}; expected probabilities in 0 .. 1: apply a sigmoid to scores or logits"
        )


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


class Samples(NamedTuple):
    """Label sets drawn from p(Y | x), as many for each instance.

    Attributes
    ----------
    Y : boolean CSR, shape (n * n_samples, m)
        Rows i * n_samples .. (i + 1) * n_samples - 1 belong to instance i.
    n_samples : int
    """

    Y: sparse.csr_array
    n_samples: int


def checked_samples(samples: Samples) -> Samples:
    """Return samples in canonical form.

    Raises
    ------
    XmlcError
        The number of rows is no multiple of the number of samples per instance.
    """
    Y, n_samples = as_labels(samples.Y), int(samples.n_samples)
    if n_samples < 1 or Y.shape[0] % n_samples:
        raise XmlcError(
            f"{Y.shape[0]} rows of samples at {n_samples} per instance: expected a positive number of samples that "
            "divides the rows; give n_samples as it was drawn"
        )
    return Samples(Y, n_samples)


def marginals_of(samples: Samples) -> sparse.csr_array:
    """Estimate p(Y_i = 1) by the relative frequencies in the samples: float64 CSR, shape (n, m).

    Raises
    ------
    XmlcError
        The number of rows is no multiple of the number of samples per instance.
    """
    from xmlc.kernels.sums import count_labels

    Y, n_samples = checked_samples(samples)
    labels = Y.indices.astype(np.int32, copy=False).view(np.uint32)
    starts, ids, counts = count_labels(Y.indptr.astype(np.int64), labels, Y.shape[1], n_samples)
    starts = starts.astype(np.int32 if starts[-1] < 2**31 else np.int64)
    shape = Y.shape[0] // n_samples, Y.shape[1]
    means = sparse.csr_array((counts / n_samples, ids.view(np.int32), starts), shape=shape)
    means.has_sorted_indices = False
    means.sort_indices()
    means.has_canonical_format = True
    return means
