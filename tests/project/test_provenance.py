"""Every shipped hyperparameter has a source. Every search is stored or can be repeated."""

import json
import shlex
from itertools import chain

import click
import pytest
from facts import absent
from repository import ROOT

from xmlc.suite.config.suite import read_suites
from xmlc.suite.steps.tune import command as tune

SUITES = read_suites(ROOT / "config")
MODELS = {}
FOUND = {}
for suite in SUITES.values():
    for name, model in suite.all_models.items():
        MODELS[f"{suite.name}-{name}"] = model
        for dataset, found in model.selected.items():
            FOUND[f"{suite.name}-{name}-{dataset}"] = (dataset, found)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_hyperparameter_has_provenance(model):
    source = model.provenance
    assert "all" in source or set(model.hyperparameters) <= set(source)
    own = {dataset for dataset, values in model.datasets.items() if values != model.hyperparameters}
    assert "datasets" in source or own <= set(model.selected)
    if model.search.always:
        for trial in chain.from_iterable(model.search.stages):
            for key in trial:
                assert source.get(key, source.get("all", "")).startswith("search: "), key


@pytest.mark.parametrize(("dataset", "found"), FOUND.values(), ids=FOUND)
def test_every_search_is_stored_or_can_be_repeated(dataset, found):
    if found.source != "search":
        assert found.trials is None
        assert found.command is None
    elif found.command is None:
        lines = (ROOT / found.trials).read_text().splitlines()
        assert any(line.startswith(f"{dataset},") for line in lines)
    else:
        assert found.trials is None
        program, command, *words = shlex.split(found.command)
        if program == "snakemake":
            assert command in SUITES
            return
        assert (program, command) == ("xmlc", "tune")
        given = tune.make_parser(click.Context(tune)).parse_args(words)[0]
        for option in ("space", "stages"):
            assert json.loads(given.get(option, "1"))


def test_fitted_settings_are_declared():
    gfm = SUITES["gfm2011"].models
    assert {name for name, model in gfm.items() if model.fitted_settings} == {"br", "pcc"}
    assert absent(gfm["br"].fitted_settings, "C_grid", "Table 1", "scene") == []
    assert not any(model.fitted_settings for model in SUITES["plt2016"].all_models.values())
