"""Search for hyperparameters by SMAC, like plt2016 (Section 6.1, Appendix C).

This module requires the package ``smac``. The method SMAC is sequential model-based optimisation (Hutter, Hoos and
Leyton-Brown, "Sequential model-based optimization for general algorithm configuration", LION 2011). The model of SMAC
is a random forest, which predicts the mean and the variance of the objective from all earlier trials. The next trial
has the hyperparameters with the largest expected improvement. The search itself is done by the library SMAC3.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

from ConfigSpace import Categorical, Configuration, ConfigurationSpace, Float, Integer
from smac import HyperparameterOptimizationFacade as Facade
from smac import Scenario
from smac.main.exceptions import ConfigurationSpaceExhaustedException
from smac.runhistory import TrialInfo, TrialValue

from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.config.ranges import Range, Space, TrialObjective

DETERMINISTIC_SEED = 0  # If the objective is deterministic, SMAC gives this seed to each trial.


def smac_search(
    space: Space, objective: TrialObjective, budget: int, seed: int, first: Hyperparameters | None = None
) -> None:
    """Run trials of SMAC's facade for hyperparameter optimisation, after a trial of ``first``.

    The first quarter of the trials is a Sobol sequence. Each later trial is chosen by a model of all earlier trials.
    The choice of trials does not depend on measured times. However, SMAC iterates over sets of strings, so the trials
    also depend on PYTHONHASHSEED. The search ends early if all combinations of values have been tried. SMAC writes
    files to a temporary folder, which is deleted after the search.
    """
    configurations = ConfigurationSpace(space={name: _parameter(name, values) for name, values in space.items()})
    with tempfile.TemporaryDirectory(prefix="xmlc-smac-") as folder, warnings.catch_warnings():
        # SMAC may cause warnings of NumPy, for example if all remaining combinations of values have been tried.
        warnings.simplefilter("ignore", RuntimeWarning)
        place = Path(folder)
        scenario = Scenario(configurations, output_directory=place, deterministic=True, n_trials=budget, seed=seed)
        # By default, SMAC refits its model after every eight trials. Here, SMAC refits the model after every trial,
        # because refitting is fast compared with a trial.
        selector = Facade.get_config_selector(scenario, retrain_after=1)
        facade = Facade(scenario, config_selector=selector, logging_level=False, overwrite=True)
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
    """Convert a range to a hyperparameter of the library ConfigSpace.

    If the range is a list of values, the hyperparameter is the index 0, 1, ... of a value.
    """
    if values.values:
        return Categorical(name, list(range(len(values.values))))
    if values.integer:
        return Integer(name, (int(values.low), int(values.high)), log=values.log)
    return Float(name, (values.low, values.high), log=values.log)


def _value(values: Range, chosen: Any) -> object:
    """Return the value of a hyperparameter from the choice that SMAC proposes.

    If the value is a number, it is rounded to a few digits (`Range.typed`).

    The model of SMAC is fitted to the number before rounding, which differs by at most half a unit of the third digit.
    """
    if values.values:
        return values.values[int(chosen)]
    return values.typed(float(chosen))
