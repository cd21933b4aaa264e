"""The bounded search for a dataset that nobody tuned: what it takes of the data, and what the later model has of it."""

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
from xmlc.models import PLT
from xmlc.tuning import plan
from xmlc.tuning.auto import MOST_FITTED, MOST_VALIDATED, parse_auto

SEARCH = {"stages": [[{"gamma": 0.1}, {"gamma": 1}], [{"epochs": 2}]], "in_trials": {"arity": 4}}


@pytest.fixture
def data(tmp_path):
    return prepare_tiny(tmp_path)


def tune(data, out, *arguments):
    common = ("--data", data, "--estimator", "plt", "--parameters", '{"lam": 0.001, "arity": 2}', "--out", out)
    call(tune_command, *common, "--auto", json.dumps(SEARCH), *arguments)
    return yaml.safe_load(out.read_text())


def what(result):
    return [{key: value for key, value in trial.items() if key != "train_seconds"} for trial in result["trials"]]


def test_trials_take_a_sample_of_each_part_and_their_own_values(data, tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "MOST_FITTED", 50)
    monkeypatch.setattr(plan, "MOST_VALIDATED", 11)
    result = tune(data, tmp_path / "r.yaml")
    assert (result["method"], result["budget"], result["space"]) == ("auto", 3, SEARCH)
    assert result["at_most"] == {"fitted": 50, "validated": 11}
    assert result["fixed"] == {"lam": 0.001, "arity": 4}
    (X, Y), (X_val, Y_val) = Prepared(data).part("fit", 50), Prepared(data).part("val", 11)
    assert (X.shape[0], X_val.shape[0]) == (50, 11)
    for trial in result["trials"]:
        model = PLT(**{"lam": 0.001, "arity": 4} | trial["hyperparameters"], random_state=0).fit(X, Y)
        assert trial["p@1"] == precision_at_k(Y_val, model.predict_top_k(X_val, 5)[0], 1)
    assert what(tune(data, tmp_path / "again.yaml", "--threads", 2)) == what(result)


def test_the_model_has_the_best_values_and_none_that_only_trials_have(data, tmp_path):
    result = tune(data, tmp_path / "r.yaml")
    assert result["at_most"] == {"fitted": MOST_FITTED, "validated": MOST_VALIDATED}
    common = ("--data", data, "--estimator", "plt", "--name", "plt", "--out", tmp_path / "model")
    given = ("--parameters", '{"lam": 0.001, "arity": 2}', "--tuned", tmp_path / "r.yaml")
    call(train_command, *common, *given, "--record", tmp_path / "train.json")
    record = read_json(tmp_path / "train.json")
    assert result["best"]["hyperparameters"].items() <= record["hyperparameters"].items()
    assert record["hyperparameters"]["arity"] == 2
    assert (record["tuning"]["method"], record["tuning"]["budget"]) == ("auto", 3)


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"stages": [[{"a": 1}]], "more": 1}', '{"stages": [], "in_trials": 1}']
)
def test_what_is_no_such_search_is_refused(text):
    with pytest.raises(XmlcError, match="search"):
        parse_auto(text)


def test_its_stages_are_checked_as_others_are(data, tmp_path):
    with pytest.raises(XmlcError, match="expected a list of stages"):
        call(
            tune_command, "--data", data, "--estimator", "plt", "--auto", '{"stages": []}', "--out", tmp_path / "r.yaml"
        )
    assert parse_auto('{"stages": [[{"a": 1}]]}').in_trials == {}
