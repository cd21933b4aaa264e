"""`xmlc tune`: hyperparameters by validation P@1."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path

import click

from xmlc.cli._options import FILE, data_option, parse_parameters, threads_option
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.measuring.subject import dataset_of
from xmlc.models.registry import make_estimator
from xmlc.passport import passport
from xmlc.tuning.plan import plan_in_ranges, plan_in_stages, run_plan
from xmlc.tuning.result import TuningResult, write_result
from xmlc.tuning.search import METHODS


@click.command(help="Search hyperparameters on the 80/20 split: the best P@1 on the 20 % wins.")
@data_option
@click.option("--estimator", required=True, help="Name, or path/to/file.py:ClassName.")
@click.option(
    "--parameters",
    default="{}",
    help="Hyperparameters as a JSON object; the first trial has them all, later trials those that are not searched.",
)
@click.option("--space", default=None, help='Ranges as JSON, such as {"gamma": {"low": 0.1, "high": 10, "log": true}}.')
@click.option(
    "--stages",
    default=None,
    help="In place of ranges the trials themselves as JSON, in stages: those of the second override the best of the "
    'first, such as [[{"alpha": 0}, {"alpha": 1}], [{"S": 25}, {"S": 50}]]. Method and budget are then ignored.',
)
@click.option("--method", type=click.Choice(METHODS), default="random", show_default=True, help="How to search.")
@click.option("--budget", default=30, show_default=True, help="Number of trials.")
@click.option("--seed", default=0, show_default=True, help="Seed of the search and of the estimators.")
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
    """Search, without reading the test set."""
    prepared, fixed = Prepared(data), parse_parameters(parameters)
    first = make_estimator(estimator, fixed, seed, threads).get_params()
    if (space is None) == (stages is None):
        raise XmlcError(f"{out}: give the ranges of a search (--space) or its trials (--stages), one of the two")
    if stages is None:
        plan = plan_in_ranges(parse_parameters(str(space)), method, budget, seed, first)
    else:
        plan = plan_in_stages(stages, prepared.meta["labels_per_instance"])
    trials = run_plan(plan, prepared, estimator, fixed, seed, threads)
    content: TuningResult = {
        "dataset": asdict(dataset_of(prepared)),
        "estimator": estimator,
        "method": plan.method,
        "budget": budget if stages is None else len(trials),
        "chosen_by": "P@1 on the 20 % of the training set that validation holds",
        "space": json.loads(space or str(stages)),
        "fixed": fixed,
        "seed": seed,
        "best": deepcopy(max(trials, key=lambda trial: trial["p@1"])),  # a copy, so that YAML writes no reference
        "trials": trials,
        "passport": passport(threads),
    }
    write_result(out, content)
