"""Speed of finding nearest neighbours, compared with the authors' Go program, and gain of a second thread."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.elsewhere import ALL, UNIT_ROWS, Elsewhere
from benchmarks.harness import PERCENT, PREDICTION, TOP, TRAINING, Contender, Data, Report, Rows, Task, ranking_task
from benchmarks.settings import SWNN_OTHERWISE, paper_setting
from xmlc.core.passport import WARM_UP_ROWS
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.nearest import SparseWeightedNearestNeighbors

AT_LEAST = 0.3  # seconds of a task per round
INDEX = "SWNN, index"  # its construction depends on no hyperparameter
OTHER_MACHINE = """\
The paper's times were taken on an Intel Core i7-7700K: the calibration removes the difference between this machine and
the one where the calibration was first run, and nothing of the difference to the paper's."""


def bench_nearest(
    folder: Path,
    threads: int = 2,
    rounds: int = 3,
    calibrate: bool = True,
    calibration_folder: Path | None = None,
    instances: int | None = None,
) -> Report:
    """Measure construction of the index, and prediction with two settings on one and on several threads.

    Parameters
    ----------
    folder : Path
        Written by `xmlc prepare`.
    threads : int
        Compared with one thread.
    rounds : int
    calibrate : bool
        Whether to train napkinXC's PLT too, so that times measured elsewhere are scaled and compared.
    calibration_folder : Path, optional
        Prepared dataset that it is trained on, one whose calibration is known; by default ``folder`` if it is one of
        these, and without one nothing is scaled.
    instances : int, optional
        Rank the first so many test instances only.

    Raises
    ------
    XmlcError
        A folder holds no dataset, that for the calibration is none of the known ones, or napkinXC is not installed.
    """
    whole = Data.read(folder)
    data = replace(whole, X_test=whole.X_test[:instances], Y_test=whole.Y_test[:instances])
    subset = ALL if data.X_test.shape[0] == whole.X_test.shape[0] else f"first {instances}"
    rows, settings = Rows("nearest", data.name), swnn_settings()
    models = {name: _model(setting, 1).fit(data.X, data.Y) for name, setting in settings.items()}
    elsewhere = Elsewhere(whole, [INDEX, *models], UNIT_ROWS, subset, calibrate, calibration_folder)
    tasks = elsewhere.tasks
    tasks.append(Task(INDEX, TRAINING, lambda: SparseWeightedNearestNeighbors(n_jobs=1).fit(data.X, data.Y)))
    for (name, model), n in product(models.items(), (1, threads)):
        own = copy(model).set_params(n_jobs=n)
        own.predict_top_k(data.X_test[:WARM_UP_ROWS], TOP)
        tasks.append(ranking_task(name, own, data.X_test, n))
    rankings = rows.measure(tasks, rounds, AT_LEAST)
    for name, model in models.items():
        rows.add_rankings(name, rankings, data.Y_test, threads)
        model.predict_top_k(data.X_test, TOP)
        assert model.inner_products_ is not None  # a prediction counts them
        similarities = float(np.mean(model.inner_products_))
        rows.add(name, PREDICTION, "similarities per instance", "", similarities)
        rows.add(name, PREDICTION, "of the training instances", PERCENT, 100 * similarities / data.X.shape[0])
        index_bytes = model.index_bytes_
    rows.add(INDEX, TRAINING, "index with the label sets", "MB", index_bytes / 1e6)
    remarks = elsewhere.compare(rows)
    remarks += [OTHER_MACHINE] * any("i7-7700K" in row.note for row in rows.all)
    rows.add_process()
    return rows.report(
        about=f"{data.size}; minimum of {rounds} interleaved rounds",
        threads=threads,
        contenders=[Contender(name, "this package", setting, (1, threads)) for name, setting in settings.items()],
        remarks=remarks,
    )


def swnn_settings() -> dict[str, Hyperparameters]:
    """Return the hyperparameters of both contenders, by name."""
    settings = [paper_setting("plt2016", "swnn", "", otherwise).hyperparameters for otherwise in SWNN_OTHERWISE]
    return {"SWNN, " + ", ".join(f"{key} {value:g}" for key, value in own.items()): own for own in settings}


def _model(setting: Hyperparameters, n_jobs: int) -> SparseWeightedNearestNeighbors:
    return SparseWeightedNearestNeighbors(n_jobs=n_jobs).set_params(**setting)
