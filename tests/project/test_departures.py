"""`results/published/<paper>/choices.yaml` has an entry for each choice of a paper, and for each
setting of its suite.

The tests compare a choice that has a setting with the project's configuration. A choice without a
setting names a test. If it names none, it is a departure, unless the paper does not state the
choice. docs/generated.py lists the choices on one page, and the departures on another.
"""

import re
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from typing import Annotated, TypedDict

import pytest
import yaml
from msgspec import Meta, to_builtins
from repository import ROOT
from tutorials import blocks

from xmlc.models.registry import estimator_class
from xmlc.suite.config.project import Project
from xmlc.suite.config.ranges import Interval
from xmlc.suite.config.settings import read_config
from xmlc.suite.schemas import converted

PUBLISHED = ROOT / "results/published"
# without xmlc's own studies
PAPERS = yaml.safe_load((ROOT / "config/config.yaml").read_text())["papers"]
ABSENT = object()  # This object equals no other value.


class Printed(TypedDict):
    """A choice in the paper's words, and its section, page, table, algorithm or figure."""

    #: If the paper leaves the choice open, this text is "not said", and `reason` explains the
    #: choice of the suite.
    printed: str
    where: str


class Choice(Printed, total=False):
    """An explicit choice of a paper."""

    #: One or several settings for the choice. A setting is a key of the suite (`seeds`,
    #: `inference.samples`), `models.<model>.<key>`, `settings.<key>` of config.yaml, `splits.<key>`
    #: of a dataset's entry for the paper in datasets.yaml, or a constant of the package,
    #: `xmlc.<module>:<NAME>`. The key of a model may be a hyperparameter, even if only the
    #: estimator's default sets it. The name of a model may be a pattern (`models.oplt-*.gamma`),
    #: which stands for the models of the suite's file that have the key.
    setting: str | list[str]
    #: A choice with a setting has one of the next six fields, or none of them if the paper leaves
    #: it open. `value` is its value on all datasets, and `by_dataset` has one for each dataset.
    #: `among` lists the values that it may have. `between` has the lowest and the highest number
    #: that it may contain. Its highest number is at least `reaches`. It contains all values of
    #: `includes`.
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
    #: A departure has both of the next two fields: what xmlc does, and the reason for it. A choice
    #: that the paper leaves open has the field `here` only if it has no setting and no test.
    here: str
    reason: str
    #: The datasets with the departure, if it is not one on all datasets of the choice.
    departs_on: list[str]


WAYS = {"value", "by_dataset", "among", "between", "reaches", "includes"}
OPEN = "not said"
# Keys that determine no result, except times and the use of memory.
TECHNICAL = {"title", "tables", "figures", "extensions", "batch_seeds", "optional", "threads"}
TECHNICAL |= {"time_limit", "memory_limit"}
# Keys of a model that contain hyperparameters or describe their values.
OF_VALUES = {"estimator", "hyperparameters", "datasets", "provenance", "selected", "search"}


@cache
def project():
    return Project.read(read_config(ROOT / "config/config.yaml"), ROOT / "config")


@cache
def choices(paper):
    content = yaml.safe_load((PUBLISHED / paper / "choices.yaml").read_text())
    found = converted(content["choices"], dict[str, Choice], f"{paper}/choices.yaml")
    for key, choice in found.items():
        needed = "setting" in choice and choice["printed"] != OPEN
        assert needed <= len(WAYS & choice.keys()) <= ("setting" in choice), key
        assert not {"shown_by", "setting"} <= choice.keys(), key
    return found


def test_example_in_contributing_has_valid_choices():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    (example,) = [text for text in blocks(page, "yaml") if text.startswith("choices:")]
    converted(yaml.safe_load(example)["choices"], dict[str, Choice], "CONTRIBUTING.md")


def walk(thing, keys):
    """Follow keys of dicts and names of fields. Return `ABSENT` if one of them is missing."""
    for key in keys:
        thing = thing.get(key, ABSENT) if isinstance(thing, dict) else getattr(thing, key, ABSENT)
    if isinstance(thing, Interval):
        return to_builtins(thing)
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


def value_on(paper, setting, dataset):
    """Return the value of a setting on a dataset."""
    if setting.startswith("xmlc."):
        module, name = setting.split(":")
        return getattr(import_module(module), name)
    first, *rest = setting.split(".")
    suite = project().suites[paper]
    if first == "settings":
        return walk(project().settings, rest)
    if first == "splits":
        return walk(project().catalogue[dataset].splits, [paper, *rest])
    if first == "sweeps" and rest[1:] == ["values"]:
        return suite.sweeps[rest[0]].values_on(dataset)
    if first == "models" and rest:
        name, *key = rest
        if name not in suite.models:
            return ABSENT
        return value_of_model(suite.models[name], ".".join(key), dataset)
    return walk(suite, [first, *rest])


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
    return all(one in as_list(value) for one in choice.get("includes", []))


def models_of(paper):
    """Return the models that the suite's own file defines."""
    suite = project().suites[paper]
    written = yaml.safe_load((ROOT / suite.file).read_text())["models"]
    own = [name for name, content in written.items() if "from_suite" not in content]
    return {name: suite.models[name] for name in own}


