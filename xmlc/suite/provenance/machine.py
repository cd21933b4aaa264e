"""Measure the time of this process, and name the processor."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from xmlc.core.memory import system_entry

T = TypeVar("T")


@cache
def cpu_name() -> str:
    """Return the processor's name from the operating system."""
    return system_entry("/proc/cpuinfo", "model name") or platform.processor() or platform.machine()


def cpu_seconds() -> float:
    """Return the CPU seconds, user and system, of all threads of this process and of its ended children."""
    return time.process_time() + sum(os.times()[2:4])


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Call ``work``, and return its result and the wall seconds that it took."""
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started
