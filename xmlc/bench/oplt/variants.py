"""How fast online label trees learn, in how much memory, and how well they rank, beside napkinXC's own.

Each training has a process of its own and one thread; ours and the program's take turns, shuffle after shuffle. Our
kernels are compiled, or taken from the cache, by a first training in the same process, which is where memory is
measured; the second one is timed. Reading the data is in no time. Turning it into the program's types is in the
program's, and so is writing its model, because it knows no other way; both are far less than its training.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from scipy import sparse

from xmlc.bench.answers import precisions
from xmlc.bench.own_process import in_own_process, peak_above
from xmlc.bench.results import (
    INLINE,
    OPTIONAL,
    PRECISION,
    PRECISION_STD,
    Compared,
    Data,
    as_json,
    from_json,
    mean_percent,
    std_percent,
)
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import make_estimator
from xmlc.passport import WARM_UP_ROWS, cpu_seconds, passport, timed

K = 5
TREE: Hyperparameters = {"arity": 2, "max_leaf": 100, "eps": 0.01}  # oplt2021, Section 5
OURS, PROGRAM = "xmlc", "napkinXC"
PEERS = "napkinxc"


class Contender(NamedTuple):
    """An estimator by its name, and its hyperparameters beside `TREE`."""

    estimator: str
    hyperparameters: Hyperparameters


VARIANTS = {
    "OPLT-R": {
        OURS: Contender("oplt", {"policy": "random"}),
        PROGRAM: Contender("napkinxc-oplt", {"policy": "random"}),
    },
    "OPLT-B": {
        OURS: Contender("oplt", {"policy": "best_greedy"}),
        PROGRAM: Contender("napkinxc-oplt", {"policy": "best_greedy"}),
    },
    "OPLT-W": {
        OURS: Contender("oplt", {"warm_start": 0.1}),
        PROGRAM: Contender("napkinxc-oplt", {"warm_start": 0.1}),
    },
    "IPLT": {
        OURS: Contender("plt", {"solver": "adagrad", "tree": "kmeans", "gamma": 1.0}),
        PROGRAM: Contender("napkinxc-iplt", {}),
    },
}


@dataclass(frozen=True)
class Training:
    """One training in a process of its own.

    Attributes
    ----------
    seconds, cpu_seconds : float
    peak_bytes : int
        Above the process with the data in memory.
    ms : float
        Of ranking an instance.
    precision : list of float
        P@1, P@3 and P@5.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    ms: float
    precision: list[float] = field(metadata=PRECISION)


@dataclass(frozen=True)
class Trainings:
    """The shuffles of one variant: the best of the costs of `Training`, scores in percent.

    Attributes
    ----------
    precision : list of float
        Means.
    precision_std : list of float or None
        Standard deviations, of several.
    runs : list of Training
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    ms: float
    precision: list[float] = field(metadata=PRECISION)
    precision_std: list[float] | None = field(metadata=PRECISION_STD)
    runs: list[Training]


@dataclass(frozen=True)
class Ratios:
    """Ours divided by napkinXC's; NaN where that is too small to be measured, as the memory of a tiny dataset."""

    seconds: float
    cpu_seconds: float
    peak_bytes: float


@dataclass(frozen=True)
class Beside:
    """Ours beside napkinXC's.

    Attributes
    ----------
    ratios : Ratios
    difference : list of float
        Of P@1, P@3 and P@5, in points.
    """

    ratios: Ratios
    difference: list[float]


@dataclass(frozen=True)
class Variant:
    """One variant.

    Attributes
    ----------
    trainings : dict of Trainings
        By program.
    beside : Beside or None
        Where napkinXC was trained.
    """

    trainings: dict[str, Trainings] = field(metadata=INLINE)
    beside: Beside | None = field(metadata=INLINE | OPTIONAL)


@dataclass(frozen=True, kw_only=True)
class Variants(Compared):
    """All variants.

    Attributes
    ----------
    seeds, epochs : int
        Shuffles; passes over the training set.
    variants : dict of Variant
        By name.
    """

    seeds: int
    epochs: int
    variants: dict[str, Variant]


