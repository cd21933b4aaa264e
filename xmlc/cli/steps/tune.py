"""`xmlc tune`: hyperparameters by validation P@1."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path

import click

from xmlc.cli._options import FILE, data_option, parse_parameters, threads_option
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.measuring.subject import dataset_of
from xmlc.models.registry import make_estimator
from xmlc.models.warm_up import warm_up
from xmlc.passport import passport
from xmlc.runtime.progress import Progress
from xmlc.tuning.objective import ValidationPrecision
from xmlc.tuning.ranges import Objective, parse_space
from xmlc.tuning.result import TuningResult, write_result
from xmlc.tuning.search import METHODS, search
from xmlc.tuning.stages import METHOD as IN_STAGES
from xmlc.tuning.stages import parse_stages, search_in_stages


@click.command(help="Search hyperparameters on the 80/20 split: the best P@1 on the 20 % wins.")
@data_option
@click.option("--estimator", required=True, help="Name, or path/to/file.py:ClassName.")
@click.option(
    "--parameters",
    default="{}",
    help="Hyperparameters as a JSON object; the first trial has them all, the others all that are not searched.",
)
@click.option("--space", default=None, help='Ranges as JSON, such as {"gamma": {"low": 0.1, "high": 10, "log": true}}.')
@click.option(
    "--stages",
    default=None,
    help="In place of ranges the trials themselves as JSON, in stages: those of the second are put over the best of "
    'the first, such as [[{"alpha": 0}, {"alpha": 1}], [{"S": 25}, {"S": 50}]]. Method and budget mean nothing then.',
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
    space: str | None,
    stages: str | None,
    method: str,
    budget: int,
    seed: int,
    threads: int,
    out: Path,
) -> None:
    """Search; the test set is never looked at."""
    prepared, fixed = Prepared(data), parse_parameters(parameters)
    untuned = make_estimator(estimator, fixed, seed, threads)
    if (space is None) == (stages is None):
        raise XmlcError(f"{out}: give the ranges of a search (--space) or its trials (--stages), one of the two")
    if stages is None:
        given = untuned.get_params()
        names, run = _in_ranges(str(space), method, budget, seed, given)
    else:
        method = IN_STAGES
        names, run, budget = _in_stages(stages, prepared.meta["labels_per_instance"])
    # That every name of the search is a hyperparameter shows before anything is trained.
    make_estimator(estimator, names, seed, threads)
    fit, validation = prepared.part("fit"), prepared.part("val")
    warm_up(untuned, *fit)
    with Progress(budget, f"tuning {estimator}", "trials") as progress:
        objective = ValidationPrecision(estimator, fixed, seed, threads, fit, validation, progress)
        run(objective)
    content: TuningResult = {
        "dataset": asdict(dataset_of(prepared)),
        "estimator": estimator,
        "method": method,
        "budget": budget if stages is None else len(objective.trials),
        "chosen_by": "P@1 on the 20 % of the training set that validation holds",
        "space": json.loads(space or str(stages)),
        "fixed": fixed,
        "seed": seed,
        "best": deepcopy(max(objective.trials, key=lambda trial: trial["p@1"])),  # a copy, lest YAML write a reference
        "trials": objective.trials,
        "passport": passport(threads),
    }
    write_result(out, content)


def _in_ranges(
    space: str, method: str, budget: int, seed: int, given: Hyperparameters
) -> tuple[Hyperparameters, Callable[[Objective], None]]:
    """Return one value of each hyperparameter that is searched, and what runs the search."""
    ranges = parse_space(parse_parameters(space))
    names = {name: values.at(0) for name, values in ranges.items()}
    return names, lambda objective: search(method, ranges, objective, budget, seed, given)


def _in_stages(text: str, labels_per_instance: float) -> tuple[Hyperparameters, Callable[[Objective], None], int]:
    """Return the same for trials in stages, and how many there are at most."""
    stages = parse_stages(text, labels_per_instance)
    names = {name: value for stage in stages for trial in stage for name, value in trial.items()}
    return names, lambda objective: search_in_stages(stages, objective), sum(map(len, stages))
