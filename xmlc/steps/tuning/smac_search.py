"""Search by SMAC, as plt2016 did (Section 6.1, Appendix C). This module needs the package ``smac``.

Sequential model-based optimisation (Hutter, Hoos and Leyton-Brown, "Sequential model-based optimization for general
algorithm configuration", LION 2011): a random forest over the trials so far predicts the objective's mean and
variance, and the next trial is where the expected improvement is largest. The program is SMAC3.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ConfigSpace import Categorical, Configuration, ConfigurationSpace, Float, Integer
from smac import HyperparameterOptimizationFacade, Scenario
from smac.acquisition.maximizer.local_and_random_search import LocalAndSortedRandomSearch
from smac.acquisition.maximizer.local_search import LocalSearch
from smac.main.exceptions import ConfigurationSpaceExhaustedException
from smac.model.random_forest.random_forest import RandomForest
from smac.runhistory import TrialInfo, TrialValue

from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.steps.tuning.ranges import Objective, Range, Space

LARGEST_SEED = 2**32 - 1
DETERMINISTIC_SEED = 0  # the seed that SMAC gives each trial of a deterministic objective


def smac_search(
    space: Space, objective: Objective, budget: int, seed: int, first: Hyperparameters | None = None
) -> None:
    """Try ``first``, then the proposals of SMAC's facade for hyperparameter optimisation.

    A quarter of the budget is a Sobol design; then each trial is chosen by a model of all trials before it. The
    objective is declared deterministic, so that no trial is repeated, and nothing is measured on a clock: the
    trials depend on the arguments alone. SMAC's files lie in a temporary folder and are removed.

    Raises
    ------
    XmlcError
        The seed has more than 32 bits.
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise XmlcError(f"seed {seed} of a search by SMAC; expected 0 .. {LARGEST_SEED}")
    configurations = configuration_space(space)
    with tempfile.TemporaryDirectory(prefix="xmlc-smac-") as folder, _quiet():
        facade = _facade(configurations, budget, seed, Path(folder))
        if first is not None:
            info = TrialInfo(encoded(space, first, configurations), seed=DETERMINISTIC_SEED)
            facade.tell(info, TrialValue(cost=-objective(first)), save=False)
        for _ in range(budget - (first is not None)):
            try:
                info = facade.ask()
            except (StopIteration, ConfigurationSpaceExhaustedException):
                return
            facade.tell(info, TrialValue(cost=-objective(decoded(space, info.config))), save=False)


def configuration_space(space: Space) -> ConfigurationSpace:
    """Return ranges as a space of the package ConfigSpace.

    Intervals become floats or integers, on a logarithmic scale where the range says so; a finite choice becomes a
    categorical hyperparameter over the places 0, 1, ... of its values, which may then be of any type.
    """

    def converted(name: str, values: Range) -> Any:
        if values.values:
            return Categorical(name, list(range(len(values.values))))
        if values.integer:
            return Integer(name, (int(values.low), int(values.high)), log=values.log)
        return Float(name, (values.low, values.high), log=values.log)

    return ConfigurationSpace(space={name: converted(name, values) for name, values in space.items()})


def encoded(space: Space, hyperparameters: Hyperparameters, configurations: ConfigurationSpace) -> Configuration:
    """Return the configuration that stands for values of the space."""
    places = {
        name: space[name].values.index(value) if space[name].values else value
        for name, value in hyperparameters.items()
    }
    return Configuration(configurations, values=places)


def decoded(space: Space, configuration: Configuration) -> Hyperparameters:
    """Return the values that a configuration stands for.

    Numbers are as a person would type them (`Range.typed`): the objective's differ from those that SMAC's model sees
    by up to half a unit of the third significant digit.
    """
    chosen = dict(configuration)
    return {
        name: values.values[int(chosen[name])] if values.values else values.typed(float(chosen[name]))
        for name, values in space.items()
    }


class _OrderedLocalSearch(LocalSearch):
    """SMAC's local search, from starting points in an order that does not depend on the process.

    The original takes them from a set, whose order changes with the hash of text, hence with PYTHONHASHSEED.
    """

    def _get_init_points_from_previous_configs(self, *arguments: Any, **named: Any) -> list[Configuration]:
        points = super()._get_init_points_from_previous_configs(*arguments, **named)
        return sorted(points, key=lambda point: tuple(point.get_array()))


class _Maximizer(LocalAndSortedRandomSearch):
    """The facade's maximizer of the acquisition function, with a local search that can be repeated."""

    def __init__(self, configurations: ConfigurationSpace, seed: int) -> None:
        # The facade's numbers of challengers and of starting points.
        super().__init__(configurations, challengers=10_000, local_search_iterations=10, seed=seed)
        self._local_search = _OrderedLocalSearch(configurations, seed=seed)


def _facade(
    configurations: ConfigurationSpace, budget: int, seed: int, folder: Path
) -> HyperparameterOptimizationFacade:
    scenario = Scenario(configurations, output_directory=folder, deterministic=True, n_trials=budget, seed=seed)
    # The facade's own forest but for two things: a thread for each of ten tiny trees takes longer than the trees, and
    # room for a million leaves longer still; a tree over the trials has at most a leaf for each.
    forest = RandomForest(
        configurations,
        n_trees=10,
        log_y=True,
        ratio_features=1.0,
        min_samples_split=2,
        min_samples_leaf=1,
        max_leaf_nodes=max(2, budget),
        n_jobs=1,
        seed=seed,
    )
    return HyperparameterOptimizationFacade(
        scenario,
        model=forest,
        acquisition_maximizer=_Maximizer(configurations, seed),
        # By default the model is fitted anew after eight trials only, which saves little where a trial takes seconds.
        config_selector=HyperparameterOptimizationFacade.get_config_selector(scenario, retrain_after=1),
        logging_level=False,
        overwrite=True,
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Hear nothing of SMAC's progress; errors in which a search would end come as exceptions."""
    logger = logging.getLogger("smac")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            # Such as the mean of no values, when every point that is left to search has been tried.
            warnings.simplefilter("ignore", RuntimeWarning)
            yield
    finally:
        logger.setLevel(level)
