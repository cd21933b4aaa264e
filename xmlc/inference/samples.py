"""Store label sets drawn from a joint distribution, and estimate marginals from the sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.errors import InvalidDataError, shown
from xmlc.core.kernel_cache import njit
from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.kernels.csr import CSR, as_labels, stack_estimates


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
        said = "expected Samples(Y, n_samples): the samples of all instances, and the number per instance"
        raise InvalidDataError(f"samples: found {shown(samples)}, {said}")
    Y = as_labels(samples.Y)
    n_samples = int(samples.n_samples)
    if n_samples < 1 or Y.shape[0] % n_samples:
        said = f"found n_samples={n_samples} for {Y.shape[0]} rows"
        raise InvalidDataError(f"samples: {said}, expected a number of samples per instance that divides the rows")
    return Samples(Y, n_samples)


def marginals_of(samples: Samples) -> CSR:
    """Return estimates of p(Y_i = 1), the relative frequencies in the samples, as float64 CSR of shape (n, m).

    Raises
    ------
    XmlcError
        The number of rows is not a multiple of the number of samples per instance.
    """
    Y, n_samples = checked_samples(samples)
    labels = Y.indices.astype(np.int32, copy=False).view(np.uint32)
    starts, ids, counts = count_labels(Y.indptr.astype(np.int64), labels, Y.shape[1], n_samples)
    return stack_estimates(np.diff(starts), ids.view(np.int32), counts / n_samples, Y.shape[1])


@njit
def count_labels(indptr, labels, m, n_samples):
    """Count the samples of each instance that contain each label, in one pass that reads 8 bytes per entry.

    Parameters
    ----------
    indptr : int64 (n * n_samples + 1,)
        Start of each sample in ``labels``, from 0 on.
    labels : uint32
        Label ids, sample by sample.
    m : int
        Number of labels.
    n_samples : int
        Samples per instance.

    Returns
    -------
    starts : int64 (n + 1,)
        Start of each instance in ``ids``.
    ids : uint32
        Labels of each instance in the order of their first occurrence.
    counts : float64
        For each entry of ``ids``, number of samples of the instance that contain the label.
    """
    starts = np.zeros((indptr.size - 1) // n_samples + 1, dtype=np.int64)
    ids = np.empty(labels.size, dtype=np.uint32)
    counts = np.empty(labels.size)
    place = np.full(m, -1)
    end = 0
    for i in range(starts.size - 1):
        for e in range(indptr[i * n_samples], indptr[(i + 1) * n_samples]):
            if place[labels[e]] < starts[i]:  # No earlier sample of instance i has this label.
                place[labels[e]] = end
                ids[end] = labels[e]
                counts[end] = 0.0
                end += 1
            counts[place[labels[e]]] += 1.0
        starts[i + 1] = end
    return starts, ids[:end], counts[:end]


@njit
def draw_chains(conditionals, seed, first_task, drawn):
    """Draw labels one after another, with probabilities that depend on the number of positives drawn so far.

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
