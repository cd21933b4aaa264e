"""Speed of a PLT on one and on several threads, compared with napkinXC and omikuji.

Before the measurements, data are in memory and a full run of each xmlc task compiles its kernels.
"""

from __future__ import annotations

import tempfile
from copy import copy
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.commands import baselines_option, benchmark, rounds_option, threads_option
from benchmarks.harness import (
    PER_INSTANCE,
    PERCENT,
    PREDICTION,
    TOP,
    TRAINING,
    Contender,
    Data,
    Key,
    Ranking,
    Report,
    Task,
    differing,
    precisions,
    ranking_task,
)
from benchmarks.settings import adagrad_settings, batch_setting, paper_setting
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.plt import PLT
from xmlc.models.registry import make_estimator
from xmlc.models.warm_up import WARM_UP_ROWS
from xmlc.suite.options import data_option
from xmlc.suite.provenance.environment import timed

Models = dict[tuple[str, int], PLT]  # by solver and number of threads
Baselines = dict[str, SparseProbabilityEstimator]

# Values of ``search`` by their names in tables
SEARCHES = {"exact": "exact", "certified": "certified", "beam 10": "beam"}
NAPKINXC_ADAGRAD = "napkinXC, AdaGrad"
NAPKINXC_LIBLINEAR = "napkinXC, liblinear"
OMIKUJI = "omikuji, one tree"
OMIKUJI_DENSE = "omikuji, one tree, densified"
BASELINES_OF = {"adagrad": (NAPKINXC_ADAGRAD,), "batch": (OMIKUJI, NAPKINXC_LIBLINEAR)}
WHAT = {
    "adagrad": "AdaGrad, node by node, on a random tree",
    "batch": "L2-regularised dual coordinate descent on a tree of balanced 2-means",
}
# Seconds of each task in a round. Ranking a small test set takes only milliseconds.
AT_LEAST = 0.3
SINGLE = "prediction of one instance at a time, from Python"
SINGLE_INSTANCES = 2000  # instances at most that are ranked one by one
OPENED = "classifiers evaluated"  # mean number per instance
# Share of instances with the labels and order of the exact search
EXACT = "is exact"
# Share of instances whose result the beam search proves to be exact
CERTIFIED = "proved by the beam"


@benchmark(
    "plt",
    "Compare PLTs with napkinXC and omikuji.",
    data_option,
    baselines_option,
    threads_option,
    rounds_option(),
)
def bench_plt(data: Path, baselines: bool, threads: int, rounds: int) -> Report:
    """Measure PLTs with three searches on threads, and the baselines."""
    dataset = Data.read(data)
    settings = {"adagrad": adagrad_settings()[0], "batch": batch_setting(dataset.name)}
    about = f"{dataset.size}, the fastest of {rounds} interleaved rounds"
    report = Report("plt", dataset.name, about, contenders(settings, baselines))
    models = warmed_up_models(settings, threads, dataset)
    others = {}
    if baselines:
        others = make_baselines()
    _measure_training(report, models, others, dataset, rounds)
    rankings = _measure_prediction(report, models, others, dataset, rounds)
    for solver in settings:
        add_threads(report, solver, threads, models, rankings, dataset)
    for solver, names in BASELINES_OF.items() if baselines else ():
        for name in names:
            report.compare(name_of(solver), name, TRAINING)
        searched = names
        if OMIKUJI in names:
            searched = (*names, OMIKUJI_DENSE)
        for search, name in product(SEARCHES, searched):
            report.compare(name_of(solver, search), name, PREDICTION)
    for solver, (name, search) in product(settings, SEARCHES.items()):
        add_latency(
            report, name_of(solver, name), searching(models[solver, 1], search), dataset.X_test
        )
    for solver in settings:
        add_searches(report, solver, models[solver, 1], dataset)
    report.add_process()
    return report


def _measure_training(
    report: Report, models: Models, others: Baselines, data: Data, rounds: int
) -> None:
    everyone: dict[tuple[str, int], SparseProbabilityEstimator] = {
        **{(name_of(solver), n): model for (solver, n), model in models.items()},
        **{(name, 1): model for name, model in others.items()},
    }
    fits = {key: partial(model.fit, data.X, data.Y) for key, model in everyone.items()}
    report.measure(
        [Task(name, TRAINING, fit, threads=n) for (name, n), fit in fits.items()], rounds
    )
    for (name, n), model in everyone.items():
        labels = model.predict_top_k(data.X_test, TOP)[0]
        report.add_precision(name, TRAINING, [precisions(data.Y_test, labels)], threads=n)


