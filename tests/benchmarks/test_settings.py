"""Hyperparameters of contenders come from the papers' configuration."""

import pytest

from benchmarks.settings import adagrad_settings, batch_setting, paper_setting
from xmlc.core.errors import XmlcError
from xmlc.models.plt import PLT


def test_both_adagrad_solvers_do_the_same_work():
    ours, theirs = adagrad_settings()
    assert (ours["gamma"], ours["arity"], ours["epochs"]) == (theirs["eta"], theirs["arity"], theirs["epochs"])
    PLT(**ours)._check_hyperparameters()


@pytest.mark.parametrize(
    ("dataset", "loss", "arity"),
    [("tib-core-26k", "squared_hinge", 16), ("x", "logistic", 4)],
)
def test_the_batch_solver_has_the_loss_that_ranks_better(dataset, loss, arity):
    setting = batch_setting(dataset)
    assert (setting["loss"], setting["arity"]) == (loss, arity)
    PLT(**setting)._check_hyperparameters()


def test_other_values_stand_over_the_papers():
    setting = paper_setting("ldsm2020", "ldsm", "", {"max_nodes": 7})
    assert setting.estimator == "ldsm"
    assert (setting.hyperparameters["max_nodes"], setting.hyperparameters["epochs"]) == (7, 20)
    with pytest.raises(XmlcError, match=r"config/papers/ldsm2020\.yaml has no model nothing"):
        paper_setting("ldsm2020", "nothing")
