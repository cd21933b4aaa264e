"""The tasks of a benchmark's contenders, run in turns, with the measurements in tidy rows.

All tasks run in one process, one at a time, after their data are read and their kernels compiled.
Rounds are interleaved, so that other load on the machine affects all contenders, and reports
contain the minimum over rounds, because interference only adds time.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.core.files import atomic_file
from xmlc.core.memory import peak_bytes
from xmlc.kernels.estimator import Hyperparameters
from xmlc.metrics.ranking import K, precision_at_k
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.suite.provenance.environment import commit, environment, in_turns
from xmlc.suite.steps.prepared import Prepared

ROOT = Path(__file__).parents[1]
PERCENT = "%"
YES_OR_NO = "yes or no"
RATIO = "ratio"
TIMES = "times"
POINTS = "points"
PER_SECOND = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
TRAINING = "training"
PREDICTION = "prediction of the best 5"
TIME = "time"
CPU_TIME = "CPU time"
PER_INSTANCE = "ms per instance"
TOP = max(K)  # labels in a predicted ranking


@dataclass(frozen=True)
class Row:
    """A measured or derived number of a benchmark."""

    benchmark: str
    dataset: str
    #: A contender, or two such as ``"ours / baseline"`` if the number compares them.
    contender: str
    #: Such as "training".
    task: str
    #: Such as "time", with the unit "ms per instance". The unit "yes or no" means 1 or 0.
    measure: str
    unit: str
    #: Minimum of a cost over all rounds, or mean of a quality. A ratio with denominator 0 is NaN.
    value: float
    #: Measurements that ``value`` summarises, none if it was computed from other numbers.
    rounds: tuple[float, ...] = ()
    threads: int = 1
    note: str = ""


@dataclass(frozen=True)
class Contender:
    """A program or method in a benchmark."""

    #: As in `Row.contender`.
    name: str
    #: A description of the program and method.
    what: str
    hyperparameters: Hyperparameters = field(default_factory=dict)


@dataclass(frozen=True)
class Data:
    """The training set and the test set in memory."""

    name: str
    X: sparse.csr_array
    Y: sparse.csr_array
    X_test: sparse.csr_array
    Y_test: sparse.csr_array

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a prepared dataset, or raise an `XmlcError` if the folder contains none."""
        prepared = Prepared(folder)
        return cls(prepared.meta["name"], *prepared.part("train"), *prepared.part("test"))

    @property
    def size(self) -> str:
        """Return the sizes as text."""
        (n, d) = self.X.shape
        m = self.Y.shape[1]
        return (
            f"{n} training instances, {self.X_test.shape[0]} test instances, {d} features, {m} "
            "labels"
        )


@dataclass(frozen=True)
class Task:
    """A task of a contender, whose time is measured."""

    contender: str
    name: str
    call: Callable[[], Any]
    #: Its first word is a key of `PER_SECOND`.
    unit: str = "s"
    #: Divisor of a call's time, such as its number of instances for a time per instance.
    work: float = 1.0
    threads: int = 1


Key = tuple[str, str, int]  # contender, task, and number of threads
Ranking = tuple[np.ndarray, np.ndarray]  # labels and their scores


def ranking_task(
    contender: str, model: SparseProbabilityEstimator, X: sparse.csr_array, threads: int = 1
) -> Task:
    """Return the task of ranking all rows of X."""
    return Task(
        contender,
        PREDICTION,
        lambda: model.predict_top_k(X, TOP),
        PER_INSTANCE,
        X.shape[0],
        threads,
    )


