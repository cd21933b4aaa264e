"""`xmlc infer`: label sets inferred for each instance of the test set, by several methods in one job."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, data_option, model_option, threads_option
from xmlc.core.errors import XmlcError
from xmlc.core.extensions import import_file
from xmlc.data.prepared import Prepared
from xmlc.inference.methods import METHODS
from xmlc.models.registry import load_estimator
from xmlc.records.training import TrainingRecord
from xmlc.steps.inference import basis_of_model, needs_sizes, write_inferences


@click.command(help="Infer a label set for each test instance by each METHOD, from a model's samples or marginals.")
@data_option
@model_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train`.")
@click.option("--method", "methods", multiple=True, required=True, help=f"One of {', '.join(METHODS)}; repeatable.")
@click.option("--extension", type=FILE, multiple=True, help="Python file that registers a method of your own.")
@click.option("--samples", default=200, show_default=True, type=click.IntRange(min=1),
              help="Label vectors drawn for each instance.")  # fmt: skip
@click.option("--time-limit", type=float, default=None, help="Seconds of inference after which a method is stopped.")
@threads_option
@click.option("--out", type=FOLDER, required=True, help="Folder for <method>.json, one record each.")
def command(
    data: Path,
    model_folder: Path,
    training: Path,
    methods: tuple[str, ...],
    extension: tuple[Path, ...],
    samples: int,
    time_limit: float | None,
    threads: int,
    out: Path,
) -> None:
    """Draw or estimate once, then do one method after the other: starting a process takes longer than most of them."""
    for file in extension:
        import_file(file)
    if needs_sizes(methods):
        raise XmlcError("gfm-sizes learns from estimates of the validation set: infer by `xmlc thresholds --infer`")
    record = TrainingRecord.read(training)
    prepared = Prepared(data, record.seed)
    model = load_estimator(record.estimator, model_folder, threads)
    write_inferences(basis_of_model(prepared, model, samples), methods, record, time_limit, threads, out)
