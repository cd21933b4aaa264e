"""Methods and seeds that one job runs together, because a process often takes longer to start than
a method to run, and the options of its commands.
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

# Training and validation splits on which a search with the key `always` scores a trial
SPLITS = 5


def batched_models(project: Project) -> dict[tuple[int, ...], list[str]]:
    """Return the models with `batch_seeds` by the seeds of their suites."""
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
    """Return the distinct threshold methods of a model on a dataset, in alphabetical order.

    They come from the suites of no paper that list the dataset, or else from all papers' suites, so
    that neither the settings `papers` and `datasets` nor the order in a suite can rerun a job.
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
    """Return the `threshold_methods` without a validation set."""
    return unlabelled(threshold_methods(project, model, dataset))


def one_of(names: Iterable[str]) -> str:
    """Return a regular expression for names, which may be none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def options(name: str, values: Iterable[object]) -> list[str]:
    """Return words of a command line such as ``--seed 0 --seed 1``."""
    words = []
    for value in values:
        words += [name, str(value)]
    return words


def search_options(project: Project, model: str, dataset: str) -> list[str]:
    """Return the options of `xmlc tune` for a model, if the settings request a search."""
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
    """Return the options of `xmlc sweep`."""
    sweep = project.suites[paper].sweeps[name]
    given = ["--parameters", json.dumps(sweep.hyperparameters, sort_keys=True)]
    values = options("--value", map(json.dumps, sweep.values_on(dataset)))
    return [*given, "--hyperparameter", sweep.hyperparameter, *values]


def inference_options(project: Project, model: str, split: str) -> list[str]:
    """Return the options of `xmlc infer` for a model trained on one split.

    Methods come from all suites that infer with the model, and agree on samples and time limit.
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
