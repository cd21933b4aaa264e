"""A search: its trials, planned in ranges or in stages, its objective, and the methods that run it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar, cast

import msgspec
import numpy as np

from xmlc.core.errors import XmlcError, needs_extra
from xmlc.core.passport import timed
from xmlc.core.progress import Progress
from xmlc.data.prepared import Prepared
from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.kernels.domains import LABELS_PER_INSTANCE
from xmlc.kernels.estimator import Hyperparameters, check_value
from xmlc.kernels.streams import Stream
from xmlc.metrics.ranking import K, hits_at_k
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import make_estimator
from xmlc.models.warm_up import warm_up
from xmlc.records.training import Trial, mean_precision
from xmlc.steps.tuning.journal import Journal, KeptTrial
from xmlc.steps.tuning.ranges import AUTO, MOST_FITTED, MOST_VALIDATED, Objective, Space, parse_space
from xmlc.suites.suite import Auto


@dataclass(frozen=True)
class SearchPlan:
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
    splits : int or None
        The mean of P@1, P@3 and P@5 over so many 80/20 splits is maximised; None for P@1 on the first.
    in_trials : dict
        Hyperparameters of all trials that the model which is trained afterwards does not have.
    at_most : dict of str to int or None
        Instances that trials are trained on (``fitted``) and scored on (``validated``) at most; None for all.
    """

    method: str
    budget: int
    tried: Mapping[str, tuple[object, ...]]
    run: Callable[[Objective], None]
    splits: int | None = None
    in_trials: Hyperparameters = field(default_factory=dict)
    at_most: Mapping[str, int | None] = field(default_factory=lambda: {"fitted": None, "validated": None})

    @property
    def chosen_by(self) -> str:
        """What is maximised."""
        what = f"mean of P@1, P@3 and P@5 over {self.splits} splits," if self.splits else "P@1"
        return f"{what} on the 20 % of the training set that validation holds"

    def worth(self, trial: Trial) -> float:
        """Return what is maximised of a trial."""
        return mean_precision(trial) if self.splits else trial["p@1"]


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
    return SearchPlan(method, budget, tried, lambda objective: search(method, ranges, objective, budget, seed, first))


def plan_in_stages(stages: str, labels_per_instance: float, splits: int | None = None) -> SearchPlan:
    """Plan trials in stages, given as JSON; over several splits equally good ones all go on to the next stage.

    Raises
    ------
    XmlcError
        They are no stages.
    """
    return _plan_in_stages(decoded(stages, Stages, STAGES), labels_per_instance, splits)


def plan_auto(search: str, labels_per_instance: float) -> SearchPlan:
    """Plan a bounded search, given as JSON.

    Raises
    ------
    XmlcError
        It is no search.
    """
    auto = decoded(search, Auto, AUTO_SEARCH)
    stages = _plan_in_stages(auto.stages, labels_per_instance, None)
    at_most = {"fitted": MOST_FITTED, "validated": MOST_VALIDATED}
    return replace(stages, method=AUTO, in_trials=auto.in_trials, at_most=at_most)


def _plan_in_stages(given: Stages, labels_per_instance: float, splits: int | None) -> SearchPlan:
    parsed = resolved(given, labels_per_instance)
    tried: dict[str, tuple[object, ...]] = {}
    for name, value in (item for stage in parsed for trial in stage for item in trial.items()):
        tried[name] = (*tried.get(name, ()), value)
    at_most = {"fitted": None, "validated": MOST_VALIDATED if splits else None}
    run = partial(search_in_stages, parsed, ties=splits is not None)
    return SearchPlan(IN_STAGES, sum(map(len, parsed)), tried, run, splits, at_most=at_most)


