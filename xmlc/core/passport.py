"""Passport of a number: software, data, machine, and way of measuring."""

from __future__ import annotations

import importlib.metadata
import math
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar

from xmlc import __version__
from xmlc.core.files import folder_bytes

T = TypeVar("T")
LOADED = time.monotonic()  # about when this process began, for systems that do not tell
_charged = [0.0, 0.0]  # wall and processor seconds of this process that steps were charged with
WARM_UP_ROWS = 8  # a step is run on so few rows first, untimed, that compilation is in no measured time


class Passport(TypedDict, total=False):
    """Program, versions and machine of a measured step, in the order of a record's JSON keys.

    `passport` gives all; a record of another version may lack some.

    Attributes
    ----------
    xmlc, python, numpy, scipy, numba, sklearn : str
        Versions; the last where the step used it.
    machine, cpu : str
        Architecture, and the name of the processor.
    threads : int
        The number that the step had.
    time : str
        When the step ended: ISO 8601, UTC.
    """

    xmlc: str
    python: str
    numpy: str
    scipy: str
    numba: str
    sklearn: str
    machine: str
    cpu: str
    threads: int
    time: str


class StepCosts(TypedDict):
    """Costs of one step of the workflow, in the order of a record's JSON keys.

    Attributes
    ----------
    name : str
        The subcommand.
    dataset : str
    model, portion, method : str or None
        Where the step has them.
    seconds : float
        Wall seconds of the process.
    peak_bytes : int
        Largest resident memory.
    written_bytes : int or None
        Size of the folder that the step wrote, if it wrote one.
    threads : int
    cpu : str
    cpu_seconds : float
        Processor seconds, user and system, of all threads; a record of another version may lack them.
    """

    name: str
    dataset: str
    model: str | None
    portion: str | None
    method: str | None
    seconds: float
    peak_bytes: int | float
    written_bytes: int | float | None
    threads: int
    cpu: str
    cpu_seconds: NotRequired[float]


def passport(threads: int) -> Passport:
    """Describe program, versions and machine; ``threads`` is the number that the measured step had."""
    used: Passport = {"sklearn": importlib.metadata.version("scikit-learn")} if "sklearn" in sys.modules else {}
    return {
        "xmlc": __version__,
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "scipy": importlib.metadata.version("scipy"),
        "numba": importlib.metadata.version("numba"),
        **used,
        "machine": platform.machine(),
        "cpu": cpu_name(),
        "threads": threads,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


@cache
def cpu_name() -> str:
    """Name the processor as the system does."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def peak_bytes() -> int:
    """Return the largest resident memory of this process so far, or of one of its ended children, in bytes.

    Linux starts VmHWM afresh for each program, while the peak of ``getrusage`` is inherited from the parent: that of a
    child is thus at least this process's, and the larger of both is right.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    return max(own_peak_bytes(), unit * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def own_peak_bytes() -> int:
    """Return the largest resident memory of this process so far, in bytes."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def process_seconds() -> float:
    """Return the wall seconds since this process began; where that is unknown, since this module was loaded.

    Unlike what `timed` measures this is all that a user waits for: start, compilation, reading, work and writing.
    """
    try:
        # Field 22 of /proc/self/stat; the name of the program, field 2, may hold spaces but ends with the last bracket.
        ticks = int(Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError):
        return time.monotonic() - LOADED


def cpu_seconds() -> float:
    """Return the processor seconds, user and system, of this process on all its threads and of its ended children."""
    return time.process_time() + sum(os.times()[2:4])


def step_costs(
    name: str,
    threads: int,
    dataset: str,
    model: str | None = None,
    portion: str | None = None,
    method: str | None = None,
    written: Path | None = None,
) -> StepCosts:
    """Return the costs of one step of the workflow until now: call it last.

    Of several steps in one process the first is charged with the start, and each other from the end of the one before.

    Parameters
    ----------
    name : str
        The subcommand.
    threads : int
        How many the step was given.
    dataset : str
    model, portion, method : str or None
        Where the step has them.
    written : Path or None
        Folder that the step wrote.

    Returns
    -------
    StepCosts
        What is given, ``seconds`` (wall, of `process_seconds`), ``cpu_seconds``, ``peak_bytes`` (resident) and
        ``written_bytes``.
    """
    until, cpu_until = process_seconds(), cpu_seconds()
    seconds, cpu = until - _charged[0], cpu_until - _charged[1]
    _charged[:] = until, cpu_until
    costs: StepCosts = {
        "name": name,
        "dataset": dataset,
        "model": model,
        "portion": portion,
        "method": method,
        "seconds": seconds,
        "peak_bytes": peak_bytes(),
        "written_bytes": None if written is None else folder_bytes(written),
        "threads": threads,
        "cpu": cpu_name(),
        "cpu_seconds": cpu,
    }
    return costs


def with_passport(costs: StepCosts) -> dict[str, Any]:
    """Return the end of a record: passport of the measuring process, and costs of the step."""
    return {"passport": passport(costs["threads"]), "step": costs}


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Call ``work`` and return its result and the wall seconds it took."""
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def in_turns(
    tasks: Mapping[str, Callable[[], T]], rounds: int, at_least: float = 0.0
) -> tuple[dict[str, list[float]], dict[str, T]]:
    """Run every task once a round, one after the other, so that a busy spell of the machine meets all of them.

    What a task returned is let go just before it runs again: both are never in memory together, and from the second
    round on a task finds as much memory as it returned, which no system has to fetch first. A virtual machine may give
    free memory back to its host after two seconds, and to touch 590 MB again then takes 1.1 s in place of .07.

    Parameters
    ----------
    tasks : dict of callable
    rounds : int
    at_least : float
        Seconds: a shorter task is repeated for so long when it is its turn, and its best time counts.

    Returns
    -------
    seconds : dict
        Of each task, one number per round.
    results : dict
        What each task returned the last time.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    results: dict[str, T] = {}
    for _ in range(rounds):
        for name, task in tasks.items():
            shortest, spent = math.inf, 0.0
            while shortest == math.inf or spent < at_least:
                results.pop(name, None)
                results[name], elapsed = timed(task)
                shortest, spent = min(shortest, elapsed), spent + elapsed
            seconds[name].append(shortest)
    return seconds, results