def _measure_prediction(
    report: Report, models: Models, others: Baselines, data: Data, rounds: int
) -> dict[Key, Ranking]:
    X = data.X_test
    tasks = [
        ranking_task(name_of(solver, name), searching(model, search), X, n)
        for ((solver, n), model), (name, search) in product(models.items(), SEARCHES.items())
    ]
    with tempfile.TemporaryDirectory(prefix="omikuji-") as folder:
        for name, model in others.items():
            tasks.append(ranking_task(name, model, X))
            if name == OMIKUJI:  # its weights become dense when the model is loaded
                model.save(Path(folder) / "model")
                tasks.append(
                    ranking_task(OMIKUJI_DENSE, type(model).load(Path(folder) / "model"), X)
                )
        rankings = report.measure(tasks, rounds, AT_LEAST)
    for name in others | {OMIKUJI_DENSE: None} if others else ():
        report.add_precision(
            name, PREDICTION, [precisions(data.Y_test, rankings[name, PREDICTION, 1][0])]
        )
    return rankings


def add_threads(
    report: Report,
    solver: str,
    threads: int,
    models: Models,
    rankings: dict[Key, Ranking],
    data: Data,
) -> None:
    """Add P@k, the speed-up on threads, and whether they change models or rankings."""
    report.add_speed_up(name_of(solver), TRAINING, threads)
    other = differing(learned(models[solver, 1]), learned(models[solver, threads]))
    report.add_same_bits(name_of(solver), TRAINING, other, threads)
    for search in SEARCHES:
        report.add_rankings(name_of(solver, search), rankings, data.Y_test, threads)


def add_latency(report: Report, name: str, model: PLT, X: sparse.csr_array) -> None:
    """Add the median and the 99th percentile of the time of one instance."""
    instances = [
        (X.indices[start:end], X.data[start:end])
        for start, end in pairwise(X.indptr[: SINGLE_INSTANCES + 1])
    ]
    for instance in instances[:WARM_UP_ROWS]:
        model.rank_one(*instance, TOP)
    turns = [1e3 * timed(partial(model.rank_one, *instance, TOP))[1] for instance in instances]
    for measure, percent in (("median", 50), ("99th percentile", 99)):
        report.add(name, SINGLE, measure, PER_INSTANCE, np.percentile(turns, percent))


def add_searches(report: Report, solver: str, model: PLT, data: Data) -> None:
    """Add the classifiers that each search evaluates, and its exact and proved results."""
    exact, _ = searching(model, "exact").predict_top_k(data.X_test, TOP)
    for named, search in SEARCHES.items():
        searched = searching(model, search)
        name = name_of(solver, named)
        labels, _ = searched.predict_top_k(data.X_test, TOP)
        if searched.inner_products_ is not None:
            report.add(name, PREDICTION, OPENED, "", searched.inner_products_.mean())
        if searched.certified_ is not None:
            report.add(name, PREDICTION, CERTIFIED, PERCENT, 100 * searched.certified_.mean())
        report.add(name, PREDICTION, EXACT, PERCENT, 100 * (labels == exact).all(axis=1).mean())


def name_of(solver: str, search: str = "") -> str:
    """Return the name of a model, or of its predictions by one of `SEARCHES`."""
    if search:
        return f"PLT, {solver}, {search}"
    return f"PLT, {solver}"


def baseline_settings() -> dict[str, tuple[str, Hyperparameters]]:
    """Return the estimator and hyperparameters of each baseline."""
    return {
        NAPKINXC_ADAGRAD: (
            "benchmarks/baselines/napkinxc_trees.py:NapkinXCPLT",
            adagrad_settings()[1],
        ),
        OMIKUJI: paper_setting("plt2016", "omikuji-parabel"),
        NAPKINXC_LIBLINEAR: paper_setting("plt2016", "napkinxc-plt-liblinear"),
    }


def contenders(settings: dict[str, Hyperparameters], baselines: bool) -> list[Contender]:
    """Return all contenders, with or without the baselines."""
    ours = [Contender(name_of(solver), WHAT[solver], own) for solver, own in settings.items()]
    others = {}
    if baselines:
        others = baseline_settings()
    return ours + [Contender(name, f"baseline {kind}", own) for name, (kind, own) in others.items()]


def warmed_up_models(settings: dict[str, Hyperparameters], threads: int, data: Data) -> Models:
    """Return xmlc's models for one thread and for several, after a full run of each measured task.

    This compiles all kernels, which are chosen by the size of the data.
    """
    ours = {}
    for solver, own in settings.items():
        for n in (1, threads):
            ours[solver, n] = PLT(n_jobs=n).set_params(**own)
    for model in ours.values():
        model.fit(data.X, data.Y)
        for search in SEARCHES.values():
            searching(model, search).predict_top_k(data.X_test, TOP)
    return ours


def make_baselines() -> Baselines:
    """Return the baseline models, each for one thread."""
    return {
        name: make_estimator(kind, own, 0, 1) for name, (kind, own) in baseline_settings().items()
    }


def searching(model: PLT, search: str) -> PLT:
    """Return a copy of a model with another search."""
    return copy(model).set_params(search=search)


def learned(model: PLT) -> dict[str, np.ndarray]:
    """Return all learned arrays of a PLT."""
    return {"parent": model.tree_.parent, **model.nodes_._asdict()}
