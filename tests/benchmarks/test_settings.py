"""Test that the hyperparameters of contenders come from the papers' configuration."""

from facts import raises_with

from benchmarks.settings import adagrad_settings, batch_setting, paper_setting, suite
from xmlc.core.errors import XmlcError
from xmlc.models.plt import PLT


def test_adagrad_solvers_share_settings_and_batch_loss_depends_on_dataset():
    ours, theirs = adagrad_settings()
    assert ours["gamma"] == theirs["eta"]
    assert ours["arity"] == theirs["arity"]
    assert ours["epochs"] == theirs["epochs"]
    assert batch_setting("tib-core-26k")["loss"] == "squared_hinge"
    assert batch_setting("x")["loss"] == "logistic"


def test_given_values_override_paper_settings():
    setting = paper_setting("ldsm2020", "ldsm", "", {"max_nodes": 7})
    assert setting.estimator == "ldsm"
    assert setting.hyperparameters["max_nodes"] == 7
    assert setting.hyperparameters["epochs"] == 20
    with raises_with(XmlcError, "nothing"):
        paper_setting("ldsm2020", "nothing")


def test_suite_compares_ranking_preset():
    ours = suite("comparison").all_models["plt-ranking-default"]
    assert PLT(**ours.hyperparameters).get_params() == PLT.for_ranking().get_params()
