"""The harness of all benchmarks: tasks of contenders run in turns, and become tidy rows.

One process, one task at a time. The rounds are interleaved, so that a slow spell of the machine affects all contenders,
and the minimum is reported, because interference only adds time. Benchmarks read their data and run every task once,
so that its kernels are compiled, before they measure. Work whose peak of memory counts has a process of its own.
"""

from __future__ import annotations

import csv
import ctypes
import gc
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file, write_json
from xmlc.core.passport import Passport, in_turns, own_peak_bytes, passport, peak_bytes
from xmlc.core.sources import commit
from xmlc.data.prepared import Prepared
from xmlc.kernels.estimator import Hyperparameters
from xmlc.metrics.ranking import K, precision_at_k
from xmlc.models.base import SparseProbabilityEstimator

T = TypeVar("T")
ROOT = Path(__file__).parents[1]
PERCENT, YES_OR_NO, RATIO, TIMES, POINTS = "%", "yes or no", "ratio", "times", "points"
PER_SECOND = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
TRAINING, PREDICTION = "training", "prediction of the best 5"
TIME, CPU_TIME, MEMORY = "time", "CPU time", "memory"
PER_INSTANCE = "ms per instance"
TOP = max(K)  # labels that a prediction ranks
ONE_THREAD = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Row:
    """One figure of a benchmark."""

    benchmark: str
    dataset: str
    #: What was measured; for a derived figure the two that are compared, ``"ours / baseline"``.
    contender: str
    #: What it did, such as "training".
    task: str
    #: Such as "time" in "ms per instance". A truth value has the unit "yes or no" and is 1 or 0.
    measure: str
    unit: str
    #: Of a cost the minimum over the rounds, of a quality the mean; NaN where a ratio has no denominator.
    value: float
    #: Every measurement that ``value`` summarises; empty for a derived figure.
    rounds: tuple[float, ...] = ()
    threads: int = 1
    note: str = ""


@dataclass(frozen=True)
class Contender:
    """A participant of a benchmark.

    Attributes
    ----------
    name : str
        As in `Row.contender`.
    what : str
        One phrase: the program, and what of it.
    hyperparameters : dict
    threads : tuple of int
        The numbers of threads that it runs on.
    """

    name: str
    what: str
    hyperparameters: Hyperparameters = field(default_factory=dict)
    threads: tuple[int, ...] = (1,)


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that one benchmark measured on one dataset.

    Attributes
    ----------
    benchmark, dataset : str
    about : str
        Size of the data and how it was measured, in a sentence.
    passport : Passport
    contenders : list of Contender
    rows : list of Row
    remarks : list of str
        Paragraphs that stand below the tables.
    unprinted : frozenset of str
        Tasks whose rows are written to files only.
    """

    benchmark: str
    dataset: str
    about: str
    passport: Passport
    contenders: list[Contender]
    rows: list[Row]
    remarks: list[str] = field(default_factory=list)
    unprinted: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Data:
    """A dataset in memory: instances and label sets to train on and to test on."""

    name: str
    X: sparse.csr_array
    Y: sparse.csr_array
    X_test: sparse.csr_array
    Y_test: sparse.csr_array

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a dataset of `xmlc prepare`.

        Raises
        ------
        XmlcError
            The folder holds no dataset.
        """
        prepared = Prepared(folder)
        return cls(prepared.meta["name"], *prepared.part("train"), *prepared.part("test"))

    @property
    def size(self) -> str:
        """How large it is, in words."""
        (n, d), m = self.X.shape, self.Y.shape[1]
        return f"{n} training instances, {self.X_test.shape[0]} test instances, {d} features, {m} labels"


@dataclass(frozen=True)
class Task:
    """Work of a contender that is timed."""

    contender: str
    name: str
    call: Callable[[], Any]
    #: Of its time; the first word is a key of `PER_SECOND`.
    unit: str = "s"
    #: How much of what the unit counts a call does: 3,185 instances, say.
    work: float = 1.0
    threads: int = 1


Key = tuple[str, str, int]  # contender, task, threads
Ranking = tuple[np.ndarray, np.ndarray]  # labels and scores


def ranking_task(contender: str, model: SparseProbabilityEstimator, X: sparse.csr_array, threads: int = 1) -> Task:
    """Return the task of ranking the best labels of all instances."""
    return Task(contender, PREDICTION, lambda: model.predict_top_k(X, TOP), PER_INSTANCE, X.shape[0], threads)


