"""Speed of finding nearest neighbours, compared with the authors' Go program, and gain of a second thread."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from benchmarks.elsewhere import ALL, UNIT_ROWS, Elsewhere
from benchmarks.harness import (
    PERCENT,
    PREDICTION,
    TOP,
    TRAINING,
    Contender,
    Data,
    Report,
    Rows,
    Task,
    precisions,
    ranking_task,
)
from benchmarks.settings import SWNN_OTHERWISE, paper_setting
from xmlc.core.passport import WARM_UP_ROWS
from xmlc.kernels.csr import unit_rows
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.linear.binary_relevance import BinaryRelevance
from xmlc.models.nearest import SparseWeightedNearestNeighbors

DENSE = 5_000_000  # cells of a training set up to which distances are computed, in seconds
FREQUENT, C = 500, 0.05  # labels, and the weight of their classifiers' loss
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
        kept = (*model.index_, model.label_starts_, model.labels_)
        index_bytes = sum(part.nbytes for part in kept if isinstance(part, np.ndarray))
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


def bench_preliminary(folder: Path, rounds: int = 3) -> Report:
    """Measure the preliminary experiments that swnn2018 tells of without a table, on one thread.

    P@k of neighbours by L1 and L2 distance (Section 3.3), which degrade performance, by brute force on small sets. Of
    rows of unit length L2 orders as the cosine. All neighbours have the same vote, because a distance gives no weight.
    And the time of classifiers of the 500 most frequent labels, some 0.1 ms (Section 4.3).

    Parameters
    ----------
    folder : Path
        Written by `xmlc prepare`.
    rounds : int

    Raises
    ------
    XmlcError
        The folder holds no dataset.
    """
    data = Data.read(folder)
    rows, contenders = Rows("preliminary", data.name), []
    for length, metric in product(("unit length", "length as it comes"), ("L1", "L2")):
        if data.X.shape[0] * data.X.shape[1] > DENSE:
            break
        X, Q = (unit_rows(part) if length == "unit length" else part for part in (data.X, data.X_test))
        nearest = _nearest(X.toarray(), Q.toarray(), "cityblock" if metric == "L1" else "euclidean")
        for S in (20, 75):
            contenders.append(Contender(f"{metric}, rows of {length}, S {S}", "brute force", {"S": S}))
            rows.add_precision(
                contenders[-1].name, PREDICTION, [precisions(data.Y_test, _best(nearest[:, :S], data.Y))]
            )
    frequent = np.sort(np.argsort(-data.Y.sum(axis=0), kind="stable")[:FREQUENT])
    name = f"one-versus-rest of {frequent.size} labels"
    model = BinaryRelevance(C=C, n_jobs=1).fit(data.X, data.Y[:, frequent])
    rows.measure([ranking_task(name, model, data.X_test)], rounds, cpu=True)
    contenders.append(Contender(name, "this package, binary relevance", {"C": C}))
    return rows.report(about=f"{data.size}; minimum of {rounds} rounds", contenders=contenders)


def _nearest(X: np.ndarray, Q: np.ndarray, metric: Literal["cityblock", "euclidean"]) -> np.ndarray:
    """Return the 75 nearest rows of X to each row of Q, nearest first, of equally near ones the smaller number."""
    blocks = np.array_split(Q, -(-len(Q) // 64))
    return np.concatenate([np.argsort(cdist(block, X, metric), axis=1, kind="stable")[:, :75] for block in blocks])


def _best(nearest: np.ndarray, Y: sparse.csr_array) -> np.ndarray:
    """Return the labels that most neighbours have, best first, of equally frequent ones the smaller; -1 for none."""
    votes = np.stack([Y[numbers].sum(axis=0) for numbers in nearest])
    labels = np.argsort(-votes, axis=1, kind="stable")[:, :TOP]
    return np.where(np.take_along_axis(votes, labels, axis=1) > 0, labels, -1)
