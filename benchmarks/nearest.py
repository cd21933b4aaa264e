"""Speed of nearest neighbours on threads, compared with the authors' Go program."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from benchmarks.commands import (
    baselines_option,
    benchmark,
    count_option,
    rounds_option,
    threads_option,
)
from benchmarks.elsewhere import ALL, UNIT_ROWS, Elsewhere
from benchmarks.harness import (
    PERCENT,
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
from benchmarks.settings import SWNN_OTHERWISE, paper_setting
from xmlc.kernels.estimator import Hyperparameters
from xmlc.kernels.unit_length import unit_rows
from xmlc.models.linear.binary_relevance import BinaryRelevance
from xmlc.models.nearest import SparseWeightedNearestNeighbors
from xmlc.models.warm_up import WARM_UP_ROWS
from xmlc.suite.options import data_option

DENSE = 5_000_000  # n x d of a training set on which brute force takes only seconds
# Number of the most frequent labels, for which classifiers are trained, and their C
FREQUENT = 500
C = 0.05
AT_LEAST = 0.3  # seconds of each task in a round
# Constructed once, because the index depends on no hyperparameter
INDEX = "SWNN, index"


@benchmark(
    "nearest",
    "Compare nearest neighbours with the authors' program.",
    data_option,
    count_option("--instances", None, "Number of test instances to rank.  [default: all]"),
    baselines_option,
    threads_option,
    rounds_option(),
)
def bench_nearest(
    data: Path, instances: int | None, baselines: bool, threads: int, rounds: int
) -> Report:
    """Measure the index, and predictions with two settings."""
    whole = Data.read(data)
    dataset = replace(whole, X_test=whole.X_test[:instances], Y_test=whole.Y_test[:instances])
    if dataset.X_test.shape[0] == whole.X_test.shape[0]:
        subset = ALL
    else:
        subset = f"first {instances}"
    settings = swnn_settings()
    contenders = [Contender(name, "this package", setting) for name, setting in settings.items()]
    about = f"{dataset.size}, the fastest of {rounds} interleaved rounds"
    report = Report("nearest", dataset.name, about, contenders)
    models = {
        name: _model(setting, 1).fit(dataset.X, dataset.Y) for name, setting in settings.items()
    }
    elsewhere = Elsewhere(whole, [INDEX, *models], UNIT_ROWS, subset, baselines)
    tasks = elsewhere.tasks
    tasks.append(
        Task(
            INDEX,
            TRAINING,
            lambda: SparseWeightedNearestNeighbors(n_jobs=1).fit(dataset.X, dataset.Y),
        )
    )
    for (name, model), n in product(models.items(), (1, threads)):
        own = copy(model).set_params(n_jobs=n)
        own.predict_top_k(dataset.X_test[:WARM_UP_ROWS], TOP)
        tasks.append(ranking_task(name, own, dataset.X_test, n))
    rankings = report.measure(tasks, rounds, AT_LEAST)
    for name, model in models.items():
        report.add_rankings(name, rankings, dataset.Y_test, threads)
        model.predict_top_k(dataset.X_test, TOP)
        assert model.inner_products_ is not None  # SWNN counts them in every prediction
        similarities = float(np.mean(model.inner_products_))
        report.add(name, PREDICTION, "similarities per instance", "", similarities)
        report.add(
            name,
            PREDICTION,
            "of the training instances",
            PERCENT,
            100 * similarities / dataset.X.shape[0],
        )
        kept = (*model.index_, model.label_starts_, model.labels_)
        index_bytes = sum(part.nbytes for part in kept if isinstance(part, np.ndarray))
    report.add(INDEX, TRAINING, "index with the label sets", "MB", index_bytes / 1e6)
    elsewhere.compare(report)
    report.add_process()
    return report


def swnn_settings() -> dict[str, Hyperparameters]:
    """Return the two compared settings by contender."""
    settings = {}
    for otherwise in SWNN_OTHERWISE:
        own = paper_setting("plt2016", "swnn", "", otherwise).hyperparameters
        values = ", ".join(f"{key} {value:g}" for key, value in own.items())
        settings[f"SWNN, {values}"] = own
    return settings


def _model(setting: Hyperparameters, n_jobs: int) -> SparseWeightedNearestNeighbors:
    return SparseWeightedNearestNeighbors(n_jobs=n_jobs).set_params(**setting)


@benchmark(
    "preliminary",
    "Measure L1 and L2 distance, and classifiers of 500 labels.",
    data_option,
    rounds_option(),
)
def bench_preliminary(data: Path, rounds: int) -> Report:
    """Rerun, on one thread, two experiments that swnn2018 mentions without a table.

    The first measures P@k with neighbours by L1 and L2 distance, which degrade performance
    according to Section 3.3. Because it uses brute force, it needs small datasets, and because a
    distance cannot serve as a weight, each neighbour has one vote. On rows of unit length, L2
    distance and cosine give the same order. The second measures the prediction time of classifiers
    for the 500 most frequent labels, about 0.1 ms according to Section 4.3.
    """
    dataset = Data.read(data)
    report = Report("preliminary", dataset.name, f"{dataset.size}, minimum of {rounds} rounds")
    for length, metric in product(("unit length", "original length"), ("L1", "L2")):
        if dataset.X.shape[0] * dataset.X.shape[1] > DENSE:
            break
        X, Q = (
            unit_rows(part) if length == "unit length" else part
            for part in (dataset.X, dataset.X_test)
        )
        nearest = _nearest(X.toarray(), Q.toarray(), "cityblock" if metric == "L1" else "euclidean")
        for S in (20, 75):
            name = f"{metric}, rows of {length}, S {S}"
            report.contenders.append(Contender(name, "brute force", {"S": S}))
            labels = _best(nearest[:, :S], dataset.Y)
            report.add_precision(name, PREDICTION, [precisions(dataset.Y_test, labels)])
    frequent = np.sort(np.argsort(-dataset.Y.sum(axis=0), kind="stable")[:FREQUENT])
    name = f"one-versus-rest of {frequent.size} labels"
    model = BinaryRelevance(C=C, n_jobs=1).fit(dataset.X, dataset.Y[:, frequent])
    report.measure([ranking_task(name, model, dataset.X_test)], rounds)
    report.contenders.append(Contender(name, "this package, binary relevance", {"C": C}))
    return report


def _nearest(X: np.ndarray, Q: np.ndarray, metric: Literal["cityblock", "euclidean"]) -> np.ndarray:
    """Return the 75 rows of X nearest to each row of Q, nearest first, ties by row number."""
    blocks = np.array_split(Q, -(-len(Q) // 64))
    return np.concatenate(
        [np.argsort(cdist(block, X, metric), axis=1, kind="stable")[:, :75] for block in blocks]
    )


def _best(nearest: np.ndarray, Y: sparse.csr_array) -> np.ndarray:
    """Return the labels with most votes, best first, ties by label, and then -1."""
    votes = np.stack([Y[numbers].sum(axis=0) for numbers in nearest])
    labels = np.argsort(-votes, axis=1, kind="stable")[:, :TOP]
    return np.where(np.take_along_axis(votes, labels, axis=1) > 0, labels, -1)
