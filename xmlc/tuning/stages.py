"""Search in stages: a few values written down, then others over the best so far (swnn2018, Section 4.3)."""

from __future__ import annotations

import json
import math

from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.gate.domains import LABELS_PER_INSTANCE
from xmlc.tuning.ranges import Objective

METHOD = "stages"
Stages = list[list[Hyperparameters]]


def parse_stages(text: str, labels_per_instance: float) -> Stages:
    """Read stages given as JSON: a list of stages, each a list of objects of hyperparameters.

    Parameters
    ----------
    text : str
        The value ``"labels-per-instance"`` stands for the average number of labels per instance.
    labels_per_instance : float
        Of the training set; it is rounded to a whole number of at least 1.

    Raises
    ------
    XmlcError
        It is no JSON, or no list of stages with at least one object in each.
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise XmlcError(f"stages {text!r} are not JSON: {error}") from error
    good = isinstance(content, list) and all(isinstance(stage, list) and stage for stage in content)
    if not (good and content and all(isinstance(trial, dict) and trial for stage in content for trial in stage)):
        raise XmlcError(
            f'stages {text!r}: expected a list of stages, each a list of objects, such as [[{{"alpha": 0}}, '
            '{"alpha": 1}], [{"S": 25}, {"S": 50}]]'
        )
    average = max(1, math.floor(labels_per_instance + 0.5))

    def value(given: object) -> object:
        return average if given == LABELS_PER_INSTANCE else given

    return [[{name: value(given) for name, given in trial.items()} for trial in stage] for stage in content]


def search_in_stages(stages: Stages, objective: Objective) -> None:
    """Call ``objective`` with every trial of one stage after the other.

    A trial is what the stage gives, put over the best of all earlier stages; of equally good ones the first is the
    best. What was tried before is not tried again.

    Parameters
    ----------
    stages : list of list of dict
    objective : callable
        Takes hyperparameters and returns what is to be maximised.
    """
    tried: list[Hyperparameters] = []
    best: Hyperparameters = {}
    highest = -math.inf
    for stage in stages:
        start = best
        for changes in stage:
            trial = start | changes
            if trial in tried:
                continue
            tried.append(trial)
            worth = objective(trial)
            if worth > highest:
                best, highest = trial, worth
