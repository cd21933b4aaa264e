"""Compute progressive validation, which scores each prediction before the model is trained on the
instance.

The method is by Blum, Kalai and Langford, "Beating the hold-out", COLT 1999. oplt2021 uses the
method in Section 5.2 and Figure 2. A curve has one value for each given number t, computed from the
first t instances of the stream.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels import elementwise
from xmlc.kernels.csr import Matrix, as_labels
from xmlc.kernels.float64 import log
from xmlc.metrics.hits import hits_at_k

POINTS_PER_DECADE = 12


def checkpoints(n: int) -> np.ndarray:
    """Return the numbers of instances t at which a curve has points, from 1 to ``n`` and evenly
    spaced on a log scale.

    Parameters
    ----------
    n : int
        Length of the stream, at least 1.

    Returns
    -------
    ndarray of int64
        Distinct numbers of instances, ascending. Between t and ten times t instances, a curve has
        about `POINTS_PER_DECADE` points.
    """
    # From 1 to n, a curve takes 12 log10(n) steps, rounded up. The code counts the decimal digits
    # of n**12 instead of computing a logarithm, because a computed logarithm has a rounding error.
    steps = 0
    if n > 1:
        steps = len(str(n**POINTS_PER_DECADE - 1))
    return np.unique(
        np.rint(elementwise.exp(np.linspace(0.0, log(float(n)), steps + 1))).astype(np.int64)
    )


def progressive_accuracy(Y: Matrix, labels: np.ndarray, instances: np.ndarray) -> np.ndarray:
    """Return, for each t, the share of the first t instances whose predicted label is true.

    If instances have several labels, the result is precision at 1. Time is linear in the number of
    stored labels.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
        The truth, in the order of the stream.
    labels : ndarray of int32, shape (n, k)
        The ranking of labels for each instance, predicted before a model is trained on the
        instance. The function uses only the first column, the top label. The value -1 counts as a
        wrong label.
    instances : ndarray of int64
        The numbers t of instances, from 1 to n.

    Returns
    -------
    ndarray of float64, shape of ``instances``
    """
    hits, _ = hits_at_k(Y, labels[:, :1], 1)
    return np.cumsum(hits[:, 0], dtype=np.int64)[instances - 1] / instances


def constant_accuracy(Y: Matrix) -> float:
    """Return the accuracy of the best constant prediction, the most frequent label of the stream.

    The label is chosen with knowledge of the whole stream, so no constant prediction is more
    accurate. The same label is predicted for all instances. If the most frequent label of the first
    t instances were chosen for each t, the accuracy at t = 1 would always be 1.
    """
    Y = as_labels(Y)
    return float(np.bincount(Y.indices, minlength=1).max() / max(Y.shape[0], 1))


def entropy_reduction(accuracy: np.ndarray, constant: float) -> np.ndarray:
    """Return log2(accuracy) - log2(constant) in bits (oplt2021, Section 5.2).

    ``constant`` is the result of `constant_accuracy`.

    The result is NaN if the accuracy or ``constant`` is 0, because 0 has no logarithm.
    """
    accuracy = np.asarray(accuracy, dtype=np.float64)
    bits = np.full(accuracy.shape, np.nan)
    if constant > 0:
        right = accuracy > 0
        bits[right] = elementwise.log2(accuracy[right] / constant)
    return bits
