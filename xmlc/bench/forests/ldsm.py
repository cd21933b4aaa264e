"""How fast LdSM's trees are trained and asked, and how well they rank, beside the authors' C++ program.

The program itself is not installed with this package; its times were measured elsewhere and are scaled, see
`xmlc.bench.calibration`. One process, one task at a time, rounds that take turns; the best round of each counts, the
calibration included. Kernels are compiled and the data is in memory before anything is measured.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xmlc.bench.answers import precisions
from xmlc.bench.calibration import SECONDS_ELSEWHERE, calibration_of, calibration_work
from xmlc.data.prepared import Prepared
from xmlc.models.ldsm import LdSM
from xmlc.passport import WARM_UP_ROWS, in_turns, passport, peak_bytes

# What the authors recommend for Delicious, in the paper's names; rows of unit length, as the program was given them.
SETTING: dict[str, Any] = {
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
class ProgramRun:
    """One run of the authors' C++ program: one thread, rows of unit length, `SETTING`.

    Attributes
    ----------
    train_seconds, predict_ms : float
        Prediction per test instance.
    precision : tuple of float
        P@1, P@3 and P@5 in percent; of some sets only P@1 is known.
    """

    train_seconds: float
    predict_ms: float
    precision: tuple[float, ...]


# By dataset and number of trees.
PROGRAM = {
    "delicious": {1: ProgramRun(3.4, 0.025, (64.8, 58.6, 53.8)), 10: ProgramRun(45.0, 0.31, (68.9, 63.5, 58.4))},
    "bibtex": {10: ProgramRun(17.4, 0.032, (55.2,))},
}


def compare_ldsm(data: Path, threads: int = 2, rounds: int = 3, seeds: int = 5) -> dict[str, Any]:
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

    Returns
    -------
    dict
        ``dataset``, ``shape`` (n, d, m), ``setting``, ``threads``, ``rounds``, ``seeds``; ``runs``: list, see
        `_measured`; ``speedup`` of training ten trees; ``calibration`` (`calibration_of`) or None; ``depths`` and
        ``nodes`` of the ten trees of seed 0; ``peak_bytes`` of the process; ``passport``.

    Raises
    ------
    XmlcError
        The dataset needs the calibration and napkinXC is not installed.
    """
    prepared = Prepared(data)
    name = prepared.meta["name"]
    (X, Y), (X_test, Y_test) = prepared.part("train"), prepared.part("test")
    LdSM(n_trees=1, **SETTING).fit(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS]).predict_top_k(X[:WARM_UP_ROWS], K)
    scores: dict[int, list[list[float]]] = {n: [] for n in SIZES}
    for seed in range(seeds):
        model = LdSM(n_trees=max(SIZES), random_state=seed, n_jobs=threads, **SETTING).fit(X, Y)
        for n in SIZES:
            scores[n].append(precisions(Y_test, model.trees(n).predict_top_k(X_test, K)[0]))
        if seed == 0:
            whole = model
    tasks: dict[str, Any] = {}
    if name in SECONDS_ELSEWHERE and name in PROGRAM:
        tasks[CALIBRATION] = calibration_work(X, Y)
    settings = [(n, n_jobs) for n in SIZES for n_jobs in ((1,) if n == 1 else (1, threads))]
    for n, n_jobs in settings:
        model = LdSM(n_trees=n, n_jobs=n_jobs, **SETTING)
        asked = whole.trees(n).set_params(n_jobs=n_jobs)
        tasks[f"train {n}, {n_jobs}"] = lambda model=model: model.fit(X, Y)
        tasks[f"predict {n}, {n_jobs}"] = lambda asked=asked: asked.predict_top_k(X_test, K)
    seconds, _ = in_turns(tasks, rounds)
    best = {task: min(turns) for task, turns in seconds.items()}
    calibration = calibration_of(name, best[CALIBRATION]) if CALIBRATION in best else None
    runs = [
        _measured(name, n, n_jobs, best, X_test.shape[0], scores[n] if n_jobs == 1 else [], calibration)
        for n, n_jobs in settings
    ]
    most = max(SIZES)
    return {
        "dataset": name,
        "shape": [*X.shape, Y.shape[1]],
        "setting": SETTING,
        "threads": threads,
        "rounds": rounds,
        "seeds": seeds,
        "runs": runs,
        "speedup": best[f"train {most}, 1"] / best[f"train {most}, {threads}"],
        "calibration": calibration,
        "depths": whole.tree_depths_,
        "nodes": whole.n_nodes_,
        "peak_bytes": peak_bytes(),
        "passport": passport(threads),
    }


def _measured(
    dataset: str,
    n_trees: int,
    n_jobs: int,
    seconds: dict[str, float],
    n_test: int,
    scores: list[list[float]],
    calibration: dict[str, Any] | None,
) -> dict[str, Any]:
    """Summarise one number of trees on one number of threads.

    Returns
    -------
    dict
        ``n_trees``, ``threads``, ``train_seconds``, ``ms`` per test instance; ``p@k`` and ``p@k_std`` over the seeds,
        in percent, or None; ``program`` (`ProgramRun`) or None, and, where both are known, ``difference``: how many
        points we are above it; with a calibration ``train_ratio`` and ``predict_ratio`` to its scaled times.
    """
    result: dict[str, Any] = {
        "n_trees": n_trees,
        "threads": n_jobs,
        "train_seconds": seconds[f"train {n_trees}, {n_jobs}"],
        "ms": 1e3 * seconds[f"predict {n_trees}, {n_jobs}"] / n_test,
        "p@k": 100 * np.mean(scores, axis=0) if scores else None,
        "p@k_std": 100 * np.std(scores, axis=0, ddof=1) if len(scores) > 1 else None,
        "program": None,
    }
    known = PROGRAM.get(dataset, {}).get(n_trees)
    if known is None or n_jobs > 1:
        return result
    result["program"] = asdict(known)
    result["difference"] = [float(ours - theirs) for ours, theirs in zip(result["p@k"], known.precision)]
    if calibration:
        result["train_ratio"] = result["train_seconds"] / (known.train_seconds * calibration["scale"])
        result["predict_ratio"] = result["ms"] / (known.predict_ms * calibration["scale"])
    return result
