"""Test that unknown, repeated and contradictory names of a suite are refused when it is read."""

import pytest
from facts import raises_with
from suite_cases import project_of, suite

from xmlc.core.errors import XmlcError

STAGES = {"stages": [[{"arity": 2}]]}
SWEEP = {"model": "plt", "hyperparameter": "arity", "values": [2, 4]}
WHY = "too large"


def of_plt(**further):
    """Return the content of a suite with one PLT with these keys."""
    return suite({"plt": further})


UNKNOWN = {
    "without yeats yeast": of_plt(without={"yeats": WHY}),
    "models.plt.datasets yeats yeast": of_plt(datasets={"yeats": {"arity": 4}}),
    "selected yeats yeast": of_plt(selected={"yeats": {"by": "hand"}}),
    "extra_stages yeats yeast": of_plt(
        search=STAGES | {"extra_stages": {"yeats": [[{"arity": 8}]]}}
    ),
    "share_search_with ptl plt": of_plt(share_search_with="ptl"),
    "skip_thresholds ptl plt": suite(skip_thresholds={"ptl": WHY}),
    "skip_thresholds yeats yeast": suite(skip_thresholds={"yeats": WHY}),
    "min_probabilities yeats yeast": suite(min_probabilities={"yeats": 0.01}),
    "few_shot yeats yeast": suite(few_shot=["yeats"]),
    "methods fat fta": suite(methods=["fat"]),
    "measures macro-g macro-f": suite(measures=["macro-g"]),
    "progressive ptl plt": suite(progressive=["ptl"]),
    "ensembles.models ptl plt": suite(ensembles={"models": ["ptl"], "sizes": [1]}),
    "inference.methods ptl plt": suite(inference={"split": "80", "methods": {"ptl": ["gfm"]}}),
    "inference.methods.plt gmf gfm": suite(inference={"split": "80", "methods": {"plt": ["gmf"]}}),
    "sweeps.x.model ptl plt": suite(sweeps={"x": SWEEP | {"model": "ptl"}}),
    "sweeps.x.datasets yeats yeast": suite(sweeps={"x": SWEEP | {"datasets": {"yeats": [2]}}}),
    "sweeps.x.without yeats yeast": suite(sweeps={"x": SWEEP | {"without": {"yeats": WHY}}}),
    "baselines.br.without yeats yeast": suite(baselines={"br": {"without": {"yeats": WHY}}}),
}
REPEATED = {
    "datasets yeast": suite(datasets=["yeast", "yeast"]),
    "seeds 3": suite(seeds=[3, 0, 3]),
    "methods fta": suite(methods=["fta", "fta"]),
    "tables table1": suite(tables=["table1", "table1"]),
    "figures figure1": suite(figures=["figure1", "figure1"]),
    "measures macro-f": suite(measures=["macro-f", "macro-f"]),
    "few_shot yeast": suite(few_shot=["yeast", "yeast"]),
    "ensembles.sizes 5": suite(ensembles={"models": ["plt"], "sizes": [5, 5]}),
    "inference.methods.plt gfm": suite(
        inference={"split": "80", "methods": {"plt": ["gfm", "gfm"]}}
    ),
    "sweeps.x.values 2": suite(sweeps={"x": SWEEP | {"values": [2, 2]}}),
}
WITHOUT_EFFECT = {
    "search trial_overrides always": of_plt(
        search=STAGES | {"always": True, "trial_overrides": {"epochs": 1}}
    ),
    "search trial_overrides stages": of_plt(search={"trial_overrides": {"epochs": 1}}),
    "search extra_stages stages": of_plt(search={"extra_stages": {"yeast": [[{"arity": 8}]]}}),
    "always stages": of_plt(search={"always": True}),
    "search ranges always": of_plt(search=STAGES | {"always": True, "ranges": {"C": [1, 2]}}),
    "models.plt share_search_with always": suite(
        {"plt": {"share_search_with": "br", "search": STAGES}, "br": {}}
    ),
    "skip_thresholds plt": of_plt(skip_thresholds=WHY),
    "task few-shot few_shot": of_plt(task="few-shot"),
    "task multi-label few_shot": suite({"plt": {"task": "multi-label"}}, few_shot=["yeast"]),
    "without plt": of_plt(without={"yeast": WHY}),
    "progressive plt few_shot": suite(progressive=["plt"]),
    "sweeps.x yeast without": suite(
        sweeps={"x": SWEEP | {"datasets": {"yeast": [2]}, "without": {"yeast": WHY}}}
    ),
    "sweeps.x arity hyperparameters": suite(
        sweeps={"x": SWEEP | {"hyperparameters": {"arity": 2}}}
    ),
    "baselines.plt plt": suite(baselines={"plt": {}}),
    "datasets []": suite(datasets=[]),
    "models {}": suite() | {"models": {}},
}


@pytest.mark.parametrize("facts", UNKNOWN)
def test_unknown_name_is_refused_with_its_place_and_nearest_name(tmp_path, facts):
    with raises_with(XmlcError, "a.yaml", *facts.split()):
        project_of(tmp_path, a=UNKNOWN[facts])


@pytest.mark.parametrize("facts", REPEATED)
def test_repeated_name_is_refused(tmp_path, facts):
    with raises_with(XmlcError, "a.yaml", *facts.split()):
        project_of(tmp_path, a=REPEATED[facts])


@pytest.mark.parametrize("facts", WITHOUT_EFFECT)
def test_setting_without_effect_is_refused(tmp_path, facts):
    with raises_with(XmlcError, "a.yaml", *facts.split()):
        project_of(tmp_path, a=WITHOUT_EFFECT[facts])


@pytest.mark.parametrize("cycle", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_cycle_of_shared_searches_is_refused(tmp_path, cycle):
    models = {
        name: {"share_search_with": other}
        for name, other in zip(cycle, [*cycle[1:], "a"], strict=True)
    }
    with raises_with(XmlcError, "x.yaml", "models.a.share_search_with", " -> ".join([*cycle, "a"])):
        project_of(tmp_path, x=suite(models | {"plt": {"share_search_with": "a"}}))


def test_datasets_of_the_catalogue_of_other_suites_and_of_settings_are_known(tmp_path):
    named = {"of-catalogue": WHY, "of-b": WHY, "of-settings": WHY}
    suites = {"a": of_plt(without=named), "b": suite({"br": {}}, datasets=["of-b"])}
    catalogue = {"of-catalogue": {"source": "mirror"}}
    assert project_of(tmp_path, {"datasets": ["of-settings"]}, catalogue, **suites)
    with raises_with(XmlcError, "a.yaml", "of-settings"):
        project_of(tmp_path, {}, catalogue, **suites)


def test_reserved_name_of_a_dataset_is_refused_with_its_line_in_the_catalogue(tmp_path):
    with raises_with(XmlcError, f"{tmp_path / 'datasets.yaml'}:3", "train", "my-train"):
        project_of(
            tmp_path, {}, {"fine": {"source": "mirror"}, "train": {"source": "mirror"}}, a=suite()
        )


def test_datasets_of_several_suites_are_counted_once_in_a_message(tmp_path):
    suites = {name: suite(datasets=["yeast", "scene", "enron", "aloi", "bibtex"]) for name in "abc"}
    with raises_with(XmlcError, "yeas", "yeast and 6 more"):
        project_of(tmp_path, {"models": {"yeas": ["plt"]}}, **suites)
