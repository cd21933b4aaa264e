"""How fast BR and PCC are trained, beside scikit-learn's logistic regression as they were trained with before.

One process, tasks in turns, the best round of each. A task is all of training: C by cross-validation over the grid,
then one classifier for each label. Kernels are compiled and the data is in memory before anything is measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from xmlc.bench.answers import differing
from xmlc.bench.logistic._streaming import read_non_zeros
from xmlc.bench.logistic.peer import fit_with_peer, largest_difference, require_peer
from xmlc.bench.results import Data, InTurns
from xmlc.bench.text import counted
from xmlc.models.linear.binary_relevance import BinaryRelevance
from xmlc.models.linear.classifier_chain import ProbabilisticClassifierChain
from xmlc.models.linear.label_logistic import LabelLogistic
from xmlc.models.linear.regression import Problem, learnable, make_problem, solve
from xmlc.passport import WARM_UP_ROWS, in_turns, passport, peak_bytes

ESTIMATORS: dict[str, type[LabelLogistic]] = {"br": BinaryRelevance, "pcc": ProbabilisticClassifierChain}
AT_LEAST = 0.1  # seconds of a short task per round
PEER = "scikit-learn"
T = TypeVar("T")


@dataclass(frozen=True)
class Limit:
    """What a non-zero costs the solver, on one thread, and what it costs to be read at all.

    Attributes
    ----------
    passes : int
        Over the matrix, that all labels together need.
    ns : float
        Of the solver per non-zero and pass, for two products with each of eight labels.
    read_ns : float
        Of a kernel that reads indices and values.
    """

    passes: int
    ns: float
    read_ns: float


@dataclass(frozen=True, kw_only=True)
class Logistic(InTurns):
    """Training on one and on several threads, beside scikit-learn.

    Attributes
    ----------
    estimator : str
    seconds, cpu_seconds : dict of list of float
        By task, of the rounds.
    ratio : float
        Of best times, scikit-learn's to ours on several threads.
    C : float
    same_C : bool
        Whether scikit-learn's losses choose it too.
    differing_arrays : list of str
        Not the same bits on several threads.
    difference : float
        The largest of probabilities on the test set, to scikit-learn's solver newton-cg with tolerance 1e-12 and the
        same C.
    decrement : float
        The largest of the model's.
    limit : Limit
    """

    estimator: str
    seconds: dict[str, list[float]]
    cpu_seconds: dict[str, list[float]]
    ratio: float
    C: float
    same_C: bool
    differing_arrays: list[str]
    difference: float
    decrement: float
    limit: Limit


def compare_logistic(data: Path, estimator: str = "br", threads: int = 2, rounds: int = 1) -> Logistic:
    """Measure training on one and on several threads, beside scikit-learn, and how close the solutions are.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
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
    content = Data.read(data)
    X, Y = content.X, content.Y
    kind = ESTIMATORS[estimator]
    kind(n_jobs=1).fit(X[: 4 * WARM_UP_ROWS], Y[: 4 * WARM_UP_ROWS])
    one, several = kind(n_jobs=1), kind(n_jobs=threads)
    tasks: dict[str, Callable[[], float | LabelLogistic]] = {
        ours_on(1): lambda: one.fit(X, Y),
        ours_on(threads): lambda: several.fit(X, Y),
        PEER: lambda: fit_with_peer(kind(), X, Y),
    }
    cpu_seconds: dict[str, list[float]] = {name: [] for name in tasks}
    seconds, found = in_turns({name: _counting_cpu(task, cpu_seconds[name]) for name, task in tasks.items()}, rounds)
    C = float(np.nanmax(one.C_, initial=0.0))
    problem = make_problem(X, Y, True, 1.0, np.full(Y.shape[1], X.shape[1]))
    return Logistic(
        dataset=content.name,
        shape=content.shape,
        estimator=estimator,
        threads=threads,
        rounds=rounds,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        ratio=min(seconds[PEER]) / min(seconds[ours_on(threads)]),
        C=C,
        same_C=bool(found[PEER] == C),
        differing_arrays=differing(_arrays(one), _arrays(several)),
        difference=largest_difference(one, X, Y, content.X_test, content.Y_test),
        decrement=float(np.nanmax(one.decrements_, initial=0.0)),
        limit=streaming_limit(problem, one, rounds),
        peak_bytes=peak_bytes(),
        passport=passport(threads),
    )


def _counting_cpu(task: Callable[[], T], spent: list[float]) -> Callable[[], T]:
    """Return the task such that it notes the CPU seconds of all threads, which others on the machine hardly change."""

    def run() -> T:
        start = time.process_time()
        result = task()
        spent.append(time.process_time() - start)
        return result

    return run


def ours_on(threads: int) -> str:
    """Name the task of training on so many threads."""
    return f"xmlc, {counted(threads, 'thread')}"


def _arrays(model: LabelLogistic) -> dict[str, np.ndarray]:
    return {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}


def streaming_limit(problem: Problem, model: LabelLogistic, rounds: int) -> Limit:
    """Measure what a non-zero costs the solver, on one thread, and what it costs to be read at all.

    Parameters
    ----------
    problem : Problem
        Of BR, on all training instances.
    model : LabelLogistic
        Whose path of C is gone through.
    rounds : int
    """
    labels = learnable(problem, np.ones(problem.n_instances, dtype=bool))
    grid = np.tile(np.asarray(model.C_grid, dtype=np.float64), (labels.size, 1))
    _, indices, values = problem.rows
    passes: list[int] = []
    tasks: dict[str, Callable[[], object]] = {
        "solve": lambda: passes.append(solve(problem, labels, grid, np.arange(problem.n_instances)).passes),
        "read": lambda: read_non_zeros(indices, values),
    }
    tasks["read"]()
    seconds, _ = in_turns(tasks, rounds, AT_LEAST)
    size = max(values.size, 1)
    ns = 1e9 * min(seconds["solve"]) / (max(passes[-1], 1) * size)
    return Limit(passes[-1], ns, 1e9 * min(seconds["read"]) / size)
