"""How fast online label trees learn, in how much memory, and how well they rank, beside napkinXC's own.

Each training has a process of its own and one thread; ours and the program's take turns, shuffle after shuffle. Our
kernels are compiled, or taken from the cache, by a first training in the same process, which is where memory is
measured; the second one is timed. Reading the data is in no time. Turning it into the program's types is in the
program's, and so is writing its model, because it knows no other way; both are far less than its training.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.bench.answers import precisions
from xmlc.bench.own_process import in_own_process, peak_above
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import make_estimator
from xmlc.passport import WARM_UP_ROWS, cpu_seconds, passport, timed

K = 5
TREE = {"arity": 2, "max_leaf": 100, "eps": 0.01}  # oplt2021, Section 5
IPLT = {"solver": "adagrad", "tree": "kmeans", "gamma": 1.0}
# By variant: estimator and hyperparameters of ours, then of napkinXC's.
VARIANTS: dict[str, tuple[tuple[str, dict[str, Any]], tuple[str, dict[str, Any]]]] = {
    "OPLT-R": (("oplt", {"policy": "random"}), ("napkinxc-oplt", {"policy": "random"})),
    "OPLT-B": (("oplt", {"policy": "best_greedy"}), ("napkinxc-oplt", {"policy": "best_greedy"})),
    "OPLT-W": (("oplt", {"warm_start": 0.1}), ("napkinxc-oplt", {"warm_start": 0.1})),
    "IPLT": (("plt", IPLT), ("napkinxc-iplt", {})),
}
OURS, PROGRAM = "xmlc", "napkinXC"
PEERS = "napkinxc"


def compare_oplt(
    data: Path, variants: tuple[str, ...] = tuple(VARIANTS), seeds: int = 5, epochs: int = 1, peers: bool = True
) -> dict[str, Any]:
    """Train every variant on some shuffles of a dataset, ours and napkinXC's in turns.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
    variants : tuple of str
        Of `VARIANTS`.
    seeds : int
        Shuffles; P@k is the mean over them, a time or a peak the best.
    epochs : int
        Passes over the training set.
    peers : bool
        Whether to train napkinXC's too.

    Returns
    -------
    dict
        ``dataset``, ``shape`` (n, d, m), ``seeds``, ``epochs``; ``variants``: by name, by program, see `_summary`, and
        ``ratios`` to napkinXC of times and ``peak_bytes``, and ``difference`` of ``p@k`` in points;
        ``passport``.

    Raises
    ------
    XmlcError
        A variant is unknown, or a training fails.
    """
    unknown = sorted(set(variants) - set(VARIANTS))
    if unknown:
        raise XmlcError(f"variant {', '.join(unknown)} is unknown; expected any of {', '.join(VARIANTS)}")
    prepared = Prepared(data)
    sizes = [prepared.meta[name] for name in ("n_train", "d", "m")]
    programs = (OURS, PROGRAM) if peers else (OURS,)
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {(v, p): [] for v in variants for p in programs}
    for seed in range(seeds):
        for (variant, program), found in runs.items():
            estimator, parameters = VARIANTS[variant][programs.index(program)]
            asked = json.dumps(TREE | {"epochs": epochs} | parameters)
            found.append(in_own_process("xmlc.bench.oplt.variants", str(data), estimator, asked, str(seed)))
    result: dict[str, Any] = {variant: {p: _summary(runs[variant, p]) for p in programs} for variant in variants}
    if peers:
        for measured in result.values():
            measured |= _beside(measured[OURS], measured[PROGRAM])
    head = {"dataset": prepared.meta["name"], "shape": sizes, "seeds": seeds, "epochs": epochs}
    return head | {"variants": result, "passport": passport(1)}


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Summarise the shuffles of one variant.

    Returns
    -------
    dict
        Best ``seconds``, ``cpu_seconds`` and ``peak_bytes`` of training and ``ms`` of ranking an instance; ``p@k`` and,
        of several, ``p@k_std``, percent; ``runs``.
    """
    scores = 100 * np.array([run["p@k"] for run in runs])
    best = {name: min(run[name] for run in runs) for name in ("seconds", "cpu_seconds", "peak_bytes", "ms")}
    spread = scores.std(axis=0, ddof=1) if len(runs) > 1 else None
    return best | {"p@k": scores.mean(axis=0), "p@k_std": spread, "runs": runs}


def _beside(ours: dict[str, Any], program: dict[str, Any]) -> dict[str, Any]:
    # What is too small to be measured, as the memory of a tiny dataset, has no ratio.
    names = ("seconds", "cpu_seconds", "peak_bytes")
    ratios = {name: ours[name] / program[name] if program[name] else float("nan") for name in names}
    return {"ratios": ratios, "difference": ours["p@k"] - program["p@k"]}


def train_once(data: Path, estimator: str, parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Train one model in this process and rank the test set.

    Returns
    -------
    dict
        ``seconds`` and ``cpu_seconds`` of training, ``peak_bytes`` above the process with the data in memory, ``ms``
        of ranking an instance, and ``p@k`` for k = 1, 3 and 5.
    """
    prepared = Prepared(data)
    X, Y, X_test, Y_test = (matrix.copy() for name in ("train", "test") for matrix in prepared.part(name))
    model = make_estimator(estimator, parameters, seed, n_jobs=1)
    if not estimator.startswith(PEERS):
        model.fit(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS]).predict_top_k(X_test[:WARM_UP_ROWS], K)
        _, peak = peak_above(lambda: model.fit(X, Y))
        costs = _trained(model, X, Y)
    else:
        costs, peak = peak_above(lambda: _trained(model, X, Y))
    (labels, _), seconds = timed(lambda: model.predict_top_k(X_test, K))
    asked = {"ms": 1e3 * seconds / X_test.shape[0], "p@k": precisions(Y_test, labels)}
    return costs | {"peak_bytes": peak} | asked


def _trained(model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array) -> dict[str, float]:
    """Train a model and say how long it took."""
    started = cpu_seconds()
    _, seconds = timed(lambda: model.fit(X, Y))
    return {"seconds": seconds, "cpu_seconds": cpu_seconds() - started}


def _main(data: str, estimator: str, parameters: str, seed: str) -> None:
    try:
        print(json.dumps(train_once(Path(data), estimator, json.loads(parameters), int(seed))))
    except XmlcError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    _main(*sys.argv[1:])
