"""Choose the methods and seeds that one job runs together, and build the options of the commands
that jobs run.

A job runs several methods because a method often takes less time than the start of a process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from msgspec import to_builtins

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import BASELINE_METHODS, unlabelled
from xmlc.suite.config.project import Project
from xmlc.suite.config.settings import RequestedSearch

# Number of training and validation splits on which a search with the key `always` scores each
# trial.
SPLITS = 5


def batched_models(project: Project) -> dict[tuple[int, ...], list[str]]:
    """Return a dict from seeds to the models with the key `batch_seeds` that suites train with
    these seeds.
    """
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, model in project.models.items():
        if model.batch_seeds:
            seeds: set[int] = set()
            for suite in project.suites.values():
                if name in suite.all_models:
                    seeds |= {*suite.seeds}
            groups.setdefault(tuple(sorted(seeds)), []).append(name)
    return groups


def threshold_methods(project: Project, model: str, dataset: str) -> list[str]:
    """Return the distinct threshold methods that suites use for a model on a dataset, in
    alphabetical order.

    Each method has a record of its own, so that the order of a suite's methods must rerun tables
    only.

    If a suite that belongs to no paper lists the dataset, suites of papers are ignored. If only
    papers' suites list the dataset, the methods of all papers' suites are returned. The result does
    not depend on the settings `papers` and `datasets`, so that a change of these settings reruns no
    job.
    """
    methods: set[str] = set()
    own = [suite for suite in project.suites.values() if suite.own and dataset in suite.datasets]
    for suite in own or [suite for suite in project.suites.values() if not suite.own]:
        wanted = {*suite.methods, *suite.measure_methods}
        if model in suite.models:
            methods |= wanted
        elif model in suite.baselines:
            methods |= wanted & {*BASELINE_METHODS}
    return sorted(methods)


def unlabelled_methods(project: Project, model: str, dataset: str) -> list[str]:
    """Return the methods in `threshold_methods` that need no validation set."""
    return unlabelled(threshold_methods(project, model, dataset))


def one_of(names: Iterable[str]) -> str:
    """Return a regular expression that matches exactly the given names.

    If no names are given, the expression matches nothing.
    """
    return "|".join(map(re.escape, names)) or "(?!)"


def options(name: str, values: Iterable[object]) -> list[str]:
    """Return words of a command line that repeat an option with each value, such as ``--seed 0
    --seed 1``.
    """
    words = []
    for value in values:
        words += [name, str(value)]
    return words


def search_options(project: Project, model: str, dataset: str) -> list[str]:
    """Return the options with which `xmlc tune` searches for a model's hyperparameters on a
    dataset.

    Raises
    ------
    XmlcError
        The settings request no search, or request a search that the model does not define.
    """
    search = project.models[model].search
    tuning = project.settings.tuning
    stages = ["--stages", json.dumps(search.stages_on(dataset), sort_keys=True)]
    if search.always:
        return [*stages, "--splits", str(SPLITS)]
    if search.auto and tuning == "auto":
        return [
            *stages,
            "--trial-overrides",
            json.dumps(search.trial_overrides, sort_keys=True),
            "--sample",
        ]
    if search.ranges and isinstance(tuning, RequestedSearch):
        space = json.dumps(to_builtins(search.ranges), sort_keys=True)
        return ["--space", space, "--method", tuning.method, "--budget", str(tuning.budget)]
    raise XmlcError(
        f"config: tuning: found {tuning or 'null'}, expected a search for {model}. Add --config "
        "tuning='{method: smac, budget: 30}'"
    )


def sweep_options(project: Project, paper: str, name: str, dataset: str) -> list[str]:
    """Return the options with which `xmlc sweep` runs one sweep of a suite on one dataset."""
    sweep = project.suites[paper].sweeps[name]
    given = ["--parameters", json.dumps(sweep.hyperparameters, sort_keys=True)]
    values = options("--value", map(json.dumps, sweep.values_on(dataset)))
    return [*given, "--hyperparameter", sweep.hyperparameter, *values]


def inference_options(project: Project, model: str, split: str) -> list[str]:
    """Return the options of `xmlc infer` for a model that is trained on one training split.

    The options name the inference methods of every suite that infers label sets with this model and
    split. All these suites set the same number of samples and the same time limit, as
    `check_shared_settings` checks.
    """
    methods: set[str] = set()
    settings: list[str] = []
    for suite in project.suites.values():
        block = suite.inference
        of_suite = suite.inferred(model, split)
        if block and of_suite:
            methods |= {*of_suite}
            settings = ["--samples", str(block.samples)]
            if block.time_limit is not None:
                settings += ["--time-limit", str(block.time_limit)]
    return [*options("--method", sorted(methods)), *settings]