class Rows:
    """The rows of a benchmark on a dataset, in the order in which they are added.

    Parameters
    ----------
    benchmark, dataset : str
    """

    def __init__(self, benchmark: str, dataset: str):
        self.benchmark, self.dataset = benchmark, dataset
        self.all: list[Row] = []

    def add(
        self,
        contender: str,
        task: str,
        measure: str,
        unit: str,
        value: float,
        rounds: Sequence[float] = (),
        threads: int = 1,
        note: str = "",
    ) -> None:
        """Add one row."""
        plain = tuple(float(one) for one in rounds)
        row = Row(self.benchmark, self.dataset, contender, task, measure, unit, float(value), plain, threads, note)
        self.all.append(row)

    def add_least(self, contender: str, task: str, measure: str, unit: str, rounds: Sequence[float], **kw: Any) -> None:
        """Add the minimum of a cost over its rounds."""
        self.add(contender, task, measure, unit, min(rounds), rounds, **kw)

    def add_precision(self, contender: str, task: str, scores: Sequence[Sequence[float]], **kw: Any) -> None:
        """Add P@1, P@3 and P@5 in percent: means over several scores, shape (runs, 3) of shares."""
        for k, runs in zip(K, zip(*scores), strict=True):
            self.add(contender, task, f"P@{k}", PERCENT, 100 * np.mean(runs), [100 * run for run in runs], **kw)

    def add_same_bits(self, contender: str, task: str, differing: Sequence[str], threads: int) -> None:
        """Add whether a result is the same bits as on one thread; the note names the arrays that are not."""
        note = f"other bits: {', '.join(differing)}" if differing else ""
        self.add(contender, task, "same bits", YES_OR_NO, not differing, threads=threads, note=note)

    def add_rankings(self, contender: str, rankings: Mapping[Key, Ranking], Y: sparse.csr_array, threads: int) -> None:
        """Add P@k of a contender's prediction on one thread; the speed-up and the bits of that on several."""
        one, several = (rankings[contender, PREDICTION, n] for n in (1, threads))
        self.add_precision(contender, PREDICTION, [precisions(Y, one[0])])
        self.add_speed_up(contender, PREDICTION, threads)
        other = differing(*(dict(zip(("labels", "scores"), ranking)) for ranking in (one, several)))
        self.add_same_bits(contender, PREDICTION, other, threads)

    def add_speed_up(self, contender: str, task: str, threads: int) -> None:
        """Add how many times as fast a task is on several threads as on one."""
        one, several = (self.value(contender, task, TIME, n) for n in (1, threads))
        self.add(contender, task, "speed-up", TIMES, ratio(one, several), threads=threads)

    def add_process(self) -> None:
        """Add the peak of memory of this process."""
        self.add("process", "whole benchmark", "peak memory", "MB", peak_bytes() / 1e6)

    def measure(self, tasks: Iterable[Task], rounds: int, at_least: float = 0.0, cpu: bool = False) -> dict[Key, Any]:
        """Run tasks in turns and add the time of each.

        Parameters
        ----------
        tasks : iterable of Task
        rounds : int
        at_least : float
            Seconds; a shorter task is repeated for so long in each round, and its minimum counts.
        cpu : bool
            Whether to add the processor time of all threads too; not together with ``at_least``.

        Returns
        -------
        dict
            What each task returned the last time, by contender, name and number of threads.
        """
        by_key = {(task.contender, task.name, task.threads): task for task in tasks}
        names = {str(key): key for key in by_key}
        spent: dict[Key, list[float]] = {key: [] for key in by_key}
        calls = {
            name: _counting_cpu(by_key[key].call, spent[key]) if cpu else by_key[key].call
            for name, key in names.items()
        }
        seconds, results = in_turns(calls, rounds, at_least)
        for name, key in names.items():
            task = by_key[key]
            scale = PER_SECOND[task.unit.split()[0]] / task.work
            own = {TIME: seconds[name]} | ({CPU_TIME: spent[key]} if cpu else {})
            for measure, turns in own.items():
                turns = [scale * turn for turn in turns]
                self.add_least(task.contender, task.name, measure, task.unit, turns, threads=task.threads)
        return {key: results[name] for name, key in names.items()}

    def report(
        self,
        about: str,
        contenders: Sequence[Contender],
        threads: int = 1,
        remarks: Sequence[str] = (),
        unprinted: Iterable[str] = (),
    ) -> Report:
        """Return the report of these rows; parameters as in `Report`, ``threads`` is the most that were used."""
        return Report(
            benchmark=self.benchmark,
            dataset=self.dataset,
            about=about,
            passport=passport(threads),
            contenders=list(contenders),
            rows=self.all,
            remarks=list(remarks),
            unprinted=frozenset(unprinted),
        )

    def value(self, contender: str, task: str, measure: str, threads: int = 1) -> float:
        """Return the value of one row."""
        (found,) = [row.value for row in self.of(contender, task, threads) if row.measure == measure]
        return found

    def of(self, contender: str, task: str, threads: int = 1) -> list[Row]:
        """Return the rows of a contender's task."""
        wanted = contender, task, threads
        return [row for row in self.all if (row.contender, row.task, row.threads) == wanted]

    def compare(self, ours: str, theirs: str, task: str, costs: bool = True, label: str = "") -> None:
        """Add, for measures of both on one thread, differences of percentages and ratios of costs.

        Parameters
        ----------
        ours, theirs : str
            Contenders.
        task : str
        costs : bool
            Whether to compare costs.
        label : str
            What the baseline is called in the pair; by default its name.
        """
        baseline = {row.measure: row for row in self.of(theirs, task)}
        for row in self.of(ours, task):
            other = baseline.get(row.measure)
            if other is None or other.unit != row.unit:
                continue
            pair, name = f"{ours} / {label or theirs}", f"{task}, compared"
            if row.unit == PERCENT:
                self.add(pair, name, row.measure, POINTS, row.value - other.value)
            elif costs:
                self.add(pair, name, row.measure, RATIO, ratio(row.value, other.value))


