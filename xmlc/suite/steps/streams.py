"""Progressive validation of an online model: each instance of a shuffled stream is predicted before it is learned."""

from __future__ import annotations

import math

from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.passport import WARM_UP_ROWS, cpu_seconds
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.streams import Stream
from xmlc.metrics.progressive import checkpoints, constant_accuracy, entropy_reduction, progressive_accuracy
from xmlc.models.abilities import Streaming
from xmlc.suite.results.records.progressive import ProgressiveRow
from xmlc.suite.steps.prepared import Prepared

Rows = tuple[ProgressiveRow, ...]


def shuffled_stream(prepared: Prepared, seed: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the training set, X and Y, in an order drawn from the seed."""
    X, Y = prepared.part("train")
    order = random_permutation(X.shape[0], seed, Stream.STREAM_ORDER)
    return X[order], Y[order]


def run_stream(model: object, X: sparse.csr_array, Y: sparse.csr_array) -> tuple[Rows, float, float]:
    """Predict, then learn, instance by instance.

    Parameters
    ----------
    model : Streaming
        Not fitted.
    X : csr_array, shape (n, d)
    Y : boolean csr_array, shape (n, m)
        The stream, in its order.

    Returns
    -------
    rows : tuple of ProgressiveRow
        For each of `xmlc.metrics.progressive.checkpoints`.
    constant_accuracy, cpu_seconds : float
        Accuracy of the constant predictor, and what the stream took.

    Raises
    ------
    XmlcError
        The model learns no stream.
    """
    if not isinstance(model, Streaming):
        raise XmlcError(f"{type(model).__name__} learns no stream: it has no progressive_top_k; take oplt, say")
    model.unfitted().progressive_top_k(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS])
    started = cpu_seconds()
    labels, _ = model.unfitted().progressive_top_k(X, Y)
    seconds, instances, constant = cpu_seconds() - started, checkpoints(X.shape[0]), constant_accuracy(Y)
    accuracy = progressive_accuracy(Y, labels, instances)
    curve = zip(instances.tolist(), accuracy.tolist(), entropy_reduction(accuracy, constant).tolist(), strict=True)
    rows = [
        ProgressiveRow(instances=n, accuracy=share, entropy_reduction=None if math.isnan(bits) else bits)
        for n, share, bits in curve
    ]
    return tuple(rows), constant, seconds
