"""`xmlc tune`: hyperparameters by validation P@1."""

from __future__ import annotations

import json
from pathlib import Path

import click

from xmlc.cli._options import FILE, SEED, parse_parameters, threads_option
from xmlc.core.errors import XmlcError
from xmlc.core.passport import passport
from xmlc.models.registry import make_estimator
from xmlc.models.warm_up import check_kept
from xmlc.suite.config.ranges import MOST_FITTED, MOST_VALIDATED
from xmlc.suite.config.suite import Stages
from xmlc.suite.options import data_option
from xmlc.suite.results.records.search import SearchRecord
from xmlc.suite.schemas import converted
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.subject import dataset_of
from xmlc.suite.steps.tuning.methods import METHODS
from xmlc.suite.steps.tuning.plan import plan_in_ranges, plan_in_stages, run_plan


@click.command(help="Search hyperparameters on the 80/20 split: the best P@1 on the 20 % wins, or see --splits.")
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
@click.option("--in-trials", default="{}", help="With --stages: values of the trials that the later model has not.")
@click.option("--sample", is_flag=True, help=f"With --stages: take at most {MOST_FITTED} instances of the 80 % and"
              f" {MOST_VALIDATED} of the 20 %, for a dataset that nobody tuned.")  # fmt: skip
@click.option("--tuned", type=FILE, default=None,
              help="With --stages: a result of another search, whose best values are the first trial, before the"
              " stages.")  # fmt: skip
@click.option("--splits", type=click.IntRange(min=1), default=None,
              help="Choose among stages by the mean of P@1, P@3 and P@5 over so many 80/20 splits, of each at most"
              f" {MOST_VALIDATED} instances of the 20 %, not by P@1 on the first; equal ones all go on.")  # fmt: skip
@click.option("--method", type=click.Choice(METHODS), default="random", show_default=True, help="How to search.")
@click.option("--budget", type=click.IntRange(min=1), default=30, show_default=True, help="Number of trials.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the search and of the estimators.")
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON file with the best values and every trial.")
def command(
    data: Path,
    estimator: str,
    parameters: str,
    space: str | None,
    stages: str | None,
    in_trials: str,
    sample: bool,
    tuned: Path | None,
    splits: int | None,
    method: str,
    budget: int,
    seed: int,
    threads: int,
    out: Path,
) -> None:
    """Search, without reading the test set."""
    if (space is None) == (stages is None):
        raise XmlcError(f"{out}: give ranges (--space) or trials in stages (--stages)")
    if tuned is not None and stages is None:
        raise XmlcError(f"{out}: --tuned goes before trials in stages (--stages)")
    prepared, given = Prepared(data), parse_parameters(parameters)
    model = make_estimator(estimator, given, seed, threads)
    check_kept(estimator, model, *prepared.part("fit"))
    if stages is None:
        plan = plan_in_ranges(parse_parameters(str(space)), method, budget, seed, model.get_params())
    else:
        before = [SearchRecord.read_for(tuned, estimator, prepared.digest)] if tuned else []
        every = [*([one.best["hyperparameters"]] for one in before), *parse_stages(stages)]
        labels = prepared.meta["labels_per_instance"]
        plan = plan_in_stages(every, labels, splits, sample, parse_parameters(in_trials))
    about = f"tune {estimator} on {prepared.meta['name']}, at most {plan.budget} trials"

    def tell(line: str) -> None:
        """Print progress to standard output, because the workflow redirects only standard error to a log."""
        click.echo(f"{about}: {line}")

    trials, instances = run_plan(plan, prepared, estimator, given, seed, threads, out, tell)
    SearchRecord(
        dataset=dataset_of(prepared),
        estimator=estimator,
        method=plan.method,
        budget=budget if stages is None else len(trials),  # stages try nothing twice
        chosen_by=plan.validation.chosen_by,
        space=plan.space,
        fixed=given | plan.in_trials,
        at_most={"fitted": plan.validation.fitted, "validated": plan.validation.validated},
        seed=seed,
        after=str(tuned) if tuned else None,
        best=max(trials, key=plan.validation.worth),
        trials=tuple(trials),
        instances=instances,
        passport=passport(threads),
    ).write(out)


def parse_stages(text: str) -> Stages:
    """Read trials in stages given as JSON.

    Raises
    ------
    XmlcError
        They are none.
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise XmlcError(f"--stages: {text!r} is not JSON ({error})") from error
    return converted(content, Stages, "--stages")
