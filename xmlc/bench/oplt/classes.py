"""How well online label trees learn classes of which there are few examples, beside Vowpal Wabbit's memory tree.

The comparison of oplt2021, Section 5.2: accuracy on a stream, each instance predicted before it is learned, and on a
test set after all of it, after one pass and after several. Each model has a process of its own and one thread. The
memory tree's values are those of its authors' scripts (``demo/memory_tree``): one set for one pass online, another for
several; it reads and writes files, which is in its time. Ours has the paper's.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xmlc.bench.own_process import in_own_process, peak_above
from xmlc.bench.results import Compared, Data, as_json, from_json
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.streams import Stream
from xmlc.metrics.progressive import constant_accuracy, entropy_reduction, progressive_accuracy
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.registry import make_estimator
from xmlc.passport import WARM_UP_ROWS, cpu_seconds, passport, timed

TREE: Hyperparameters = {"arity": 2, "max_leaf": 10, "eps": 0.01}  # oplt2021, Section 5: b_max 10 for these tasks


class Contender(NamedTuple):
    """A model: its hyperparameters for one pass online, and for several passes."""

    estimator: str
    online: Hyperparameters
    several: Hyperparameters


IMAGES = Contender("vw-cmt", {"online": True, "leaf_multiplier": 10, "dream_repeats": 20}, {"passes": 3})
TEXTS = Contender(
    "vw-cmt",
    {
        "online": True,
        "leaf_multiplier": 10,
        "dream_repeats": 15,
        "eta": 0.1,
        "dream_at_update": True,
        "learn_at_leaf": False,
    },
    {"passes": 2, "dream_repeats": 5, "eta": 0.1, "dream_at_update": True},
)
TEXT_NAME = "wikipara"  # datasets with this in their name have the values of that script
MODELS = {
    name: Contender("oplt", TREE | {"policy": policy}, TREE | {"policy": policy, "epochs": 3})
    for name, policy in (("OPLT-R", "random"), ("OPLT-B", "best_greedy"))
}
CMT = "CMT"


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


@dataclass(frozen=True)
class ClassesModel:
    """The shuffles of one model: means of the accuracies of `ClassesRun`, in percent, and the best of its costs.

    Attributes
    ----------
    reduction : float
        Entropy reduction of ``progressive``, in bits.
    runs : list of ClassesRun
    """

    progressive: float
    test_online: float
    test_several: float
    reduction: float
    cpu_online: float
    cpu_several: float
    ms: float
    peak_bytes: int
    runs: list[ClassesRun]


@dataclass(frozen=True, kw_only=True)
class Classes(Compared):
    """All models.

    Attributes
    ----------
    seeds : int
        Shuffles.
    constant : float
        Accuracy of the constant predictor on the stream.
    models : dict of ClassesModel
        By name.
    """

    seeds: int
    constant: float
    models: dict[str, ClassesModel]


def compare_classes(data: Path, seeds: int = 1, hash_bits: int = 24, peers: bool = True) -> Classes:
    """Run OPLT with both policies and the memory tree on some shuffles of a dataset with one label per instance.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
    seeds : int
        Shuffles; accuracies are means over them, costs the best.
    hash_bits : int
        Of the memory tree: 2 to this power are its weights.
    peers : bool
        Whether to run the memory tree.

    Raises
    ------
    XmlcError
        An instance has no label or several, or a model fails.
    """
    prepared = Prepared(data)
    meta, (_, Y) = prepared.meta, prepared.part("train")
    if (np.diff(Y.indptr) != 1).any():
        raise XmlcError(f"{data}: instances with no label or several; expected classes, one for each instance")
    constant = constant_accuracy(Y)
    models = MODELS | ({CMT: memory_tree(meta["name"], hash_bits)} if peers else {})
    runs: dict[str, list[ClassesRun]] = {name: [] for name in models}
    for seed in range(seeds):
        for name, (estimator, online, several) in models.items():
            asked = (json.dumps(online), json.dumps(several), str(seed))
            measured = in_own_process("xmlc.bench.oplt.classes", str(data), estimator, *asked)
            runs[name].append(from_json(ClassesRun, measured))
    return Classes(
        dataset=meta["name"],
        shape=[meta["n_train"], meta["d"], meta["m"]],
        seeds=seeds,
        constant=constant,
        models={name: _summary(found, constant) for name, found in runs.items()},
        passport=passport(1),
    )


def memory_tree(dataset: str, hash_bits: int) -> Contender:
    """Return the memory tree as its authors' script for such a dataset runs it."""
    estimator, online, several = TEXTS if TEXT_NAME in dataset else IMAGES
    return Contender(estimator, online | {"hash_bits": hash_bits}, several | {"hash_bits": hash_bits})


def _summary(runs: list[ClassesRun], constant: float) -> ClassesModel:
    """Summarise the shuffles."""
    progressive = 100 * float(np.mean([run.progressive for run in runs]))
    return ClassesModel(
        progressive=progressive,
        test_online=100 * float(np.mean([run.test_online for run in runs])),
        test_several=100 * float(np.mean([run.test_several for run in runs])),
        reduction=float(entropy_reduction(np.array([progressive / 100]), constant)[0]),
        cpu_online=min(run.cpu_online for run in runs),
        cpu_several=min(run.cpu_several for run in runs),
        ms=min(run.ms for run in runs),
        peak_bytes=min(run.peak_bytes for run in runs),
        runs=runs,
    )


def run_once(data: Path, estimator: str, online: Hyperparameters, several: Hyperparameters, seed: int) -> ClassesRun:
    """Run one model on one shuffle in this process."""
    content = Data.read(data)
    order = random_permutation(content.X.shape[0], seed, Stream.CLASSES_ORDER)
    X, Y, X_test, Y_test = content.X[order], content.Y[order], content.X_test.copy(), content.Y_test.copy()
    warm: Any = make_estimator(estimator, online, seed, 1)
    warm.progressive_top_k(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS])
    model: Any = make_estimator(estimator, online, seed, 1)
    started = cpu_seconds()
    (labels, _), peak = peak_above(lambda: model.progressive_top_k(X, Y))
    cpu_online = cpu_seconds() - started
    whole = np.array([X.shape[0]])
    answers, _ = model.predict_top_k(X_test, 1)
    thorough = make_estimator(estimator, several, seed, 1)
    started = cpu_seconds()
    thorough.fit(X, Y)
    cpu_several = cpu_seconds() - started
    (later, _), seconds = timed(lambda: thorough.predict_top_k(X_test, 1))
    return ClassesRun(
        progressive=float(progressive_accuracy(Y, labels, whole)[0]),
        test_online=precision_at_k(Y_test, answers, 1),
        test_several=precision_at_k(Y_test, later, 1),
        cpu_online=cpu_online,
        cpu_several=cpu_several,
        ms=1e3 * seconds / X_test.shape[0],
        peak_bytes=peak,
    )


def _main(data: str, estimator: str, online: str, several: str, seed: str) -> None:
    try:
        run = run_once(Path(data), estimator, json.loads(online), json.loads(several), int(seed))
    except XmlcError as error:
        sys.exit(str(error))
    print(json.dumps(as_json(run)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
