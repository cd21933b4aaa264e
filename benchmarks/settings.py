"""Hyperparameters of contenders: the papers' configuration, and in one place where a benchmark has others, and why."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.suite import Suite, read_suite, suite_file

# Where contenders do not have a paper's values, and why:
# - The solver "adagrad" and napkinXC's have the common values of plt2016.yaml's baseline on every dataset, not those
#   tuned for one: both programs then do the same work whatever the dataset.
ADAGRAD_PAPER, ADAGRAD_MODEL = "plt2016", "napkinxc-plt-adagrad"
# - The solver "batch" has omikuji's loss where that ranks better, else the one that gives probabilities; a dataset
#   without values of its own has those of delicious.
BATCH_MODELS, BATCH_LIKE = {"tib-core-26k": "plt-hinge", "delicious": "plt-batch"}, "delicious"
# - The authors' programs were run elsewhere with other values: LdSM's with those of its README for Delicious, which
#   divides a leaf's histogram by its sum; FastXML's on rows of unit length; SWNN's with both of these, of which the
#   second is the paper's.
LDSM_OTHERWISE: Hyperparameters = {"max_nodes": 1000, "shares": "labels"}
FASTXML_OTHERWISE: Hyperparameters = {"unit_norm": True}
SWNN_OTHERWISE: tuple[Hyperparameters, ...] = ({"S": 20, "alpha": 1.0, "beta": 1}, {})


class Setting(NamedTuple):
    """An estimator by its name, and its hyperparameters."""

    estimator: str
    hyperparameters: Hyperparameters


def paper_setting(paper: str, model: str, dataset: str = "", otherwise: Hyperparameters | None = None) -> Setting:
    """Return a paper's configured values for a model on a dataset, or other values over them.

    Parameters
    ----------
    paper : str
        Name of a file of ``config/papers``.
    model : str
        One of its models or baselines.
    dataset : str
        By default the values for every dataset.
    otherwise : dict, optional
        Values that are put over the paper's.

    Raises
    ------
    XmlcError
        There is no such file below the current folder, or no such model in it.
    """
    models = suite(paper).all_models
    if model not in models:
        raise XmlcError(f"config/papers/{paper}.yaml has no model {model}")
    return Setting(models[model].estimator, models[model].values_on(dataset) | (otherwise or {}))


@cache
def suite(paper: str) -> Suite:
    """Return a paper's configuration, of ``config/papers``."""
    return read_suite(suite_file(paper, config_folder()))


def adagrad_settings() -> tuple[Hyperparameters, Hyperparameters]:
    """Return the hyperparameters of our solver "adagrad" and of napkinXC's, which calls some of them otherwise."""
    theirs = paper_setting(ADAGRAD_PAPER, ADAGRAD_MODEL).hyperparameters
    shared = {name: theirs[name] for name in ("arity", "epochs")}
    return {"solver": "adagrad", "tree": "random", "gamma": theirs["eta"], "weight_cut": None, **shared}, theirs


def batch_setting(dataset: str) -> Hyperparameters:
    """Return the hyperparameters of our solver "batch"."""
    known = dataset if dataset in BATCH_MODELS else BATCH_LIKE
    return paper_setting("plt2016", BATCH_MODELS[known], known).hyperparameters