def run_plan(
    plan: SearchPlan,
    prepared: Prepared,
    estimator: str,
    fixed: Hyperparameters,
    seed: int,
    threads: int,
    journal: Journal,
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
    journal : Journal
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

    def make(hyperparameters: Hyperparameters) -> SparseProbabilityEstimator:
        return make_estimator(estimator, fixed | plan.in_trials | hyperparameters, seed, threads)

    warm_up(make({}), *prepared.part("fit", plan.at_most["fitted"]))
    with Progress(plan.budget, f"tuning {estimator}", "trials") as progress:
        objective = ValidationPrecision(plan, prepared, make, progress, journal)
        plan.run(objective)
    return objective.trials, objective.instances


T = TypeVar("T")
IN_STAGES = "stages"
Stages = list[list[Hyperparameters]]


# Examples of searches, as JSON.
STAGES = '[[{"alpha": 0}, {"alpha": 1}], [{"S": 25}, {"S": 50}]]'
AUTO_SEARCH = '{"stages": [[{"eta": 0.1}, {"eta": 1}]], "in_trials": {"n_trees": 10}}'


def decoded(text: str, kind: type[T], example: str) -> T:
    """Read a search given as JSON.

    Raises
    ------
    XmlcError
        It is no JSON, or another than the example.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise XmlcError(f"search {text!r}: {error}; expected a search such as {example}") from error


def resolved(stages: Stages, labels_per_instance: float) -> Stages:
    """Put the rounded average number of labels, at least 1, in place of its name.

    Raises
    ------
    XmlcError
        There is no stage, or an empty one, or an empty trial.
    """
    if not stages or not all(stages) or not all(trial for stage in stages for trial in stage):
        raise XmlcError(f"search {stages!r}: found none, or an empty part; expected stages such as {STAGES}")
    average = max(1, math.floor(labels_per_instance + 0.5))
    return [
        [{name: average if value == LABELS_PER_INSTANCE else value for name, value in trial.items()} for trial in stage]
        for stage in stages
    ]


def search_in_stages(stages: Stages, objective: Objective, ties: bool = False) -> None:
    """Call ``objective`` with every trial of one stage after the other.

    A trial is what the stage gives, put over the best of all earlier stages; of equally good ones the first is the
    best. What was tried before is not tried again.

    Parameters
    ----------
    stages : list of list of dict
    objective : callable
        Takes hyperparameters and returns what is to be maximised.
    ties : bool
        Put the next stage over each of equally good ones.
    """
    tried: list[Hyperparameters] = []
    best: list[Hyperparameters] = [{}]
    highest = -math.inf
    for stage in stages:
        for trial in [start | changes for start in best for changes in stage]:
            if trial in tried:
                continue
            tried.append(trial)
            worth = objective(trial)
            if worth > highest:
                best, highest = [], worth
            if worth == highest and (ties or not best):
                best.append(trial)


Make = Callable[[Hyperparameters], SparseProbabilityEstimator]


class ValidationPrecision:
    """The objective of every search: fit to one part of each split, score on the other, and keep the trial.

    Parameters
    ----------
    plan : SearchPlan
    prepared : Prepared
        With the first split.
    make : callable
        Returns an estimator for the hyperparameters of a trial, which are all that trials differ in: the seed is one.
    progress : Progress
        Counts the trials.
    journal : Journal
        Trials that it has are not trained again; it is given the others.

    Attributes
    ----------
    trials : list of Trial
        In order: hyperparameters, precisions as shares, seconds of training, paired errors.
    instances : int
        Of the validation parts, each counted once.
    """

    def __init__(self, plan: SearchPlan, prepared: Prepared, make: Make, progress: Progress, journal: Journal) -> None:
        self._plan, self._make, self._progress, self._journal = plan, make, progress, journal
        self._splits = [Prepared(prepared.folder, run) for run in range(plan.splits or 1)]
        rows = np.concatenate([split.rows("val", plan.at_most["validated"]) for split in self._splits])
        _, self._places, self._times = np.unique(rows, return_inverse=True, return_counts=True)
        self._scores: list[np.ndarray] = []
        self.trials: list[Trial] = []
        self.instances = self._times.size

    def __call__(self, hyperparameters: Hyperparameters) -> float:
        """Train with these hyperparameters and return the worth of the trial."""
        kept = self._journal.finished(hyperparameters)
        if kept is None:
            kept = self._tried(hyperparameters)
            self._journal.keep(kept)
        scores = np.array(kept["scores"])
        errors = [round(paired_error(scores - other, self._times) / IN_ONE, 6) for other in self._scores]
        self._scores.append(scores)
        self.trials.append(kept["trial"] | {"paired_errors": errors})
        self._progress.update(1)
        return self._plan.worth(kept["trial"])

    def _tried(self, hyperparameters: Hyperparameters) -> KeptTrial:
        found, seconds, most = [], 0.0, self._plan.at_most
        for split in self._splits:
            model = self._make(hyperparameters)
            seconds += timed(partial(model.fit, *split.part("fit", most["fitted"])))[1]
            X, Y = split.part("val", most["validated"])
            found.append(hits_at_k(Y, model.predict_top_k(X, max(K))[0], max(K))[0])
        hits = np.concatenate(found).cumsum(axis=1)[:, np.array(K) - 1]
        shares = (hits.sum(axis=0) / (np.array(K) * hits.shape[0])).tolist()
        scores = np.bincount(self._places, (hits * (IN_ONE // 3 // np.array(K))).sum(axis=1)).astype(int)
        precisions = {f"p@{k}": share for k, share in zip(K, shares, strict=True)}
        trial = {"hyperparameters": hyperparameters, **precisions, "train_seconds": round(seconds, 3)}
        return {"trial": cast(Trial, trial), "scores": scores.tolist()}


IN_ONE = 45  # scores of an instance are the mean of its P@1, P@3 and P@5 in units of 1/45, whole numbers


def paired_error(differences: np.ndarray, times: np.ndarray) -> float:
    """Return the standard error of a mean difference over splits that share instances.

    Sums are of whole numbers, so that it is 0 where nothing differs.

    Parameters
    ----------
    differences : ndarray of int64, shape (n,)
        Of each instance the sum over the splits that it is in.
    times : ndarray of int64, shape (n,)
        In how many it is.
    """
    n, in_all, total = times.size, int(times.sum()), int(differences.sum())
    squares, crossed, counts = (int((a * b).sum()) for a, b in ((differences,) * 2, (differences, times), (times,) * 2))
    spread = squares * in_all * in_all - 2 * crossed * in_all * total + counts * total * total
    return math.sqrt(spread * n / max(n - 1, 1)) / (in_all * in_all)


METHODS = ("random", "smac")


def search(method: str, space: Space, objective: Objective, budget: int, seed: int, given: Hyperparameters) -> None:
    """Call ``objective`` with up to ``budget`` trials, the given hyperparameters first.

    That the given ones are trial 0 means that no search can end below them on what the objective measures. They are
    left out where one of them lies outside its range: the search is then free to find worse.

    Parameters
    ----------
    method : {"random", "smac"}
        ``smac`` ends early when the space has no further value.
    space : dict of str to Range
    objective : callable
        Takes one value for each hyperparameter of the space and returns what is to be maximised; a finite number.
    budget : int
        Number of trials, at least 1.
    seed : int
        Not negative. The trials depend on the seed, the space, the given values and what the objective returned.
    given : dict of str to value
        Hyperparameters as they are without a search; those that are not in the space are ignored.

    Raises
    ------
    XmlcError
        The method is unknown, the budget is empty, or the method's package is not installed.
    """
    if method not in METHODS:
        raise XmlcError(f"search method {method!r} is unknown; expected one of {', '.join(METHODS)}")
    if budget < 1:
        raise XmlcError(f"a search of {budget} trials; at least one is needed")
    first = {name: given[name] for name in space if name in given and given[name] in space[name]}
    known = first if len(first) == len(space) else None
    if method == "smac":
        _require_smac()
        from xmlc.steps.tuning.smac_search import smac_search

        smac_search(space, objective, budget, seed, known)
    else:
        random_search(space, objective, budget, seed, known)


def _require_smac() -> None:
    try:
        import smac  # noqa: F401
    except ImportError as error:
        raise needs_extra(f"smac cannot be imported ({error}), without which a search can be random", "tune") from error


def random_search(
    space: Space, objective: Objective, budget: int, seed: int, first: Hyperparameters | None = None
) -> None:
    """Try ``first``, then random draws; a longer search extends a shorter one."""
    if first is not None:
        objective(first)
    for trial in random_trials(space, budget - (first is not None), seed):
        objective(trial)


def random_trials(space: Space, n_trials: int, seed: int) -> Iterator[Hyperparameters]:
    """Draw hyperparameters at random; trial i depends on (seed, i) alone."""
    for trial in range(n_trials):
        key = stream_key(seed, Stream.TRIAL + trial)
        yield {name: space[name].at(_unit(key, i)) for i, name in enumerate(sorted(space))}


def _unit(key: int, counter: int) -> float:
    return float(random_unit(np.uint64(key), counter))
