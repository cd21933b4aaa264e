"""Run `xmlc tune`. The command searches for the hyperparameters with the highest P@1 on a validation set.

A search trains models on 80 % of the training set, and validates them on the other 20 % (plt2016, Section 6.1 and
Appendix C). The module `smac_search` contains the search by SMAC.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import click
import numpy as np

from xmlc.cli.options import SEED, threads_option
from xmlc.core.errors import XmlcError, needs_extra
from xmlc.core.progress import Progress
from xmlc.kernels.counter_random import Stream, random_unit, stream_key
from xmlc.kernels.domains import LABELS_PER_INSTANCE
from xmlc.kernels.estimator import Hyperparameters, check_value
from xmlc.metrics.ranking import K, hits_at_k
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.parabel import Parabel
from xmlc.models.plt.estimator import PLT
from xmlc.models.registry import make_estimator
from xmlc.models.warm_up import check_kept
from xmlc.suite.config.ranges import AUTO, MOST_FITTED, MOST_VALIDATED, Space, TrialObjective, parse_space
from xmlc.suite.config.suite import Stages
from xmlc.suite.options import data_option, estimator_option, file_option, json_option, record_option
from xmlc.suite.provenance.environment import environment
from xmlc.suite.results.records.search import SearchRecord, Trial, mean_precision
from xmlc.suite.schemas import converted
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.run import dataset_of, trained_beside

Make = Callable[[Hyperparameters], SparseProbabilityEstimator]
METHODS = ("random", "smac")
IN_STAGES = "stages"
IN_ONE = 45  # The mean of P@1, P@3 and P@5 of an instance is a multiple of 1/45.


@dataclass(frozen=True)
class Search:
    """Describe a search for hyperparameters."""

    #: Name of the search method, which the search result contains.
    method: str
    #: Maximum number of trials.
    budget: int
    #: The ranges or the stages from the configuration.
    space: object
    #: Pairs of a hyperparameter and a value that the search may try, so that they can be checked before the search. If
    #: the range is an interval, only its two ends are included.
    tried: list[tuple[str, object]]
    #: A function that runs the search and calls its argument, the objective function, for each trial.
    run: Callable[[TrialObjective], None]
    #: Number of random splits of the training set into 80 % and 20 %. The objective is the mean of P@1, P@3 and P@5
    #: over all splits. If ``splits`` is None, the objective is P@1 on one split.
    splits: int | None = None
    #: Maximum number of training instances of a trial (``fitted``), and of instances that score a trial
    #: (``validated``). None means no limit.
    fitted: int | None = None
    validated: int | None = None
    #: Hyperparameters that replace the configured values in all trials, but not in the final model.
    trial_overrides: Hyperparameters = field(default_factory=dict)

    @property
    def chosen_by(self) -> str:
        """Return a text that describes the objective that the search maximises."""
        what = "P@1"
        if self.splits:
            what = f"mean of P@1, P@3 and P@5 over {self.splits} splits,"
        return f"{what} on the 20 % of the training set held out for validation"

    def worth(self, trial: Trial) -> float:
        """Return the value of the objective for one trial."""
        if self.splits:
            return mean_precision(trial)
        return trial["p@1"]


def in_ranges(space: Mapping[str, object], method: str, budget: int, seed: int, first: Hyperparameters) -> Search:
    """Return a search in the ranges ``space``, whose first trial has the hyperparameters ``first``.

    Raises
    ------
    XmlcError
        A range is not valid.
    """
    ranges = parse_space(space)
    tried = [(name, value) for name, values in ranges.items() for value in values.ends()]
    run = partial(search_in_ranges, method, ranges, budget=budget, seed=seed, given=first)
    return Search(method, budget, space, tried, run)


def in_stages(
    stages: Stages, labels_per_instance: float, splits: int | None, sample: bool, trial_overrides: Hyperparameters
) -> Search:
    """Return a search in stages of fixed trials.

    Parameters
    ----------
    stages : list of list of dict
    labels_per_instance : float
        Average number of labels per instance. The average replaces the value `LABELS_PER_INSTANCE` of a hyperparameter
        in a trial.
    splits : int or None
        Number of random splits on which each trial is scored. If ``splits`` is not None, a stage extends all equally
        good trials of the previous stage.
    sample : bool
        Whether trials are trained and scored on samples of the instances, as for an untuned dataset.
    trial_overrides : dict
        Hyperparameters that replace the configured values in all trials.
    """
    trials = resolved(stages, labels_per_instance)
    return Search(
        method=AUTO if sample else IN_STAGES,
        budget=sum(map(len, trials)),
        space=stages,
        tried=[pair for stage in trials for trial in stage for pair in trial.items()],
        run=partial(search_in_stages, trials, ties=splits is not None),
        splits=splits,
        fitted=MOST_FITTED if sample else None,
        validated=MOST_VALIDATED if sample or splits else None,
        trial_overrides=trial_overrides,
    )


def resolved(stages: Stages, labels_per_instance: float) -> Stages:
    """Replace the value `LABELS_PER_INSTANCE` in stages by the average number of labels per instance.

    The average is rounded, and at least 1.
    """
    average = max(1, math.floor(labels_per_instance + 0.5))
    return [
        [{name: average if value == LABELS_PER_INSTANCE else value for name, value in trial.items()} for trial in stage]
        for stage in stages
    ]


class Trials:
    """Compute the objective of each trial, and keep the results of all trials.

    In each split, a trial trains a model on one part and scores it on the other part. The test set is not used.

    Parameters
    ----------
    search : Search
    folder : Path
        Folder of the prepared dataset.
    make : callable
        A function that returns an estimator with the hyperparameters of a trial. All estimators have the same seed.
    out : Path
        Path of the search result. The model of a trial is in the folder ``<out>.trial``.
    progress : Progress
        The progress bar, which counts the trials.
    about : str
        Text with which the printed line of each trial begins.

    Attributes
    ----------
    done : list of Trial
        The trials in order. Each trial has hyperparameters, precisions (from 0 to 1), training seconds and paired
        errors. A paired error is the standard error of the difference between a trial and an earlier trial on the same
        instances.
    instances : int
        Number of distinct validation instances of all splits.
    """

    def __init__(self, search: Search, folder: Path, make: Make, out: Path, progress: Progress, about: str) -> None:
        self._search = search
        self._make = make
        self._out = out
        self._progress = progress
        self._about = about
        self._splits = [Prepared(folder, run) for run in range(search.splits or 1)]
        rows = np.concatenate([split.rows("val", search.validated) for split in self._splits])
        _, self._places, self._times = np.unique(rows, return_inverse=True, return_counts=True)
        self._scores: list[np.ndarray] = []
        self.done: list[Trial] = []
        self.instances = self._times.size

    def __call__(self, hyperparameters: Hyperparameters) -> float:
        """Run a trial with the given hyperparameters, and return its value of the objective."""
        found = []
        seconds = 0.0
        hyperparameters = with_possible_arity(self._make(hyperparameters), hyperparameters)
        for split in self._splits:
            model = self._make(hyperparameters)
            train = split.part("fit", self._search.fitted)
            with trained_beside(self._out, model, train) as spent:
                seconds += spent
                if isinstance(model, PLT) and model.search == "exact":
                    # The certified search of a PLT finds the same labels as the exact search, but reads a memory-mapped
                    # model node by node.
                    model.search = "certified"
                X, Y = split.part("val", self._search.validated)
                found.append(hits_at_k(Y, model.predict_top_k(X, max(K))[0], max(K))[0])
        hits = np.concatenate(found).cumsum(axis=1)[:, np.array(K) - 1]
        shares = (hits.sum(axis=0) / (np.array(K) * hits.shape[0])).tolist()
        scores = np.bincount(self._places, (hits * (IN_ONE // 3 // np.array(K))).sum(axis=1)).astype(int)
        errors = [round(paired_error(scores - other, self._times) / IN_ONE, 6) for other in self._scores]
        precisions = {f"p@{k}": share for k, share in zip(K, shares, strict=True)}
        trial = {"hyperparameters": hyperparameters, **precisions, "train_seconds": round(seconds, 3)}
        self._scores.append(scores)
        self.done.append(cast(Trial, trial | {"paired_errors": errors}))
        worth = self._search.worth(self.done[-1])
        self._progress.update(1)
        # The line is printed to standard output, so that users see it. The workflow redirects standard error to a log
        # file.
        said = f"trial {len(self.done)}: {100 * worth:.2f}, trained in {seconds:.0f} s, {hyperparameters}"
        click.echo(f"{self._about}: {said}")
        return worth


def with_possible_arity(model: SparseProbabilityEstimator, hyperparameters: Hyperparameters) -> Hyperparameters:
    """Return a trial's hyperparameters, with the nearest power of two as arity if the model's tree needs one.

    A range of the arity has all whole numbers, but a k-means tree has only powers of two.
    """
    arity: Any = hyperparameters.get("arity")
    has_kmeans_tree = isinstance(model, Parabel) or (isinstance(model, PLT) and model.tree == "kmeans")
    if arity is None or not has_kmeans_tree:
        return hyperparameters
    lower = 1 << (int(arity).bit_length() - 1)
    nearest = lower
    if arity * arity > 2 * lower * lower:
        nearest = 2 * lower
    return hyperparameters | {"arity": nearest}


def paired_error(differences: np.ndarray, times: np.ndarray) -> float:
    """Return the standard error of the mean difference between two trials.

    The validation parts of different splits may overlap. The error is exactly 0 if all differences are 0, because the
    function sums whole numbers.

    Parameters
    ----------
    differences : ndarray of int64, shape (n,)
        The difference of the two trials' scores of each instance, summed over the splits in which the instance is a
        validation instance.
    times : ndarray of int64, shape (n,)
        The number of splits in which each instance is a validation instance.
    """
    n = times.size
    in_all = int(times.sum())
    total = int(differences.sum())
    squares, crossed, counts = (int((a * b).sum()) for a, b in ((differences,) * 2, (differences, times), (times,) * 2))
    spread = squares * in_all * in_all - 2 * crossed * in_all * total + counts * total * total
    return math.sqrt(spread * n / max(n - 1, 1)) / (in_all * in_all)


def search_in_stages(stages: Stages, objective: TrialObjective, ties: bool = False) -> None:
    """Call ``objective`` for each trial of the stages, one stage after another.

    The hyperparameters of a trial are those of the best trial of all earlier stages, updated by the values in the
    trial's stage. If several trials are equally good, the first of them is the best trial. A trial with the same
    hyperparameters as an earlier trial is skipped.

    Parameters
    ----------
    stages : list of list of dict
    objective : callable
        Function from hyperparameters to the number to maximise.
    ties : bool
        Whether a stage extends all equally good trials, instead of only the first of these trials.
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
                best = []
                highest = worth
            if worth == highest and (ties or not best):
                best.append(trial)


