"""Measure time and memory of this process, and name the processor."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TypeVar

T = TypeVar("T")
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # Bytes of one unit of ``ru_maxrss``.


@cache
def cpu_name() -> str:
    """Return the processor's name from the operating system."""
    return _entry("/proc/cpuinfo", "model name") or platform.processor() or platform.machine()


def _entry(file: str, name: str) -> str:
    """Return the value in the first line of a Linux system file that begins with ``name``, or "" if no line does."""
    with suppress(OSError), open(file, encoding="utf-8") as lines:
        return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
    return ""


def peak_bytes() -> int:
    """Return the largest resident memory so far, in bytes, of this process or of an ended child.

    The peak of this process is VmHWM, which Linux resets for each program. The peak of ended children is from
    ``getrusage``, in which a child starts with the peak of its parent. The larger of both peaks is correct, because a
    child starts with at most the peak of this process.
    """
    return max(own_peak_bytes(), PEAK_UNIT * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def own_peak_bytes() -> int:
    """Return the largest resident memory of this process so far, in bytes."""
    peak = _entry("/proc/self/status", "VmHWM:").removesuffix("kB")
    return 1024 * int(peak) if peak else PEAK_UNIT * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def cpu_seconds() -> float:
    """Return the CPU seconds, user and system, of all threads of this process and of its ended children."""
    return time.process_time() + sum(os.times()[2:4])


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Call ``work``, and return its result and the wall seconds that it took."""
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started
