"""Derive the options of the commands that jobs call from the configuration."""

from __future__ import annotations

import json
from collections.abc import Iterable

from xmlc.core.errors import XmlcError
from xmlc.suite.config.project import Project
from xmlc.suite.config.settings import RequestedSearch

SPLITS = 5  # Number of splits on which a search with `always` scores each trial.


def options(name: str, values: Iterable[object]) -> list[str]:
    """Return an option with each of its values, such as ``--seed 0 --seed 1``."""
    return [word for value in values for word in (name, str(value))]


def search_options(project: Project, model: str, dataset: str) -> list[str]:
    """Return the options with which `xmlc tune` searches hyperparameters of a model on a dataset.

    Raises
    ------
    XmlcError
        The model has no search that the settings allow.
    """
    search, tuning = project.models[model].search, project.settings.tuning
    stages = ["--stages", json.dumps(search.stages_on(dataset), sort_keys=True)]
    if search.always:
        return [*stages, "--splits", str(SPLITS)]
    if search.auto and tuning == "auto":
        return [*stages, "--trial-overrides", json.dumps(search.trial_overrides, sort_keys=True), "--sample"]
    if search.ranges and isinstance(tuning, RequestedSearch):
        space = json.dumps(search.ranges, sort_keys=True)
        return ["--space", space, "--method", tuning.method, "--budget", str(tuning.budget)]
    example = "--config tuning='{method: smac, budget: 30}'"
    raise XmlcError(f"config: tuning: found {tuning or 'null'}, expected a search for {model}. Add {example}")


def sweep_options(project: Project, paper: str, name: str, dataset: str) -> list[str]:
    """Return the options with which `xmlc sweep` runs one sweep of a suite on one dataset."""
    sweep = project.suites[paper].sweeps[name]
    values = [word for value in sweep.values_on(dataset) for word in ("--value", json.dumps(value))]
    parameters = ["--parameters", json.dumps(sweep.hyperparameters)]
    return [*parameters, "--hyperparameter", sweep.hyperparameter, *values]


def inference_options(project: Project, model: str, split: str) -> list[str]:
    """Return the options of `xmlc infer`: a model's inference methods in all suites, samples and the time limit.

    Raises
    ------
    XmlcError
        Two suites set different numbers of samples or different time limits for the model.
    """
    methods: dict[str, None] = {}
    settings: dict[str, tuple[int, float | None]] = {}
    for suite in project.suites.values():
        if not (block := suite.inference) or block.split != split or model not in block.methods:
            continue
        methods |= dict.fromkeys(block.methods[model])
        settings[suite.name] = (block.samples, block.time_limit)
    if len(set(settings.values())) > 1:
        suites = " and ".join(settings)
        raise XmlcError(
            f"config: inference: found different samples or time limits for {model} in {suites}. Use the same"
        )
    for samples, limit in settings.values():
        limited = [] if limit is None else ["--time-limit", str(limit)]
        return [*options("--method", methods), "--samples", str(samples), *limited]
    return []
