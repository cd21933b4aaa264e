"""LdSM's trials: the names are its hyperparameters', and what the configuration and docs/ldsm.md take is there."""

import inspect
import re

import pandas as pd
import pytest
import yaml
from repository import ROOT

from xmlc.models import LdSM

TRIALS = pd.read_csv(ROOT / "results/published/tuning/ldsm.csv")
PRINTED = pd.read_csv(ROOT / "results/published/tuning/ldsm-printed.csv")
MODELS = yaml.safe_load((ROOT / "config/papers/ldsm2020.yaml").read_text())["models"]
MODEL = MODELS["ldsm-mean"]
SCORES = ["p@1", "p@3", "p@5"]
HYPERPARAMETERS = [name for name in TRIALS if name not in {"dataset", "depth", *SCORES}]


def test_every_setting_stands_there_once_by_the_names_of_its_hyperparameters():
    assert set(HYPERPARAMETERS) <= set(inspect.signature(LdSM).parameters)
    assert not TRIALS.duplicated(["dataset", *HYPERPARAMETERS]).any()


def test_the_number_of_trials_is_the_same_wherever_it_stands():
    counts = TRIALS["dataset"].value_counts()
    page = " ".join((ROOT / "docs/ldsm.md").read_text().split())
    readme = (ROOT / "results/published/tuning/README.md").read_text()
    assert f"all {len(TRIALS)} settings, {counts['bibtex']} on bibtex and {counts['delicious']} on delicious" in page
    assert f"LdSM on bibtex ({counts['bibtex']} settings) and delicious ({counts['delicious']})" in readme
    for dataset, count in counts.items():
        found = MODEL["found"][dataset]
        assert re.fullmatch(rf"(best|second) of {count} settings", found["by"]), dataset
        assert found["trials"] == "results/published/tuning/ldsm.csv"


@pytest.mark.parametrize(("dataset", "n_trees"), [("bibtex", 50), ("delicious", 20)])
def test_the_configured_values_are_one_of_the_trials_with_the_precision_that_found_states(dataset, n_trees):
    values = MODEL["hyperparameters"] | MODEL["datasets"][dataset] | {"n_trees": n_trees}
    trials = TRIALS[TRIALS["dataset"] == dataset]
    for name in set(values) & set(HYPERPARAMETERS):
        trials = trials[trials[name] == values[name]]
    assert (trials["p@1"] / 100).round(3).tolist() == [MODEL["found"][dataset]["p@1"]]


def test_as_printed_and_the_program_tried_the_same_settings():
    names = [name for name in PRINTED if name not in {"by", "dataset", "depth", "nodes", *SCORES}]
    assert set(names) <= set(inspect.signature(LdSM).parameters)
    tried = {
        place: set(own[names].itertuples(index=False, name=None)) for place, own in PRINTED.groupby(["by", "dataset"])
    }
    assert {len(settings) for settings in tried.values()} == {16}
    for dataset in ("bibtex", "delicious", "delicious-ldsm"):
        assert tried["xmlc", dataset] == tried["program", dataset]


@pytest.mark.parametrize("dataset", ["bibtex", "delicious", "delicious-ldsm"])
def test_the_printed_row_has_the_best_of_its_settings(dataset):
    model = MODELS["ldsm"]
    trials = PRINTED[(PRINTED["dataset"] == dataset) & (PRINTED["by"] == "xmlc")]
    best = trials.loc[trials[SCORES].sum(axis=1).idxmax()]
    values = model["hyperparameters"] | model["datasets"][dataset]
    names = ["arity", "max_nodes", "epochs", "learning_rate", "lambda_1", "lambda_2"]
    assert [values[name] for name in names] == best[names].tolist()
    assert round(best["p@1"] / 100, 3) == model["found"][dataset]["p@1"]


@pytest.mark.parametrize("dataset", ["bibtex", "delicious"])
def test_the_page_shows_the_best_five(dataset):
    text = (ROOT / "docs/ldsm.md").read_text().partition("## Settings that were tried")[2]
    shown = [re.split(r" *\| *", line)[-5:-2] for line in re.findall(rf"^\| {dataset} \|.*$", text, re.MULTILINE)]
    trials = TRIALS[TRIALS["dataset"] == dataset]
    best = trials.assign(total=trials[SCORES].sum(axis=1).round(2)).sort_values("total", ascending=False).head(5)
    assert [[float(number) for number in row] for row in shown] == best[SCORES].to_numpy().tolist()
