"""How far each estimator is from what the machine's memory allows, and what a second thread gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from xmlc.bench.harness import TIME, Data, Rows, Task, differing, ratio
from xmlc.bench.limits.work import Work
from xmlc.bench.rows import RATIO, TIMES, Report
from xmlc.errors import XmlcError

#: By the name that ``only`` takes, the module whose function ``works`` yields an estimator's tasks.
ESTIMATORS: Mapping[str, str] = {
    "plt": "plt",
    "plt-ranking": "plt_ranking",
    "oplt": "oplt",
    "fastxml": "fastxml",
    "ldsm": "ldsm",
    "swnn": "nearest",
    "gfm": "gfm",
}
UNIT = "ns per unit"
LIMITS, THREADS = "time beside the bare accesses", "speed-up of threads"
OURS, BARE, LIMIT, CEILING = "ours", "bare accesses", "ours / bare accesses", "of the bare accesses"
AT_LEAST = 0.1  # seconds of a task per round
ABOUT = """\
Bare accesses touch the memory that a task must touch, in its order, and compute only what cannot be left out. Their \
speed-up is what the machine's second core can give to such accesses."""


def bench_limits(folder: Path, only: Sequence[str] = (), threads: int = 2, rounds: int = 3) -> Report:
    """Measure each estimator's time for a unit of its work, the same accesses done bare, and both on several threads.

    Parameters
    ----------
    folder : Path
        Written by `xmlc prepare`.
    only : sequence of str
        Keys of `ESTIMATORS`; by default all.
    threads : int
        Compared with one thread.
    rounds : int
        Of each task on one thread and on several, and of its bare accesses, in turns; the best counts.

    Raises
    ------
    XmlcError
        A name is no key of `ESTIMATORS`, or the folder holds no dataset.
    """
    unknown = sorted(set(only) - set(ESTIMATORS))
    if unknown:
        raise XmlcError(f"{', '.join(unknown)}: no such estimator here; there are {', '.join(ESTIMATORS)}")
    data = Data.read(folder)
    rows = Rows("limits", data.name)
    timed: set[str] = set()
    for name in only or ESTIMATORS:
        works: Callable[[Data], Iterable[Work]] = import_module(f"xmlc.bench.limits.{ESTIMATORS[name]}").works
        for work in works(data):
            add_work(rows, work, threads, rounds)
            timed |= {work.task, f"{work.task}, {BARE}"}
    rows.add_process()
    return rows.report(
        about=f"{data.size}; minimum of {rounds} interleaved rounds",
        contenders=[],
        threads=threads,
        remarks=[ABOUT],
        unprinted=timed,
    )


def add_work(rows: Rows, work: Work, threads: int, rounds: int) -> None:
    """Measure one task: add its times, those of its bare accesses, their ratio, speed-ups, and whether bits differ."""
    tasks, bare = [], f"{work.task}, {BARE}"
    for n in dict.fromkeys((1, threads)):
        tasks.append(Task(work.contender, work.task, partial(work.call, n), UNIT, work.units, n))
        tasks.append(Task(work.contender, bare, partial(work.bare, n), UNIT, work.bare_units, n))
        for task in tasks[-2:]:
            task.call()
    results = rows.measure(tasks, rounds, AT_LEAST)
    ours, least = (rows.value(work.contender, task, TIME) for task in (work.task, bare))
    name = f"{work.contender}: {work.task}, {work.unit}"
    figures = {("units", "million"): work.units / 1e6, (OURS, "ns"): ours, (BARE, "ns"): least}
    rows.add_each(name, LIMITS, figures, note=work.note)
    rows.add(name, LIMITS, LIMIT, RATIO, ratio(ours, least))
    for measure, timed in ((OURS, work.task), (CEILING, bare)):
        times = (rows.value(work.contender, timed, TIME, n) for n in (1, threads))
        rows.add(name, THREADS, measure, TIMES, ratio(*times), threads=threads)
    arrays = (results[work.contender, work.task, n] for n in (1, threads))
    rows.add_same_bits(name, THREADS, differing(*arrays), threads)
