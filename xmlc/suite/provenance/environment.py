"""Record environment metadata and costs of a measurement: software, machine, time and memory."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar

from xmlc import __version__
from xmlc.core.files import folder_bytes
from xmlc.core.memory import peak_bytes, system_entry
from xmlc.core.sources import PACKAGE

T = TypeVar("T")
# Approximate start of this process, for systems that do not record when a process starts.
LOADED = time.monotonic()
# Wall seconds and CPU seconds that this process has already recorded for earlier steps.
_charged = [0.0, 0.0]


class Environment(TypedDict, total=False):
    """Describe the program, versions and machine of a measured step, in the order of a record's
    JSON keys.

    The function `environment` returns all keys of this class. Records of other versions of xmlc may
    lack some keys.

    Attributes
    ----------
    xmlc, python, numpy, scipy, numba, sklearn : str
        Versions of the programs. The key ``sklearn`` is present only if the step used scikit-learn.
    machine, cpu : str
        Architecture of the machine, and name of the processor.
    threads : int
        Number of threads of the step.
    time : str
        Time at which the step ended, in ISO 8601 and UTC.
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
    """Describe the costs of one step of the workflow, in the order of a record's JSON keys.

    Attributes
    ----------
    name : str
        Name of the step, which is a subcommand of `xmlc`.
    dataset : str
    model, split, method : str or None
        None if the step has no model, training split or method.
    seconds : float
        Wall seconds since the start of the process.
    peak_bytes : int
        Largest resident memory in bytes.
    written_bytes : int or None
        Bytes in the folder that the step wrote, or None without a folder.
    threads : int
    cpu : str
    cpu_seconds : float
        CPU seconds of all threads, user and system. Records of other versions of xmlc may lack
        ``cpu_seconds``.
    """

    name: str
    dataset: str
    model: str | None
    split: str | None
    method: str | None
    seconds: float
    peak_bytes: int | float
    written_bytes: int | float | None
    threads: int
    cpu: str
    cpu_seconds: NotRequired[float]


def environment(threads: int) -> Environment:
    """Return the program, versions and machine of a step that ran with ``threads`` threads."""
    used: Environment = {}
    if "sklearn" in sys.modules:
        used = {"sklearn": version("scikit-learn")}
    return {
        "xmlc": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "numba": version("numba"),
        **used,
        "machine": platform.machine(),
        "cpu": cpu_name(),
        "threads": threads,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


@cache
def cpu_name() -> str:
    """Return the processor's name from the operating system."""
    return system_entry("/proc/cpuinfo", "model name") or platform.processor() or platform.machine()


def cpu_seconds() -> float:
    """Return the CPU seconds, user and system, of all threads of this process and of its ended
    children.
    """
    return time.process_time() + sum(os.times()[2:4])


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Call ``work``, and return its result and the wall seconds that it took."""
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def commit() -> str:
    """Return the commit of this clone, with "-dirty" if files were edited.

    If xmlc does not run from a clone, or if git is missing, return an empty text.
    """
    # If xmlc is installed inside another project's repository, git would describe that repository.
    if not (PACKAGE.parent / ".git").exists():
        return ""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(
            command, cwd=PACKAGE, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def process_seconds() -> float:
    """Return the wall seconds since this process began.

    If the start of the process is unknown, seconds are counted from the import of this module.

    Unlike `timed`, this function measures the whole time that a user waits: start, compilation,
    reading, work and writing.
    """
    try:
        # Field 22 of /proc/self/stat is the start of the process in ticks. Field 2 of
        # /proc/self/stat is the program's name, which may contain spaces and ends with the last
        # bracket.
        ticks = int(
            Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
        )
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError):
        return time.monotonic() - LOADED


def step_costs(
    name: str,
    threads: int,
    dataset: str,
    model: str | None = None,
    split: str | None = None,
    method: str | None = None,
    written: Path | None = None,
) -> StepCosts:
    """Return the costs of one step of the workflow until now.

    Call this function at the end of the step.

    If a process runs several steps, the first step includes the start of the process. From the
    second step on, the measurement of a step begins when the previous step ends.

    Parameters
    ----------
    name : str
        The subcommand.
    threads : int
        Number of threads of the step.
    dataset : str
    model, split, method : str or None
        None if the step has no model, training split or method.
    written : Path or None
        Folder that the step wrote.

    Returns
    -------
    StepCosts
        The arguments of this function and four measured costs: ``seconds`` (wall, of
        `process_seconds`), ``cpu_seconds``, ``peak_bytes`` (resident memory) and ``written_bytes``.
    """
    before = [*_charged]
    _charged[:] = process_seconds(), cpu_seconds()
    return {
        "name": name,
        "dataset": dataset,
        "model": model,
        "split": split,
        "method": method,
        "seconds": _charged[0] - before[0],
        "peak_bytes": peak_bytes(),
        "written_bytes": None if written is None else folder_bytes(written),
        "threads": threads,
        "cpu": cpu_name(),
        "cpu_seconds": _charged[1] - before[1],
    }


def with_environment(costs: StepCosts) -> dict[str, Any]:
    """Return the last two keys of a record: the environment metadata of the process and the costs
    of the step.
    """
    return {"environment": environment(costs["threads"]), "step": costs}


def in_turns(
    tasks: Mapping[str, Callable[[], T]], rounds: int, at_least: float = 0.0
) -> tuple[dict[str, list[float]], dict[str, T]]:
    """Run every task once per round, so that other load on the machine affects all tasks alike.

    The result of a task is released just before the task runs again. Therefore two results of one
    task are never in memory together. From the second round on, the task reuses the memory of its
    released result at once. If memory stays free for two seconds, a virtual machine may return it
    to its host. After memory was returned to the host, the first use of 590 MB takes 1.1 s instead
    of .07 s.

    Parameters
    ----------
    tasks : dict of callable
    rounds : int
    at_least : float
        Minimum seconds of a task in each round. A task that takes less than ``at_least`` seconds is
        repeated for this time, and the shortest run is recorded.

    Returns
    -------
    seconds : dict
        Maps the name of each task to a list of wall seconds, one number per round.
    results : dict
        Maps the name of each task to the task's last result.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    results: dict[str, T] = {}
    for _ in range(rounds):
        for name, task in tasks.items():
            shortest = math.inf
            spent = 0.0
            while shortest == math.inf or spent < at_least:
                results.pop(name, None)
                results[name], elapsed = timed(task)
                shortest = min(shortest, elapsed)
                spent = spent + elapsed
            seconds[name].append(shortest)
    return seconds, results
