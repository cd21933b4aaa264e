"""`xmlc thresholds`: all threshold methods of one model, and inference from the same estimates, in one job.

Starting a process, reading the estimates and loading the model take longer than most methods do.
"""

from __future__ import annotations

import os
import shutil
import traceback
from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, data_option, model_option, threads_option
from xmlc.core.errors import XmlcError, let_through
from xmlc.core.extensions import import_file
from xmlc.core.files import check_replaceable, file_digest, replace_folder
from xmlc.core.sources import command_files, source_digest, source_files
from xmlc.data.prepared import Prepared
from xmlc.inference.methods import METHODS
from xmlc.metrics.measures import UNLABELLED_METHODS
from xmlc.models.registry import estimator_files, load_estimator
from xmlc.records.thresholds import Estimates
from xmlc.records.training import TrainingRecord
from xmlc.steps.inference import basis_of_estimates, needs_sizes, write_inferences
from xmlc.steps.thresholds import evaluate_method, evaluate_on_full, tune_method

UNFINISHED = ".xmlc-unfinished"  # a name that no folder of a user's has


@click.command(
    help="Tune thresholds by each METHOD on the validation set, and evaluate them on the test set. "
    "With --infer, then infer label sets of the test set from the same estimates."
)
@data_option
@model_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train`.")
@click.option("--estimates", type=FOLDER, required=True, help="Folder written by `xmlc estimate`.")
@click.option("--full", type=FOLDER, default=None,
              help="Folder with model/ and train.json of the whole training set: a METHOD that needs no "
              "validation set is evaluated with it too, into its evaluation/.")  # fmt: skip
@click.option("--extension", type=FILE, multiple=True, help="Python file that registers a method of your own.")
@click.option("--infer", "inferred", multiple=True, help=f"One of {', '.join(METHODS)}; repeatable.")
@click.option("--time-limit", type=float, default=None, help="Seconds after which a method of --infer is stopped.")
@click.argument("methods", nargs=-1)
@threads_option
@click.option("--out", type=FOLDER, required=True,
              help="Folder for thresholds/<method>/, {evaluation,inference}/<method>.json.")  # fmt: skip
def command(
    data: Path,
    model_folder: Path,
    training: Path,
    estimates: Path,
    full: Path | None,
    extension: tuple[Path, ...],
    inferred: tuple[str, ...],
    time_limit: float | None,
    methods: tuple[str, ...],
    threads: int,
    out: Path,
) -> None:
    """Tune and evaluate each method; the next attempt repeats only the failed ones. Then infer."""
    if not methods and not inferred:
        raise click.UsageError("name a METHOD, or one to infer by with --infer")
    for method in methods:
        check_replaceable(out / "thresholds" / method)
    for file in extension:
        import_file(file)
    needs_sizes(inferred)  # each is known
    record = TrainingRecord.read(training)
    prepared = Prepared(data, record.seed)
    model = load_estimator(record.estimator, model_folder, threads)
    code = {*command_files("thresholds"), *source_files(*estimator_files(record.estimator), *map(str, extension))}
    work = out / UNFINISHED / source_digest(code, file_digest([training, estimates / Estimates.FILE]))
    failed = {}
    for method in methods:
        tuned, evaluated = work / "thresholds" / method, work / "evaluation" / f"{method}.json"
        if evaluated.exists():
            continue
        try:
            tune_method(prepared, estimates, method, threads, tuned)
            evaluate_method(prepared, model, record, estimates, tuned, threads, evaluated)
        except Exception as error:  # an extension's method may raise anything
            let_through(error)
            traceback.print_exc()
            failed[method] = str(error) if isinstance(error, XmlcError) else f"{type(error).__name__}: {error}"
    if failed:
        reasons = "; ".join(f"threshold method {method} failed: {reason}" for method, reason in failed.items())
        raise XmlcError(f"{reasons}; results of the other {len(methods) - len(failed)} are kept for the next attempt")
    if inferred:
        basis = basis_of_estimates(prepared, inferred, estimates)
        write_inferences(basis, inferred, record, time_limit, threads, out / "inference")
    if full:
        unlabelled = [method for method in methods if method in UNLABELLED_METHODS]
        evaluate_on_full(prepared, full, unlabelled, Estimates.read(estimates / Estimates.FILE).floor, threads)
    for folder in ("thresholds", "evaluation"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for method in methods:
        replace_folder(work / "thresholds" / method, out / "thresholds" / method)
        os.replace(work / "evaluation" / f"{method}.json", out / "evaluation" / f"{method}.json")
    if methods:
        shutil.rmtree(out / UNFINISHED)
