"""Label sets drawn from a model's joint distribution of the labels: what models give and inference takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from xmlc.csr import as_labels
from xmlc.errors import XmlcError
from xmlc.kernels.sample_counts import count_labels


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
