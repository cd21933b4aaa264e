"""The ways to search: each calls an objective with one trial after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from xmlc.core.errors import needs_extra
from xmlc.kernels.counter_random import Stream, random_unit, stream_key
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.config.ranges import Objective, Space
from xmlc.suite.config.suite import Stages

METHODS = ("random", "smac")


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


def search_in_ranges(
    method: str, space: Space, objective: Objective, budget: int, seed: int, given: Hyperparameters
) -> None:
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
    """Draw hyperparameters at random; trial i depends on (seed, i) alone, so that a longer search extends a shorter."""
    for trial in range(n_trials):
        key = stream_key(seed, Stream.TRIAL + trial)
        yield {name: space[name].at(float(random_unit(np.uint64(key), i))) for i, name in enumerate(sorted(space))}
