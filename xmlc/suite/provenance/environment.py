"""The environment and the costs of a measurement."""

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
# Approximate start of the process, for systems that do not record it
LOADED = time.monotonic()
# Wall and CPU seconds recorded for earlier steps of this process
_charged = [0.0, 0.0]


class Environment(TypedDict, total=False):
    """Program, versions and machine of a measured step, in the order of a record's JSON keys.

    Records of other versions of xmlc may lack some keys. ``sklearn`` is present only if used, and
    ``time`` is the end of the step in ISO 8601 and UTC.
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

    Wall seconds count from the start of the process. CPU seconds, user and system, are those of all
    threads, and older records may lack them. ``peak_bytes`` is resident memory, and
    ``written_bytes`` is None without a folder that the step wrote.
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
    """Return the environment of a step."""
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
    """Return CPU seconds (user and system) of this process and its ended children."""
    return time.process_time() + sum(os.times()[2:4])


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Call ``work``, and return its result and wall seconds."""
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def commit() -> str:
    """Return this clone's commit, with "-dirty" after edits, or "" without a clone."""
    # Git would describe the repository of another project in which xmlc is installed.
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
    """Return the wall seconds since this process began, or else since the import of this module.

    They include start, compilation, reading and writing, unlike those of `timed`.
    """
    try:
        # Field 22 is the start of the process in ticks. Field 2, the program's name, may contain
        # spaces and ends with the last bracket.
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
    """Return the costs of one step of the workflow until now, its end.

    If a process runs several steps, the first includes the start of the process, and each later one
    begins at the end of the step before.
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
    """Return the last two keys of a record."""
    return {"environment": environment(costs["threads"]), "step": costs}


def in_turns(
    tasks: Mapping[str, Callable[[], T]], rounds: int, at_least: float = 0.0
) -> tuple[dict[str, list[float]], dict[str, T]]:
    """Run every task once per round, so that other load on the machine affects all tasks alike.

    Returns the wall seconds of each task, one number per round, and its last result. A result is
    released just before the task runs again, so that the memory is reused at once. Otherwise it may
    go back to the host of a virtual machine after two seconds, and then the first use of 590 MB
    takes 1.1 s instead of .07 s. A task faster than ``at_least`` seconds repeats for this time, and
    its shortest run counts.
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
