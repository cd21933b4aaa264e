"""The passport of a number: with what, on what and how it was measured."""

from __future__ import annotations

import importlib.metadata
import platform
import resource
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from xmlc import __version__

T = TypeVar("T")
WARM_UP_ROWS = 8  # a step is run on so few rows first, untimed, that compilation is in no measured time


def passport(threads: int) -> dict[str, Any]:
    """Describe program, versions and machine; ``threads`` is the number that the measured step had."""
    packages = ("numpy", "scipy", "numba", "scikit-learn")
    return {
        "xmlc": __version__,
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in packages},
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
    """Return the largest resident memory of this process so far, in bytes.

    Linux starts VmHWM afresh for each program, while the peak of ``getrusage`` is inherited from the parent.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Call ``work`` and return its result and the wall seconds it took."""
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started
