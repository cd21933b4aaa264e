"""Test which settings of two runs differ, and how they are named."""

import pytest
import yaml
from facts import absent
from record_files import as_record
from report_cases import ranking, thresholds

from xmlc.suite.results.settings import settings_line, settings_of

ABOUT = dict.fromkeys(("xmlc", "numpy", "scipy", "numba"), "1.0")
ABOUT |= {"python": "3.13.0", "cpu": "any", "threads": 2}


def settings(**changes):
    """Return the settings stored next to the tables of a run of PLT on two datasets."""
    records = []
    for name in ("scene", "yeast"):
        for seed in (0, 1):
            records.append(ranking(name, seed=seed, environment=ABOUT))
            records.append(thresholds(name, seed=seed, environment=ABOUT))
    found = settings_of(map(as_record, records))
    found[""] |= {"code": "34cd", "commit": "5e6f"}
    return found | {subject: found[subject] | values for subject, values in changes.items()}


def difference(old, new):
    return settings_line([(old, new)]).partition(": ")[2]


# Changes of settings, and the differences that the line names
DIFFERENCES = """
- [{}, NO_CHANGE]
- [{yeast / plt: {arity: 8}, scene / plt: {arity: 8.0}}, "plt on scene, yeast: arity 16 -> 8"]
- [{yeast / plt: {beam: 3}}, "plt on yeast: beam none -> 3"]
- [{yeast / plt / fta: {grid: 2 10}}, "plt fta on yeast: grid 2 10 100 -> 2 10"]
- [{yeast: {data: 12ab}}, "yeast: data 796561737400 -> 12ab"]
- [{yeast / plt: {seeds: [1]}}, "plt on yeast: seeds 0 1 -> 1"]
- [{"": {code: 12ab, commit: ""}}, "code 34cd (5e6f) -> 12ab (no commit)"]
- [{"": {commit: 9f8e}}, NO_CHANGE]
- [{"": {python: 3.14.0, code: 12ab}, yeast: {data: 12ab}}, "yeast: data 796561737400 -> 12ab;
   python 3.13.0 -> 3.14.0; code 34cd (5e6f) -> 12ab (5e6f)"]
# earlier versions did not record this setting
- [{yeast / plt: {propensity: 0.5 0.4}}, NO_CHANGE]
"""


@pytest.mark.parametrize(("changed", "said"), yaml.safe_load(DIFFERENCES))
def test_differences_between_two_runs_are_named(changed, said):
    expected = said.replace("NO_CHANGE", "none that is known")
    assert difference(settings(), settings(**changed)) == expected


def test_settings_are_compared_for_tables_with_settings_on_both_sides():
    one = settings()
    other = settings(**{"yeast / plt": {"arity": 8}})
    assert "arity" in settings_line([(one, other), ({}, other)])
    assert "unknown" in settings_line([({}, one), (one, {})])


# Maps a difference to the change of one record.
CHANGES = {
    "numpy 1.0 -> 1.0 1.26.4": {"environment": ABOUT | {"numpy": "1.26.4"}},
    "threads 2 -> 1 2": {"environment": ABOUT | {"threads": 1}},
    "sklearn none -> 1.5": {"environment": ABOUT | {"sklearn": "1.5"}},
    "model code 34cd -> 12ab 34cd": {"settings": {"model code": "12ab"}},
    "arity 16 -> 16 8": {"hyperparameters": {"arity": 8}},
    "estimator plt -> oplt plt": {"estimator": "oplt"},
}


@pytest.mark.parametrize("text", CHANGES)
@pytest.mark.parametrize("place", [0, 3])
def test_each_record_of_a_table_counts(text, place):
    about = {"environment": ABOUT, "settings": {"model code": "34cd"}, "estimator": "plt"}
    records = []
    for kind in (ranking, thresholds):
        records += [kind(**about), kind(seed=1, **about)]
    old = settings_of(map(as_record, records))
    records[place] |= CHANGES[text]
    assert text in difference(old, settings_of(map(as_record, records)))


def test_values_swapped_between_tables_are_a_change():
    one = settings()
    other = settings(**{"": {"numpy": "2.4.6"}})
    line = settings_line([(one, other), (other, one), (one, one)])
    assert absent(line, "numpy 1.0 -> 2.4.6", "numpy 2.4.6 -> 1.0") == []


def test_settings_of_an_earlier_version_are_compared():
    new = settings()
    # Earlier versions named the records of each value.
    old = settings(**{"": {"numpy": {"differs": {"1.0": ["seed 0"], "1.26.4": ["seed 1"]}}}})
    del old[""]["cpu"]
    assert difference(old, new) == "numpy 1.0 1.26.4 -> 1.0"
