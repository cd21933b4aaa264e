"""The contenders: our two solvers and the baselines, and how each is trained."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import TypeVar

import numpy as np

from xmlc.bench.harness import TOP, Data
from xmlc.bench.rows import Contender
from xmlc.bench.settings import adagrad_settings, batch_setting, paper_setting
from xmlc.estimator import Hyperparameters
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.plt import PLT
from xmlc.models.registry import make_estimator
from xmlc.runtime.threads import numba_threads

Model = TypeVar("Model", bound=SparseProbabilityEstimator)
Models = dict[tuple[str, int], PLT]  # by solver and number of threads
Baselines = dict[str, SparseProbabilityEstimator]

SEARCHES = {"exact": "exact", "certified": "certified", "beam 10": "beam"}  # how tables name them
NAPKINXC_ADAGRAD, NAPKINXC_LIBLINEAR, OMIKUJI = "napkinXC, AdaGrad", "napkinXC, liblinear", "omikuji, one tree"
OMIKUJI_DENSE = "omikuji, one tree, densified"
BASELINES_OF = {"adagrad": (NAPKINXC_ADAGRAD,), "batch": (OMIKUJI, NAPKINXC_LIBLINEAR)}
WHAT = {
    "adagrad": "AdaGrad, node by node, on a random tree",
    "batch": "L2-regularised dual coordinate descent on a tree of balanced 2-means",
}


def name_of(solver: str, search: str = "") -> str:
    """Name one of our models, and with a search (`SEARCHES`) its predictions."""
    return f"PLT, {solver}{', ' * bool(search)}{search}"


def solver_settings(dataset: str) -> dict[str, Hyperparameters]:
    """Return the hyperparameters of our solvers."""
    return {"adagrad": adagrad_settings()[0], "batch": batch_setting(dataset)}


def baseline_settings() -> dict[str, tuple[str, Hyperparameters]]:
    """Return estimator and hyperparameters of each baseline."""
    return {
        NAPKINXC_ADAGRAD: ("napkinxc-plt", adagrad_settings()[1]),
        OMIKUJI: paper_setting("plt2016", "omikuji-parabel"),
        NAPKINXC_LIBLINEAR: paper_setting("plt2016", "napkinxc-plt-liblinear"),
    }


def contenders(settings: dict[str, Hyperparameters], threads: int, peers: bool) -> list[Contender]:
    """List who takes part."""
    ours = [Contender(name_of(solver), WHAT[solver], own, (1, threads)) for solver, own in settings.items()]
    baselines = baseline_settings() if peers else {}
    return ours + [Contender(name, f"baseline {kind}", own) for name, (kind, own) in baselines.items()]


def warmed_up_models(settings: dict[str, Hyperparameters], threads: int, data: Data) -> Models:
    """Make our models for one and several threads, and do all that will be measured once.

    Which kernels run depends on the size of a dataset.
    """
    ours = {(solver, n): PLT(n_jobs=n).set_params(**own) for solver, own in settings.items() for n in (1, threads)}
    for model in ours.values():
        model.fit(data.X, data.Y)
        for search in SEARCHES.values():
            with_hyperparameters(model, search=search).predict_top_k(data.X_test, TOP)
    return ours


def make_baselines() -> Baselines:
    """Make the baselines, each on one thread."""
    return {name: make_estimator(kind, own, 0, 1) for name, (kind, own) in baseline_settings().items()}


def fit(model: SparseProbabilityEstimator, data: Data, n_jobs: int = 1) -> Callable[[], None]:
    """Return the training of a model, on as many threads as it has."""

    def work() -> None:
        with numba_threads(n_jobs):
            model.fit(data.X, data.Y)

    return work


def with_hyperparameters(model: Model, **hyperparameters: object) -> Model:
    """Return a model that has learned the same, with other hyperparameters."""
    return copy(model).set_params(**hyperparameters) if hyperparameters else model


def learned(model: PLT) -> dict[str, np.ndarray]:
    """Return all arrays that a PLT has learned."""
    return {"parent": model.tree_.parent, **model.nodes_._asdict()}