def without_patterns(paper, setting):
    """Return the settings for which a setting with a pattern over models stands."""
    if not setting.startswith("models.") or "*" not in setting:
        return [setting]
    _, pattern, key = setting.split(".", 2)
    found = [f"models.{name}.{key}" for name in models_of(paper) if fnmatchcase(name, pattern)]
    first = project().suites[paper].datasets[0]
    return [one for one in found if value_on(paper, one, first) is not ABSENT]


def settings_of(paper, choice):
    """Return the settings of a choice without patterns."""
    found = []
    for setting in as_list(choice.get("setting", [])):
        found += without_patterns(paper, setting)
    return found


def departing(paper, choice):
    """Return the datasets on which a setting departs. One "" means all datasets of the choice."""
    every = choice.get("by_dataset", project().suites[paper].datasets)
    datasets = choice.get("datasets", list(every))
    found = set()
    for setting in settings_of(paper, choice):
        for dataset in datasets:
            if not follows(choice, dataset, value_on(paper, setting, dataset)):
                found.add(dataset)
    return {""} if found == set(datasets) else found


def departures(paper):
    """Return every departure of a paper's suite, as key and dataset."""
    found = set()
    for key, choice in choices(paper).items():
        if "setting" in choice:
            found |= {(key, dataset) for dataset in departing(paper, choice)}
        elif "shown_by" not in choice and choice["printed"] != OPEN:
            found.add((key, ""))
    return found


def hyperparameters_of(model):
    """Return the hyperparameters that a model sets, or whose source it names."""
    found = model.hyperparameters.keys() | model.provenance.keys()
    for hyperparameters in model.datasets.values():
        found |= hyperparameters.keys()
    return found - {"all", "datasets"} - TECHNICAL


def hyperparameters_from_paper(model):
    """Return the hyperparameters for which a model names the paper as their source."""
    found = set()
    for key in hyperparameters_of(model):
        sources = [model.provenance.get(key, model.provenance.get("all", ""))]
        given = model.hyperparameters.get(key)
        differs = any(values.get(key) != given for values in model.datasets.values())
        if differs and key not in model.provenance:
            sources.append(model.provenance.get("datasets", ""))
        if any(source.startswith("paper:") for source in sources):
            found.add(key)
    return found


def leaves(thing, path):
    """Return the paths of all values in a nested dict, without technical keys and keys of single
    datasets.
    """
    if not isinstance(thing, dict) or not thing:
        return {path}
    found = set()
    for key in thing.keys() - TECHNICAL - {"datasets"}:
        found |= leaves(thing[key], f"{path}.{key}")
    return found


def settings_of_suite(paper):
    """Return every setting in a suite's file that determines results."""
    file = yaml.safe_load((ROOT / project().suites[paper].file).read_text())
    found = {"models"}
    for key in file.keys() - TECHNICAL - {"models", "baselines"}:
        found |= leaves(file[key], key)
    for name, model in models_of(paper).items():
        keys = file["models"][name]
        found |= {f"models.{name}.{key}" for key in keys.keys() - TECHNICAL - OF_VALUES}
        found |= leaves(keys["search"], f"models.{name}.search") if "search" in keys else set()
        found |= {f"models.{name}.{key}" for key in hyperparameters_of(model)}
    return found


def without_entry(paper, settings, chosen):
    """Return the settings that no choice names, itself or by a key of the suite or of a search that
    contains it.
    """
    named = set()
    for choice in chosen:
        named.update(settings_of(paper, choice))
    containing = [one for one in named if ".search." in one or not one.startswith("models")]
    known = tuple(f"{one}." for one in containing)
    return sorted(one for one in settings - named if not one.startswith(known))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_setting_of_a_suite_has_a_choice(paper):
    assert without_entry(paper, settings_of_suite(paper), choices(paper).values()) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_hyperparameters_from_the_paper_have_a_printed_choice(paper):
    printed = [choice for choice in choices(paper).values() if choice["printed"] != OPEN]
    settings = set()
    for name, model in models_of(paper).items():
        settings |= {f"models.{name}.{key}" for key in hyperparameters_from_paper(model)}
    assert without_entry(paper, settings, printed) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_exactly_the_departures_have_reasons(paper):
    listed = set()
    for key, choice in choices(paper).items():
        if choice["printed"] != OPEN and choice.keys() & {"here", "reason"}:
            assert {"here", "reason"} <= choice.keys(), key
            listed |= {(key, dataset) for dataset in choice.get("departs_on", [""])}
    # `here` and `reason` are given if and only if the suite departs
    assert sorted(listed) == sorted(departures(paper))


@pytest.mark.parametrize("paper", PAPERS)
def test_each_choice_has_a_reason_or_names_an_existing_setting_or_test(paper):
    """A misspelt setting would stay a departure forever."""
    first = project().suites[paper].datasets[0]
    for key, choice in choices(paper).items():
        if choice["printed"] == OPEN:
            assert "reason" in choice, key
            assert choice.keys() & {"setting", "shown_by", "here"}, key
        if "shown_by" in choice:
            file, function = choice["shown_by"].split("::")
            assert re.search(rf"^def {function}\(", (ROOT / file).read_text(), re.MULTILINE), key
        for setting in as_list(choice.get("setting", [])):
            found = without_patterns(paper, setting)
            assert found, f"{key}: no model has {setting}"
            for one in found:
                assert value_on(paper, one, first) is not ABSENT, f"{key}: there is no {one}"
