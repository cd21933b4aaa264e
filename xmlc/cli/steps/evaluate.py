"""`xmlc evaluate`: apply tuned thresholds to the test set and write the record."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, data_option, model_option, threads_option
from xmlc.data.prepared import Prepared
from xmlc.measuring.evaluation import evaluate_method
from xmlc.models.registry import load_estimator
from xmlc.records.training import TrainingRecord


@click.command(help="Predict the test set with tuned thresholds, measure cost and every metric, write the record.")
@data_option
@model_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train`.")
@click.option("--estimates", type=FOLDER, required=True, help="Folder written by `xmlc estimate`.")
@click.option("--thresholds", "tuned", type=FOLDER, required=True, help="Folder written by `xmlc threshold`.")
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(
    data: Path, model_folder: Path, training: Path, estimates: Path, tuned: Path, threads: int, out: Path
) -> None:
    """Evaluate one method."""
    record = TrainingRecord.read(training)
    model = load_estimator(record.estimator, model_folder, threads)
    evaluate_method(Prepared(data, record.seed), model, record, estimates, tuned, threads, out)
