"""`xmlc progressive`: a model on a shuffled stream, each instance predicted before it is learned."""

from __future__ import annotations

import csv
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, Self

import click
import numpy as np
from scipy import sparse

from xmlc.cli._options import FILE, data_option, parse_parameters, threads_option
from xmlc.cli._steps import dataset_of
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.files import atomic_file, write_json
from xmlc.kernels.counter_random import random_permutation
from xmlc.metrics.progressive import (
    checkpoints,
    constant_accuracy,
    entropy_reduction,
    progressive_accuracy,
    progressive_macro_f,
)
from xmlc.models.registry import make_estimator
from xmlc.passport import WARM_UP_ROWS, cpu_seconds, passport, peak_bytes, step_costs

STREAM = 0x0F10  # of random numbers: the order of the instances
FIRST, STEP = 1.0, 20.0  # OFO's a and b before the first instance (plt2016, Section 4.3)


@click.command(help="Predict each instance of the shuffled training set, then learn it; write the curve.")
@data_option
@click.option("--estimator", required=True, help="Name, or path/to/file.py:ClassName; one that learns a stream.")
@click.option("--name", required=True, help="Name of the model in figures.")
@click.option("--parameters", default="{}", help="Hyperparameters as a JSON object.")
@click.option("--seed", default=0, show_default=True, help="Of the order of the stream, and of the model.")
@threads_option
@click.option("--curve", type=FILE, required=True, help="CSV file to write.")
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(
    data: Path, estimator: str, name: str, parameters: str, seed: int, threads: int, curve: Path, out: Path
) -> None:
    """Run the stream and write what was right."""
    prepared = Prepared(data)
    model: Any = make_estimator(estimator, parse_parameters(parameters), seed, threads)
    if not hasattr(model, "progressive_top_k"):
        raise XmlcError(f"{estimator} learns no stream: it has no progressive_top_k; take oplt, say")
    X, Y = prepared.part("train")
    order = random_permutation(X.shape[0], seed, STREAM)
    rows, constant, costs = run_stream(model, X[order], Y[order])
    hyperparameters = {key: value for key, value in model.get_params().items() if key not in ("n_jobs", "random_state")}
    content = {"kind": "progressive", "schema": 1, "dataset": asdict(dataset_of(prepared)), "estimator": estimator}
    content |= {"model": name, "hyperparameters": hyperparameters, "seed": seed, "portion": "full"}
    content |= {"constant_accuracy": constant, "rows": rows}
    step = step_costs("progressive", threads, prepared.meta["name"], name, "full")
    costs |= {"threads": threads, "peak_bytes": peak_bytes()}
    write_curve(curve, rows)
    write_json(out, content | {"costs": costs, "passport": passport(threads), "step": step})


class Streaming(Protocol):
    """What an estimator has that can be validated progressively; ``progressive_sets`` may be missing."""

    def unfitted(self) -> Self:
        """Return a copy that has learned nothing."""

    def progressive_top_k(self, X: object, Y: object, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Rank the labels of each instance before it is learned; see `xmlc.models.oplt.OPLT.progressive_top_k`."""

    def progressive_sets(self, X: object, Y: object, a: float, b: float) -> sparse.csr_array:
        """Predict a set of labels for each instance before it is learned."""


def run_stream(
    model: Streaming, X: sparse.csr_array, Y: sparse.csr_array
) -> tuple[list[dict[str, Any]], float, dict[str, float | None]]:
    """Predict, then learn, instance by instance; where instances have several labels, sets of labels too.

    The sets are those of OFO, which runs together with a training of its own; a model without `progressive_sets` has
    none.

    Parameters
    ----------
    model : estimator with ``progressive_top_k``
        Not fitted.
    X : csr_array, shape (n, d)
    Y : boolean csr_array, shape (n, m)
        The stream, in its order.

    Returns
    -------
    rows : list of dict
        For each of `checkpoints`: ``instances``, ``accuracy``, ``entropy_reduction``, ``macro_f``, ``macro_f_present``;
        None where there is none.
    constant : float
        Accuracy of the constant predictor.
    costs : dict
        CPU seconds of both runs.
    """
    instances = checkpoints(X.shape[0])
    with_sets = Y.nnz != Y.shape[0] and hasattr(model, "progressive_sets")
    model.unfitted().progressive_top_k(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS])
    if with_sets:
        model.unfitted().progressive_sets(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS], a=FIRST, b=STEP)
    started = cpu_seconds()
    labels, _ = model.unfitted().progressive_top_k(X, Y)
    costs: dict[str, float | None] = {"cpu_seconds": cpu_seconds() - started, "sets_cpu_seconds": None}
    constant = constant_accuracy(Y)
    curves = {"accuracy": progressive_accuracy(Y, labels, instances)}
    curves["entropy_reduction"] = entropy_reduction(curves["accuracy"], constant)
    curves |= dict.fromkeys(("macro_f", "macro_f_present"), np.full(instances.size, np.nan))
    if with_sets:
        started = cpu_seconds()
        sets = model.unfitted().progressive_sets(X, Y, a=FIRST, b=STEP)
        costs["sets_cpu_seconds"] = cpu_seconds() - started
        curves["macro_f"] = progressive_macro_f(Y, sets, instances, "all")
        curves["macro_f_present"] = progressive_macro_f(Y, sets, instances, "present")
    columns = {"instances": instances.tolist()} | {name: _known(values) for name, values in curves.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], constant, costs


def _known(values: np.ndarray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def write_curve(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as CSV, full precision; what is None is an empty cell."""
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
