"""Search methods: each evaluates an objective for one trial after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.kernels.streams import Stream
from xmlc.tuning.ranges import Objective, Space

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
        from xmlc.tuning.smac_search import smac_search

        smac_search(space, objective, budget, seed, known)
    else:
        random_search(space, objective, budget, seed, known)


def _require_smac() -> None:
    try:
        import smac  # noqa: F401
    except ImportError as error:
        raise XmlcError(
            f"search by SMAC: the package smac cannot be imported ({error}); install it with  pip install "
            "'smac==2.4.*'  (beside a checkout: make env EXTRAS=tune), or search at random"
        ) from error


def random_search(
    space: Space, objective: Objective, budget: int, seed: int, first: Hyperparameters | None = None
) -> None:
    """Try ``first``, then what is drawn at random; a longer search extends a shorter one."""
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
