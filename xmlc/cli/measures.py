"""`xmlc measures`: thresholds for several measures, tuned and evaluated in one job."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, data_option, model_option, threads_option
from xmlc.cli._steps import load_model
from xmlc.cli.evaluate import evaluate_method
from xmlc.cli.threshold import tune_method
from xmlc.data.prepared import Prepared
from xmlc.files import read_json


@click.command(help="Tune thresholds for each MEASURE and evaluate them: as `xmlc threshold` and `xmlc evaluate`.")
@data_option
@model_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train`.")
@click.option("--estimates", type=FOLDER, required=True, help="Folder written by `xmlc estimate`.")
@click.argument("measures", nargs=-1, required=True)
@threads_option
@click.option(
    "--out", type=FOLDER, required=True, help="Gets thresholds/for-<measure>/, evaluation/for-<measure>.json."
)
def command(
    data: Path, model_folder: Path, training: Path, estimates: Path, measures: tuple[str, ...], threads: int, out: Path
) -> None:
    """Do one measure after the other: a process for each would spend its time on starting."""
    prepared, record = Prepared(data), read_json(training)
    model = load_model(model_folder, record, threads)
    for method in (f"for-{measure}" for measure in measures):
        tuned = out / "thresholds" / method
        tune_method(prepared, estimates, method, threads, tuned)
        evaluate_method(prepared, model, record, estimates, tuned, threads, out / "evaluation" / f"{method}.json")
