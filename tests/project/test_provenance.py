"""Every shipped hyperparameter has a source. Every search is stored or can be repeated."""

import json
import shlex

import click
import pytest
from facts import absent
from repository import ROOT

from xmlc.suite.config.suite import read_suites
from xmlc.suite.steps.tune import command as tune

SUITES = read_suites(ROOT / "config")
MODELS = []
for suite in SUITES.values():
    for name, model in suite.all_models.items():
        MODELS.append((suite, name, model))
FOUND = []
for _, name, model in MODELS:
    for dataset, found in model.selected.items():
        FOUND.append((name, dataset, found))


@pytest.mark.parametrize(
    ("suite", "name", "model"), MODELS, ids=[f"{suite.name}-{name}" for suite, name, _ in MODELS]
)
def test_every_hyperparameter_has_provenance(suite, name, model):
    said = model.provenance
    assert "all" in said or set(model.hyperparameters) <= set(said), (
        "a common hyperparameter without provenance"
    )
    own = {dataset for dataset, values in model.datasets.items() if values != model.hyperparameters}
    assert "datasets" in said or own <= set(model.selected), (
        "values of a dataset without provenance"
    )
    stages = model.search.stages if model.search.always else []
    searched = set()
    for stage in stages:
        for trial in stage:
            searched.update(trial)
    assert all(said.get(key, said.get("all", "")).startswith("search: ") for key in searched)


@pytest.mark.parametrize(
    ("name", "dataset", "found"), FOUND, ids=[f"{name}-{dataset}" for name, dataset, _ in FOUND]
)
def test_every_search_is_stored_or_can_be_repeated(name, dataset, found):
    if found.source != "search":
        assert found.trials is found.command is None
        return
    assert (found.trials is None) != (found.command is None)
    if found.trials is not None:
        lines = (ROOT / found.trials).read_text().splitlines()
        assert any(line.startswith(f"{dataset},") for line in lines)
        return
    program, *words = shlex.split(found.command)
    if program == "snakemake":
        assert words[0] in SUITES
        return
    assert (program, words[0]) == ("xmlc", "tune")
    given = tune.make_parser(click.Context(tune)).parse_args(list(words[1:]))[0]
    for option in ("space", "stages"):
        assert json.loads(given.get(option, "1"))


def test_fitted_settings_are_declared():
    gfm = SUITES["gfm2011"]
    plt = SUITES["plt2016"]
    assert {name for name, model in gfm.models.items() if model.fitted_settings} == {"br", "pcc"}
    assert absent(gfm.models["br"].fitted_settings, "C_grid", "Table 1", "scene") == []
    assert not any(model.fitted_settings for model in plt.all_models.values())
