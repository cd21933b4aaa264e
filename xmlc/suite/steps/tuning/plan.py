"""A search that is ready to run: its trials in ranges or in stages, what they are trained on, and the run itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from xmlc.core.progress import Progress
from xmlc.kernels.domains import LABELS_PER_INSTANCE
from xmlc.kernels.estimator import Hyperparameters, check_value
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import make_estimator
from xmlc.suite.config.ranges import AUTO, MOST_FITTED, MOST_VALIDATED, Objective, parse_space
from xmlc.suite.config.suite import Stages
from xmlc.suite.results.records.search import Trial
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.tuning.methods import search_in_ranges, search_in_stages
from xmlc.suite.steps.tuning.objective import Validation, ValidationPrecision

IN_STAGES = "stages"


@dataclass(frozen=True)
class SearchPlan:
    """A search that is ready to run."""

    #: Its name in results.
    method: str
    #: Trials at most.
    budget: int
    #: Ranges or stages, as they were given.
    space: object
    #: Of each hyperparameter that is searched the values, or the ends of the interval, that may be tried.
    tried: Mapping[str, tuple[object, ...]]
    #: Is given the objective.
    run: Callable[[Objective], None]
    validation: Validation = field(default_factory=Validation)
    #: Hyperparameters of all trials that the model which is trained afterwards does not have.
    in_trials: Hyperparameters = field(default_factory=dict)


def plan_in_ranges(
    space: Mapping[str, object], method: str, budget: int, seed: int, first: Hyperparameters
) -> SearchPlan:
    """Plan a search in ranges, as they are configured; ``first`` are the hyperparameters of the first trial.

    Raises
    ------
    XmlcError
        A range is none.
    """
    ranges = parse_space(space)
    tried = {name: values.ends() for name, values in ranges.items()}
    run = partial(search_in_ranges, method, ranges, budget=budget, seed=seed, given=first)
    return SearchPlan(method, budget, space, tried, run)


def plan_in_stages(
    stages: Stages,
    labels_per_instance: float,
    splits: int | None = None,
    sample: bool = False,
    in_trials: Hyperparameters | None = None,
) -> SearchPlan:
    """Plan trials in stages.

    Parameters
    ----------
    stages : list of list of dict
    labels_per_instance : float
        The average number of labels of an instance, whose name stages may have in place of a value.
    splits : int, optional
        Score on so many; equally good trials then all go on to the next stage.
    sample : bool
        Train and score on a sample of the data, as for a dataset that nobody tuned.
    in_trials : dict, optional
        Put over the hyperparameters of every trial.
    """
    trials = resolved(stages, labels_per_instance)
    tried: dict[str, tuple[object, ...]] = {}
    for name, value in (item for stage in trials for trial in stage for item in trial.items()):
        tried[name] = (*tried.get(name, ()), value)
    run = partial(search_in_stages, trials, ties=splits is not None)
    validation = Validation(splits, MOST_FITTED if sample else None, MOST_VALIDATED if sample or splits else None)
    method = AUTO if sample else IN_STAGES
    return SearchPlan(method, sum(map(len, trials)), stages, tried, run, validation, in_trials or {})


def resolved(stages: Stages, labels_per_instance: float) -> Stages:
    """Put the rounded average number of labels, at least 1, in place of its name."""
    average = max(1, math.floor(labels_per_instance + 0.5))
    return [
        [{name: average if value == LABELS_PER_INSTANCE else value for name, value in trial.items()} for trial in stage]
        for stage in stages
    ]


def run_plan(
    plan: SearchPlan,
    prepared: Prepared,
    estimator: str,
    fixed: Hyperparameters,
    seed: int,
    threads: int,
    out: Path,
    tell: Callable[[str], object] = lambda line: None,
) -> tuple[list[Trial], int]:
    """Search on 80/20 splits, and return the trials in order, and the number of validation instances.

    The test set is never looked at.

    Parameters
    ----------
    plan : SearchPlan
    prepared : Prepared
    estimator : str
        Name, or ``path/to/file.py:ClassName``.
    fixed : dict
        Hyperparameters of all trials; those of a trial are put over them.
    seed, threads : int
        Of the estimators.
    out : Path
    tell : callable
        As for `ValidationPrecision`.

    Raises
    ------
    XmlcError
        A hyperparameter is not one of the estimator's, or a value that may be tried is outside its domain.
    """
    # That every name of the search is a hyperparameter, and every value one of its values, shows before training.
    first = make_estimator(estimator, {name: values[0] for name, values in plan.tried.items()}, seed, threads)
    for name, values in plan.tried.items():
        for value in values:
            check_value(type(first), name, value)

    def make(hyperparameters: Hyperparameters) -> SparseProbabilityEstimator:
        return make_estimator(estimator, fixed | plan.in_trials | hyperparameters, seed, threads)

    with Progress(plan.budget, f"tuning {estimator}", "trials") as progress:
        objective = ValidationPrecision(plan.validation, prepared, make, progress, out, tell)
        plan.run(objective)
    return objective.trials, objective.instances
