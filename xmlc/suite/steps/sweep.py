"""`xmlc sweep`: ranking quality and tree depth for several values of one hyperparameter."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from xmlc.cli.options import threads_option
from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.metrics.ranking import K, precision_and_ndcg
from xmlc.models.registry import make_estimator
from xmlc.suite.options import data_option, parameters_option, record_option, training_option
from xmlc.suite.results.records.sweep import SweepRecord, SweepRow
from xmlc.suite.steps.forest import shape_of_trees
from xmlc.suite.steps.run import TrainedStep, rank_timed, trained_beside


@click.command(help="Train and rank with several values of one hyperparameter.")
@data_option
@training_option
@parameters_option
@click.option("--hyperparameter", required=True, help="Name of the hyperparameter to vary.")
@click.option(
    "--value",
    "values",
    multiple=True,
    required=True,
    help="Value of the hyperparameter as JSON; repeatable.",
)
@threads_option
@record_option
def command(
    data: Path,
    training: Path,
    parameters: Hyperparameters,
    hyperparameter: str,
    values: tuple[str, ...],
    threads: int,
    out: Path,
) -> None:
    """Train and rank with each value of the hyperparameter.

    ``--parameters`` override those in the training record.
    """
    step = TrainedStep.read("sweep", data, training, threads)
    if step.about.split != "full" or step.about.dataset.digest != step.data.digest:
        raise XmlcError(
            f"{training}: found a record of another model, expected one trained on the whole "
            f"training set of {data}"
        )
    step = replace(
        step, about=replace(step.about, hyperparameters=step.about.hyperparameters | parameters)
    )
    about = step.about
    rows = []
    for value in map(json.loads, values):
        model = make_estimator(
            about.estimator, about.hyperparameters | {hyperparameter: value}, about.seed, threads
        )
        with trained_beside(out, model, step.data.part("train")) as seconds:
            labels, ms = rank_timed(model, step.data, max(K))
        trees = shape_of_trees(model)
        rows.append(
            SweepRow(
                value=value,
                metrics=precision_and_ndcg(step.data.part("test")[1], labels),
                depth=max(trees.depths) if trees else None,
                nodes=sum(trees.nodes) / len(trees.nodes) if trees else None,
                train_seconds=seconds,
                predict_ms_per_instance=ms,
            )
        )
    step.write(
        SweepRecord,
        out,
        hyperparameter=hyperparameter,
        rows=tuple(rows),
        costs={"threads": threads},
    )
