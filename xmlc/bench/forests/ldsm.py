"""How fast LdSM's trees are trained and asked, and how well they rank, beside the authors' C++ program.

The program itself is not installed with this package; its times were measured elsewhere and are scaled, see
`xmlc.bench.calibration`. One process, one task at a time, rounds that take turns; the best round of each counts, the
calibration included. Kernels are compiled and the data is in memory before anything is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from xmlc.bench.answers import precisions
from xmlc.bench.calibration import (
    SECONDS_ELSEWHERE,
    Calibration,
    ProgramTimes,
    Ratios,
    calibration_of,
    calibration_work,
)
from xmlc.bench.results import (
    INLINE,
    OPTIONAL,
    PRECISION,
    PRECISION_STD,
    Data,
    InTurns,
    mean_percent,
    std_percent,
)
from xmlc.estimator import Hyperparameters
from xmlc.models.ldsm import LdSM
from xmlc.passport import WARM_UP_ROWS, in_turns, passport, peak_bytes

# What the authors recommend for Delicious, in the paper's names; rows of unit length, as the program was given them.
SETTING: Hyperparameters = {
    "arity": 2,
    "max_nodes": 1000,
    "epochs": 20,
    "learning_rate": 0.1,
    "lambda_1": 2.0,
    "lambda_2": 1.0,
    "unit_norm": True,
}
SIZES = (1, 10)
CALIBRATION = "calibration"
K = 5


@dataclass(frozen=True)
class ProgramRun(ProgramTimes):
    """One run of the authors' C++ program: one thread, rows of unit length, `SETTING`.

    Attributes
    ----------
    precision : tuple of float
        P@1, P@3 and P@5 in percent; of some sets only P@1 is known.
    """

    precision: tuple[float, ...]


# By dataset and number of trees.
PROGRAM = {
    "delicious": {1: ProgramRun(3.4, 0.025, (64.8, 58.6, 53.8)), 10: ProgramRun(45.0, 0.31, (68.9, 63.5, 58.4))},
    "bibtex": {10: ProgramRun(17.4, 0.032, (55.2,))},
}


@dataclass(frozen=True)
class ForestRun:
    """One number of trees on one number of threads.

    Attributes
    ----------
    n_trees, threads : int
    train_seconds, ms : float
        Of the best round; prediction per test instance.
    precision, precision_std : list of float or None
        P@1, P@3 and P@5, means and standard deviations over the seeds, in percent; on one thread only.
    program : ProgramRun or None
        Of as many trees, where it is known.
    difference : list of float or None
        How many points we are above it.
    ratios : Ratios or None
        To its scaled times.
    """

    n_trees: int
    threads: int
    train_seconds: float
    ms: float
    precision: list[float] | None = field(metadata=PRECISION)
    precision_std: list[float] | None = field(metadata=PRECISION_STD)
    program: ProgramRun | None = None
    difference: list[float] | None = field(default=None, metadata=OPTIONAL)
    ratios: Ratios | None = field(default=None, metadata=INLINE | OPTIONAL)


@dataclass(frozen=True, kw_only=True)
class Ensembles(InTurns):
    """One tree and ten, on one and on several threads.

    Attributes
    ----------
    setting : dict
        Hyperparameters of all.
    seeds : int
    runs : list of ForestRun
    speedup : float
        Of training ten trees.
    calibration : Calibration or None
    depths, nodes : list of int
        Of the ten trees of seed 0.
    """

    setting: Hyperparameters
    seeds: int
    runs: list[ForestRun]
    speedup: float
    calibration: Calibration | None
    depths: list[int]
    nodes: list[int]


def compare_ldsm(data: Path, threads: int = 2, rounds: int = 3, seeds: int = 5) -> Ensembles:
    """Measure training and prediction of one tree and of ten, on one and on several threads.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
    threads : int
        Ten trees are also trained and asked on so many.
    rounds : int
        How often everything is measured.
    seeds : int
        The ranking is that of the mean over so many seeds.

    Raises
    ------
    XmlcError
        The dataset needs the calibration and napkinXC is not installed.
    """
    content, most = Data.read(data), max(SIZES)
    X, Y = content.X[:WARM_UP_ROWS], content.Y[:WARM_UP_ROWS]
    _model(n_trees=1).fit(X, Y).predict_top_k(X, K)
    whole, scores = _seeds(content, seeds, threads)
    settings = [(n, n_jobs) for n in SIZES for n_jobs in ((1,) if n == 1 else (1, threads))]
    seconds, _ = in_turns(_tasks(content, whole, settings), rounds)
    best = {task: min(turns) for task, turns in seconds.items()}
    calibration = calibration_of(content.name, best[CALIBRATION]) if CALIBRATION in best else None
    return Ensembles(
        dataset=content.name,
        shape=content.shape,
        setting=SETTING,
        threads=threads,
        rounds=rounds,
        seeds=seeds,
        runs=[_run(content, n, n_jobs, best, scores[n] if n_jobs == 1 else [], calibration) for n, n_jobs in settings],
        speedup=best[_training(most, 1)] / best[_training(most, threads)],
        calibration=calibration,
        depths=whole.tree_depths_.tolist(),
        nodes=whole.n_nodes_.tolist(),
        peak_bytes=peak_bytes(),
        passport=passport(threads),
    )


def _model(**hyperparameters: object) -> LdSM:
    return LdSM().set_params(**SETTING, **hyperparameters)


def _training(n_trees: int, n_jobs: int) -> str:
    return f"train {n_trees}, {n_jobs}"


def _asking(n_trees: int, n_jobs: int) -> str:
    return f"predict {n_trees}, {n_jobs}"


def _seeds(data: Data, seeds: int, threads: int) -> tuple[LdSM, dict[int, list[list[float]]]]:
    """Train the greatest forest of each seed; return that of seed 0, and P@k by number of trees and seed."""
    scores: dict[int, list[list[float]]] = {n: [] for n in SIZES}
    models: list[LdSM] = []
    for seed in range(seeds):
        model = _model(n_trees=max(SIZES), random_state=seed, n_jobs=threads).fit(data.X, data.Y)
        for n in SIZES:
            scores[n].append(precisions(data.Y_test, model.trees(n).predict_top_k(data.X_test, K)[0]))
        models = models or [model]
    return models[0], scores


def _tasks(data: Data, whole: LdSM, settings: list[tuple[int, int]]) -> dict[str, Callable[[], object]]:
    tasks: dict[str, Callable[[], object]] = {}
    if data.name in SECONDS_ELSEWHERE and data.name in PROGRAM:
        tasks[CALIBRATION] = calibration_work(data.X, data.Y)
    for n, n_jobs in settings:
        model = _model(n_trees=n, n_jobs=n_jobs)
        asked = whole.trees(n).set_params(n_jobs=n_jobs)
        tasks[_training(n, n_jobs)] = partial(model.fit, data.X, data.Y)
        tasks[_asking(n, n_jobs)] = partial(asked.predict_top_k, data.X_test, K)
    return tasks


def _run(
    data: Data,
    n_trees: int,
    n_jobs: int,
    seconds: Mapping[str, float],
    scores: list[list[float]],
    calibration: Calibration | None,
) -> ForestRun:
    """Summarise one number of trees on one number of threads, with its scores by seed."""
    train_seconds = seconds[_training(n_trees, n_jobs)]
    ms = 1e3 * seconds[_asking(n_trees, n_jobs)] / data.X_test.shape[0]
    precision = mean_percent(scores) if scores else None
    run = ForestRun(n_trees, n_jobs, train_seconds, ms, precision, std_percent(scores))
    known = PROGRAM.get(data.name, {}).get(n_trees)
    if known is None or precision is None:
        return run
    difference = [ours - theirs for ours, theirs in zip(precision, known.precision)]
    ratios = Ratios.of(train_seconds, ms, known.scaled(calibration)) if calibration else None
    return replace(run, program=known, difference=difference, ratios=ratios)
