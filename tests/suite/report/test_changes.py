"""Test which settings of two runs differ, and how they are named."""

from itertools import zip_longest

import pytest
from facts import absent
from record_files import as_record
from report_cases import ranking, thresholds

from xmlc.suite.report.changes import changes_between, settings_line
from xmlc.suite.results.settings import settings_of

NO_CHANGE = "none that is known"


def settings(**changes):
    """Return the settings stored next to the tables of a run of PLT on two datasets."""
    environment = {"python": "3.13.0", "cpu": "any", "threads": 2}
    records = [
        make(name, seed=seed, environment=environment)
        for name in ("scene", "yeast") for make in (ranking, thresholds) for seed in (0, 1)
    ]  # fmt: skip
    found = settings_of(map(as_record, records))
    found[""] |= {"code": "34cd", "commit": "5e6f"}
    return found | {subject: found[subject] | values for subject, values in changes.items()}


def names(old, new):
    """Return the names of the settings that differ."""
    return changes_between([(old, new)])["name"].tolist()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, NO_CHANGE),
        ({"yeast / plt": {"arity": 8}, "scene / plt": {"arity": 8.0}}, "plt on scene, yeast: arity 16 -> 8"),
        ({"yeast / plt": {"arity": 8}}, "plt on yeast: arity 16 -> 8"),
        ({"yeast / plt": {"beam": 3}}, "plt on yeast: beam none -> 3"),
        ({"yeast / plt / fta": {"grid": "2 10"}}, "plt fta on yeast: grid 2 10 100 -> 2 10"),
        ({"yeast": {"data": "12ab"}}, "yeast: data 796561737400 -> 12ab"),
        ({"yeast / plt": {"seeds": [1]}}, "plt on yeast: seeds 0 1 -> 1"),
        ({"": {"code": "12ab"}}, "code 34cd (5e6f) -> 12ab (5e6f)"),
        ({"": {"code": "12ab", "commit": ""}}, "code 34cd (5e6f) -> 12ab (no commit)"),
        ({"": {"commit": "9f8e"}}, NO_CHANGE),
        ({"": {"python": "3.14.0", "code": "12ab"}}, "python 3.13.0 -> 3.14.0; code 34cd (5e6f) -> 12ab (5e6f)"),
        ({"yeast": {"propensity": "0.5 0.4"}}, NO_CHANGE),  # earlier versions did not record this setting
    ],
)
def test_differences_between_two_runs_are_named(changed, said):
    versions = {name: "1.0" for name in ("xmlc", "numpy", "scipy", "numba")}
    old = settings()
    old[""] |= versions
    new = settings(**changed)
    new[""] = old[""] | changed.get("", {})
    assert settings_line([(old, new)]).partition(": ")[2] == said


@pytest.mark.parametrize("name", ["validation_share", "propensity", "model code", "files", "method code"])
def test_every_other_setting_is_named_if_it_differs(name):
    old, new = (settings_of([as_record(thresholds(settings={name: value}))]) for value in ("12ab", "34cd"))
    assert f": {name} 12ab -> 34cd" in settings_line([(old, new)])
    assert name in names(old, new)


def test_settings_are_compared_for_tables_with_settings_on_both_sides():
    one = settings()
    other = settings(**{"yeast / plt": {"arity": 8}})
    assert absent(settings_line([(one, other), ({}, other)]), "arity", "1 of 2 tables") == []
    for pairs in ([], [({}, one), (one, {})]):
        assert absent(settings_line(pairs), "unknown", "no table") == []


VERSIONS = dict.fromkeys(("xmlc", "python", "scipy", "numba"), "1.0") | {"numpy": "2.4.6"}
MACHINE = {"machine": "x86_64", "cpu": "one", "threads": 2}


