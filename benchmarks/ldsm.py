"""Speed and accuracy of LdSM's trees, compared with the C++ program of its authors.

A published number of the program is compared with trees for the same split and the same form of the
rows, raw or scaled to unit length.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from pathlib import Path

import click

from benchmarks.commands import (
    baselines_option,
    benchmark,
    count_option,
    rounds_option,
    threads_option,
)
from benchmarks.elsewhere import UNIT_ROWS, Elsewhere
from benchmarks.harness import (
    PREDICTION,
    TOP,
    TRAINING,
    Contender,
    Data,
    Report,
    Task,
    precisions,
    ranking_task,
)
from benchmarks.render import counted
from benchmarks.settings import LDSM_OTHERWISE, paper_setting
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.ldsm import LdSM
from xmlc.models.warm_up import WARM_UP_ROWS
from xmlc.suite.options import data_option

SIZES = (1, 10)
TREES = "trees of seed 0"
FORMS = click.Choice([UNIT_ROWS, "raw"])
ROWS = "Scale rows to unit length, or keep them."
RE_RANKING: Hyperparameters = {"beta": 0.8, "n_jobs": 1}  # the authors use this beta for Amazon
PLAIN = "LdSM"
RE_RANKED = "LdSM, tail labels ranked again"


@benchmark(
    "ldsm",
    "Compare LdSM with the authors' program.",
    data_option,
    click.option("--rows", "form", default=UNIT_ROWS, show_default=True, type=FORMS, help=ROWS),
    baselines_option,
    threads_option,
    rounds_option(),
    count_option("--seeds", 5, "Number of seeds, over which P@k is averaged."),
)
def bench_ldsm(
    data: Path, form: str, baselines: bool, threads: int, rounds: int, seeds: int
) -> Report:
    """Measure one and ten trees, on one and on several threads."""
    dataset = Data.read(data)
    otherwise = LDSM_OTHERWISE | {"unit_norm": form == UNIT_ROWS}
    setting = paper_setting("ldsm2020", "ldsm-mean", "", otherwise).hyperparameters
    contenders = [
        Contender(_name(size), "this package", setting | {"n_trees": size}) for size in SIZES
    ]
    about = (
        f"{dataset.size}, the fastest of {rounds} interleaved rounds, P@k the mean of {seeds} seeds"
    )
    report = Report("ldsm", dataset.name, about, contenders)
    X = dataset.X[:WARM_UP_ROWS]
    Y = dataset.Y[:WARM_UP_ROWS]
    _model(setting, 1).fit(X, Y).predict_top_k(X, TOP)
    whole, scores = _train_seeds(dataset, setting, seeds, threads)
    elsewhere = Elsewhere(dataset, [_name(size) for size in SIZES], form, calibrate=baselines)
    tasks = elsewhere.tasks
    for size in SIZES:
        for n in (1, threads) if size == max(SIZES) else (1,):
            train = partial(_model(setting, size, n_jobs=n).fit, dataset.X, dataset.Y)
            tasks.append(Task(_name(size), TRAINING, train, threads=n))
            tasks.append(
                ranking_task(_name(size), whole.trees(size).set_params(n_jobs=n), dataset.X_test, n)
            )
    report.measure(tasks, rounds)
    for size in SIZES:
        report.add_precision(_name(size), PREDICTION, scores[size])
    elsewhere.compare(report)
    for task in (TRAINING, PREDICTION):
        report.add_speed_up(_name(max(SIZES)), task, threads)
    depths = whole.tree_depths_.tolist()
    nodes = whole.n_nodes_.tolist()
    report.add(_name(max(SIZES)), TREES, "depth of the deepest", "", max(depths), depths)
    report.add(_name(max(SIZES)), TREES, "mean depth", "", sum(depths) / len(depths), depths)
    report.add(_name(max(SIZES)), TREES, "mean number of nodes", "", sum(nodes) / len(nodes), nodes)
    report.add_process()
    return report


@benchmark(
    "re-ranking",
    "Measure the time of re-ranking tail labels in LdSM.",
    data_option,
    rounds_option(),
)
def bench_re_ranking(data: Path, rounds: int) -> Report:
    """Measure the ensemble with and without re-ranking (ldsm2020, Section 9)."""
    dataset = Data.read(data)
    setting = paper_setting("ldsm2020", "ldsm", dataset.name, RE_RANKING).hyperparameters
    model = LdSM().set_params(**setting).fit(dataset.X, dataset.Y)
    plain = copy(model)
    plain.tail_ = None
    settings = {PLAIN: setting | {"beta": 1}, RE_RANKED: setting}
    contenders = [Contender(name, "this package", own) for name, own in settings.items()]
    report = Report(
        "re-ranking", dataset.name, f"{dataset.size}, minimum of {rounds} rounds", contenders
    )
    report.measure(
        [
            ranking_task(PLAIN, plain, dataset.X_test),
            ranking_task(RE_RANKED, model, dataset.X_test),
        ],
        rounds,
    )
    report.compare(RE_RANKED, PLAIN, PREDICTION)
    return report


def _name(n_trees: int) -> str:
    return f"LdSM, {counted(n_trees, 'tree')}"


def _model(setting: Hyperparameters, n_trees: int, **more: object) -> LdSM:
    return LdSM().set_params(**setting | {"n_trees": n_trees} | more)


def _train_seeds(
    data: Data, setting: Hyperparameters, seeds: int, threads: int
) -> tuple[LdSM, dict[int, list[list[float]]]]:
    """Train a forest of ``max(SIZES)`` trees with each seed.

    Returns the forest of seed 0, and all seeds' test P@k for each number of trees in `SIZES`.
    """
    scores: dict[int, list[list[float]]] = {size: [] for size in SIZES}
    models: list[LdSM] = []
    for seed in range(seeds):
        model = _model(setting, max(SIZES), random_state=seed, n_jobs=threads).fit(data.X, data.Y)
        for size in SIZES:
            scores[size].append(
                precisions(data.Y_test, model.trees(size).predict_top_k(data.X_test, TOP)[0])
            )
        models = models or [model]
    return models[0], scores
