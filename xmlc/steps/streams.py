"""Progressive validation of an online model: each instance of a shuffled stream is predicted before it is learned."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.passport import WARM_UP_ROWS, cpu_seconds
from xmlc.data.prepared import Prepared
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.streams import Stream
from xmlc.metrics.progressive import (
    checkpoints,
    constant_accuracy,
    entropy_reduction,
    progressive_accuracy,
    progressive_macro_f,
)
from xmlc.models.abilities import Streaming, StreamsSets
from xmlc.records.progressive import ProgressiveRow

FIRST, STEP = 1.0, 20.0  # OFO's a and b before the first instance (plt2016, Section 4.3)


@dataclass(frozen=True)
class Progressed:
    """Correct predictions on a stream, and the costs of learning it.

    Attributes
    ----------
    rows : tuple of ProgressiveRow
        For each of `xmlc.metrics.progressive.checkpoints`.
    constant_accuracy : float
        Of the constant predictor.
    cpu_seconds : float
        Of the run that ranks.
    sets_cpu_seconds : float or None
        Of the run that predicts sets, where there is one.
    """

    rows: tuple[ProgressiveRow, ...]
    constant_accuracy: float
    cpu_seconds: float
    sets_cpu_seconds: float | None


def shuffled_stream(prepared: Prepared, seed: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the training set, X and Y, in an order drawn from the seed."""
    X, Y = prepared.part("train")
    order = random_permutation(X.shape[0], seed, Stream.STREAM_ORDER)
    return X[order], Y[order]


def run_stream(model: object, X: sparse.csr_array, Y: sparse.csr_array) -> Progressed:
    """Predict, then learn, instance by instance; where instances have several labels, sets of labels too.

    The sets are those of OFO, which runs together with a training of its own; a model that is no
    `xmlc.models.abilities.StreamsSets` has none.

    Parameters
    ----------
    model : Streaming
        Not fitted.
    X : csr_array, shape (n, d)
    Y : boolean csr_array, shape (n, m)
        The stream, in its order.

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
    curves = [accuracy, entropy_reduction(accuracy, constant)]
    sets_seconds = None
    if isinstance(model, StreamsSets) and Y.nnz != Y.shape[0]:
        sets, sets_seconds = _timed_sets(model, X, Y)
        curves += [progressive_macro_f(Y, sets, instances, average) for average in ("all", "present")]
    else:
        curves += [np.full(instances.size, np.nan)] * 2
    rows = [
        ProgressiveRow(**dict(zip(ProgressiveRow.__dataclass_fields__, numbers, strict=True)))
        for numbers in zip(instances.tolist(), *map(_known, curves), strict=True)
    ]
    return Progressed(tuple(rows), constant, seconds, sets_seconds)


def _timed_sets(model: StreamsSets, X: sparse.csr_array, Y: sparse.csr_array) -> tuple[sparse.csr_array, float]:
    """Predict a set of labels before each instance; return them and the CPU seconds without compilation."""
    model.unfitted().progressive_sets(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS], a=FIRST, b=STEP)
    started = cpu_seconds()
    sets = model.unfitted().progressive_sets(X, Y, a=FIRST, b=STEP)
    return sets, cpu_seconds() - started


def _known(values: np.ndarray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
