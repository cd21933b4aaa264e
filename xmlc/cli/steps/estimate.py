"""`xmlc estimate`: sparse probability estimates of the validation and the test set."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from xmlc.cli._options import FILE, data_option, model_option, out_option, threads_option
from xmlc.core.files import atomic_folder
from xmlc.core.passport import peak_bytes, step_costs, with_passport
from xmlc.data.prepared import Prepared
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import load_estimator
from xmlc.records.thresholds import Estimates, PartEstimates
from xmlc.records.training import TrainingRecord
from xmlc.steps.timed import write_estimates


@click.command(help="Write the estimates above a floor for the validation and the test set, with their cost.")
@data_option
@model_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train`.")
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
            parts[part] = estimate_part(model, prepared, part, floor, folder)
            if model.inner_products_ is not None:
                np.save(folder / f"{part}.inner_products.npy", model.inner_products_)
        peak, last = peak_bytes(), with_passport(step_costs("estimate", threads, *record.run_names, written=folder))
        Estimates(floor=floor, parts=parts, peak_bytes=peak, **last).write(folder / Estimates.FILE)


def estimate_part(
    model: SparseProbabilityEstimator, prepared: Prepared, part: str, floor: float, folder: Path
) -> PartEstimates:
    """Write the estimates of one part that are greater than ``floor`` into a folder; return their costs."""
    spe, ms_per_instance = write_estimates(model, prepared, part, floor, folder)
    n = max(spe.shape[0], 1)
    return PartEstimates(
        instances=spe.shape[0],
        estimates_per_instance=spe.nnz / n,
        inner_products_per_instance=None if model.inner_products_ is None else float(model.inner_products_.sum() / n),
        ms_per_instance=ms_per_instance,
    )
