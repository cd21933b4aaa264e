"""What compiling the kernels of a suite costs: by part, by kernel, and what is compiled more than once."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tabulate import tabulate

from xmlc.compiling import Part, compile_part, parts_of
from xmlc.runtime.threads import set_process_threads

OWN = "xmlc."
PART_HEADINGS = ("Part", "CPU s", "Kernels", "s", "numba's functions", "s")
FUNCTION_HEADINGS = ("Function", "Compiled", "Signatures", "Parts", "CPU s")


class Compiled(NamedTuple):
    """One function that was compiled for one signature.

    Attributes
    ----------
    part : str
        Title of the part whose process compiled it.
    function, signature : str
        Module and name; types of the arguments.
    seconds : float
        CPU seconds, without those of functions that were compiled meanwhile because it calls them.
    """

    part: str
    function: str
    signature: str
    seconds: float


@dataclass(frozen=True)
class PartCosts:
    """What one part cost, in a process of its own.

    Attributes
    ----------
    part : str
        Its title.
    wall_seconds, cpu_seconds : float
    """

    part: str
    wall_seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Compilation:
    """What a suite cost.

    Attributes
    ----------
    wall_seconds : float
        Of all parts.
    parts : list of PartCosts
    compiled : list of Compiled
    """

    wall_seconds: float
    parts: list[PartCosts]
    compiled: list[Compiled]


def measure_compilation(suite: Path, cores: int) -> Compilation:
    """Compile the parts of a suite into an empty folder, ``cores`` at a time."""
    parts = parts_of(suite)
    before = os.environ.get("NUMBA_CACHE_DIR")
    started = time.perf_counter()
    with TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        try:
            with ProcessPoolExecutor(
                cores, get_context("spawn"), set_process_threads, (1,), max_tasks_per_child=1
            ) as pool:
                found = list(pool.map(record_part, parts))
        finally:
            os.environ.pop("NUMBA_CACHE_DIR")
            os.environ |= {} if before is None else {"NUMBA_CACHE_DIR": before}
    return Compilation(
        wall_seconds=time.perf_counter() - started,
        parts=[costs for costs, _ in found],
        compiled=[compiled for _, listed in found for compiled in listed],
    )


def record_part(part: Part) -> tuple[PartCosts, list[Compiled]]:
    """Compile one part in this process; return what it cost, and every function that was compiled."""
    from numba.core import event

    class Recorder(event.Listener):
        def __init__(self) -> None:
            self.running: list[list[float]] = []
            self.compiled: list[Compiled] = []

        def on_start(self, started: event.Event) -> None:
            self.running.append([time.process_time(), 0.0])

        def on_end(self, ended: event.Event) -> None:
            began, of_others = self.running.pop()
            seconds = time.process_time() - began
            function = ended.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__qualname__}"
            self.compiled.append(Compiled(part.title, name, str(ended.data["args"]), seconds - of_others))
            if self.running:
                self.running[-1][1] += seconds

    recorder, before = Recorder(), time.process_time()
    with event.install_listener("numba:compile", recorder):
        wall = compile_part(part)
    return PartCosts(part.title, wall, time.process_time() - before), recorder.compiled


def to_text(result: Compilation, longest: int = 20) -> str:
    """Lay the costs out as Markdown tables: by part, the most costly functions, and what is compiled repeatedly."""
    parts = [_part_row(costs, result.compiled) for costs in result.parts]
    totals = [sum(column) for column in list(zip(*parts))[1:]]
    lines = [tabulate([*parts, ["all", *totals]], PART_HEADINGS, "pipe", floatfmt=".1f"), ""]
    by_function: dict[str, list[Compiled]] = defaultdict(list)
    for one in result.compiled:
        by_function[one.function].append(one)
    functions = sorted(by_function.items(), key=lambda item: -_seconds(item[1]))
    rows = [
        [name, len(found), len({one.signature for one in found}), len({one.part for one in found}), _seconds(found)]
        for name, found in functions[:longest]
    ]
    lines += [tabulate(rows, FUNCTION_HEADINGS, "pipe", floatfmt=".2f"), ""]
    lines.append(f"All parts took {result.wall_seconds:.0f} s of wall time.")
    return "\n".join(lines)


def _part_row(costs: PartCosts, compiled: Iterable[Compiled]) -> tuple[str, float, int, float, int, float]:
    of_part = [one for one in compiled if one.part == costs.part]
    own = [one for one in of_part if one.function.startswith(OWN)]
    rest = len(of_part) - len(own), _seconds(of_part) - _seconds(own)
    return costs.part, costs.cpu_seconds, len(own), _seconds(own), *rest


def _seconds(compiled: Iterable[Compiled]) -> float:
    return sum(one.seconds for one in compiled)