def search_in_ranges(
    method: str, space: Space, objective: TrialObjective, budget: int, seed: int, given: Hyperparameters
) -> None:
    """Call ``objective`` for at most ``budget`` trials.

    The first trial has the hyperparameters in ``given``, so that the best trial is at least as good. The first trial is
    skipped if a hyperparameter in ``given`` is missing or outside its range. Without the first trial, the best trial
    may be worse than the given hyperparameters.

    Parameters
    ----------
    method : {"random", "smac"}
        The method ``smac`` ends early if all combinations of values have been tried.
    space : dict of str to Range
    objective : callable
        Function from hyperparameters to the number to maximise, which must be finite.
    budget : int
        Number of trials, at least 1.
    seed : int
        The seed of the search, at least 0. The trials depend on the seed, ``space``, ``given`` and the results of
        ``objective``.
    given : dict of str to value
        Configured hyperparameters. A value outside its range is ignored.

    Raises
    ------
    XmlcError
        The package for the search method is not installed.
    """
    first = {name: given[name] for name in space if name in given and given[name] in space[name]}
    known = None
    if len(first) == len(space):
        known = first
    if method == "smac":
        try:
            from xmlc.suite.steps.smac_search import smac_search
        except ImportError as error:
            said = f"smac cannot be imported ({error}), expected smac or --method random"
            raise needs_extra(said, "tune") from error
        smac_search(space, objective, budget, seed, known)
        return
    for trial in [*([known] if known else []), *random_trials(space, budget - bool(known), seed)]:
        objective(trial)


