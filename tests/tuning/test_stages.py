"""Search in stages: what is tried, what wins, and `xmlc tune` with it for neighbours."""

import json

import pytest
import yaml
from command_line import call
from small_data import prepare_tiny

from xmlc.cli.steps.train import command as train_command
from xmlc.cli.steps.tune import command as tune_command
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.files import read_json
from xmlc.metrics import precision_at_k
from xmlc.models import SparseWeightedNearestNeighbors
from xmlc.tuning.stages import parse_stages, search_in_stages

STAGES = [[{"S": "labels-per-instance", "alpha": 0.0}, {"S": 3, "alpha": 1.0}], [{"S": 5}, {"S": 3}, {"S": 40}]]


def tried(stages, worth):
    trials = []

    def objective(trial):
        trials.append(trial)
        return worth(trial)

    search_in_stages(stages, objective)
    return trials


def test_later_stages_start_from_the_best_of_all_before():
    stages = [[{"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 3, "b": 1}], [{"b": 2}, {"b": 3}], [{"c": 0}]]
    found = tried(stages, lambda trial: -abs(trial["a"] - 2) + (trial["b"] == 2))
    assert found[3:] == [{"a": 2, "b": 2}, {"a": 2, "b": 3}, {"a": 2, "b": 2, "c": 0}]


def test_a_stage_that_finds_nothing_better_leaves_the_best():
    found = tried([[{"a": 1}], [{"a": 2}, {"a": 3}], [{"b": 0}]], lambda trial: -trial["a"])
    assert found[-1] == {"a": 1, "b": 0}


def test_of_equally_good_ones_the_first_wins_and_nothing_is_tried_twice():
    found = tried([[{"a": 1, "b": 25}, {"a": 2, "b": 25}], [{"b": 25}, {"b": 50}]], lambda trial: 0.5)
    assert found == [{"a": 1, "b": 25}, {"a": 2, "b": 25}, {"a": 1, "b": 50}]


@pytest.mark.parametrize(("mean", "expected"), [(0.3, 1), (2.5, 3), (4.24, 4), (19.02, 19)])
def test_the_average_number_of_labels_is_rounded_and_at_least_one(mean, expected):
    stages = parse_stages(json.dumps(STAGES), mean)
    assert stages[0][0] == {"S": expected, "alpha": 0.0}
    assert stages[1:] == STAGES[1:]


@pytest.mark.parametrize("text", ["[[", "[]", "[[]]", "{}", "[{}]", '[[{"S": 1}], []]', "[[1]]", "[[{}]]"])
def test_what_is_no_list_of_stages_is_refused(text):
    with pytest.raises(XmlcError, match="stages"):
        parse_stages(text, 1.0)


@pytest.fixture
def data(tmp_path):
    return prepare_tiny(tmp_path)


def tune(data, out, *arguments):
    call(tune_command, "--data", data, "--estimator", "swnn", "--out", out, *arguments)
    return yaml.safe_load(out.read_text())


def test_the_command_tries_the_stages_and_training_takes_the_best(data, tmp_path):
    result = tune(data, tmp_path / "r.yaml", "--stages", json.dumps(STAGES), "--parameters", '{"beta": 1}')
    prepared = Prepared(data)
    average = max(1, int(prepared.meta["labels_per_instance"] + 0.5))
    assert (result["method"], result["budget"], result["space"]) == ("stages", len(result["trials"]), STAGES)
    (X, Y), (X_val, Y_val) = prepared.part("fit"), prepared.part("val")
    assert result["trials"][0]["hyperparameters"] == {"S": average, "alpha": 0.0}
    for trial in result["trials"]:
        model = SparseWeightedNearestNeighbors(beta=1, **trial["hyperparameters"]).fit(X, Y)
        assert trial["p@1"] == precision_at_k(Y_val, model.predict_top_k(X_val, 1)[0], 1)
    assert result["best"] == max(result["trials"], key=lambda trial: trial["p@1"])
    common = ("--data", data, "--estimator", "swnn", "--name", "x", "--out", tmp_path / "model")
    call(train_command, *common, "--record", tmp_path / "train.json", "--tuned", tmp_path / "r.yaml")
    record = read_json(tmp_path / "train.json")
    assert result["best"]["hyperparameters"].items() <= record["hyperparameters"].items()
    assert record["tuning"]["budget"] == len(result["trials"])


def test_refusals_before_anything_is_trained(data, tmp_path):
    with pytest.raises(XmlcError, match="swnn has no hyperparameter gamma"):
        tune(data, tmp_path / "r.yaml", "--stages", '[[{"gamma": 1}]]')
    for both in ((), ("--stages", "[[]]", "--space", "{}")):
        with pytest.raises(XmlcError, match="one of the three"):
            tune(data, tmp_path / "r.yaml", *both)
    assert not (tmp_path / "r.yaml").exists()