def compare_oplt(
    data: Path, variants: tuple[str, ...] = tuple(VARIANTS), seeds: int = 5, epochs: int = 1, peers: bool = True
) -> Variants:
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

    Raises
    ------
    XmlcError
        A variant is unknown, or a training fails.
    """
    unknown = sorted(set(variants) - set(VARIANTS))
    if unknown:
        raise XmlcError(f"variant {', '.join(unknown)} is unknown; expected any of {', '.join(VARIANTS)}")
    meta = Prepared(data).meta
    programs = (OURS, PROGRAM) if peers else (OURS,)
    runs: dict[tuple[str, str], list[Training]] = {(v, p): [] for v in variants for p in programs}
    for seed in range(seeds):
        for (variant, program), found in runs.items():
            estimator, hyperparameters = VARIANTS[variant][program]
            asked = json.dumps(TREE | {"epochs": epochs} | hyperparameters)
            measured = in_own_process("xmlc.bench.oplt.variants", str(data), estimator, asked, str(seed))
            found.append(from_json(Training, measured))
    return Variants(
        dataset=meta["name"],
        shape=[meta["n_train"], meta["d"], meta["m"]],
        seeds=seeds,
        epochs=epochs,
        variants={variant: compared({p: summary(runs[variant, p]) for p in programs}) for variant in variants},
        passport=passport(1),
    )


def summary(runs: list[Training]) -> Trainings:
    """Summarise the shuffles of one variant."""
    scores = [run.precision for run in runs]
    return Trainings(
        seconds=min(run.seconds for run in runs),
        cpu_seconds=min(run.cpu_seconds for run in runs),
        peak_bytes=min(run.peak_bytes for run in runs),
        ms=min(run.ms for run in runs),
        precision=mean_percent(scores),
        precision_std=std_percent(scores),
        runs=runs,
    )


def compared(trainings: dict[str, Trainings]) -> Variant:
    """Put ours beside napkinXC's, if that was trained."""
    if PROGRAM not in trainings:
        return Variant(trainings, None)
    ours, theirs = trainings[OURS], trainings[PROGRAM]
    ratios = Ratios(
        _ratio(ours.seconds, theirs.seconds),
        _ratio(ours.cpu_seconds, theirs.cpu_seconds),
        _ratio(ours.peak_bytes, theirs.peak_bytes),
    )
    return Variant(trainings, Beside(ratios, [own - other for own, other in zip(ours.precision, theirs.precision)]))


def _ratio(ours: float, theirs: float) -> float:
    return ours / theirs if theirs else float("nan")


def train_once(data: Path, estimator: str, hyperparameters: Hyperparameters, seed: int) -> Training:
    """Train one model in this process and rank the test set."""
    content = Data.read(data)
    X, Y, X_test = content.X.copy(), content.Y.copy(), content.X_test.copy()
    model = make_estimator(estimator, hyperparameters, seed, n_jobs=1)
    if not estimator.startswith(PEERS):
        model.fit(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS]).predict_top_k(X_test[:WARM_UP_ROWS], K)
        _, peak = peak_above(lambda: model.fit(X, Y))
        costs = _trained(model, X, Y)
    else:
        costs, peak = peak_above(lambda: _trained(model, X, Y))
    (labels, _), asked = timed(lambda: model.predict_top_k(X_test, K))
    return Training(*costs, peak, 1e3 * asked / X_test.shape[0], precisions(content.Y_test, labels))


def _trained(model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array) -> tuple[float, float]:
    """Train a model and return how many wall and processor seconds it took."""
    started = cpu_seconds()
    _, seconds = timed(lambda: model.fit(X, Y))
    return seconds, cpu_seconds() - started


def _main(data: str, estimator: str, hyperparameters: str, seed: str) -> None:
    try:
        training = train_once(Path(data), estimator, json.loads(hyperparameters), int(seed))
    except XmlcError as error:
        sys.exit(str(error))
    print(json.dumps(as_json(training)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
