"""`xmlc progressive`: an online model predicts each instance of a stream, and then learns it."""

from __future__ import annotations

import math
from pathlib import Path

import click
from scipy import sparse

from xmlc.cli.options import SEED, threads_option
from xmlc.core.errors import XmlcError
from xmlc.core.memory import peak_bytes
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.estimator import Hyperparameters
from xmlc.metrics.progressive import (
    checkpoints,
    constant_accuracy,
    entropy_reduction,
    progressive_accuracy,
)
from xmlc.models.abilities import Streaming
from xmlc.models.warm_up import WARM_UP_ROWS
from xmlc.suite.options import (
    data_option,
    estimator_option,
    name_option,
    parameters_option,
    record_option,
)
from xmlc.suite.provenance.environment import cpu_seconds
from xmlc.suite.results.records.progressive import (
    ProgressiveCosts,
    ProgressiveRecord,
    ProgressiveRow,
)
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.run import step_to_train

ProgressiveRows = tuple[ProgressiveRow, ...]


def run_stream(
    model: object, X: sparse.csr_array, Y: sparse.csr_array
) -> tuple[ProgressiveRows, float, float]:
    """Let an online model, which is not fitted, predict and then learn each instance of a stream.

    Returns the scores of the first n instances, for each n in
    `xmlc.metrics.progressive.checkpoints`, the accuracy of the best constant label, and the CPU
    seconds of the model.
    """
    if not isinstance(model, Streaming):
        raise XmlcError(
            f"found {type(model).__name__} without progressive_top_k, expected an online model "
            "such as oplt"
        )
    model.unfitted().progressive_top_k(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS])
    started = cpu_seconds()
    labels, _ = model.unfitted().progressive_top_k(X, Y)
    seconds = cpu_seconds() - started
    instances = checkpoints(X.shape[0])
    constant = constant_accuracy(Y)
    accuracy = progressive_accuracy(Y, labels, instances)
    curve = zip(
        instances.tolist(),
        accuracy.tolist(),
        entropy_reduction(accuracy, constant).tolist(),
        strict=True,
    )
    rows = [
        ProgressiveRow(
            instances=n, accuracy=share, entropy_reduction=None if math.isnan(bits) else bits
        )
        for n, share, bits in curve
    ]
    return tuple(rows), constant, seconds


@click.command(
    help="Score an online model that predicts each instance of a stream, then learns it."
)
@data_option
@estimator_option
@name_option
@parameters_option
@click.option(
    "--seed",
    type=SEED,
    default=0,
    show_default=True,
    help="Seed of the stream's order and of the model.",
)
@threads_option
@record_option
def command(
    data: Path,
    estimator: str,
    name: str,
    parameters: Hyperparameters,
    seed: int,
    threads: int,
    out: Path,
) -> None:
    """Shuffle the training set, run the model on it, and write the record."""
    step, model = step_to_train(
        "progressive", Prepared(data), estimator, name, parameters, seed, threads
    )
    X, Y = step.data.part("train")
    order = random_permutation(X.shape[0], seed, Stream.STREAM_ORDER)
    rows, constant, seconds = run_stream(model, X[order], Y[order])
    costs = ProgressiveCosts(cpu_seconds=seconds, threads=threads, peak_bytes=peak_bytes())
    step.write(ProgressiveRecord, out, constant_accuracy=constant, rows=rows, costs=costs)
