"""Progressive validation, which scores each prediction before the model learns the instance.

The method is by Blum, Kalai and Langford, "Beating the hold-out", COLT 1999, and oplt2021 uses it
in Section 5.2 and Figure 2. A curve has one value for each number t, computed from the first t
instances of the stream.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels import elementwise
from xmlc.kernels.csr import Matrix, as_labels
from xmlc.kernels.float64 import log
from xmlc.metrics.hits import hits_at_k

POINTS_PER_DECADE = 12


def checkpoints(n: int) -> np.ndarray:
    """Return the numbers of instances at which a curve has points, evenly spaced on a log scale.

    They are distinct and ascend from 1 to ``n``, the length of the stream, with about
    `POINTS_PER_DECADE` between t and ten times t. The dtype is int64.
    """
    # 12 log10(n) steps, rounded up: the digits of n**12, which have no rounding error
    steps = 0
    if n > 1:
        steps = len(str(n**POINTS_PER_DECADE - 1))
    return np.unique(
        np.rint(elementwise.exp(np.linspace(0.0, log(float(n)), steps + 1))).astype(np.int64)
    )


def progressive_accuracy(Y: Matrix, labels: np.ndarray, instances: np.ndarray) -> np.ndarray:
    """Return, for each t, the share of the first t instances whose predicted label is true.

    If instances have several labels, this is precision at 1. Time is linear in the number of stored
    labels. The labels were ranked before a model was trained on the instance, and only the first
    column counts, in which -1 is wrong. ``Y`` is in the order of the stream, and ``instances`` are
    the numbers t, from 1 to n.
    """
    hits, _ = hits_at_k(Y, labels[:, :1], 1)
    return np.cumsum(hits[:, 0], dtype=np.int64)[instances - 1] / instances


def constant_accuracy(Y: Matrix) -> float:
    """Return the accuracy of the best constant prediction, the most frequent label of the stream.

    It is chosen with knowledge of the whole stream. If it were chosen from the first t instances
    for each t, the accuracy at t = 1 would always be 1.
    """
    Y = as_labels(Y)
    return float(np.bincount(Y.indices, minlength=1).max() / max(Y.shape[0], 1))


def entropy_reduction(accuracy: np.ndarray, constant: float) -> np.ndarray:
    """Return log2(accuracy) - log2(constant) in bits (oplt2021, Section 5.2), or NaN for 0.

    ``constant`` is the result of `constant_accuracy`.
    """
    accuracy = np.asarray(accuracy, dtype=np.float64)
    bits = np.full(accuracy.shape, np.nan)
    if constant > 0:
        right = accuracy > 0
        bits[right] = elementwise.log2(accuracy[right] / constant)
    return bits