def ratio(ours: float, theirs: float) -> float:
    """Divide; NaN where there is nothing to divide by, such as the memory of a tiny dataset."""
    return ours / theirs if theirs else float("nan")


def _counting_cpu(call: Callable[[], T], spent: list[float]) -> Callable[[], T]:
    def counted() -> T:
        start = time.process_time()
        result = call()
        spent.append(time.process_time() - start)
        return result

    return counted


def precisions(Y: sparse.csr_array, labels: np.ndarray) -> list[float]:
    """Return P@1, P@3 and P@5 of a ranking, shape (n, 5), as shares."""
    return [precision_at_k(Y, labels, k) for k in K]


def differing(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> list[str]:
    """Name the arrays that are not the same bits: another type, shape or byte, or in one of the two only.

    Two NaN of the same bits are equal here, and 0 and -0 are not.
    """
    names = sorted(first.keys() | second.keys())
    return [name for name in names if not (name in first and name in second and _same(first[name], second[name]))]


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    first, second = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (first, second))
    return np.array_equal(first, second)


def write_report(report: Report, path: Path) -> None:
    """Write the rows, as CSV if the file is called so, else as JSON beside contenders and passport; NaN is null."""
    if path.suffix == ".csv":
        with atomic_file(path) as temporary:
            temporary.write_text(rows_csv(report), encoding="utf-8")
        return
    contenders = [asdict(contender) for contender in report.contenders]
    rows = [{name: _or_null(value) for name, value in asdict(row).items()} for row in report.rows]
    head = {"benchmark": report.benchmark, "dataset": report.dataset, "about": report.about}
    write_json(path, head | {"passport": report.passport, "contenders": contenders, "rows": rows})


def rows_csv(report: Report) -> str:
    """Return rows as ``results/benchmarks/*.csv`` have them: rounds are separated by spaces, NaN is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [one.name for one in fields(Row)]
    writer.writerow([*names, "commit", "machine", "date"])
    made_by = commit(), report.passport.get("cpu", ""), report.passport.get("time", "")
    for row in report.rows:
        cells = {name: _or_null(getattr(row, name)) for name in names} | {"rounds": " ".join(map(repr, row.rounds))}
        writer.writerow([*cells.values(), *made_by])
    return text.getvalue()


def _or_null(value: object) -> object:
    return None if isinstance(value, float) and value != value else value


def in_own_process(module: str, *arguments: str) -> Any:
    """Run a module of this package on one thread and return the JSON that it printed last.

    Raises
    ------
    XmlcError
        It failed; the message has the end of its standard error.
    """
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1") | {"PYTHONPATH": path}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip()[-2000:] or f"it ended with status {done.returncode} and said nothing"
        raise XmlcError(f"{' '.join(command[1:])} failed:\n{said}")
    return json.loads(done.stdout.splitlines()[-1])


def peak_above(work: Callable[[], T]) -> tuple[T, int]:
    """Call ``work``; return its result and by how many bytes resident memory rose meanwhile, at its peak.

    Memory that was used and freed before is given back first, so that it does not hide what the work takes; where the
    system's library cannot do that, or the system cannot forget a peak, the result may be too small.
    """
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # Linux: the peak is the present from here
    except (OSError, AttributeError):
        pass
    before = own_peak_bytes()
    result = work()
    return result, own_peak_bytes() - before


def main_of(run: Callable[..., Any]) -> None:
    """Call ``run`` with this process's arguments and print the fields of the dataclass that it returns as JSON."""
    try:
        result = run(*sys.argv[1:])
    except XmlcError as error:
        sys.exit(str(error))
    print(json.dumps(None if result is None else asdict(result)))
