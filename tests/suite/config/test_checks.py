"""Test that unknown, repeated and contradictory names of a suite are refused when it is read."""

import pytest
from facts import raises_with
from suite_cases import project_of, suite, suite_of

from xmlc.core.errors import XmlcError

# Each table maps the YAML of a suite to facts of the message.
UNKNOWN = {
    "models: {plt: {without: {yeats: too large}}}": "without yeats yeast",
    "models: {plt: {datasets: {yeats: {arity: 4}}}}": "models.plt.datasets yeats yeast",
    "models: {plt: {selected: {yeats: {by: hand}}}}": "selected yeats yeast",
    "models: {plt: {search: {stages: [[{arity: 2}]], extra_stages: {yeats: [[{arity: 8}]]}}}}": (
        "extra_stages yeats yeast"
    ),
    "models: {plt: {share_search_with: ptl}}": "share_search_with ptl plt",
    "skip_thresholds: {ptl: too large}": "skip_thresholds ptl plt",
    "skip_thresholds: {yeats: too large}": "skip_thresholds yeats yeast",
    "min_probabilities: {yeats: 0.01}": "min_probabilities yeats yeast",
    "few_shot: [yeats]": "few_shot yeats yeast",
    "methods: [fat]": "methods fat fta",
    "measures: [macro-g]": "measures macro-g macro-f",
    "progressive: [ptl]": "progressive ptl plt",
    "ensembles: {models: [ptl], sizes: [1]}": "ensembles.models ptl plt",
    "inference: {split: '80', methods: {ptl: [gfm]}}": "inference.methods ptl plt",
    "inference: {split: '80', methods: {plt: [gmf]}}": "inference.methods.plt gmf gfm",
    "sweeps: {x: {model: ptl, hyperparameter: arity, values: [2]}}": "sweeps.x.model ptl plt",
    "sweeps: {x: {model: plt, hyperparameter: arity, values: [2], datasets: {yeats: [2]}}}": (
        "sweeps.x.datasets yeats yeast"
    ),
    "sweeps: {x: {model: plt, hyperparameter: arity, values: [2], without: {yeats: big}}}": (
        "sweeps.x.without yeats yeast"
    ),
    "baselines: {br: {without: {yeats: too large}}}": "baselines.br.without yeats yeast",
}
REPEATED = {
    "datasets: [yeast, yeast]": "datasets yeast",
    "seeds: [3, 0, 3]": "seeds 3",
    "methods: [fta, fta]": "methods fta",
    "tables: [table1, table1]": "tables table1",
    "figures: [figure1, figure1]": "figures figure1",
    "measures: [macro-f, macro-f]": "measures macro-f",
    "few_shot: [yeast, yeast]": "few_shot yeast",
    "ensembles: {models: [plt], sizes: [5, 5]}": "ensembles.sizes 5",
    "inference: {split: '80', methods: {plt: [gfm, gfm]}}": "inference.methods.plt gfm",
    "sweeps: {x: {model: plt, hyperparameter: arity, values: [2, 2]}}": "sweeps.x.values 2",
}
WITHOUT_EFFECT = {
    "models: {plt: {search: {always: true, stages: [[{C: 1}]], trial_overrides: {epochs: 1}}}}": (
        "search trial_overrides always"
    ),
    "models: {plt: {search: {trial_overrides: {epochs: 1}}}}": "search trial_overrides stages",
    "models: {plt: {search: {extra_stages: {yeast: [[{C: 1}]]}}}}": "search extra_stages stages",
    "models: {plt: {search: {always: true}}}": "always stages",
    "models: {plt: {search: {always: true, stages: [[{C: 1}]], ranges: {C: [1, 2]}}}}": (
        "search ranges always"
    ),
    "models: {plt: {share_search_with: br, search: {stages: [[{C: 1}]]}}, br: {}}": (
        "models.plt share_search_with always"
    ),
    "models: {plt: {skip_thresholds: too large}}": "skip_thresholds plt",
    "models: {plt: {task: few-shot}}": "task few-shot few_shot",
    "{models: {plt: {task: multi-label}}, few_shot: [yeast]}": "task multi-label few_shot",
    "models: {plt: {without: {yeast: too large}}}": "without plt",
    "progressive: [plt]": "progressive plt few_shot",
    "sweeps: {x: {model: plt, hyperparameter: arity, values: [2], datasets: {yeast: [2]}, "
    "without: {yeast: too large}}}": "sweeps.x yeast without",
    "sweeps: {x: {model: plt, hyperparameter: arity, values: [2], hyperparameters: {arity: 2}}}": (
        "sweeps.x arity hyperparameters"
    ),
    "baselines: {plt: {}}": "baselines.plt plt",
    "datasets: []": "datasets []",
}
MISTAKES = UNKNOWN | REPEATED | WITHOUT_EFFECT


@pytest.mark.parametrize("text", MISTAKES)
def test_unknown_repeated_or_useless_setting_is_refused_with_its_place(tmp_path, text):
    content = suite_of(text)
    with raises_with(XmlcError, "a.yaml", *MISTAKES[text].split()):
        project_of(tmp_path, a=content)


def test_search_of_a_model_that_is_not_copied_is_refused(tmp_path):
    other = suite({"plt": {"share_search_with": "br"}, "br": {}})
    with raises_with(XmlcError, "mine.yaml", "models.plt.share_search_with", "br"):
        project_of(tmp_path, mine=suite({"plt": {"from_suite": "other"}}), other=other)


@pytest.mark.parametrize("cycle", ["a", "ab", "abc"])
def test_cycle_of_shared_searches_is_refused(tmp_path, cycle):
    models = {"plt": {"share_search_with": "a"}}
    for name, other in zip(cycle, cycle[1:] + "a", strict=True):
        models[name] = {"share_search_with": other}
    with raises_with(XmlcError, "x.yaml", "models.a.share_search_with", " -> ".join(cycle + "a")):
        project_of(tmp_path, x=suite(models))


def test_datasets_of_the_catalogue_of_other_suites_and_of_settings_are_known(tmp_path):
    named = dict.fromkeys(["of-catalogue", "of-b", "of-settings"], "too large")
    suites = {"a": suite({"plt": {"without": named}}), "b": suite(datasets=["of-b"])}
    catalogue = {"of-catalogue": {"source": "mirror"}}
    project_of(tmp_path, {"datasets": ["of-settings"]}, catalogue, **suites)
    with raises_with(XmlcError, "a.yaml", "of-settings"):
        project_of(tmp_path, {}, catalogue, **suites)


def test_reserved_name_of_a_dataset_is_refused_with_its_line_in_the_catalogue(tmp_path):
    catalogue = {"fine": {"source": "mirror"}, "train": {"source": "mirror"}}
    with raises_with(XmlcError, f"{tmp_path / 'datasets.yaml'}:3", "train", "my-train"):
        project_of(tmp_path, catalogue=catalogue)
