"""How well online label trees learn classes with few examples, compared with Vowpal Wabbit's memory tree.

The comparison of oplt2021, Section 5.2: accuracy on a stream, each instance predicted before it is learned, and on a
test set after all of it, after one pass and after several. Each model has a process of its own and one thread. The
memory tree reads and writes files, which is in its time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xmlc.bench.harness import CPU_TIME, MEMORY, PER_INSTANCE, Data, Rows
from xmlc.bench.own_process import in_own_process, main_of, peak_above
from xmlc.bench.rows import PERCENT, Contender, Report
from xmlc.bench.settings import Setting, classes_setting
from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.streams import Stream
from xmlc.metrics.progressive import constant_accuracy, entropy_reduction, progressive_accuracy
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.registry import make_estimator
from xmlc.passport import WARM_UP_ROWS, cpu_seconds, timed

CMT = "CMT"
MODELS = {"OPLT-R": "oplt-r", "OPLT-B": "oplt-b", CMT: "cmt"}  # in oplt2021.yaml, before -1-pass and -3-passes
STREAM, SEVERAL = "one pass over the stream", "several passes"
ACCURACY, ON_TEST = "accuracy on the stream", "accuracy on the test set"


class Settings(NamedTuple):
    """The values of a model for one pass online, and for several passes."""

    online: Setting
    several: Setting


@dataclass(frozen=True)
class ClassesRun:
    """One model on one shuffle, in a process of its own.

    Attributes
    ----------
    progressive, test_online, test_several : float
        Accuracies: on the stream; on the test set, after it and after several passes.
    cpu_online, cpu_several : float
        Processor seconds of the stream, predictions included, and of training in several passes.
    ms : float
        To predict a test instance.
    peak_bytes : int
        By which memory rose on the stream.
    """

    progressive: float
    test_online: float
    test_several: float
    cpu_online: float
    cpu_several: float
    ms: float
    peak_bytes: int


def bench_classes(folder: Path, seeds: int = 1, hash_bits: int = 24, peers: bool = True) -> Report:
    """Run OPLT with both policies and the memory tree on some shuffles of a dataset with one label per instance.

    Parameters
    ----------
    folder : Path
        Written by `xmlc prepare`.
    seeds : int
        Shuffles; accuracies are means over them, costs the minimum.
    hash_bits : int
        Of the memory tree: 2 to this power are its weights.
    peers : bool
        Whether to run the memory tree.

    Raises
    ------
    XmlcError
        An instance has no label or several, or a model fails.
    """
    data = Data.read(folder)
    if (np.diff(data.Y.indptr) != 1).any():
        raise XmlcError(f"{folder}: instances with no label or several; expected classes, one for each instance")
    constant = constant_accuracy(data.Y)
    models = {name: settings_of(name, data.name, hash_bits) for name in MODELS if peers or name != CMT}
    runs: dict[str, list[ClassesRun]] = {name: [] for name in models}
    for seed in range(seeds):
        for name, (online, several) in models.items():
            values = (json.dumps(setting.hyperparameters) for setting in (online, several))
            found = in_own_process("xmlc.bench.oplt.classes", str(folder), online.estimator, *values, str(seed))
            runs[name].append(ClassesRun(**found))
    rows = Rows("oplt-classes", data.name)
    rows.add("constant predictor", STREAM, ACCURACY, PERCENT, 100 * constant)
    for name, measured in runs.items():
        add_runs(rows, name, measured, constant)
    return rows.report(
        about=f"{data.size}; accuracies the mean of {seeds} shuffles, costs the minimum; a process for each model",
        contenders=[
            Contender(f"{name}, {task}", setting.estimator, setting.hyperparameters)
            for name, settings in models.items()
            for task, setting in zip((STREAM, SEVERAL), settings)
        ],
    )


def settings_of(name: str, dataset: str, hash_bits: int) -> Settings:
    """Return the values of a model on a dataset."""
    more: Hyperparameters = {"hash_bits": hash_bits} if name == CMT else {}
    one, three = (classes_setting(f"{MODELS[name]}-{passes}", dataset, more) for passes in ("1-pass", "3-passes"))
    return Settings(one, three)


def add_runs(rows: Rows, name: str, runs: list[ClassesRun], constant: float) -> None:
    """Add the shuffles of one model: means of accuracies, in percent, and minima of costs."""

    def add_accuracy(task: str, measure: str, shares: list[float]) -> float:
        mean = float(np.mean(shares))
        rows.add(name, task, measure, PERCENT, 100 * mean, [100 * share for share in shares])
        return mean

    progressive = add_accuracy(STREAM, ACCURACY, [run.progressive for run in runs])
    reduction = float(entropy_reduction(np.array([progressive]), constant)[0])
    rows.add(name, STREAM, "entropy reduction", "bits", reduction)
    add_accuracy(STREAM, ON_TEST, [run.test_online for run in runs])
    rows.add_least(name, STREAM, CPU_TIME, "s", [run.cpu_online for run in runs])
    rows.add_least(name, STREAM, MEMORY, "MB", [run.peak_bytes / 1e6 for run in runs])
    add_accuracy(SEVERAL, ON_TEST, [run.test_several for run in runs])
    rows.add_least(name, SEVERAL, CPU_TIME, "s", [run.cpu_several for run in runs])
    rows.add_least(name, SEVERAL, "time to predict", PER_INSTANCE, [run.ms for run in runs])


def run_once(folder: Path, estimator: str, online: Hyperparameters, several: Hyperparameters, seed: int) -> ClassesRun:
    """Run one model on one shuffle in this process."""
    data = Data.read(folder)
    order = random_permutation(data.X.shape[0], seed, Stream.CLASSES_ORDER)
    X, Y, X_test, Y_test = data.X[order], data.Y[order], data.X_test.copy(), data.Y_test.copy()
    warm: Any = make_estimator(estimator, online, seed, 1)
    warm.progressive_top_k(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS])
    model: Any = make_estimator(estimator, online, seed, 1)
    started = cpu_seconds()
    (labels, _), peak = peak_above(lambda: model.progressive_top_k(X, Y))
    cpu_online = cpu_seconds() - started
    whole = np.array([X.shape[0]])
    labels_after, _ = model.predict_top_k(X_test, 1)
    thorough = make_estimator(estimator, several, seed, 1)
    started = cpu_seconds()
    thorough.fit(X, Y)
    cpu_several = cpu_seconds() - started
    (later, _), seconds = timed(lambda: thorough.predict_top_k(X_test, 1))
    return ClassesRun(
        progressive=float(progressive_accuracy(Y, labels, whole)[0]),
        test_online=precision_at_k(Y_test, labels_after, 1),
        test_several=precision_at_k(Y_test, later, 1),
        cpu_online=cpu_online,
        cpu_several=cpu_several,
        ms=1e3 * seconds / X_test.shape[0],
        peak_bytes=peak,
    )


def run(folder: str, estimator: str, online: str, several: str, seed: str) -> ClassesRun:
    """Run once, with the arguments of the process."""
    return run_once(Path(folder), estimator, json.loads(online), json.loads(several), int(seed))


if __name__ == "__main__":
    main_of(run)
