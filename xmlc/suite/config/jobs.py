"""Decide which methods and seeds share one job. Running a method often takes less time than starting a process."""

from __future__ import annotations

import re
from collections.abc import Iterable

from xmlc.suite.config import paths
from xmlc.suite.config.planned import BASELINE_METHODS, unlabelled
from xmlc.suite.config.project import Project
from xmlc.suite.config.suite import Suite


def batched_models(project: Project) -> dict[tuple[int, ...], list[str]]:
    """Return the models with the key `batch_seeds`, grouped by the seeds that suites use for these models."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, model in project.models.items():
        if model.batch_seeds:
            homes = [suite for suite in project.suites.values() if name in suite.all_models]
            groups.setdefault(tuple(sorted({seed for suite in homes for seed in suite.seeds})), []).append(name)
    return groups


def dropped(project: Project) -> str:
    """Return a regular expression for datasets whose models and estimates are temporary; see `Project.drops`."""
    nothing_kept = project.settings.keep_models is False  # `paths.NAME` also matches datasets outside the catalogue.
    return paths.NAME if nothing_kept else one_of(name for name in project.catalogue if project.drops(name))


def threshold_methods(project: Project, model: str, dataset: str) -> list[str]:
    """Return the distinct threshold methods that suites use for a model on a dataset.

    The result does not depend on which suites run now, so that a selection of papers or datasets reruns no job.
    """
    methods: dict[str, None] = {}
    for suite in _suites_on(project, dataset):
        wanted = [*suite.methods, *suite.measure_methods]
        if model in suite.models:
            methods |= dict.fromkeys(wanted)
        elif model in suite.baselines:
            methods |= dict.fromkeys(method for method in BASELINE_METHODS if method in wanted)
    return list(methods)


def unlabelled_methods(project: Project, model: str, dataset: str) -> list[str]:
    """Return those of the `threshold_methods` that need no validation set."""
    return unlabelled(threshold_methods(project, model, dataset))


def _suites_on(project: Project, dataset: str) -> list[Suite]:
    """Return the suites without a paper that list a dataset. If there are none, return the suites of papers."""
    own = [suite for suite in project.suites.values() if suite.own and dataset in suite.datasets]
    return own or [suite for suite in project.suites.values() if not suite.own]


def one_of(names: Iterable[str]) -> str:
    """Return a regular expression that matches any of the given names. Without names, it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"
