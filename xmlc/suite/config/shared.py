"""Combine what all suites share, and refuse different definitions of it.

The results of a model are in ``results/<dataset>/<model>/``, whatever suite requests them. So the settings that change
these results must be the same in all suites.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields, replace
from itertools import combinations

from xmlc.core.errors import XmlcError
from xmlc.suite.config.suite import ModelSpec, Suite
from xmlc.suite.schemas import Keys, located

#: Keys that may differ between the models of one name, because they change no result of the model.
FREE = ("title", "without", "task", "optional", "provenance", "skip_thresholds", "untuned", "from_suite")
#: Keys that may also differ in a suite that belongs to no paper, because only papers' suites search for values.
OF_PAPERS = ("hyperparameters", "datasets", "selected", "search")


def models_of_all(suites: Iterable[Suite]) -> dict[str, ModelSpec]:
    """Return the models of all suites by name.

    On the datasets of a suite that belongs to no paper (`Suite.own`), its hyperparameters take precedence.

    Raises
    ------
    XmlcError
        Two suites define a model of the same name with different settings.
    """
    suites = [*suites]
    for first, second in combinations(suites, 2):
        for name in first.all_models:
            if name in second.all_models:
                _check_same(first, second, name)
    found: dict[str, ModelSpec] = {}
    for suite in suites:
        for name, model in suite.all_models.items():
            known = found.setdefault(name, replace(model, datasets={}))
            common = {}
            if suite.own:
                common = dict.fromkeys(suite.datasets, model.hyperparameters)
            found[name] = replace(known, datasets=known.datasets | common | model.datasets)
    return found


def _check_same(first: Suite, second: Suite, name: str) -> None:
    here = second.all_models[name]
    there = first.all_models[name]
    is_apart = (first.own or second.own) and not {*first.datasets} & {*second.datasets}
    free = (*FREE, *OF_PAPERS) if is_apart else FREE
    keys = [field.name for field in fields(ModelSpec) if field.name not in free]
    if is_apart and (here.search.always or there.search.always):
        keys.append("search")
    for key in keys:
        if getattr(here, key) != getattr(there, key):
            place = (*second.place_of(name), key)
            problem = f"found other {key} than in {first.file}, which has a model {name}, too. The results of both"
            problem += f" would be in results/<dataset>/{name}/. Rename one of them"
            raise XmlcError(located(second.file, place, f"{problem}, or copy it with from_suite: {first.name}"))


def check_shared_settings(suites: Collection[Suite]) -> None:
    """Check that suites agree on settings of results that they share: stored estimates and inferred label sets.

    Raises
    ------
    XmlcError
        Two suites that use the same dataset store its estimates with different minimum probabilities, or two suites
        infer label sets of the same model with different numbers of samples or time limits.
    """
    for first, second in combinations(suites, 2):
        for dataset in {*first.datasets, *first.min_probabilities}:
            if dataset in second.datasets or dataset in second.min_probabilities:
                values = [suite.min_probabilities.get(dataset) for suite in (first, second)]
                found = "null" if values[1] is None else values[1]
                expected = f"{'null' if values[0] is None else values[0]} as in {first.file}"
                _check_equal(second, ("min_probabilities", dataset), values, f"found {found}, expected {expected}")
        if first.inference and second.inference and first.inference.split == second.inference.split:
            for model in first.inference.methods:
                if model in second.inference.methods:
                    for key in ("samples", "time_limit"):
                        values = [getattr(suite.inference, key) for suite in (first, second)]
                        problem = (
                            f"found {values[1]}, expected {values[0]} as in {first.file}, which also infers {model}"
                        )
                        _check_equal(second, ("inference", key), values, problem)


def _check_equal(suite: Suite, keys: Keys, values: Sequence[object], problem: str) -> None:
    if values[0] != values[1]:
        raise XmlcError(located(suite.file, keys, f"{problem}. Use the same value in both files"))