def random_trials(space: Space, n_trials: int, seed: int) -> Iterator[Hyperparameters]:
    """Yield the hyperparameters of ``n_trials`` random trials.

    Trial i depends only on (seed, i), so a longer search begins with the trials of a shorter search.
    """
    for trial in range(n_trials):
        key = stream_key(seed, Stream.TRIAL + trial)
        yield {name: space[name].at(float(random_unit(np.uint64(key), i))) for i, name in enumerate(sorted(space))}


@click.command(help="Search for the hyperparameters with the highest P@1 on the validation set.")
@data_option
@estimator_option
@json_option(
    "--parameters",
    "Hyperparameters as a JSON object. The first trial of --space tries them unchanged, other trials override them.",
)
@json_option(
    "--space",
    'Ranges of hyperparameters as JSON, such as {"gamma": {"low": 0.1, "high": 10, "log": true}}.',
    default=None,
)
@click.option(
    "--stages",
    help='Stages of trials as JSON instead of ranges, such as [[{"alpha": 0}, {"alpha": 1}],'
    ' [{"S": 25}, {"S": 50}]]. Each stage extends the best trial of the previous stage. The options --method'
    " and --budget have no effect.",
)
@json_option("--trial-overrides", "With --stages, hyperparameters of all trials, but not of the final model.")
@click.option(
    "--sample",
    is_flag=True,
    help=f"With --stages, train on at most {MOST_FITTED} instances and validate on at most {MOST_VALIDATED}.",
)
@file_option("--tuned", "With --stages, file written by an earlier `xmlc tune`, whose best trial is tried first.")
@click.option(
    "--splits",
    type=click.IntRange(min=1),
    default=None,
    help="With --stages, maximise the mean of P@1, P@3 and P@5 over this many splits, each with at most"
    f" {MOST_VALIDATED} validation instances.",
)
@click.option("--method", type=click.Choice(METHODS), default="random", show_default=True, help="Search method.")
@click.option("--budget", type=click.IntRange(min=1), default=30, show_default=True, help="Number of trials.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the search and of the estimators.")
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
    """Run a search, and write the search result. The test set is not read."""
    if (space is None) == (stages is None):
        raise XmlcError("found both or none of --space and --stages, expected one of them")
    if tuned is not None and stages is None:
        raise XmlcError(f"--tuned: found {tuned} without stages. Add --stages")
    prepared = Prepared(data)
    model = make_estimator(estimator, parameters, seed, threads)
    check_kept(estimator, model, *prepared.part("fit"))
    if space is not None:
        search = in_ranges(space, method, budget, seed, model.get_params())
    elif stages is not None:
        before = []
        if tuned:
            before = [SearchRecord.read_for(tuned, estimator, prepared.digest)]
        every = [*([one.best["hyperparameters"]] for one in before), *parse_stages(stages)]
        search = in_stages(every, prepared.meta["labels_per_instance"], splits, sample, trial_overrides)
    check_tried(search, estimator)
    fixed = parameters | search.trial_overrides

    def make(trial: Hyperparameters) -> SparseProbabilityEstimator:
        return make_estimator(estimator, fixed | trial, seed, threads)

    with Progress(search.budget, f"tuning {estimator}", "trials") as progress:
        about = f"tune {estimator} on {prepared.meta['name']}, at most {search.budget} trials"
        trials = Trials(search, data, make, out, progress, about)
        search.run(trials)
    SearchRecord(
        dataset=dataset_of(prepared),
        estimator=estimator,
        method=search.method,
        budget=budget if stages is None else len(trials.done),  # A search in stages skips repeated trials.
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


def check_tried(search: Search, estimator: str) -> None:
    """Raise an error if a search may try an unknown hyperparameter or an invalid value.

    The check runs before any trial.
    """
    first = make_estimator(estimator, dict(reversed(search.tried)), 0, 1)
    for name, value in search.tried:
        check_value(type(first), name, value)


def parse_stages(text: str) -> Stages:
    """Return the stages that the JSON text contains.

    Raises
    ------
    XmlcError
        The text is not JSON, or does not contain stages.
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise XmlcError(f"--stages: {text!r} is not JSON ({error})") from error
    return converted(content, Stages, "--stages")
