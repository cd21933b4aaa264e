"""Define a small space of hyperparameters, a function to maximise, and the trials of searches in
it.
"""

from math import log10

import pytest

from xmlc.suite.steps.tune import METHODS, in_ranges, run_trials

NEEDS_SMAC = pytest.mark.needs("tune")
EACH = [pytest.param(method, marks=NEEDS_SMAC if method == "smac" else ()) for method in METHODS]

GAMMA = {"low": 1e-6, "high": 10, "log": True}
EPOCHS = {"low": 5, "high": 30, "integer": True}
SPACE = {"gamma": GAMMA, "epochs": EPOCHS, "solver": ["sgd", "adagrad", None]}
GIVEN = {"gamma": 1.0, "epochs": 10, "solver": None, "arity": 16}
FIRST = {"epochs": 10, "gamma": 1.0, "solver": None}


def hill(trial):
    """Return a score with its maximum at gamma 0.1, epochs 20, solver sgd."""
    score = 1 - (log10(trial["gamma"]) + 1) ** 2 / 50 - (trial["epochs"] - 20) ** 2 / 1000
    if trial["solver"] != "sgd":
        score -= 1 / 4
    return score


def trials_of(method, budget, seed=0, space=SPACE, given=GIVEN, worth=hill):
    tried = []

    def objective(trial):
        tried.append(trial)
        return worth(trial)

    run_trials(in_ranges(space, method, budget, seed, given), objective, budget, seed)
    return tried


def what(result):
    """Return trials without their times."""
    found = []
    for trial in result["trials"]:
        found.append({key: value for key, value in trial.items() if key != "train_seconds"})
    return found
