"""What a search tries, on how much data, and how: in ranges or in stages; and the search itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from xmlc.data.prepared import Prepared
from xmlc.estimator import Hyperparameters, check_value
from xmlc.models.registry import make_estimator
from xmlc.models.warm_up import warm_up
from xmlc.records.training import Trial
from xmlc.runtime.progress import Progress
from xmlc.tuning.auto import METHOD as BOUNDED
from xmlc.tuning.auto import MOST_FITTED, MOST_VALIDATED, parse_auto
from xmlc.tuning.journal import Journal
from xmlc.tuning.objective import ValidationPrecision
from xmlc.tuning.ranges import Objective, parse_space
from xmlc.tuning.search import search
from xmlc.tuning.stages import METHOD as IN_STAGES
from xmlc.tuning.stages import parse_stages, search_in_stages


@dataclass(frozen=True)
class Plan:
    """A search that is ready to run.

    Attributes
    ----------
    method : str
        Its name in results.
    budget : int
        Trials at most.
    tried : dict of str to tuple
        Of each hyperparameter that is searched the values, or the ends of the interval, that may be tried.
    run : callable
        Is given the objective.
    in_trials : dict
        Hyperparameters of all trials that the model which is trained afterwards does not have.
    at_most : dict of str to int or None
        Instances that trials are trained on (``fitted``) and scored on (``validated``) at most; None for all.
    """

    method: str
    budget: int
    tried: Mapping[str, tuple[object, ...]]
    run: Callable[[Objective], None]
    in_trials: Hyperparameters = field(default_factory=dict)
    at_most: Mapping[str, int | None] = field(default_factory=lambda: {"fitted": None, "validated": None})


def plan_in_ranges(space: Mapping[str, object], method: str, budget: int, seed: int, first: Hyperparameters) -> Plan:
    """Plan a search in ranges, as they are configured; ``first`` are the hyperparameters of the first trial.

    Raises
    ------
    XmlcError
        A range is none.
    """
    ranges = parse_space(space)
    tried = {name: values.ends() for name, values in ranges.items()}
    return Plan(method, budget, tried, lambda objective: search(method, ranges, objective, budget, seed, first))


def plan_in_stages(stages: str, labels_per_instance: float) -> Plan:
    """Plan trials in stages, given as JSON.

    Raises
    ------
    XmlcError
        They are no stages.
    """
    parsed = parse_stages(stages, labels_per_instance)
    tried: dict[str, tuple[object, ...]] = {}
    for name, value in (item for stage in parsed for trial in stage for item in trial.items()):
        tried[name] = (*tried.get(name, ()), value)
    return Plan(IN_STAGES, sum(map(len, parsed)), tried, lambda objective: search_in_stages(parsed, objective))


def plan_auto(search: str, labels_per_instance: float) -> Plan:
    """Plan a bounded search, given as JSON.

    Raises
    ------
    XmlcError
        It is none.
    """
    parsed = parse_auto(search)
    stages = plan_in_stages(parsed.stages, labels_per_instance)
    at_most = {"fitted": MOST_FITTED, "validated": MOST_VALIDATED}
    return replace(stages, method=BOUNDED, in_trials=parsed.in_trials, at_most=at_most)


def run_plan(
    plan: Plan,
    prepared: Prepared,
    estimator: str,
    fixed: Hyperparameters,
    seed: int,
    threads: int,
    journal: Journal | None = None,
) -> list[Trial]:
    """Search on the 80/20 split, and return the trials in order; the test set is never looked at.

    Parameters
    ----------
    plan : Plan
    prepared : Prepared
    estimator : str
        Name, or ``path/to/file.py:ClassName``.
    fixed : dict
        Hyperparameters of all trials; those of a trial are put over them.
    seed, threads : int
        Of the estimators.
    journal : Journal or None
        Has the trials of a search that was interrupted, and is given the others.

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
    fixed = fixed | plan.in_trials
    fit, validation = prepared.part("fit", plan.at_most["fitted"]), prepared.part("val", plan.at_most["validated"])
    warm_up(make_estimator(estimator, fixed, seed, threads), *fit)
    with Progress(plan.budget, f"tuning {estimator}", "trials") as progress:
        objective = ValidationPrecision(estimator, fixed, seed, threads, fit, validation, progress, journal)
        plan.run(objective)
    return objective.trials
