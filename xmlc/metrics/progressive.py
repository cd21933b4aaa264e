"""Progressive validation: scores of the prediction for each instance of a stream before it is learned.

Blum, Kalai and Langford, "Beating the hold-out", COLT 1999; oplt2021, Section 5.2 and Figure 2. Every function takes
the stream in its order and gives a curve: the value of its first t instances for each given t.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels import elementwise
from xmlc.kernels.csr import Matrix, as_labels
from xmlc.kernels.float64 import log
from xmlc.metrics.ranking import hits_at_k

POINTS_PER_DECADE = 12


def checkpoints(n: int) -> np.ndarray:
    """Return numbers of instances at equal distances on a logarithmic scale, from 1 to ``n``.

    Parameters
    ----------
    n : int
        Length of the stream, at least 1.

    Returns
    -------
    ndarray of int64
        Ascending, each once; at most `POINTS_PER_DECADE` between a number and ten times it.
    """
    # The least whole number of at least 12 log10(n), from the digits of n**12: no logarithm is to be rounded.
    steps = len(str(n**POINTS_PER_DECADE - 1)) if n > 1 else 0
    points = elementwise.exp(np.linspace(0.0, log(float(n)), steps + 1))
    return np.unique(np.rint(points).astype(np.int64))


def progressive_accuracy(Y: Matrix, labels: np.ndarray, instances: np.ndarray) -> np.ndarray:
    """Return the share of the first t instances of which the predicted label is a true one.

    For instances with several labels it is precision at 1. Linear in the stored labels.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
        The truth, in the order of the stream.
    labels : ndarray of int32, shape (n, k)
        The ranking of each instance before it was learned; the first column counts, -1 is never right.
    instances : ndarray of int64
        The numbers t, of 1 .. n.

    Returns
    -------
    ndarray of float64, shape of ``instances``
    """
    hits, _ = hits_at_k(Y, labels[:, :1], 1)
    return np.cumsum(hits[:, 0], dtype=np.int64)[instances - 1] / instances


def constant_accuracy(Y: Matrix) -> float:
    """Return the accuracy of the best constant predictor over a whole stream: the share of its most frequent label.

    It is chosen with hindsight, so that no constant prediction does better, and it is one number for the whole stream:
    a constant that is chosen anew at each t would be right about the first instance of any stream.
    """
    Y = as_labels(Y)
    return float(np.bincount(Y.indices, minlength=1).max() / max(Y.shape[0], 1))


def entropy_reduction(accuracy: np.ndarray, constant: float) -> np.ndarray:
    """Return log2(accuracy) - log2(accuracy of the constant predictor), in bits (oplt2021, Section 5.2).

    NaN where nothing was right yet, of which there is no logarithm.
    """
    accuracy = np.asarray(accuracy, dtype=np.float64)
    bits = np.full(accuracy.shape, np.nan)
    if constant > 0:
        right = accuracy > 0
        bits[right] = elementwise.log2(accuracy[right] / constant)
    return bits
