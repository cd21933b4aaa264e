"""How fast BR and PCC are trained, compared with scikit-learn's logistic regression as they were trained with before.

A task is all of training: C by cross-validation over the grid, then one classifier for each label. Kernels are compiled
and the data is in memory before anything is measured.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from xmlc.bench.harness import TRAINING, Data, Rows, Task, differing
from xmlc.bench.logistic.peer import (
    ROUGH_TOLERANCE,
    TOLERANCE,
    fit_with_peer,
    largest_difference,
    require_peer,
)
from xmlc.bench.rows import TIMES, YES_OR_NO, Contender, Report
from xmlc.bench.settings import paper_setting
from xmlc.models.linear.binary_relevance import BinaryRelevance
from xmlc.models.linear.classifier_chain import ProbabilisticClassifierChain
from xmlc.models.linear.label_logistic import LabelLogistic
from xmlc.passport import WARM_UP_ROWS

ESTIMATORS: dict[str, type[LabelLogistic]] = {"br": BinaryRelevance, "pcc": ProbabilisticClassifierChain}
PEER = "scikit-learn"
SOLUTION = "solution"


def bench_logistic(folder: Path, estimator: str = "br", threads: int = 2, rounds: int = 1) -> Report:
    """Measure training on one and on several threads and by scikit-learn, and how close the solutions are.

    Parameters
    ----------
    folder : Path
        Written by `xmlc prepare`.
    estimator : {"br", "pcc"}
    threads : int
        Compared with one thread. scikit-learn has one: its solver holds the interpreter's lock most of the time.
    rounds : int

    Raises
    ------
    XmlcError
        The folder holds no dataset, or scikit-learn is not installed.
    """
    require_peer()
    data, name = Data.read(folder), estimator.upper()
    X, Y, rows = data.X, data.Y, Rows("logistic", data.name)
    setting = paper_setting("gfm2011", estimator).hyperparameters
    one, several, peer = (ESTIMATORS[estimator](n_jobs=n).set_params(**setting) for n in (1, threads, 1))
    several.unfitted().fit(X[: 4 * WARM_UP_ROWS], Y[: 4 * WARM_UP_ROWS])
    tasks = [
        Task(name, TRAINING, lambda: one.fit(X, Y)),
        Task(name, TRAINING, lambda: several.fit(X, Y), threads=threads),
        Task(PEER, TRAINING, lambda: fit_with_peer(peer, X, Y)),
    ]
    found = rows.measure(tasks, rounds, cpu=True)
    rows.add_speed_up(name, TRAINING, threads)
    rows.add_same_bits(name, TRAINING, differing(_arrays(one), _arrays(several)), threads)
    for n in (1, threads):
        for row in rows.of(PEER, TRAINING):
            own = rows.value(name, TRAINING, row.measure, n)
            rows.add(name, TRAINING, f"{PEER}'s {row.measure} / this", TIMES, row.value / own, threads=n)
    C = float(np.nanmax(one.C_, initial=0.0))
    rows.add(name, SOLUTION, "C", "", C)
    rows.add(name, SOLUTION, f"C is also that of {PEER}'s losses", YES_OR_NO, found[PEER, TRAINING, 1] == C)
    decrement = float(np.nanmax(one.decrements_, initial=0.0))
    rows.add(name, SOLUTION, "largest squared Newton decrement relative to the objective", "", decrement)
    difference = largest_difference(one, X, Y, data.X_test, data.Y_test)
    rows.add(name, SOLUTION, "largest difference of probabilities on the test set", "", difference, note=TIGHT_FIT)
    rows.add_process()
    peer_is = (
        f"L-BFGS with tolerance {ROUGH_TOLERANCE:g} for the choice of C and {TOLERANCE:g} after it, one thread, as it "
        f"was used before"
    )
    return rows.report(
        about=f"{data.size}; C by cross-validation, then all labels; minimum of {rounds} interleaved rounds",
        threads=threads,
        contenders=[Contender(name, "this package", setting, (1, threads)), Contender(PEER, peer_is, setting)],
    )


TIGHT_FIT = "compared with scikit-learn's solver newton-cg, tolerance 1e-12, at the same C"


def _arrays(model: LabelLogistic) -> dict[str, np.ndarray]:
    return {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}
