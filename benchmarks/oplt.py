"""How fast online label trees learn, in how much memory, and how well they rank, compared with napkinXC's own.

Each training has a process of its own and one thread; ours and the program's alternate, shuffle by shuffle. Our kernels
are compiled, or taken from the cache, by a first training in the same process, which is where memory is measured; the
second one is timed. No time includes reading the data. The program's includes the conversion of the data to its types
and the writing of its model, which it always does; both are far less than its training.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from scipy import sparse

from benchmarks.harness import (
    CPU_TIME,
    MEMORY,
    PER_INSTANCE,
    PREDICTION,
    TIME,
    TOP,
    TRAINING,
    Contender,
    Data,
    Report,
    Rows,
    in_own_process,
    main_of,
    peak_above,
    precisions,
)
from benchmarks.settings import Setting, paper_setting
from xmlc.core.errors import XmlcError
from xmlc.core.passport import WARM_UP_ROWS, cpu_seconds, timed
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import make_estimator

OURS, PROGRAM = "xmlc", "napkinXC"
BASELINES = "napkinxc"
VARIANTS = {  # names of ours and of the program's in oplt2021.yaml; both have the paper's values
    "OPLT-R": {OURS: "oplt-r-1-pass", PROGRAM: "napkinxc-oplt-r"},
    "OPLT-B": {OURS: "oplt-b-1-pass", PROGRAM: "napkinxc-oplt-b"},
    "OPLT-W": {OURS: "oplt-w-1-pass", PROGRAM: "napkinxc-oplt-w"},
    "IPLT": {OURS: "iplt-1-pass", PROGRAM: "napkinxc-iplt"},
}


@dataclass(frozen=True)
class Training:
    """One training in a process of its own."""

    seconds: float
    cpu_seconds: float
    #: Above the process with the data in memory.
    peak_bytes: int
    #: Of ranking an instance.
    ms: float
    #: P@1, P@3 and P@5.
    precision: list[float]


def bench_oplt(
    folder: Path, variants: tuple[str, ...] = (), seeds: int = 5, epochs: int = 1, peers: bool = True
) -> Report:
    """Train every variant on some shuffles of a dataset, ours and napkinXC's alternating.

    Parameters
    ----------
    folder : Path
        Written by `xmlc prepare`.
    variants : tuple of str
        Of `VARIANTS`; all if none is named.
    seeds : int
        Shuffles; P@k is the mean over them, a time or a peak the minimum.
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
    data = Data.read(folder)
    settings = {
        (variant, program): paper_setting("oplt2021", model, data.name, {"epochs": epochs})
        for variant in variants or VARIANTS
        for program, model in VARIANTS[variant].items()
        if peers or program == OURS
    }
    runs: dict[tuple[str, str], list[Training]] = {key: [] for key in settings}
    for seed in range(seeds):
        for key, (estimator, hyperparameters) in settings.items():
            arguments = (str(folder), estimator, json.dumps(hyperparameters), str(seed))
            runs[key].append(Training(**in_own_process("benchmarks.oplt", *arguments)))
    rows = Rows("oplt", data.name)
    for key, found in runs.items():
        add_trainings(rows, ", ".join(key), found)
    for variant, program in settings:
        if program == PROGRAM:
            for task in (TRAINING, PREDICTION):
                rows.compare(f"{variant}, {OURS}", f"{variant}, {PROGRAM}", task)
    return rows.report(
        about=f"{data.size}; passes: {epochs}; P@k the mean of {seeds} shuffles, costs the minimum; a process for each "
        f"training",
        contenders=[_contender(key, setting) for key, setting in settings.items()],
    )


def _contender(key: tuple[str, str], setting: Setting) -> Contender:
    return Contender(", ".join(key), setting.estimator, setting.hyperparameters)


def add_trainings(rows: Rows, name: str, runs: list[Training]) -> None:
    """Add the costs and the scores of one variant of one program on all shuffles."""
    rows.add_least(name, TRAINING, TIME, "s", [run.seconds for run in runs])
    rows.add_least(name, TRAINING, CPU_TIME, "s", [run.cpu_seconds for run in runs])
    rows.add_least(name, TRAINING, MEMORY, "MB", [run.peak_bytes / 1e6 for run in runs])
    rows.add_least(name, PREDICTION, TIME, PER_INSTANCE, [run.ms for run in runs])
    rows.add_precision(name, PREDICTION, [run.precision for run in runs])


def train_once(folder: Path, estimator: str, hyperparameters: Hyperparameters, seed: int) -> Training:
    """Train one model in this process and rank the test set."""
    data = Data.read(folder)
    X, Y, X_test = data.X.copy(), data.Y.copy(), data.X_test.copy()
    model = make_estimator(estimator, hyperparameters, seed, n_jobs=1)
    if not estimator.startswith(BASELINES):
        model.fit(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS]).predict_top_k(X_test[:WARM_UP_ROWS], TOP)
        _, peak = peak_above(lambda: model.fit(X, Y))
        costs = _trained(model, X, Y)
    else:
        costs, peak = peak_above(lambda: _trained(model, X, Y))
    (labels, _), spent = timed(lambda: model.predict_top_k(X_test, TOP))
    return Training(*costs, peak, 1e3 * spent / X_test.shape[0], precisions(data.Y_test, labels))


def _trained(model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array) -> tuple[float, float]:
    """Train a model and return how many wall and processor seconds it took."""
    started = cpu_seconds()
    _, seconds = timed(lambda: model.fit(X, Y))
    return seconds, cpu_seconds() - started


def run(folder: str, estimator: str, hyperparameters: str, seed: str) -> Training:
    """Train once, with the arguments of the process."""
    return train_once(Path(folder), estimator, json.loads(hyperparameters), int(seed))


if __name__ == "__main__":
    main_of(run)
