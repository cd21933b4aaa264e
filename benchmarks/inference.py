"""How fast the expected F is maximised for each instance, method by method on the same samples.

Every task has run before, so that no kernel is compiled in a measured time. The model is trained or read, and its
samples are drawn, once and outside of all measured times: a method gets label vectors in memory and returns label sets.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scipy import sparse

from benchmarks.harness import PER_INSTANCE, PERCENT, TIME, TIMES, Contender, Data, Report, Rows, Task
from benchmarks.settings import paper_setting
from xmlc.core.errors import XmlcError
from xmlc.core.passport import WARM_UP_ROWS, timed
from xmlc.inference.samples import Samples
from xmlc.metrics.classification import instance_f
from xmlc.models.abilities import DrawsSamples
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import estimator_class, make_estimator
from xmlc.steps.simulation import task_of

METHODS = ("gfm", "gfm-t", "meuf-cubic", "meuf-approx", "meuf", "lewis")
ESTIMATOR, OF_PAPER = "pcc", ("pcc", "br")
AT_LEAST = 0.2  # seconds of a task per round
INFERENCE = "inference from samples"


def bench_inference(
    folder: Path,
    model_folder: Path | None = None,
    estimator: str = ESTIMATOR,
    n_samples: int = 200,
    threads: int = 1,
    rounds: int = 3,
    seed: int = 0,
) -> Report:
    """Measure costs of inference on the test set, by method.

    Parameters
    ----------
    folder : Path
        Written by `xmlc prepare`.
    model_folder : Path or None
        A trained model that can draw samples; without it one is trained.
    estimator : str
        The model's, see `xmlc.models.registry`.
    n_samples : int
        Label vectors for each instance.
    threads, rounds : int
    seed : int
        Of training and of the samples.

    Raises
    ------
    XmlcError
        The folder holds no dataset, or the model cannot draw samples.
    """
    data = Data.read(folder)
    rows = Rows("inference", data.name)
    model: Any = _model(data, model_folder, estimator, threads, seed)
    model.sample(data.X_test[:WARM_UP_ROWS], n_samples)  # loads what is compiled
    drawn, sampling_seconds = timed(lambda: model.sample(data.X_test, n_samples))
    samples = Samples(drawn, n_samples)
    add_methods(rows, samples, data.Y_test, threads, rounds)
    rows.add("process", "whole benchmark", "drawing the samples, in no other time", "s", sampling_seconds)
    rows.add_process()
    return rows.report(
        about=f"{data.size}; {n_samples} samples for each test instance; minimum of {rounds} interleaved rounds",
        threads=threads,
        contenders=[Contender(name, "inference method of this package", threads=(threads,)) for name in METHODS],
    )


def _model(data: Data, folder: Path | None, estimator: str, threads: int, seed: int) -> SparseProbabilityEstimator:
    kind = estimator_class(estimator)
    if not issubclass(kind, DrawsSamples):
        raise XmlcError(
            f"{estimator} has no method `sample`; expected an estimator that draws label vectors, such as pcc"
        )
    if folder is not None:
        return kind.load(folder)
    hyperparameters = paper_setting("gfm2011", estimator).hyperparameters if estimator in OF_PAPER else {}
    return make_estimator(estimator, hyperparameters, seed, threads).fit(data.X, data.Y)


def add_methods(rows: Rows, samples: Samples, Y: sparse.csr_array, threads: int, rounds: int) -> None:
    """Infer with every method in turns; add times, their ratio to GFM's, and the F-measure on the test set."""
    tasks = [
        Task(name, INFERENCE, task_of(name, samples, threads), PER_INSTANCE, Y.shape[0], threads) for name in METHODS
    ]
    for task in tasks:
        task.call()
    found = rows.measure(tasks, rounds, AT_LEAST)
    least = rows.value("gfm", INFERENCE, TIME, threads)
    for name in METHODS:
        own = rows.value(name, INFERENCE, TIME, threads)
        rows.add(name, INFERENCE, f"{TIME} / gfm's", TIMES, own / least, threads=threads)
        score = 100 * float(instance_f(Y, found[name, INFERENCE, threads][0]))
        rows.add(name, INFERENCE, "instance-F", PERCENT, score, threads=threads)
