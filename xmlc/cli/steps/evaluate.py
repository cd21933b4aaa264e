"""`xmlc evaluate`: apply tuned thresholds to the test set and write the record."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from xmlc.cli._options import FILE, FOLDER, data_option, model_option, threads_option
from xmlc.data.prepared import Prepared
from xmlc.measuring.evaluation import evaluate_thresholds
from xmlc.models.registry import load_estimator
from xmlc.passport import ending
from xmlc.records.thresholds import Chosen, ThresholdCosts, ThresholdRecord, TunedThresholds
from xmlc.records.training import TrainingRecord

if TYPE_CHECKING:
    from xmlc.models.base import SparseProbabilityEstimator


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
    evaluate_method(Prepared(data), model, record, estimates, tuned, threads, out)


def evaluate_method(
    prepared: Prepared,
    model: SparseProbabilityEstimator,
    training: TrainingRecord,
    estimates: Path,
    tuned: Path,
    threads: int,
    out: Path,
) -> None:
    """Predict the test set with tuned thresholds, measure the cost and every metric, write the record."""
    tuning, thresholds = TunedThresholds.read(tuned), np.load(tuned / "thresholds.npy", allow_pickle=False)
    found, point = evaluate_thresholds(prepared, model, estimates, thresholds), tuning.grid[tuning.best]
    costs = ThresholdCosts(
        **asdict(training.costs),
        tune_seconds=tuning.tune_seconds,
        test_ms_per_instance=found.test_ms_per_instance,
        test_inner_products_per_instance=found.test_inner_products_per_instance,
        threads=threads,
    )
    ThresholdRecord(
        **training.described(),
        tuning=training.tuning,
        method=tuning.method,
        grid=tuning.grid,
        best=Chosen(c=point.c, a=point.a, b=point.b, validation=found.validation, test=found.test),
        costs=costs,
        **ending("evaluate", threads, *training.whose, tuning.method),
    ).write(out)
