"""`xmlc estimate`: sparse probability estimates of the validation and the test set."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import out_option, threads_option
from xmlc.core.files import atomic_folder
from xmlc.core.passport import step_costs, with_passport
from xmlc.models.registry import load_estimator
from xmlc.suite.options import data_option, model_option, training_option
from xmlc.suite.results.records.thresholds import Estimates, PartEstimates
from xmlc.suite.results.records.training import TrainingRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.timed import write_estimates


@click.command(help="Write the estimates above a floor for the validation and the test set, with their cost.")
@data_option
@model_option
@training_option
@click.option(
    "--floor", type=float, required=True, help="Only estimates above it are written: the grid's smallest 1/c."
)
@threads_option
@out_option("Folder to write.")
def command(data: Path, model_folder: Path, training: Path, floor: float, threads: int, out: Path) -> None:
    """Estimate and save."""
    record = TrainingRecord.read(training)
    prepared = Prepared(data, record.seed)
    model = load_estimator(record.estimator, model_folder, threads)
    with atomic_folder(out) as folder:
        parts = {}
        for part in ("val", "test"):
            _, ms = write_estimates(model, prepared, part, floor, folder)
            parts[part] = PartEstimates(ms_per_instance=ms)
        last = with_passport(step_costs("estimate", threads, *record.run_names, written=folder))
        Estimates(floor=floor, parts=parts, **last).write(folder / Estimates.FILE)
