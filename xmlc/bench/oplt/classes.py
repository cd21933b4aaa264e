"""How well online label trees learn classes of which there are few examples, beside Vowpal Wabbit's memory tree.

The comparison of oplt2021, Section 5.2: accuracy on a stream, each instance predicted before it is learned, and on a
test set after all of it, after one pass and after several. Each model has a process of its own and one thread. The
memory tree's values are those of its authors' scripts (``demo/memory_tree``): one set for one pass online, another for
several; it reads and writes files, which is in its time. Ours has the paper's.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from xmlc.bench.own_process import in_own_process, peak_above
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.kernels.counter_random import random_permutation
from xmlc.metrics.progressive import constant_accuracy, entropy_reduction, progressive_accuracy
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.registry import make_estimator
from xmlc.passport import WARM_UP_ROWS, cpu_seconds, passport, timed

STREAM = 0x0F2  # of random numbers: the order of the instances
TREE = {"arity": 2, "max_leaf": 10, "eps": 0.01}  # oplt2021, Section 5: b_max 10 for these tasks
_IMAGES = {"online": {"online": True, "leaf_multiplier": 10, "dream_repeats": 20}, "several": {"passes": 3}}
_TEXTS = {
    "online": {
        "online": True,
        "leaf_multiplier": 10,
        "dream_repeats": 15,
        "eta": 0.1,
        "dream_at_update": True,
        "learn_at_leaf": False,
    },
    "several": {"passes": 2, "dream_repeats": 5, "eta": 0.1, "dream_at_update": True},
}
TEXTS = "wikipara"  # datasets with this in their name have the values of that script
MODELS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "OPLT-R": ("oplt", TREE | {"policy": "random"}, {"epochs": 3}),
    "OPLT-B": ("oplt", TREE | {"policy": "best_greedy"}, {"epochs": 3}),
}
CMT = "CMT"


def compare_classes(data: Path, seeds: int = 1, hash_bits: int = 24, peers: bool = True) -> dict[str, Any]:
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

    Returns
    -------
    dict
        ``dataset``, ``shape`` (n, d, m), ``seeds``, ``constant``: accuracy of the constant predictor on the stream;
        ``models``: by name, see `_summary`; ``passport``.

    Raises
    ------
    XmlcError
        An instance has no label or several, or a model fails.
    """
    prepared = Prepared(data)
    _, Y = prepared.part("train")
    if (np.diff(Y.indptr) != 1).any():
        raise XmlcError(f"{data}: instances with no label or several; expected classes, one for each instance")
    constant = constant_accuracy(Y)
    models = MODELS | ({CMT: _memory_tree(prepared.meta["name"], hash_bits)} if peers else {})
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in models}
    for seed in range(seeds):
        for name, (estimator, online, several) in models.items():
            asked = (json.dumps(online), json.dumps(online | several if name != CMT else several))
            runs[name].append(in_own_process("xmlc.bench.oplt.classes", str(data), estimator, *asked, str(seed)))
    return {
        "dataset": prepared.meta["name"],
        "shape": [prepared.meta[name] for name in ("n_train", "d", "m")],
        "seeds": seeds,
        "constant": constant,
        "models": {name: _summary(found, constant) for name, found in runs.items()},
        "passport": passport(1),
    }


def _memory_tree(dataset: str, hash_bits: int) -> tuple[str, dict[str, Any], dict[str, Any]]:
    values = _TEXTS if TEXTS in dataset else _IMAGES
    return "vw-cmt", values["online"] | {"hash_bits": hash_bits}, values["several"] | {"hash_bits": hash_bits}


def _summary(runs: list[dict[str, Any]], constant: float) -> dict[str, Any]:
    """Summarise the shuffles.

    Returns
    -------
    dict
        Means of ``progressive``, ``test_online`` and ``test_several``, accuracies in percent, and ``reduction``, the
        entropy reduction of the first in bits; best ``cpu_online``, ``cpu_several``, ``ms`` and ``peak_bytes``;
        ``runs``.
    """
    accuracies = {name: 100 * float(np.mean([run[name] for run in runs])) for name in ACCURACIES}
    costs = {name: min(run[name] for run in runs) for name in COSTS}
    reduction = float(entropy_reduction(np.array([accuracies["progressive"] / 100]), constant)[0])
    return accuracies | {"reduction": reduction} | costs | {"runs": runs}


ACCURACIES = ("progressive", "test_online", "test_several")
COSTS = ("cpu_online", "cpu_several", "ms", "peak_bytes")


def run_once(
    data: Path, estimator: str, online: dict[str, Any], several: dict[str, Any], seed: int
) -> dict[str, float | int]:
    """Run one model on one shuffle in this process.

    Returns
    -------
    dict
        `ACCURACIES` between 0 and 1, and `COSTS`: processor seconds of the stream, predictions included, and of
        training in several passes; milliseconds to predict a test instance; bytes that memory rose on the stream.
    """
    prepared = Prepared(data)
    X, Y, X_test, Y_test = (matrix.copy() for name in ("train", "test") for matrix in prepared.part(name))
    order = random_permutation(X.shape[0], seed, STREAM)
    X, Y = X[order], Y[order]
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
    return {
        "progressive": float(progressive_accuracy(Y, labels, whole)[0]),
        "test_online": precision_at_k(Y_test, answers, 1),
        "test_several": precision_at_k(Y_test, later, 1),
        "cpu_online": cpu_online,
        "cpu_several": cpu_several,
        "ms": 1e3 * seconds / X_test.shape[0],
        "peak_bytes": peak,
    }


def _main(data: str, estimator: str, online: str, several: str, seed: str) -> None:
    try:
        print(json.dumps(run_once(Path(data), estimator, json.loads(online), json.loads(several), int(seed))))
    except XmlcError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    _main(*sys.argv[1:])
