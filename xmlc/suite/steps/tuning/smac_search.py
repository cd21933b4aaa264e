"""Search by SMAC, as plt2016 did (Section 6.1, Appendix C). This module needs the package ``smac``.

This is sequential model-based optimisation (Hutter, Hoos and Leyton-Brown, "Sequential model-based optimization for
general algorithm configuration", LION 2011). A random forest over the trials so far predicts the objective's mean and
variance. The next trial has the largest expected improvement. The program is SMAC3.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

from ConfigSpace import Categorical, Configuration, ConfigurationSpace, Float, Integer
from smac import HyperparameterOptimizationFacade, Scenario
from smac.main.exceptions import ConfigurationSpaceExhaustedException
from smac.runhistory import TrialInfo, TrialValue

from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.config.ranges import Range, Space, TrialObjective

DETERMINISTIC_SEED = 0  # the seed that SMAC gives each trial of a deterministic objective


def smac_search(
    space: Space, objective: TrialObjective, budget: int, seed: int, first: Hyperparameters | None = None
) -> None:
    """Try ``first``, then the proposals of SMAC's facade for hyperparameter optimisation.

    A quarter of the budget is a Sobol design. Then a model of all earlier trials chooses each trial. No decision
    depends on a clock. But SMAC iterates over sets of strings, so that the trials depend on the arguments and on
    PYTHONHASHSEED. The search ends early when the space has no more values. SMAC's files are in a temporary folder and
    are removed.
    """
    configurations = ConfigurationSpace(space={name: _parameter(name, values) for name, values in space.items()})
    with tempfile.TemporaryDirectory(prefix="xmlc-smac-") as folder, warnings.catch_warnings():
        # An example is the mean of no values, when every point that is left to search has been tried.
        warnings.simplefilter("ignore", RuntimeWarning)
        scenario = Scenario(
            configurations, output_directory=Path(folder), deterministic=True, n_trials=budget, seed=seed
        )
        facade = HyperparameterOptimizationFacade(
            scenario,
            # By default the model is refitted after eight trials, which saves little if a trial takes seconds.
            config_selector=HyperparameterOptimizationFacade.get_config_selector(scenario, retrain_after=1),
            logging_level=False,
            overwrite=True,
        )
        if first is not None:
            choices = {name: values.values for name, values in space.items() if values.values}
            places = {name: choices[name].index(value) if name in choices else value for name, value in first.items()}
            info = TrialInfo(Configuration(configurations, values=places), seed=DETERMINISTIC_SEED)
            facade.tell(info, TrialValue(cost=-objective(first)), save=False)
        for _ in range(budget - (first is not None)):
            try:
                info = facade.ask()
            except (StopIteration, ConfigurationSpaceExhaustedException):
                return
            chosen = {name: _value(values, info.config[name]) for name, values in space.items()}
            facade.tell(info, TrialValue(cost=-objective(chosen)), save=False)


def _parameter(name: str, values: Range) -> Any:
    """Convert a range for ConfigSpace. A finite choice becomes the indices 0, 1, ... of its values of any type."""
    if values.values:
        return Categorical(name, list(range(len(values.values))))
    if values.integer:
        return Integer(name, (int(values.low), int(values.high)), log=values.log)
    return Float(name, (values.low, values.high), log=values.log)


def _value(values: Range, chosen: Any) -> object:
    """Return the value that SMAC chose, with a number as a person would type it (`Range.typed`).

    The objective's numbers differ from those that SMAC's model sees by up to half a unit of the third digit.
    """
    return values.values[int(chosen)] if values.values else values.typed(float(chosen))
