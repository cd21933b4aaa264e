"""Label sets drawn from a joint distribution, and marginals estimated from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, shown
from xmlc.core.kernel_cache import njit
from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.kernels.csr import CSR, as_labels


class Samples(NamedTuple):
    """Label sets drawn from p(Y | x), equally many for each instance.

    Attributes
    ----------
    Y : boolean CSR, shape (n * n_samples, m)
        Rows from i * n_samples to (i + 1) * n_samples - 1 belong to instance i.
    n_samples : int
        Number of label sets per instance.

    See Also
    --------
    LabelsBySize : A joint distribution as a full matrix.

    Examples
    --------
    >>> from xmlc.inference import Samples, gfm
    >>> samples = Samples([[1, 0], [1, 1], [0, 0], [0, 1]], n_samples=2)
    >>> gfm(samples)[0].toarray().astype(int).tolist()
    [[1, 0], [0, 0]]
    """

    Y: CSR
    n_samples: int


def checked_samples(samples: object) -> Samples:
    """Return samples in canonical form, or raise an `XmlcError` if ``n_samples`` is wrong."""
    if not isinstance(samples, Samples):
        said = (
            "expected Samples(Y, n_samples): the samples of all instances, and the number per "
            "instance"
        )
        raise InvalidDataError(f"samples: found {shown(samples)}, {said}")
    Y = as_labels(samples.Y)
    n_samples = int(samples.n_samples)
    if n_samples < 1 or Y.shape[0] % n_samples:
        said = f"found n_samples={n_samples} for {Y.shape[0]} rows"
        raise InvalidDataError(
            f"samples: {said}, expected a number of samples per instance that divides the rows"
        )
    return Samples(Y, n_samples)


def marginals_of(samples: Samples) -> CSR:
    """Return the relative frequencies of labels in the samples as float64 CSR of shape (n, m).

    Parameters
    ----------
    samples : Samples

    Returns
    -------
    csr_array of float64, shape (n, m)

    Raises
    ------
    XmlcError
        If the number of rows is not a multiple of the number of samples per instance.

    See Also
    --------
    gfm : Uses the joint distribution itself.

    Examples
    --------
    >>> from xmlc.inference import Samples, marginals_of
    >>> marginals_of(Samples([[1, 0], [1, 1], [0, 0], [0, 1]], n_samples=2)).toarray()
    array([[1. , 0.5],
           [0. , 0.5]])
    """
    Y, n_samples = checked_samples(samples)
    rows = np.arange(Y.shape[0])
    starts = np.arange(0, Y.shape[0] + 1, n_samples)
    of_instances = sparse.csr_array(
        (np.ones(rows.size), rows, starts), shape=(starts.size - 1, rows.size)
    )
    counts = sparse.csr_array(of_instances @ Y.astype(np.float64))
    counts.sort_indices()
    counts.data /= n_samples
    return counts


@njit
def draw_chains(conditionals, seed, first_task, drawn):
    """Draw labels one after another, with probabilities that depend on the positives drawn so far.

    Row i, column c of ``conditionals``, float64 (m, m), is p(Y_i = 1 | c of the labels before i are
    1). Instance t uses the random stream (seed, first_task + t), and ``drawn``, bool (n, n_samples,
    m), receives the labels. Each takes one random number.
    """
    n, n_samples, m = drawn.shape
    for t in range(n):
        key = stream_key(seed, first_task + t)
        for r in range(n_samples):
            count = 0
            for i in range(m):
                drawn[t, r, i] = random_unit(key, np.int64(r * m + i)) < conditionals[i, count]
                count += drawn[t, r, i]
