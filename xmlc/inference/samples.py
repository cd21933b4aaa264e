"""Store label sets drawn from a joint distribution, and estimate marginals from the sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, shown
from xmlc.core.kernel_cache import njit
from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.kernels.csr import CSR, as_labels


class Samples(NamedTuple):
    """Label sets drawn from p(Y | x). All instances have the same number of label sets.

    Attributes
    ----------
    Y : boolean CSR, shape (n * n_samples, m)
        Rows from i * n_samples to (i + 1) * n_samples - 1 belong to instance i.
    n_samples : int
        Number of label sets per instance.
    """

    Y: CSR
    n_samples: int


def checked_samples(samples: object) -> Samples:
    """Check samples, and return them in canonical form.

    Raises
    ------
    XmlcError
        The number of rows is not a multiple of the number of samples per instance.
    """
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
    """Return estimates of p(Y_i = 1), the relative frequencies in the samples, as float64 CSR of
    shape (n, m).

    Raises
    ------
    XmlcError
        The number of rows is not a multiple of the number of samples per instance.
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
    """Draw labels one after another, with probabilities that depend on the number of positives
    drawn so far.

    The kernel draws one random number and writes one byte per label.

    Parameters
    ----------
    conditionals : float64 (m, m)
        Row i, column c is p(Y_i = 1 | c of the labels before i are 1).
    seed : int64
        Seed of the random streams.
    first_task : int64
        Instance t uses the random stream (seed, first_task + t).
    drawn : bool (n, n_samples, m)
        Receives the label vectors.
    """
    n, n_samples, m = drawn.shape
    for t in range(n):
        key = stream_key(seed, first_task + t)
        for r in range(n_samples):
            count = 0
            for i in range(m):
                drawn[t, r, i] = random_unit(key, np.int64(r * m + i)) < conditionals[i, count]
                count += drawn[t, r, i]
