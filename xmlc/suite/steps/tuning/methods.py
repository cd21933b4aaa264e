"""Define the search methods. Each calls an objective with one trial after the other."""

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
    """Call ``objective`` with every trial of one stage after the other.

    A trial combines the best trial of all earlier stages with values of its stage, which take precedence. Among equally
    good trials, the first is the best. No trial is repeated.

    Parameters
    ----------
    stages : list of list of dict
    objective : callable
        Takes hyperparameters and returns the number to maximise.
    ties : bool
        Combine the next stage with each of equally good trials.
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
    """Call ``objective`` with up to ``budget`` trials, the given hyperparameters first.

    The given ones are trial 0, so that no search can end with a lower objective. They are left out if one of them is
    outside its range. The search may then find worse ones.

    Parameters
    ----------
    method : {"random", "smac"}
        ``smac`` ends early when the space has no more values.
    space : dict of str to Range
    objective : callable
        Takes one value for each hyperparameter of the space and returns the number to maximise, which is finite.
    budget : int
        Number of trials, at least 1.
    seed : int
        Not negative. The trials depend on the seed, the space, the given values and the returned objectives.
    given : dict of str to value
        Hyperparameters without a search. Those outside the space are ignored.

    Raises
    ------
    XmlcError
        The method's package is not installed.
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
    """Draw hyperparameters at random. Trial i depends only on (seed, i), so a longer search extends a shorter one."""
    for trial in range(n_trials):
        key = stream_key(seed, Stream.TRIAL + trial)
        yield {name: space[name].at(float(random_unit(np.uint64(key), i))) for i, name in enumerate(sorted(space))}