class Report:
    """All measurements of one benchmark on one dataset, with a sentence ``about`` both."""

    def __init__(
        self, benchmark: str, dataset: str, about: str, contenders: Iterable[Contender] = ()
    ):
        self.benchmark = benchmark
        self.dataset = dataset
        self.about = about
        self.contenders = list(contenders)
        self.rows: list[Row] = []
        self.remarks: list[str] = []
        self.environment = environment(1)

    def add(
        self,
        contender: str,
        task: str,
        measure: str,
        unit: str,
        value: float,
        rounds: Sequence[float] = (),
        **kw: Any,
    ) -> None:
        """Add one row."""
        about = self.benchmark, self.dataset, contender, task, measure, unit
        self.rows.append(Row(*about, float(value), tuple(map(float, rounds)), **kw))

    def add_least(
        self, contender: str, task: str, measure: str, unit: str, rounds: Sequence[float], **kw: Any
    ) -> None:
        """Add the minimum of a cost."""
        self.add(contender, task, measure, unit, min(rounds), rounds, **kw)

    def add_precision(
        self, contender: str, task: str, scores: Sequence[Sequence[float]], **kw: Any
    ) -> None:
        """Add P@1, P@3 and P@5 in percent, means of the fractions ``scores``, shape (runs, 3)."""
        for k, runs in zip(K, zip(*scores), strict=True):
            self.add(
                contender,
                task,
                f"P@{k}",
                PERCENT,
                100 * np.mean(runs),
                [100 * run for run in runs],
                **kw,
            )

    def add_same_bits(
        self, contender: str, task: str, differing: Sequence[str], threads: int
    ) -> None:
        """Add whether a result has the same bits as on one thread, and note differing arrays."""
        note = ""
        if differing:
            note = f"different bits: {', '.join(differing)}"
        self.add(contender, task, "same bits", YES_OR_NO, not differing, threads=threads, note=note)

    def add_rankings(
        self, contender: str, rankings: Mapping[Key, Ranking], Y: sparse.csr_array, threads: int
    ) -> None:
        """Add P@k, the speed-up on threads, and whether they change rankings."""
        one, several = (rankings[contender, PREDICTION, n] for n in (1, threads))
        self.add_precision(contender, PREDICTION, [precisions(Y, one[0])])
        self.add_speed_up(contender, PREDICTION, threads)
        other = differing(*(dict(zip(("labels", "scores"), ranking)) for ranking in (one, several)))
        self.add_same_bits(contender, PREDICTION, other, threads)

    def add_speed_up(self, contender: str, task: str, threads: int) -> None:
        """Add a task's time on one thread / on several."""
        one, several = (self.value(contender, task, TIME, n) for n in (1, threads))
        self.add(contender, task, "speed-up", TIMES, ratio(one, several), threads=threads)

    def add_process(self) -> None:
        """Add the peak memory of this process."""
        self.add("process", "whole benchmark", "peak memory", "MB", peak_bytes() / 1e6)

    def measure(self, tasks: Iterable[Task], rounds: int, at_least: float = 0.0) -> dict[Key, Any]:
        """Run tasks in turns, add a row with the time of each, and return the last results by key.

        In each round, a task repeats for at least ``at_least`` seconds, and the minimum counts.
        """
        by_key = {(task.contender, task.name, task.threads): task for task in tasks}
        seconds, results = in_turns(
            {str(key): task.call for key, task in by_key.items()}, rounds, at_least
        )
        for key, task in by_key.items():
            scale = PER_SECOND[task.unit.split()[0]] / task.work
            turns = [scale * turn for turn in seconds[str(key)]]
            self.add_least(task.contender, task.name, TIME, task.unit, turns, threads=task.threads)
        return {key: results[str(key)] for key in by_key}

    def value(self, contender: str, task: str, measure: str, threads: int = 1) -> float:
        """Return the value of one row."""
        (found,) = [
            row.value for row in self.of(contender, task, threads) if row.measure == measure
        ]
        return found

    def of(self, contender: str, task: str, threads: int = 1) -> list[Row]:
        """Return all rows of one contender and task."""
        wanted = contender, task, threads
        return [row for row in self.rows if (row.contender, row.task, row.threads) == wanted]

    def compare(
        self, ours: str, theirs: str, task: str, costs: bool = True, label: str = ""
    ) -> None:
        """Add differences of percentages and ratios of costs of two contenders on one thread.

        In the new rows, the baseline is called ``label``, by default ``theirs``.
        """
        baseline = {row.measure: row for row in self.of(theirs, task)}
        for row in self.of(ours, task):
            other = baseline.get(row.measure)
            if other is None or other.unit != row.unit:
                continue
            pair = f"{ours} / {label or theirs}"
            name = f"{task}, compared"
            if row.unit == PERCENT:
                self.add(pair, name, row.measure, POINTS, row.value - other.value)
            elif costs:
                self.add(pair, name, row.measure, RATIO, ratio(row.value, other.value))


def ratio(ours: float, theirs: float) -> float:
    """Return ours / theirs, or NaN if theirs is 0, such as the memory for a tiny dataset."""
    if theirs:
        return ours / theirs
    return float("nan")


def precisions(Y: sparse.csr_array, labels: np.ndarray) -> list[float]:
    """Return P@1, P@3 and P@5 of a ranking of shape (n, 5), as fractions."""
    return [precision_at_k(Y, labels, k) for k in K]


def differing(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> list[str]:
    """Return the names of arrays that differ in type, shape or any byte, or that one side lacks.

    NaNs with the same bits are equal, whereas 0 and -0 differ.
    """
    names = sorted(first.keys() | second.keys())
    return [
        name
        for name in names
        if not (name in first and name in second and _same(first[name], second[name]))
    ]


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    alike = first.dtype == second.dtype and first.shape == second.shape
    return alike and first.tobytes() == second.tobytes()


def write_report(report: Report, path: Path) -> None:
    """Write the rows, with NaN as an empty cell and spaces between the measurements of rounds."""
    names = [one.name for one in fields(Row)]
    made_by = commit(), report.environment.get("cpu", ""), report.environment.get("time", "")
    with atomic_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*names, "commit", "machine", "date"])
        for row in report.rows:
            if row.value != row.value:
                value = None
            else:
                value = row.value
            cells = vars(row) | {"value": value, "rounds": " ".join(map(repr, row.rounds))}
            writer.writerow([*cells.values(), *made_by])
