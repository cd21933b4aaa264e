"""`xmlc train`: an estimator trained on a part of a dataset, once with each seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xmlc.cli.options import SEED, out_option, threads_option
from xmlc.core.files import folder_bytes
from xmlc.core.memory import peak_bytes
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.abilities import looks_up
from xmlc.models.warm_up import check_kept
from xmlc.suite.options import (
    data_option,
    each_in_turn,
    estimator_option,
    file_option,
    name_option,
    parameters_option,
)
from xmlc.suite.results.records.base import (
    SearchSummary,
    TrainingCosts,
    TrainingRecord,
    TrainingSplit,
)
from xmlc.suite.results.records.search import SearchRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.run import fit_timed, step_to_train

SPLITS_OF: dict[str, TrainingSplit] = {"train": "full", "fit": "80"}


@click.command(help="Train an estimator, and write the model and its costs.")
@data_option
@click.option(
    "--part",
    type=click.Choice(["train", "fit"]),
    default="train",
    show_default=True,
    help="train: the whole training set. fit: the instances outside the validation set.",
)
@estimator_option
@name_option
@parameters_option
@file_option("--tuned", "File written by `xmlc tune`, whose best values override --parameters.")
@click.option(
    "--seed",
    "seeds",
    type=SEED,
    multiple=True,
    default=[0],
    show_default=True,
    help="Seed of estimator and validation split; repeatable with --out and --record.",
)
@threads_option
@out_option("Folder for the model.", multiple=True)
@file_option("--record", "JSON record to write.", multiple=True, required=True)
def command(
    data: Path,
    part: str,
    estimator: str,
    name: str,
    parameters: Hyperparameters,
    tuned: Path | None,
    seeds: tuple[int, ...],
    threads: int,
    out: tuple[Path, ...],
    record: tuple[Path, ...],
) -> None:
    """Write the models and their records."""
    search: SearchSummary | None = None
    for seed, folder, file in each_in_turn(seed=seeds, out=out, record=record):
        prepared = Prepared(data, seed)
        if tuned is not None:
            result = SearchRecord.read_for(tuned, estimator, prepared.digest)
            parameters |= result.best["hyperparameters"]
            search = {
                "method": result.method,
                "budget": result.budget,
                "seed": result.seed,
                "p@1": result.best["p@1"],
            }
        step, model = step_to_train(
            "train", prepared, estimator, name, parameters, seed, threads, SPLITS_OF[part]
        )
        check_kept(estimator, model, *prepared.part(part))
        seconds, cpu_seconds = fit_timed(model, prepared.part(part), folder)
        times: dict[str, Any] = {
            "train_seconds": seconds,
            "train_cpu_seconds": cpu_seconds,
            "train_threads": threads,
        }
        if looks_up(model):
            times = dict.fromkeys(times)
        costs = TrainingCosts(
            **times, train_peak_bytes=peak_bytes(), model_bytes=folder_bytes(folder)
        )
        step.write(TrainingRecord, file, written=folder, costs=costs, tuning=search)
