"""docs/departures.md names each choice of `results/published/<paper>/choices.yaml` that a suite does not follow.

A choice that a setting holds is compared with the configuration as the project reads it; one that no setting holds
names a test, or else is a departure.
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
PAPERS = yaml.safe_load((ROOT / "config/config.yaml").read_text())["papers"]  # without studies of our own
PAGE = (ROOT / "docs/departures.md").read_text()
ABSENT = object()  # nothing equals it


class Printed(TypedDict):
    """A choice in the paper's terms, and the section, page, table, algorithm or figure."""

    printed: str
    where: str


class Choice(Printed, total=False):
    """An explicit choice of a paper, under a key of its own, under which docs/departures.md names it."""

    #: Where the project has it, or several such places: a key of the suite (`seeds`, `inference.samples`);
    #: `models.<model>.<key>`, which is a hyperparameter, the estimator's default included, or a key of the model;
    #: `settings.<key>` of config.yaml; or `xmlc.<module>:<NAME>`, a constant of the package.
    setting: str | list[str]
    #: One of these with a setting: what it is; what it is by dataset; the values that it may have; the lowest and the
    #: highest that it, or each of its values, may have; what its highest value reaches; what is among its values.
    value: object
    by_dataset: dict[str, object]
    among: list[object]
    between: tuple[float, float]
    reaches: float
    includes: list[object]
    #: The datasets that it is about, if not all of the paper's.
    datasets: list[str]
    #: Without a setting, a test that shows that the project follows it.
    shown_by: Annotated[str, Meta(pattern=r"^tests/.+\.py::test_\w+$")]


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
    """Follow keys of dicts and names of fields; `ABSENT` where one is not there."""
    for key in keys:
        thing = thing.get(key, ABSENT) if isinstance(thing, dict) else getattr(thing, key, ABSENT)
    return thing


def source_of(model, dataset):
    """Where the hyperparameters of a dataset are from, as `found` or `provenance` says."""
    said = model.provenance.get("all", "")
    return model.selected[dataset].source if dataset in model.selected else said.partition(":")[0]


def value_of_model(model, key, dataset):
    if key == "source":
        return source_of(model, dataset)
    hyperparameters = estimator_class(model.estimator)().get_params() | model.values_on(dataset)
    return hyperparameters[key] if key in hyperparameters else walk(model, key.split("."))


def values(paper, setting, datasets):
    """The value of a setting on each dataset; the same on all where it does not depend on the dataset."""
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
    """The datasets on which a setting departs; all of them as one "" if it does on all that the choice is about."""
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
    """Every departure of a paper's suite, as key and dataset."""
    found = set()
    for key, choice in choices(paper).items():
        if "setting" in choice:
            found |= {(key, dataset) for dataset in departing(paper, choice)}
        elif "shown_by" not in choice:
            found.add((key, ""))
    return found


def lines(paper):
    """The rows of the page's table of a paper: key, datasets, and the text of the other columns."""
    section = re.search(rf"^## {paper}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section, f"docs/departures.md has no section {paper}"
    rows = re.findall(r"^\| `([a-z0-9-]+)`(?: on ([^|]+?))? \|(.+)\|$", section[1], re.MULTILINE)
    assert len(rows) == len(re.findall(r"^\|", section[1], re.MULTILINE)) - 2, "a row that begins with no key"
    return [(key, sorted(datasets.split(", ")) if datasets else [""], text.split("|")) for key, datasets, text in rows]


@pytest.mark.parametrize("paper", PAPERS)
def test_page_lists_exactly_the_departures(paper):
    listed = [(key, dataset) for key, datasets, _ in lines(paper) for dataset in datasets]
    assert len(listed) == len(set(listed)), "two lines about one thing"
    unsaid, over = departures(paper) - set(listed), set(listed) - departures(paper)
    assert not unsaid, f"docs/departures.md does not say that {paper} departs from these choices: {sorted(unsaid)}"
    assert not over, f"docs/departures.md names what does not depart, or not on these datasets: {sorted(over)}"


@pytest.mark.parametrize("paper", PAPERS)
def test_choice_without_setting_names_existing_test(paper):
    for key, choice in choices(paper).items():
        if "shown_by" in choice:
            file, function = choice["shown_by"].split("::")
            assert re.search(rf"^def {function}\(", (ROOT / file).read_text(), re.MULTILINE), key
    assert "choices.yaml" in (PUBLISHED / paper / "README.md").read_text()


def test_every_setting_exists_in_project():
    """A misspelt setting would be a departure for ever."""
    for paper in PAPERS:
        suite = project().suites[paper]
        for key, choice in choices(paper).items():
            settings = choice.get("setting", [])
            for setting in settings if isinstance(settings, list) else [settings]:
                found = values(paper, setting, suite.datasets[:1])
                assert ABSENT not in found.values(), f"{paper}, {key}: there is no {setting}"
