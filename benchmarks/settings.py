"""Hyperparameters of contenders: the papers' configurations, and exceptions with reasons."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.suite import Suite, read_suite, suite_file

# xmlc's solver "adagrad" and napkinXC do the same work with the baseline's default values in
# plt2016.yaml, not with a paper's
ADAGRAD_PAPER = "plt2016"
ADAGRAD_MODEL = "napkinxc-plt-adagrad"
# xmlc's solver "batch" has omikuji's loss if this ranks better than the logistic loss. Datasets
# without tuned values have those for delicious.
BATCH_MODELS = {"tib-core-26k": "plt-hinge", "delicious": "plt-batch"}
BATCH_LIKE = "delicious"
# On other machines, authors' programs had other values: LdSM those of its README for Delicious,
# with each leaf's histogram divided by its sum, FastXML rows of unit length, and SWNN the two
# settings of `SWNN_OTHERWISE`, of which the second is the paper's
LDSM_OTHERWISE: Hyperparameters = {"max_nodes": 1000, "shares": "labels"}
FASTXML_OTHERWISE: Hyperparameters = {"unit_norm": True}
SWNN_OTHERWISE: tuple[Hyperparameters, ...] = ({"S": 20, "alpha": 1.0, "beta": 1}, {})


class Setting(NamedTuple):
    """An estimator and its hyperparameters."""

    estimator: str
    hyperparameters: Hyperparameters


def paper_setting(
    paper: str, model: str, dataset: str = "", otherwise: Hyperparameters | None = None
) -> Setting:
    """Return a paper's hyperparameters for a model or baseline, some overridden by ``otherwise``.

    Without a dataset, they are the values for every dataset.

    Raises
    ------
    XmlcError
        If the paper's file does not exist below the current folder, or lacks the model.
    """
    models = suite(paper).all_models
    if model not in models:
        raise XmlcError(f"config/papers/{paper}.yaml: models: found no {model}")
    return Setting(models[model].estimator, models[model].values_on(dataset) | (otherwise or {}))


@cache
def suite(paper: str) -> Suite:
    """Return the suite of a paper in ``config/papers``."""
    return read_suite(suite_file(paper, config_folder()))


def adagrad_settings() -> tuple[Hyperparameters, Hyperparameters]:
    """Return the values of xmlc's solver "adagrad", and the same under napkinXC's names."""
    theirs = paper_setting(ADAGRAD_PAPER, ADAGRAD_MODEL).hyperparameters
    shared = {name: theirs[name] for name in ("arity", "epochs")}
    return {
        "solver": "adagrad",
        "tree": "random",
        "gamma": theirs["eta"],
        "weight_threshold": None,
        **shared,
    }, theirs


def batch_setting(dataset: str) -> Hyperparameters:
    """Return the values of xmlc's solver "batch"."""
    known = BATCH_LIKE
    if dataset in BATCH_MODELS:
        known = dataset
    return paper_setting("plt2016", BATCH_MODELS[known], known).hyperparameters
