"""`xmlc thresholds`: all threshold methods of one model in one job, which reads its estimates and the model once."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from xmlc.cli._options import (
    FILE,
    FOLDER,
    data_option,
    extension_option,
    model_option,
    out_option,
    threads_option,
    training_option,
)
from xmlc.core.errors import XmlcError, let_through
from xmlc.core.files import atomic_folder, check_replaceable
from xmlc.data.matrices import load_csr
from xmlc.data.prepared import Prepared
from xmlc.kernels.csr import lent
from xmlc.models.registry import load_estimator
from xmlc.records.thresholds import Estimates
from xmlc.records.training import TrainingRecord
from xmlc.steps.thresholds import evaluate_calibration, evaluate_unlabelled, tune_and_evaluate


@click.command(
    help="Tune thresholds by each METHOD on estimates of the validation set, and evaluate them on the test set. "
    "Without --estimates each METHOD is one that needs no validation set, and takes the model's own estimates."
)
@data_option
@model_option
@training_option
@click.option("--estimates", type=FOLDER, default=None, help="Folder written by `xmlc estimate`.")
@click.option("--floor", type=float, default=0.0, help="Without --estimates: smaller predictions are left out.")
@extension_option
@click.argument("methods", nargs=-1)
@threads_option
@click.option("--thresholds", type=FOLDER, default=None, help="Folder for <method>.npy; it is replaced.")
@click.option("--calibration", type=FILE, default=None,
              help="With --estimates: JSON record to write, of their calibration.")  # fmt: skip
@out_option("Folder for <method>.json, one record each.")
def command(
    data: Path,
    model_folder: Path,
    training: Path,
    estimates: Path | None,
    floor: float,
    methods: tuple[str, ...],
    threads: int,
    thresholds: Path | None,
    calibration: Path | None,
    out: Path,
) -> None:
    """Tune and evaluate one method after the other."""
    if thresholds:
        check_replaceable(thresholds)
    record = TrainingRecord.read(training)
    prepared = Prepared(data, record.seed)
    model = load_estimator(record.estimator, model_folder, threads)
    if calibration and estimates is None:
        raise click.UsageError("--calibration is of saved estimates: give --estimates")
    if estimates is None:
        with atomic_folder(out) as folder:
            evaluate_unlabelled(prepared, model, record, methods, floor, threads, folder)
        return
    spe = {part: lent(load_csr(estimates, part, made_by="estimate")) for part in ("val", "test")}
    floor, found = Estimates.read(estimates / Estimates.FILE).floor, {}
    with atomic_folder(out) as folder:
        for method in methods:
            try:
                found[method] = tune_and_evaluate(prepared, model, record, spe, floor, method, threads, folder)
            except XmlcError as error:
                raise XmlcError(f"threshold method {method}: {error}") from error
            except Exception as error:  # a method of the user's own may raise anything
                let_through(error)
                raise XmlcError(f"threshold method {method}: {type(error).__name__}: {error}") from error
    if calibration:
        evaluate_calibration(prepared, record, spe, threads, calibration)
    if thresholds:
        with atomic_folder(thresholds) as folder:
            for method, tuned in found.items():
                np.save(folder / f"{method}.npy", tuned)
