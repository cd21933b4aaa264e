"""`results/published/<paper>/choices.yaml` explains each choice of a paper that its suite does not follow.

The tests compare a choice that has a setting with the project's configuration. A choice without a setting names a
test. If it names none, it is a departure. docs/generated.py lists the departures.
"""

import re
from functools import cache
from importlib import import_module
from typing import Annotated, TypedDict

import pytest
import yaml
from msgspec import Meta
from repository import ROOT

from xmlc.models.registry import estimator_class
from xmlc.suite.config.project import Project
from xmlc.suite.config.settings import read_config
from xmlc.suite.schemas import converted

PUBLISHED = ROOT / "results/published"
PAPERS = yaml.safe_load((ROOT / "config/config.yaml").read_text())["papers"]  # without xmlc's own studies
ABSENT = object()  # This object equals no other value.


class Printed(TypedDict):
    """A choice in the paper's words, and its section, page, table, algorithm or figure."""

    printed: str
    where: str


class Choice(Printed, total=False):
    """An explicit choice of a paper."""

    #: One or several settings for the choice. A setting is a key of the suite (`seeds`, `inference.samples`),
    #: `models.<model>.<key>`, `settings.<key>` of config.yaml or a constant of the package, `xmlc.<module>:<NAME>`.
    #: The key of a model may be a hyperparameter, even if only the estimator's default sets it.
    setting: str | list[str]
    #: A choice with a setting has one of the next six fields. `value` is its value on all datasets, and `by_dataset`
    #: has one for each dataset. `among` lists the values that it may have. `between` has the lowest and the highest
    #: number that it may contain. Its highest number is at least `reaches`. It contains all values of `includes`.
    value: object
    by_dataset: dict[str, object]
    among: list[object]
    between: tuple[float, float]
    reaches: float
    includes: list[object]
    #: The datasets of the choice, if it is not about all datasets of the paper.
    datasets: list[str]
    #: The test of a choice without a setting. It shows that the project follows the choice.
    shown_by: Annotated[str, Meta(pattern=r"^tests/.+\.py::test_\w+$")]
    #: A departure has both of the next two fields: what xmlc does, and the reason for it.
    here: str
    reason: str
    #: The datasets with the departure, if it is not one on all datasets of the choice.
    departs_on: list[str]


WAYS = {"value", "by_dataset", "among", "between", "reaches", "includes"}


@cache
def project():
    return Project.read(read_config(ROOT / "config/config.yaml"), ROOT / "config")


def choices(paper):
    content = yaml.safe_load((PUBLISHED / paper / "choices.yaml").read_text())
    found = converted(content["choices"], dict[str, Choice], f"{paper}/choices.yaml")
    for key, choice in found.items():
        assert len(WAYS & choice.keys()) == ("setting" in choice), key
        assert not {"shown_by", "setting"} <= choice.keys(), key
    return found


def walk(thing, keys):
    """Follow keys of dicts and names of fields. Return `ABSENT` if one of them is missing."""
    for key in keys:
        thing = thing.get(key, ABSENT) if isinstance(thing, dict) else getattr(thing, key, ABSENT)
    return thing


def source_of(model, dataset):
    """Return the source of a dataset's hyperparameters from `selected` or `provenance`."""
    said = model.provenance.get("all", "")
    return model.selected[dataset].source if dataset in model.selected else said.partition(":")[0]


def value_of_model(model, key, dataset):
    if key == "source":
        return source_of(model, dataset)
    hyperparameters = estimator_class(model.estimator)().get_params() | model.values_on(dataset)
    return hyperparameters[key] if key in hyperparameters else walk(model, key.split("."))


def values(paper, setting, datasets):
    """Return the value of a setting for each dataset, even if the value is the same for all."""
    if setting.startswith("xmlc."):
        module, name = setting.split(":")
        return dict.fromkeys(datasets, getattr(import_module(module), name))
    first, *rest = setting.split(".")
    suite = project().suites[paper]
    if first == "settings":
        return dict.fromkeys(datasets, walk(project().settings, rest))
    if first == "sweeps" and rest[1:] == ["values"]:
        return {dataset: suite.sweeps[rest[0]].values_on(dataset) for dataset in datasets}
    if first == "models" and rest:
        name, *key = rest
        if name not in suite.models:
            return dict.fromkeys(datasets, ABSENT)
        return {dataset: value_of_model(suite.models[name], ".".join(key), dataset) for dataset in datasets}
    return dict.fromkeys(datasets, walk(suite, [first, *rest]))


def as_list(value):
    return list(value) if isinstance(value, (list, tuple, dict)) else [value]


def follows(choice, dataset, value):
    numbers = [part for part in as_list(value) if isinstance(part, (int, float))]
    if "value" in choice:
        plain = list(value) if isinstance(value, tuple) else value
        return plain == choice["value"]
    if "by_dataset" in choice:
        return dataset not in choice["by_dataset"] or value == choice["by_dataset"][dataset]
    if "among" in choice:
        return value in choice["among"]
    if "between" in choice:
        low, high = choice["between"]
        return bool(numbers) and low <= min(numbers) and max(numbers) <= high
    if "reaches" in choice:
        return bool(numbers) and max(numbers) >= choice["reaches"]
    return value is not ABSENT and set(choice["includes"]) <= set(as_list(value))


def departing(paper, choice):
    """Return the datasets on which a setting departs. One "" means all datasets of the choice."""
    datasets = choice.get("datasets") or list(choice.get("by_dataset", project().suites[paper].datasets))
    settings = choice["setting"] if isinstance(choice["setting"], list) else [choice["setting"]]
    found = {
        dataset
        for setting in settings
        for dataset, value in values(paper, setting, datasets).items()
        if not follows(choice, dataset, value)
    }
    return {""} if found == set(datasets) else found


def departures(paper):
    """Return every departure of a paper's suite, as key and dataset."""
    found = set()
    for key, choice in choices(paper).items():
        if "setting" in choice:
            found |= {(key, dataset) for dataset in departing(paper, choice)}
        elif "shown_by" not in choice:
            found.add((key, ""))
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_exactly_the_departures_have_reasons(paper):
    explained = {key: choice for key, choice in choices(paper).items() if choice.keys() & {"here", "reason"}}
    listed = {(key, dataset) for key, choice in explained.items() for dataset in choice.get("departs_on", [""])}
    missing, over = departures(paper) - listed, listed - departures(paper)
    assert not missing, f"{paper}/choices.yaml: these choices have no `here`, but the suite departs: {sorted(missing)}"
    assert not over, f"{paper}/choices.yaml: these choices have `here`, but no departure: {sorted(over)}"
    assert all({"here", "reason"} <= choice.keys() for choice in explained.values())


@pytest.mark.parametrize("paper", PAPERS)
def test_choice_without_setting_names_existing_test(paper):
    for key, choice in choices(paper).items():
        if "shown_by" in choice:
            file, function = choice["shown_by"].split("::")
            assert re.search(rf"^def {function}\(", (ROOT / file).read_text(), re.MULTILINE), key
    assert "choices.yaml" in (PUBLISHED / paper / "README.md").read_text()


def test_every_setting_exists_in_project():
    """A misspelt setting would stay a departure forever."""
    for paper in PAPERS:
        suite = project().suites[paper]
        for key, choice in choices(paper).items():
            settings = choice.get("setting", [])
            for setting in settings if isinstance(settings, list) else [settings]:
                found = values(paper, setting, suite.datasets[:1])
                assert ABSENT not in found.values(), f"{paper}, {key}: there is no {setting}"
