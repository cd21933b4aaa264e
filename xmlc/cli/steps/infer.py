"""`xmlc infer`: label sets inferred for each instance of the test set, by several methods in one job."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, data_option, threads_option
from xmlc.core.extensions import import_file
from xmlc.data.prepared import Prepared
from xmlc.inference.methods import METHODS
from xmlc.models.registry import load_estimator
from xmlc.records.training import TrainingRecord
from xmlc.steps.inference import basis_of, check_sources, write_inferences


@click.command(help="Infer a label set for each test instance by each METHOD, from a model or from its estimates.")
@data_option
@click.option("--model", "model_folder", type=FOLDER, default=None,
              help="Folder written by `xmlc train`; gives samples of label sets, or marginals.")  # fmt: skip
@click.option("--estimates", type=FOLDER, default=None, help="Folder written by `xmlc estimate`, in place of --model.")
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train`.")
@click.option("--method", "methods", multiple=True, required=True, help=f"One of {', '.join(METHODS)}; repeatable.")
@click.option("--extension", type=FILE, multiple=True, help="Python file that registers a method of your own.")
@click.option("--floor", default=0.0, show_default=True, help="Only marginals of --model above it are used.")
@click.option("--samples", default=200, show_default=True, type=click.IntRange(min=1),
              help="Label vectors drawn for each instance.")  # fmt: skip
@click.option("--time-limit", type=float, default=None, help="Seconds of inference after which a method is stopped.")
@threads_option
@click.option("--out", type=FOLDER, required=True, help="Folder for <method>.json, one record each.")
def command(
    data: Path,
    model_folder: Path | None,
    estimates: Path | None,
    training: Path,
    methods: tuple[str, ...],
    extension: tuple[Path, ...],
    floor: float,
    samples: int,
    time_limit: float | None,
    threads: int,
    out: Path,
) -> None:
    """Draw or estimate once, then do one method after the other: starting a process takes longer than most of them."""
    for file in extension:
        import_file(file)
    check_sources(methods, model_folder, estimates)
    record = TrainingRecord.read(training)
    prepared = Prepared(data, record.seed)
    model = None if model_folder is None else load_estimator(record.estimator, model_folder, threads)
    basis = basis_of(prepared, methods, model, estimates, floor, samples)
    write_inferences(basis, methods, record, time_limit, threads, out)
