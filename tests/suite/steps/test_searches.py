"""Test searches in stages, in ranges and on samples."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from command_line import call
from facts import raises_with
from search_cases import FIRST, GIVEN, SPACE, trials_of
from small_data import prepare_tiny

from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.metrics import precision_at_k
from xmlc.models import PLT, SparseWeightedNearestNeighbors
from xmlc.suite.config.ranges import MOST_VALIDATED, parse_space
from xmlc.suite.steps import tune
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.tune import command as tune_command
from xmlc.suite.steps.tune import resolved, search_in_stages


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return prepare_tiny(tmp_path_factory.mktemp("tiny"))


def tune_stages(data, out, *arguments, estimator="swnn"):
    call(tune_command, "--data", data, "--estimator", estimator, "--out", out, *arguments)
    return read_json(out)


def test_trials_use_samples_of_each_part_and_separate_settings(data, tmp_path, monkeypatch):
    monkeypatch.setattr(tune, "MOST_FITTED", 50)
    monkeypatch.setattr(tune, "MOST_VALIDATED", 11)
    stages = [[{"gamma": 0.1}, {"gamma": 1}], [{"epochs": 2}]]
    given = '{"lam": 0.001, "arity": 2}'
    search = ("--stages", json.dumps(stages), "--trial-overrides", '{"arity": 4}', "--sample")
    search += ("--parameters", given, "--threads", 2)
    result = tune_stages(data, tmp_path / "r.json", *search, estimator="plt")
    assert (result["method"], result["budget"], result["space"]) == ("auto", 3, stages)
    assert result["at_most"] == {"fitted": 50, "validated": 11}
    fixed = {"lam": 0.001, "arity": 4}
    assert result["fixed"] == fixed
    X, Y = Prepared(data).part("fit", 50)
    X_val, Y_val = Prepared(data).part("val", 11)
    assert (X.shape[0], X_val.shape[0]) == (50, 11)
    for trial in result["trials"]:
        model = PLT(**fixed | trial["hyperparameters"], random_state=0).fit(X, Y)
        labels, _ = model.predict_top_k(X_val, 5)
        assert trial["p@1"] == precision_at_k(Y_val, labels, 1)


@pytest.mark.parametrize(("search", "expected"), [("exact", "certified"), ("beam", "beam")])
def test_trials_search_trees_level_by_level(data, tmp_path, monkeypatch, search, expected):
    searches = []
    ranked = PLT.predict_top_k

    def recorded(model, *given):
        searches.append(model.search)
        return ranked(model, *given)

    monkeypatch.setattr(PLT, "predict_top_k", recorded)
    given = ("--stages", '[[{"epochs": 1}]]', "--parameters", json.dumps({"search": search}))
    tune_stages(data, tmp_path / "r.json", *given, estimator="plt")
    assert searches == [expected]


STAGES = [
    [{"S": "labels-per-instance", "alpha": 0.0}, {"S": 3, "alpha": 1.0}],
    [{"S": 5}, {"S": 3}, {"S": 40}],
]


def tried(stages, worth, ties=False):
    trials = []

    def objective(trial):
        trials.append(trial)
        return worth(trial)

    search_in_stages(stages, objective, ties)
    return trials


def test_later_stages_start_from_best_of_all_earlier_ones():
    stages = [[{"a": 1}, {"a": 2}, {"a": 3}], [{"b": 2}, {"b": 3}], [{"c": 0}]]
    found = tried(stages, lambda trial: (trial["a"] == 2) + (trial.get("b") == 2))
    assert found[3:] == [{"a": 2, "b": 2}, {"a": 2, "b": 3}, {"a": 2, "b": 2, "c": 0}]
    # No trial of the second stage is better.
    found = tried([[{"a": 1}], [{"a": 2}, {"a": 3}], [{"b": 0}]], lambda trial: -trial["a"])
    assert found[-1] == {"a": 1, "b": 0}


@pytest.mark.parametrize("ties", [False, True])
def test_first_or_all_of_tied_trials_continue_and_none_is_repeated(ties):
    stages = [[{"a": 0, "b": 25}, {"a": 1, "b": 25}, {"a": 2, "b": 25}], [{"b": 25}, {"b": 50}]]
    found = tried(stages, lambda trial: min(trial["a"], 1), ties)
    assert found == [*stages[0], {"a": 1, "b": 50}, {"a": 2, "b": 50}][: 4 + ties]


@pytest.mark.parametrize(("mean", "expected"), [(0.3, 1), (2.5, 3), (4.24, 4), (19.02, 19)])
def test_average_number_of_labels_is_rounded_and_at_least_one(mean, expected):
    stages = resolved(STAGES, mean)
    assert stages[0][0] == {"S": expected, "alpha": 0.0}
    assert stages[1:] == STAGES[1:]


def test_trials_over_splits_have_paired_errors_by_instance(data, tmp_path):
    result = tune_stages(data, tmp_path / "r.json", "--stages", json.dumps(STAGES), "--splits", 3)
    trials = result["trials"]
    average = round(Prepared(data).meta["labels_per_instance"])
    assert trials[0]["hyperparameters"] == {"S": average, "alpha": 0.0}
    splits = [Prepared(data, run) for run in range(3)]
    validated = np.concatenate([np.flatnonzero(~split.split) for split in splits])
    scores = []  # The scores have the order of trials, splits and instances.
    for trial in trials:
        found = []
        for split in splits:
            X, Y = split.part("val")
            model = SparseWeightedNearestNeighbors(**trial["hyperparameters"])
            labels, _ = model.fit(*split.part("fit")).predict_top_k(X, 5)
            for i in range(X.shape[0]):
                found.append([precision_at_k(Y[[i]], labels[[i]], k) for k in (1, 3, 5)])
        assert [trial[f"p@{k}"] for k in (1, 3, 5)] == pytest.approx(np.mean(found, axis=0))
        scores.append(np.mean(found, axis=1))
    n_instances = len({*validated})
    assert result["instances"] == n_instances < validated.size
    for j, trial in enumerate(trials):
        expected = []
        for i in range(j):
            differences = scores[j] - scores[i]
            sums = pd.Series(differences - differences.mean()).groupby(validated).sum()
            # the sums have mean 0
            expected.append(sums.std() * np.sqrt(n_instances) / validated.size)
        assert trial["paired_errors"] == pytest.approx(expected, abs=1e-6)
    assert result["best"] == trials[np.argmax(np.mean(scores, axis=1))]
    assert "mean of P@1, P@3 and P@5 over 3 splits" in result["chosen_by"]
    assert result["at_most"] == {"fitted": None, "validated": MOST_VALIDATED}


def test_search_can_start_from_best_of_another_search(data, tmp_path):
    before = tmp_path / "before.json"
    stages = [[{"S": 9, "alpha": 1.0}, {"S": 1, "alpha": 0.0}]]
    first = tune_stages(data, before, "--stages", json.dumps(stages))
    assert (first["method"], first["budget"], first["space"]) == ("stages", 2, stages)
    assert first["best"] == max(first["trials"], key=lambda trial: trial["p@1"])
    best = first["best"]["hyperparameters"]
    more = ("--stages", '[[{"beta": 2}]]', "--tuned", before)
    result = tune_stages(data, tmp_path / "after.json", *more)
    tried = [trial["hyperparameters"] for trial in result["trials"]]
    assert tried == [best, best | {"beta": 2}]
    assert result["after"] == str(before)


# Maps options to facts of the message.
INVALID = {
    """--stages '[[{"gamma": 1}]]'""": "swnn gamma",
    "": "--space --stages",
    "--stages [[]] --space {}": "--space --stages",
    """--space '{"beta": [1, -2]}'""": "beta -2",
    """--space '{"S": {"low": 0, "high": 9, "integer": true}}'""": "S 0",
    """--space '{"S": [1]}' --tuned before.json""": "--tuned --stages",
}


@pytest.mark.parametrize("options", INVALID)
def test_invalid_searches_are_refused_before_training(data, tmp_path, options):
    with raises_with(XmlcError, *INVALID[options].split()):
        tune_stages(data, tmp_path / "r.json", *shlex.split(options))
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize(
    "text", ["[[", "[]", "[[]]", "{}", "[{}]", '[[{"S": 1}], []]', "[[1]]", "[[{}]]"]
)
def test_invalid_stages_are_refused(data, tmp_path, text):
    with raises_with(XmlcError, "--stages: "):
        tune_stages(data, tmp_path / "r.json", "--stages", text)


def test_first_trial_is_the_given_one_and_all_are_in_the_space():
    trials = trials_of("random", 6)
    assert trials[0] == FIRST
    assert len(trials) == 6
    for name, values in parse_space(SPACE).items():
        assert all(trial[name] in values for trial in trials), name


@pytest.mark.parametrize(
    "given", [GIVEN | {"gamma": 11.0}, GIVEN | {"epochs": 10.5}, {"gamma": 1.0}]
)
def test_given_values_outside_the_space_are_not_tried(given):
    trials = trials_of("random", 3, given=given)
    assert len(trials) == 3
    assert given["gamma"] not in [trial["gamma"] for trial in trials]


def test_seed_reproduces_a_random_search_and_a_longer_one_extends_it():
    trials = trials_of("random", 20, seed=3)
    assert trials_of("random", 8, seed=3) == trials[:8]
    assert trials_of("random", 8, seed=4)[1:] != trials[1:8]
