"""`xmlc infer`: label sets inferred for each instance of the test set, by several methods in one job."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FOLDER, out_option, threads_option
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder
from xmlc.inference.methods import METHODS
from xmlc.models.registry import load_estimator
from xmlc.suite.options import data_option, extension_option, training_option
from xmlc.suite.results.records.thresholds import Estimates
from xmlc.suite.results.records.training import TrainingRecord
from xmlc.suite.steps.inference import basis_of_estimates, basis_of_model, needs_sizes, write_inferences
from xmlc.suite.steps.prepared import Prepared


@click.command(help="Infer a label set for each test instance by each METHOD, from a model or from its estimates.")
@data_option
@click.option("--from", "basis", type=FOLDER, required=True,
              help="Folder of a model, for its samples or marginals, or of estimates.")  # fmt: skip
@training_option
@click.option("--method", "methods", multiple=True, required=True, help=f"One of {', '.join(METHODS)}; repeatable.")
@extension_option
@click.option("--samples", default=200, show_default=True, type=click.IntRange(min=1),
              help="Label vectors drawn for each instance.")  # fmt: skip
@click.option("--time-limit", type=float, default=None, help="Seconds of inference after which a method is stopped.")
@threads_option
@out_option("Folder for <method>.json, one record each.")
def command(
    data: Path,
    basis: Path,
    training: Path,
    methods: tuple[str, ...],
    samples: int,
    time_limit: float | None,
    threads: int,
    out: Path,
) -> None:
    """Draw or estimate once, then do one method after the other: starting a process takes longer than most of them."""
    takes_sizes = needs_sizes(methods)  # each is known
    record = TrainingRecord.read(training)
    prepared = Prepared(data, record.seed)
    if (basis / Estimates.FILE).is_file():
        given = basis_of_estimates(prepared, methods, basis)
    elif takes_sizes:
        raise XmlcError("gfm-sizes learns from estimates of the validation set: give their folder with --from")
    else:
        given = basis_of_model(prepared, load_estimator(record.estimator, basis, threads), samples)
    with atomic_folder(out) as folder:
        write_inferences(given, methods, record, time_limit, threads, folder)
