"""`xmlc progressive`: a model on a shuffled stream, each instance predicted before it is learned."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from xmlc.cli._options import FILE, SEED, data_option, in_turn, parse_parameters, threads_option
from xmlc.core.files import atomic_file
from xmlc.core.passport import peak_bytes, step_costs, with_passport
from xmlc.data.prepared import Prepared
from xmlc.models.registry import make_estimator
from xmlc.records.progressive import ProgressiveCosts, ProgressiveRecord, ProgressiveRow
from xmlc.steps.streams import run_stream, shuffled_stream
from xmlc.steps.subject import description


@click.command(help="Predict each instance of the shuffled training set, then learn it; write the curve.")
@data_option
@click.option("--estimator", required=True, help="Name, or path/to/file.py:ClassName; one that learns a stream.")
@click.option("--name", required=True, help="Name of the model in figures.")
@click.option("--parameters", default="{}", help="Hyperparameters as a JSON object.")
@click.option("--seed", "seeds", type=SEED, multiple=True, default=[0], show_default=True,
              help="Of the stream's order and the model; repeatable, with as many --curve and --out.")  # fmt: skip
@threads_option
@click.option("--curve", "curves", type=FILE, multiple=True, required=True, help="CSV file to write.")
@click.option("--out", type=FILE, multiple=True, required=True, help="JSON record to write.")
def command(
    data: Path,
    estimator: str,
    name: str,
    parameters: str,
    seeds: tuple[int, ...],
    threads: int,
    curves: tuple[Path, ...],
    out: tuple[Path, ...],
) -> None:
    """Run the stream with each seed."""
    prepared = Prepared(data)
    for seed, curve, record in in_turn(seed=seeds, curve=curves, out=out):
        _run(prepared, estimator, name, parameters, seed, threads, curve, record)


def _run(
    prepared: Prepared, estimator: str, name: str, parameters: str, seed: int, threads: int, curve: Path, out: Path
) -> None:
    """Run one stream and write its record and curve."""
    model = make_estimator(estimator, parse_parameters(parameters), seed, threads)
    found = run_stream(model, *shuffled_stream(prepared, seed))
    write_curve(curve, found.rows)
    ProgressiveRecord(
        **description(prepared, model, estimator, name, seed, "full"),
        constant_accuracy=found.constant_accuracy,
        rows=found.rows,
        costs=ProgressiveCosts(
            cpu_seconds=found.cpu_seconds,
            sets_cpu_seconds=found.sets_cpu_seconds,
            threads=threads,
            peak_bytes=peak_bytes(),
        ),
        **with_passport(step_costs("progressive", threads, prepared.meta["name"], name, "full")),
    ).write(out)


def write_curve(path: Path, rows: Sequence[ProgressiveRow]) -> None:
    """Write rows as CSV, full precision; None is an empty cell."""
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(rows[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, rows))
