"""A search for hyperparameters by SMAC, as in plt2016 (Section 6.1, Appendix C).

SMAC is sequential model-based optimisation (Hutter, Hoos and Leyton-Brown, "Sequential model-based
optimization for general algorithm configuration", LION 2011). Its model, a random forest, predicts
the mean and the variance of the objective from all earlier trials, and the next trial has the
largest expected improvement.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ConfigSpace import Categorical, Configuration, ConfigurationSpace, Float, Integer
from smac import HyperparameterOptimizationFacade as Facade
from smac import Scenario
from smac.main.exceptions import ConfigurationSpaceExhaustedException
from smac.runhistory import TrialInfo, TrialValue

from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.config.ranges import Interval, Range, Space

DETERMINISTIC_SEED = 0  # SMAC gives it to each trial of a deterministic objective


def smac_search(
    space: Space,
    objective: Callable[[Hyperparameters], float],
    budget: int,
    seed: int,
    first: Sequence[Hyperparameters] = (),
) -> None:
    """Run trials of SMAC's facade for hyperparameter optimisation, after the trials in ``first``.

    The first quarter of the trials is a Sobol sequence, and a model of all earlier trials chooses
    each later one. Because SMAC iterates over sets of strings, the trials depend on PYTHONHASHSEED,
    but not on measured times. The search ends early if all combinations of values have been tried.
    """
    configurations = ConfigurationSpace(
        space={name: _parameter(name, values) for name, values in space.items()}
    )
    with tempfile.TemporaryDirectory(prefix="xmlc-smac-") as folder, warnings.catch_warnings():
        # NumPy warns, for example, if all remaining combinations of values have been tried.
        warnings.simplefilter("ignore", RuntimeWarning)
        scenario = Scenario(
            configurations,
            output_directory=Path(folder),
            deterministic=True,
            n_trials=budget,
            seed=seed,
        )
        # Refitting after every trial, not after eight as by default, is fast compared with a trial.
        selector = Facade.get_config_selector(scenario, retrain_after=1)
        facade = Facade(scenario, config_selector=selector, logging_level=False, overwrite=True)
        for given in first:
            values = {name: _chosen(space[name], value) for name, value in given.items()}
            info = TrialInfo(Configuration(configurations, values=values), seed=DETERMINISTIC_SEED)
            facade.tell(info, TrialValue(cost=-objective(given)), save=False)
        for _ in range(budget - len(first)):
            try:
                info = facade.ask()
            except (StopIteration, ConfigurationSpaceExhaustedException):
                return
            trial = {name: _value(values, info.config[name]) for name, values in space.items()}
            facade.tell(info, TrialValue(cost=-objective(trial)), save=False)


def _parameter(name: str, values: Range) -> Any:
    """Convert a range to a hyperparameter of ConfigSpace, which for a list is an index."""
    if not isinstance(values, Interval):
        return Categorical(name, list(range(len(values))))
    if values.integer:
        return Integer(name, (int(values.low), int(values.high)), log=values.log)
    return Float(name, (values.low, values.high), log=values.log)


def _chosen(values: Range, value: Any) -> Any:
    if isinstance(values, Interval):
        return value
    return values.index(value)


def _value(values: Range, chosen: Any) -> object:
    """Return the value of a hyperparameter from the choice that SMAC proposes.

    SMAC's model is fitted to the number before it is rounded, which differs by at most half a unit
    of the third digit.
    """
    if isinstance(values, Interval):
        return values.typed(float(chosen))
    return values[int(chosen)]
