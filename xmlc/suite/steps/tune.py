"""`xmlc tune`: the hyperparameters with the highest P@1 on a validation set.

A search trains models on 80 % of the training set, and validates them on the other 20 % (plt2016,
Section 6.1 and Appendix C). Its trials are configured as stages, drawn at random in ranges (a
search in one stage), or chosen in ranges by SMAC (`xmlc.suite.steps.smac_search`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import Path
from typing import cast

import click
import numpy as np

from xmlc.cli.options import SEED, threads_option
from xmlc.core.errors import XmlcError, needs_extra
from xmlc.kernels.counter_random import Stream, random_unit, stream_key
from xmlc.kernels.domains import LABELS_PER_INSTANCE
from xmlc.kernels.estimator import Hyperparameters, check_value
from xmlc.metrics.hits import hits_at_k
from xmlc.metrics.ranking import K
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.parabel import Parabel
from xmlc.models.plt.estimator import PLT
from xmlc.models.registry import LEARNERS, make_estimator
from xmlc.models.warm_up import check_kept
from xmlc.suite.config.ranges import (
    AUTO,
    MOST_FITTED,
    MOST_VALIDATED,
    Interval,
    Space,
    ends_of,
    parse_space,
)
from xmlc.suite.config.suite import Stages
from xmlc.suite.options import (
    data_option,
    estimator_option,
    file_option,
    json_option,
    record_option,
)
from xmlc.suite.provenance.environment import environment
from xmlc.suite.results.records.search import SearchRecord, Trial, mean_precision
from xmlc.suite.schemas import converted
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.run import dataset_of, trained_beside

METHODS = ("random", "smac")
IN_ONE = 45  # the mean of P@1, P@3 and P@5 of an instance is a multiple of 1/45
Make = Callable[[Hyperparameters], SparseProbabilityEstimator]
TrialObjective = Callable[[Hyperparameters], float]


@dataclass(frozen=True)
class Search:
    """A search for hyperparameters."""

    method: str
    #: The ranges or the stages from the configuration.
    space: object
    #: The trials of each stage, without those that SMAC chooses later.
    stages: Stages
    #: The ranges of the trials, or {} if the configuration has stages.
    ranges: Space = field(default_factory=dict)
    #: Random splits of the training set into 80 % and 20 %, over which the objective is the mean of
    #: P@1, P@3 and P@5. With None, it is P@1 on one split.
    splits: int | None = None
    #: Most instances that train (``fitted``) and score (``validated``) a trial, or None.
    fitted: int | None = None
    validated: int | None = None

    @property
    def chosen_by(self) -> str:
        """Return a text about the objective."""
        what = "P@1"
        if self.splits:
            what = f"mean of P@1, P@3 and P@5 over {self.splits} splits,"
        return f"{what} on the 20 % of the training set held out for validation"

    def worth(self, trial: Trial) -> float:
        """Return the objective of a trial."""
        if self.splits:
            return mean_precision(trial)
        return trial["p@1"]


def in_ranges(
    content: Mapping[str, object], method: str, budget: int, seed: int, given: Hyperparameters
) -> Search:
    """Return a search with ``budget`` trials in the configured ranges.

    The first trial has the values ``given``, so that the best trial is at least as good, unless one
    of these is missing or outside its range.
    """
    space = parse_space(content)
    first = {name: given[name] for name in space if name in given and given[name] in space[name]}
    trials = []
    if len(first) == len(space):
        trials = [first]
    if method == "random":
        trials += random_trials(space, budget - len(trials), seed)
    return Search(method, content, [trials], space)


def resolved(stages: Stages, labels_per_instance: float) -> Stages:
    """Replace `LABELS_PER_INSTANCE` by the average, rounded and at least 1."""
    average = max(1, math.floor(labels_per_instance + 0.5))

    def replaced(trial: Hyperparameters) -> Hyperparameters:
        return {
            name: average if value == LABELS_PER_INSTANCE else value
            for name, value in trial.items()
        }

    return [[*map(replaced, stage)] for stage in stages]


class Trials:
    """The objective of each trial, with the results of all trials.

    In each split, a trial trains a model on one part and scores it on the other, without the test
    set. ``make`` returns an estimator with a trial's hyperparameters, always with the same seed,
    and ``about`` begins the printed line of each trial. Trials in ``done`` have precisions from 0
    to 1, and paired errors: the standard error of the difference from an earlier trial on the same
    instances. ``instances`` counts distinct validation instances of all splits.
    """

    def __init__(self, search: Search, folder: Path, make: Make, out: Path, about: str) -> None:
        self._search = search
        self._make = make
        self._out = out
        self._about = about
        self._splits = [Prepared(folder, run) for run in range(search.splits or 1)]
        rows = np.concatenate([split.rows("val", search.validated) for split in self._splits])
        _, self._places, self._times = np.unique(rows, return_inverse=True, return_counts=True)
        self._scores: list[np.ndarray] = []
        self.done: list[Trial] = []
        self.instances = self._times.size

    def __call__(self, hyperparameters: Hyperparameters) -> float:
        """Run a trial, and return its objective."""
        hyperparameters = with_possible_arity(self._make(hyperparameters), hyperparameters)
        found = []
        seconds = 0.0
        for split in self._splits:
            model = self._make(hyperparameters)
            train = split.part("fit", self._search.fitted)
            with trained_beside(self._out, model, train) as spent:
                seconds += spent
                if isinstance(model, PLT) and model.search == "exact":
                    # Finds the same labels as the exact search, but reads a memory-mapped model
                    # node by node
                    model.search = "certified"
                X, Y = split.part("val", self._search.validated)
                found.append(hits_at_k(Y, model.predict_top_k(X, max(K))[0], max(K))[0])
        hits = np.concatenate(found).cumsum(axis=1)[:, np.array(K) - 1]
        shares = (hits.sum(axis=0) / (np.array(K) * hits.shape[0])).tolist()
        scores = np.bincount(
            self._places, (hits * (IN_ONE // 3 // np.array(K))).sum(axis=1)
        ).astype(int)
        errors = [
            round(paired_error(scores - other, self._times) / IN_ONE, 6) for other in self._scores
        ]
        precisions = {f"p@{k}": share for k, share in zip(K, shares, strict=True)}
        trial = {
            "hyperparameters": hyperparameters,
            **precisions,
            "train_seconds": round(seconds, 3),
        }
        self._scores.append(scores)
        self.done.append(cast(Trial, trial | {"paired_errors": errors}))
        worth = self._search.worth(self.done[-1])
        # Standard output reaches the user, but the workflow redirects standard error to a log file.
        said = (
            f"trial {len(self.done)}: {100 * worth:.2f}, trained in {seconds:.0f} s, "
            f"{hyperparameters}"
        )
        click.echo(f"{self._about}: {said}")
        return worth


def with_possible_arity(
    model: SparseProbabilityEstimator, trial: Hyperparameters
) -> Hyperparameters:
    """Return a trial with the nearest power of two as arity, if the model has a k-means tree."""
    arity = trial.get("arity")
    has_kmeans_tree = isinstance(model, Parabel) or (
        isinstance(model, PLT) and model.tree == "kmeans"
    )
    if not isinstance(arity, int) or not has_kmeans_tree:
        return trial
    lower = 1 << (arity.bit_length() - 1)
    nearest = lower
    if arity * arity > 2 * lower * lower:
        nearest = 2 * lower
    return trial | {"arity": nearest}


def paired_error(differences: np.ndarray, times: np.ndarray) -> float:
    """Return the standard error of the mean difference between two trials.

    The arguments have an int64 for each instance: the difference of the two scores, summed over the
    splits that validate on it, and the number of these splits, which may overlap. The error is
    exactly 0 if all differences are 0, because whole numbers are summed.
    """
    n = times.size
    in_all = int(times.sum())
    total = int(differences.sum())
    squares = int((differences * differences).sum())
    crossed = int((differences * times).sum())
    counts = int((times * times).sum())
    spread = squares * in_all * in_all - 2 * crossed * in_all * total + counts * total * total
    return math.sqrt(spread * n / max(n - 1, 1)) / (in_all * in_all)


def run_trials(search: Search, objective: TrialObjective, budget: int, seed: int) -> None:
    """Call ``objective`` for each trial of a search, whose package must be installed."""
    if search.method != "smac":
        search_in_stages(search.stages, objective, ties=search.splits is not None)
        return
    try:
        from xmlc.suite.steps.smac_search import smac_search
    except ImportError as error:
        said = f"smac cannot be imported ({error}), expected smac or --method random"
        raise needs_extra(said, "tune") from error
    smac_search(search.ranges, objective, budget, seed, search.stages[0])


def search_in_stages(stages: Stages, objective: TrialObjective, ties: bool = False) -> None:
    """Call ``objective`` for each trial of the stages, one stage after another.

    A trial updates the best trial of all earlier stages. If several are equally good, it is the
    first one, or with ``ties`` each of them. Hyperparameters are never tried twice.
    """
    tried: list[Hyperparameters] = []
    best: list[Hyperparameters] = [{}]
    highest = -math.inf
    for stage in stages:
        for start, changes in product(best, stage):
            trial = start | changes
            if trial in tried:
                continue
            tried.append(trial)
            worth = objective(trial)
            if worth > highest:
                best = []
                highest = worth
            if worth == highest and (ties or not best):
                best.append(trial)


def random_trials(space: Space, n_trials: int, seed: int) -> Iterator[Hyperparameters]:
    """Yield the hyperparameters of ``n_trials`` random trials.

    Trial i depends only on (seed, i), so a longer search begins with the same trials.
    """
    for trial in range(n_trials):
        key = stream_key(seed, Stream.TRIAL + trial)
        drawn: Hyperparameters = {}
        for i, name in enumerate(sorted(space)):
            values = space[name]
            u = float(random_unit(np.uint64(key), i))
            if isinstance(values, Interval):
                drawn[name] = values.at(u)
            else:
                drawn[name] = values[int(u * len(values))]
        yield drawn


@click.command(help="Search for the hyperparameters with the highest P@1 on the validation set.")
@data_option
@estimator_option
@json_option(
    "--parameters",
    "Hyperparameters as a JSON object. The first trial of --space tries them unchanged, other "
    "trials override them.",
)
@json_option(
    "--space",
    'Ranges of hyperparameters as JSON, such as {"gamma": {"low": 0.1, "high": 10, "log": true}}.',
    default=None,
)
@click.option(
    "--stages",
    help='Stages of trials as JSON instead of ranges, such as [[{"alpha": 0}, {"alpha": 1}],'
    ' [{"S": 25}, {"S": 50}]]. Each stage extends the best trial of the previous stage.',
)
@json_option(
    "--trial-overrides", "With --stages, hyperparameters of all trials, but not of the final model."
)
@click.option(
    "--sample",
    is_flag=True,
    help=f"With --stages, train on at most {MOST_FITTED} instances and validate on at most "
    f"{MOST_VALIDATED}.",
)
@file_option(
    "--tuned",
    "With --stages, file written by an earlier `xmlc tune`, whose best trial is tried first.",
)
@click.option(
    "--splits",
    type=click.IntRange(min=1),
    default=None,
    help="With --stages, maximise the mean of P@1, P@3 and P@5 over this many splits, each with "
    f"at most {MOST_VALIDATED} validation instances.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="random",
    show_default=True,
    help="With --space, search method.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="With --space, number of trials.",
)
@click.option(
    "--seed",
    type=SEED,
    default=0,
    show_default=True,
    help="Seed of the search and of the estimators.",
)
@threads_option
@record_option
def command(
    data: Path,
    estimator: str,
    parameters: Hyperparameters,
    space: Hyperparameters | None,
    stages: str | None,
    trial_overrides: Hyperparameters,
    sample: bool,
    tuned: Path | None,
    splits: int | None,
    method: str,
    budget: int,
    seed: int,
    threads: int,
    out: Path,
) -> None:
    """Run a search, and write its result. The test set is not read."""
    if (space is None) == (stages is None):
        raise XmlcError("found both or none of --space and --stages, expected one of them")
    prepared = Prepared(data)
    model = make_estimator(estimator, parameters, seed, threads)
    check_kept(estimator, model, *prepared.part("fit"))
    if space is not None:
        if tuned is not None:
            raise XmlcError(f"--tuned: found {tuned} without stages. Add --stages")
        search = in_ranges(space, method, budget, seed, model.get_params())
    else:
        try:
            configured = converted(json.loads(stages or ""), Stages, "--stages")
        except json.JSONDecodeError as error:
            raise XmlcError(f"--stages: {stages!r} is not JSON ({error})") from error
        if tuned is not None:
            earlier = SearchRecord.read_for(tuned, estimator, prepared.digest)
            configured = [[earlier.best["hyperparameters"]], *configured]
        search = Search(
            method=AUTO if sample else "stages",
            space=configured,
            stages=resolved(configured, prepared.meta["labels_per_instance"]),
            splits=splits,
            fitted=MOST_FITTED if sample else None,
            validated=MOST_VALIDATED if sample or splits else None,
        )
    fixed = parameters | trial_overrides
    check_trials(search, estimator, fixed)

    def make(trial: Hyperparameters) -> SparseProbabilityEstimator:
        return make_estimator(estimator, fixed | trial, seed, threads)

    most = sum(map(len, search.stages)) if stages else budget
    trials = Trials(
        search,
        data,
        make,
        out,
        f"tune {estimator} on {prepared.meta['name']}, at most {most} trials",
    )
    run_trials(search, trials, budget, seed)
    SearchRecord(
        dataset=dataset_of(prepared),
        estimator=estimator,
        method=search.method,
        budget=len(trials.done),
        chosen_by=search.chosen_by,
        space=search.space,
        fixed=fixed,
        at_most={"fitted": search.fitted, "validated": search.validated},
        seed=seed,
        after=str(tuned) if tuned else None,
        best=max(trials.done, key=search.worth),
        trials=tuple(trials.done),
        instances=trials.instances,
        environment=environment(threads),
    ).write(out)


def check_trials(search: Search, estimator: str, fixed: Hyperparameters) -> None:
    """Raise an error for an unknown hyperparameter or an invalid value before the first trial.

    Trials in ranges must also fit the ``fixed`` hyperparameters, but earlier stages complete those
    in stages. SMAC chooses its trials later, so the ends of its ranges are checked instead, each
    without fixed values of the others.
    """
    known = [*chain(*search.stages)]
    if search.method == "smac":
        for name, values in search.ranges.items():
            known += [{name: value} for value in ends_of(values)]
            fixed = {key: value for key, value in fixed.items() if key != name}
    for trial in known:
        model = make_estimator(estimator, trial, 0, 1)
        for name, value in trial.items():
            check_value(type(model), name, value)
        if len(search.stages) == 1 and estimator in LEARNERS:
            model.set_params(**fixed | trial)
            model.set_params(**with_possible_arity(model, trial)).check_together()