def of_records(*changes_of_each, **common):
    """Return the settings of the rankings and thresholds of two seeds."""
    makers = [(make, seed) for make in (ranking, thresholds) for seed in (0, 1)]
    records = []
    for (make, seed), changed in zip_longest(makers, changes_of_each, fillvalue={}):
        content = {"seed": seed} | common | changed
        environment = content.pop("environment", {})
        if environment is not None:
            content["environment"] = VERSIONS | MACHINE | environment
        records.append(as_record(make(**content)))
    return settings_of(records)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"environment": {"numpy": "1.26.4"}}, ["numpy", "1.26.4", "2.4.6"]),
        ({"environment": {"python": "3.11.7"}}, ["python", "3.11.7", "1.0"]),
        ({"environment": {"cpu": "another"}}, ["cpu", "another", "one"]),
        ({"environment": {"threads": 1}}, ["threads", "1", "2"]),
        ({"environment": {"sklearn": "1.5"}}, ["sklearn", "1.5"]),
        ({"environment": None}, ["numpy", "unknown", "2.4.6"]),
        ({"settings": {"model code": "12ab"}}, ["model code", "12ab", "34cd"]),
        ({"settings": {"files": "12ab"}}, ["files", "12ab", "34cd"]),
        ({"hyperparameters": {"arity": 8}}, ["arity", "8", "16"]),
        ({"estimator": "oplt"}, ["estimator", "oplt", "plt"]),
    ],
)
@pytest.mark.parametrize("place", range(4))
def test_each_record_of_a_table_counts(change, said, place):
    common = {"settings": {"model code": "34cd", "files": "34cd"}}
    one = of_records(*[{}] * place, change, **common)
    assert absent(settings_line([(of_records(**common), one)]), *said) == []
    unknown = {*VERSIONS} if change.get("environment", {}) is None else set()
    assert {*names(one, one)} == unknown


@pytest.mark.parametrize("name", ["numpy", "cpu"])
@pytest.mark.parametrize(("old", "new"), [("1222", "2122"), ("1122", "2211"), ("1212", "1221")])
def test_values_swapped_between_records_are_a_change(name, old, new):
    one, other = (of_records(*({"environment": {name: value}} for value in values)) for values in (old, new))
    assert name in settings_line([(one, other)])
    assert names(one, one) == []


def test_seeds_of_each_method_count():
    one = settings_of([as_record(make(seed=seed)) for make, seed in ((ranking, 0), (ranking, 1), (thresholds, 0))])
    other = settings_of([as_record(make(seed=seed)) for make, seed in ((ranking, 0), (thresholds, 0), (thresholds, 1))])
    changed = changes_between([(one, other)])
    seeds = changed[changed["name"] == "seeds"].iloc[0]
    assert (seeds["models"], seeds["old"], seeds["new"]) == (["plt fta"], "0", "none")


def test_values_swapped_between_tables_are_a_change():
    one, other = (of_records(environment={"numpy": value}) for value in ("1.26.4", "2.4.6"))
    line = settings_line([(one, other), (other, one), (one, one)])
    assert absent(line, "numpy 1.26.4 -> 2.4.6", "numpy 2.4.6 -> 1.26.4") == []


def test_manifest_names_the_records_of_each_value():
    found = of_records({"environment": {"numpy": "1.26.4"}})
    (earlier,), others = (found[""]["numpy"]["differs"][version] for version in ("1.26.4", "2.4.6"))
    assert absent(earlier, "yeast / plt", "ranking", "seed 0") == []
    assert len(others) == 3
    assert found[""]["python"] == "1.0"


def test_settings_of_an_earlier_version_are_compared():
    new = of_records()
    run = {name: value for name, value in new[""].items() if name not in MACHINE}
    old = {"": run | {"numpy": "1.26.4"}, "yeast / plt": {"seeds": [0, 1], "arity": 8, "estimator": ""}}
    assert names(old, new) == ["arity", "numpy"]


def test_unknown_versions_may_differ():
    one = of_records({"environment": None})
    assert absent(settings_line([(one, one)]), "numpy", "unknown") == []
    assert names(of_records(), of_records()) == []


def test_file_shared_by_seeds_is_named_once():
    records = [as_record(ranking(seed=seed, settings={"files": f"both of-{seed}"})) for seed in (0, 1, 0)]
    found = settings_of(records)["yeast / plt"]["files"]["differs"]
    assert [(files, len(names)) for files, names in found.items()] == [("both of-0", 1), ("both of-1", 1)]
