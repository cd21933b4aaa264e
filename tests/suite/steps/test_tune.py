"""Test `xmlc tune`, and `xmlc train` with its result, on a tiny prepared dataset."""

import json
import shutil

import pytest
from command_line import call
from facts import raises_with
from search_cases import EACH, what
from small_data import prepare_tiny

from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.metrics import precision_at_k
from xmlc.models import PLT, Parabel
from xmlc.suite.files import write_record
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.train import command as train_command
from xmlc.suite.steps.tune import check_trials, in_ranges, with_possible_arity
from xmlc.suite.steps.tune import command as tune_command

GAMMA = {"low": 0.01, "high": 10, "log": True}
ARITY = {"low": 2, "high": 8, "integer": True}
SPACE = {"gamma": GAMMA, "arity": ARITY, "epochs": [2, 5, 10]}
GIVEN = {"tree": "random", "gamma": 0.02, "lam": 1e-5, "epochs": 2}


@pytest.fixture
def data(tmp_path):
    return prepare_tiny(tmp_path)


def tune(data, out, *arguments, space=SPACE, given=GIVEN):
    parameters = ("--parameters", json.dumps(given), "--space", json.dumps(space))
    call(tune_command, "--data", data, "--estimator", "plt", *parameters, "--out", out, *arguments)
    return read_json(out)


@pytest.mark.parametrize("method", EACH)
def test_file_describes_the_search_which_does_not_use_the_test_set(data, tmp_path, method):
    shutil.rmtree(data / "test")
    given = GIVEN | {"arity": 4}
    options = ("--method", method, "--budget", 3, "--seed", 5)
    result = tune(data, tmp_path / "1.json", *options, "--threads", 1, given=given)
    expected = {"method": method, "budget": 3, "seed": 5, "space": SPACE}
    assert result | expected == result
    assert result["dataset"]["digest"] == Prepared(data).digest
    assert result["environment"]["threads"] == 1
    assert "&" not in (tmp_path / "1.json").read_text()
    first, *others = result["trials"]
    assert len(others) == 2
    assert result["best"] == max(result["trials"], key=lambda trial: trial["p@1"])
    assert first["hyperparameters"] == {"gamma": 0.02, "epochs": 2, "arity": 4}
    X_val, Y_val = Prepared(data).part("val")
    model = PLT(**given, random_state=5).fit(*Prepared(data).part("fit"))
    labels, _ = model.predict_top_k(X_val, 5)
    for k in (1, 3, 5):
        assert first[f"p@{k}"] == precision_at_k(Y_val, labels, k)
    again = tune(data, tmp_path / "2.json", *options, "--threads", 2, given=given)
    assert what(again) == what(result)


def test_smac_may_choose_trees_that_the_given_arity_does_not_fit():
    given = {"arity": 10}
    trees = {"tree": ["random", "kmeans"]}
    check_trials(in_ranges(trees | {"arity": [4, 8]}, "smac", 3, 0, {}), "plt", given)
    with raises_with(XmlcError, "arity=10"):
        check_trials(in_ranges(trees, "smac", 3, 0, {}), "plt", given)


def train(data, folder, *arguments):
    common = ("--data", data, "--estimator", "plt", "--name", "plt", "--out", folder / "model")
    call(train_command, *common, "--record", folder / "train.json", *arguments)
    return read_json(folder / "train.json")


def test_training_prefers_best_values_to_given_ones(data, tmp_path):
    result = tune(data, tmp_path / "r.json", "--budget", 4)
    given = json.dumps({"tree": "random", "gamma": 9.0, "lam": 1e-4})
    record = train(data, tmp_path / "tuned", "--tuned", tmp_path / "r.json", "--parameters", given)
    used = record["hyperparameters"]
    assert {name: used[name] for name in SPACE} == result["best"]["hyperparameters"]
    assert used["lam"] == 1e-4
    best = result["best"]["p@1"]
    assert record["tuning"] == {"method": "random", "budget": 4, "seed": 0, "p@1": best}
    record = train(data, tmp_path / "untuned", "--parameters", given)
    assert (record["hyperparameters"]["gamma"], record["tuning"]) == (9.0, None)


def test_result_of_another_search_is_refused(data, tmp_path):
    file = tmp_path / "r.json"
    result = tune(data, file, "--budget", 1)
    del result["checksum"]
    other = result["dataset"] | {"digest": "0" * 64}
    for change, fact in (({"estimator": "oracle"}, "oracle"), ({"dataset": other}, "000000000000")):
        write_record(file, result | change)
        with raises_with(XmlcError, str(file), fact):
            train(data, tmp_path / "x", "--tuned", file)
    assert not (tmp_path / "x").exists()


def test_models_of_trials_are_in_a_folder_next_to_the_result_and_deleted(
    data, tmp_path, monkeypatch
):
    places = []
    fit = PLT.fit

    def recorded(model, X, Y, **_):
        if model._into:  # All other calls only compile kernels.
            places.append(model._into.parent)
        return fit(model, X, Y)

    monkeypatch.setattr(PLT, "fit", recorded)
    out = tmp_path / "tuning/plt.json"
    search = ("--stages", '[[{"epochs": 1}, {"epochs": 2}]]', "--splits", 3, "--out", out)
    call(tune_command, "--data", data, "--estimator", "plt", *search)
    assert len({*places}) == len(places) == 2 * 3
    assert {place.parent for place in places} == {out.with_suffix(".trial")}
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.parametrize(("arity", "used"), [(2, 2), (3, 4), (5, 4), (163, 128), (182, 256)])
def test_trial_of_kmeans_tree_has_a_power_of_two_as_arity(arity, used):
    trial = {"arity": arity, "epochs": 5}
    for model in (PLT(tree="kmeans"), Parabel()):
        assert with_possible_arity(model, trial) == {"arity": used, "epochs": 5}
    assert with_possible_arity(PLT(tree="random"), trial) == trial
