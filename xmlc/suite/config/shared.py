"""Combine what all suites share, and refuse different definitions of it.

The results of a model are in ``results/<dataset>/<model>/``, whatever suite requests them. So the settings that change
these results must be the same in all suites.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import combinations

from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.config.suite import ModelSpec, Suite
from xmlc.suite.schemas import Keys, located

#: Keys that may differ between the models of one name, because they change no result of the model.
FREE = ("title", "without", "task", "optional", "provenance", "skip_thresholds", "untuned", "from_suite")
#: Keys that may also differ in a suite that belongs to no paper, because only papers' suites search for values.
OF_PAPERS = ("hyperparameters", "datasets", "selected", "search")


def models_of_all(suites: Iterable[Suite]) -> dict[str, ModelSpec]:
    """Return the models of all suites by name.

    On the datasets of a suite that belongs to no paper (`Suite.own`), its hyperparameters take precedence.
    """
    models: dict[str, ModelSpec] = {}
    for suite in suites:
        for name, model in suite.all_models.items():
            datasets: dict[str, Hyperparameters] = {}
            if name in models:
                datasets = models[name].datasets
            if suite.own:
                datasets = datasets | dict.fromkeys(suite.datasets, model.hyperparameters)
            models[name] = replace(models.get(name, model), datasets=datasets | model.datasets)
    return models


def check_shared_settings(suites: Iterable[Suite]) -> None:
    """Check that suites agree on what they share: models of one name, stored estimates and inferred label sets.

    Raises
    ------
    XmlcError
        Two suites define a model of the same name with different settings, store estimates of a dataset with different
        minimum probabilities, or infer label sets of a model with different numbers of samples or time limits.
    """
    for first, second in combinations(suites, 2):
        for name in first.all_models:
            if name in second.all_models:
                _check_same_model(first, second, name)
        limits = first.min_probabilities, second.min_probabilities
        for dataset in {*first.datasets, *limits[0]} & {*second.datasets, *limits[1]}:
            values = [limit.get(dataset) for limit in limits]
            _check_equal(first, second, ("min_probabilities", dataset), values, f"estimates of {dataset}")
        here = second.inference
        there = first.inference
        if here and there and here.split == there.split:
            for model in {*here.methods} & {*there.methods}:
                for key in ("samples", "time_limit"):
                    values = [getattr(there, key), getattr(here, key)]
                    _check_equal(first, second, ("inference", key), values, f"label sets of {model}")


def _check_same_model(first: Suite, second: Suite, name: str) -> None:
    here = second.all_models[name]
    there = first.all_models[name]
    is_apart = (first.own or second.own) and not {*first.datasets} & {*second.datasets}
    free = {*FREE}
    if is_apart:
        free |= {*OF_PAPERS}
        if here.search.always or there.search.always:
            free.remove("search")
    for field in fields(ModelSpec):
        if field.name not in free and getattr(here, field.name) != getattr(there, field.name):
            problem = f"found other {field.name} than in {first.file}, which has a model {name}, too. The results of"
            problem += f" both would be in results/<dataset>/{name}/. Rename one of them"
            problem += f", or copy it with from_suite: {first.name}"
            raise XmlcError(located(second.file, (*second.place_of(name), field.name), problem))


def _check_equal(first: Suite, second: Suite, keys: Keys, values: Sequence[object], shared: str) -> None:
    if values[0] != values[1]:
        expected, found = ["null" if value is None else value for value in values]
        problem = f"found {found}, expected {expected} as in {first.file}, which has the same {shared}"
        raise XmlcError(located(second.file, keys, f"{problem}. Use the same value in both files"))
