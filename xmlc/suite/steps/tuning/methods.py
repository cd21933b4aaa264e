"""Define the search methods. Each method calls an objective function with one trial after another."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from xmlc.core.errors import needs_extra
from xmlc.kernels.counter_random import Stream, random_unit, stream_key
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.config.ranges import Space, TrialObjective
from xmlc.suite.config.suite import Stages

METHODS = ("random", "smac")


def search_in_stages(stages: Stages, objective: TrialObjective, ties: bool = False) -> None:
    """Call ``objective`` with all trials of the stages, one stage after another.

    A trial combines the best trial of all earlier stages with values of its own stage, which take precedence. If
    several trials are equally good, the first of these trials is used. No trial is repeated.

    Parameters
    ----------
    stages : list of list of dict
    objective : callable
        Returns the number to maximise for given hyperparameters.
    ties : bool
        Whether to combine the next stage with each of several equally good trials, instead of only the first.
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


def search_in_ranges(
    method: str, space: Space, objective: TrialObjective, budget: int, seed: int, given: Hyperparameters
) -> None:
    """Call ``objective`` with up to ``budget`` trials. The first trial has the given hyperparameters.

    No search therefore ends with a lower objective than the given hyperparameters have. The first trial is left out if
    one of the given values is outside its range. The result of the search may then be worse than the given
    hyperparameters.

    Parameters
    ----------
    method : {"random", "smac"}
        ``smac`` ends early if no untried values are left in the space.
    space : dict of str to Range
    objective : callable
        Returns the number to maximise for one value of each hyperparameter. The number must be finite.
    budget : int
        Number of trials, at least 1.
    seed : int
        Seed, not negative. The trials depend on the seed, the space, the given values and the results of ``objective``.
    given : dict of str to value
        Configured hyperparameters. Values outside the space are ignored.

    Raises
    ------
    XmlcError
        The package of the search method is not installed.
    """
    first = {name: given[name] for name in space if name in given and given[name] in space[name]}
    known = first if len(first) == len(space) else None
    if method == "smac":
        try:
            from xmlc.suite.steps.tuning.smac_search import smac_search
        except ImportError as error:
            said = f"smac cannot be imported ({error}), without which a search can be random"
            raise needs_extra(said, "tune") from error
        smac_search(space, objective, budget, seed, known)
        return
    if known is not None:
        objective(known)
    for trial in random_trials(space, budget - (known is not None), seed):
        objective(trial)


def random_trials(space: Space, n_trials: int, seed: int) -> Iterator[Hyperparameters]:
    """Draw hyperparameters at random.

    Trial i depends only on (seed, i), so a longer search begins with the trials of a shorter search.
    """
    for trial in range(n_trials):
        key = stream_key(seed, Stream.TRIAL + trial)
        yield {name: space[name].at(float(random_unit(np.uint64(key), i))) for i, name in enumerate(sorted(space))}
