"""`xmlc tune`: hyperparameters by validation P@1."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import click

from xmlc.cli._options import FILE, data_option, parse_parameters, threads_option
from xmlc.cli._steps import dataset_block, warm_up
from xmlc.data.prepared import Prepared
from xmlc.models.registry import make_estimator
from xmlc.passport import passport
from xmlc.progress import Progress
from xmlc.tuning.objective import ValidationPrecision
from xmlc.tuning.ranges import parse_space
from xmlc.tuning.result import write_result
from xmlc.tuning.search import METHODS, search


@click.command(help="Search hyperparameters on the 80/20 split: the best P@1 on the 20 % wins.")
@data_option
@click.option("--estimator", required=True, help="Name, or path/to/file.py:ClassName.")
@click.option(
    "--parameters",
    default="{}",
    help="Hyperparameters as a JSON object; the first trial has them all, the others all that are not searched.",
)
@click.option(
    "--space", required=True, help='Ranges as JSON, such as {"gamma": {"low": 0.1, "high": 10, "log": true}}.'
)
@click.option("--method", type=click.Choice(METHODS), default="random", show_default=True, help="How to search.")
@click.option("--budget", default=30, show_default=True, help="Number of trials.")
@click.option("--seed", default=0, show_default=True, help="Of the search and of the estimators.")
@threads_option
@click.option("--out", type=FILE, required=True, help="YAML file with the best values and every trial.")
def command(
    data: Path,
    estimator: str,
    parameters: str,
    space: str,
    method: str,
    budget: int,
    seed: int,
    threads: int,
    out: Path,
) -> None:
    """Search; the test set is never looked at."""
    prepared, fixed = Prepared(data), parse_parameters(parameters)
    ranges = parse_space(parse_parameters(space))
    untuned = make_estimator(estimator, fixed, seed, threads)
    # That every name of the space is a hyperparameter shows before anything is trained.
    make_estimator(estimator, {name: values.at(0) for name, values in ranges.items()}, seed, threads)
    fit, validation = prepared.part("fit"), prepared.part("val")
    warm_up(untuned, *fit)
    with Progress(budget, f"tuning {estimator}", "trials") as progress:
        objective = ValidationPrecision(estimator, fixed, seed, threads, fit, validation, progress)
        search(method, ranges, objective, budget, seed, untuned.get_params())
    content = {
        "dataset": dataset_block(prepared),
        "estimator": estimator,
        "method": method,
        "budget": budget,
        "chosen_by": "P@1 on the 20 % of the training set that validation holds",
        "space": json.loads(space),
        "fixed": fixed,
        "seed": seed,
        "best": deepcopy(max(objective.trials, key=lambda trial: trial["p@1"])),  # a copy, lest YAML write a reference
        "trials": objective.trials,
        "passport": passport(threads),
    }
    write_result(out, content)
