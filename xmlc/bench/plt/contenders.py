"""What is compared: our solvers and the peers, under their names, and how each is trained and asked."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import TypeVar

import numpy as np

from xmlc.bench.results import Data
from xmlc.bench.text import counted
from xmlc.estimator import Hyperparameters
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.plt import PLT
from xmlc.runtime.threads import numba_threads

Model = TypeVar("Model", bound=SparseProbabilityEstimator)
Ours = dict[tuple[str, int], PLT]  # by solver and number of threads
Others = dict[str, SparseProbabilityEstimator]
Answer = tuple[np.ndarray, np.ndarray]  # labels and scores

K = 5
SEARCHES = {"exact": None, "beam 10": 10}
ARITY, GAMMA, EPOCHS = 16, 1.0, 3
ADAGRAD: Hyperparameters = {"solver": "adagrad", "arity": ARITY, "tree": "random", "gamma": GAMMA, "epochs": EPOCHS}
# Chosen on the validation part of the 80/20 split, see config/papers/plt2016.yaml.
_BATCH: Hyperparameters = {"solver": "batch", "tree": "kmeans", "epochs": 30, "weight_cut": 0.05}
_HINGE: Hyperparameters = {"loss": "squared_hinge", "hinge_power": 3, "C": 1.0, "tol": 0.03, "beam": 10}
BATCH: dict[str, Hyperparameters] = {
    "tib-core-26k": _BATCH | _HINGE | {"arity": 16, "max_leaf": 110},
    "delicious": _BATCH | {"loss": "logistic", "C": 2.0, "tol": 0.05, "arity": 4, "max_leaf": 250},
}
LIKE = "delicious"  # the settings of a dataset without settings of its own
NAPKINXC_ADAGRAD, NAPKINXC_LIBLINEAR, OMIKUJI = "napkinXC, AdaGrad", "napkinXC, liblinear", "omikuji, one tree"
OMIKUJI_DENSE = "omikuji, one tree, densified"
PEERS_OF = {"adagrad": (NAPKINXC_ADAGRAD,), "batch": (OMIKUJI, NAPKINXC_LIBLINEAR)}


def name_of(solver: str, n_jobs: int, search: str = "") -> str:
    """Name one of our models, and with the way of searching, see `SEARCHES`, a question to it."""
    return f"PLT, {solver}{', ' * bool(search)}{search}, {counted(n_jobs, 'thread')}"


def settings_for(dataset: str) -> dict[str, Hyperparameters]:
    """Return the hyperparameters of our solvers."""
    return {"adagrad": ADAGRAD, "batch": BATCH.get(dataset, BATCH[LIKE])}


def our_models(settings: dict[str, Hyperparameters], threads: int, data: Data) -> Ours:
    """Make our models for one and several threads, and do all that will be measured once.

    Which kernels run depends on the size of a dataset.
    """
    ours = {(solver, n): PLT(n_jobs=n).set_params(**given) for solver, given in settings.items() for n in (1, threads)}
    for model in ours.values():
        model.fit(data.X, data.Y)
        for beam in SEARCHES.values():
            ask(model, data, beam=beam)()
    return ours


def make_peers() -> Others:
    """Make the models of others, each on one thread."""
    from xmlc.models.peers.napkinxc import NapkinXCPLT
    from xmlc.models.peers.omikuji import OmikujiParabel

    return {
        NAPKINXC_ADAGRAD: NapkinXCPLT(
            optimizer="adagrad", eta=GAMMA, n_jobs=1, arity=ARITY, tree_type="completeKaryRandom", epochs=EPOCHS
        ),
        OMIKUJI: OmikujiParabel(n_trees=1, n_jobs=1),
        NAPKINXC_LIBLINEAR: NapkinXCPLT(optimizer="liblinear", n_jobs=1, arity=2, tree_type="hierarchicalKmeans"),
    }


def fit(model: SparseProbabilityEstimator, data: Data, n_jobs: int = 1) -> Callable[[], None]:
    """Return the training of a model, on as many threads as it has."""

    def work() -> None:
        with numba_threads(n_jobs):
            model.fit(data.X, data.Y)

    return work


def ask(model: SparseProbabilityEstimator, data: Data, **hyperparameters: object) -> Callable[[], Answer]:
    """Return the ranking of all test instances by a model, with other hyperparameters if some are given."""
    return lambda: with_hyperparameters(model, **hyperparameters).predict_top_k(data.X_test, K)


def with_hyperparameters(model: Model, **hyperparameters: object) -> Model:
    """Return a model that has learned the same, with other hyperparameters."""
    return copy(model).set_params(**hyperparameters) if hyperparameters else model
