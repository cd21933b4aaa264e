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

from xmlc.bench.harness import CPU_TIME, Rows
from xmlc.bench.rows import Report
from xmlc.compiling import Part, compile_part, parts_of
from xmlc.runtime.threads import set_process_threads

OWN = "xmlc."
LONGEST = 20
PARTS, COSTLY, EVERY = "parts", f"the {LONGEST} most costly functions", "every compilation"
WALL_TIME = "wall time"


class Compiled(NamedTuple):
    """One function that was compiled for one signature."""

    #: Title of the part whose process compiled it.
    part: str
    #: Module and name; types of the arguments.
    function: str
    signature: str
    #: CPU seconds, without those of functions that were compiled meanwhile because it calls them.
    seconds: float


@dataclass(frozen=True)
class PartCosts:
    """What one part cost, in a process of its own."""

    #: Its title.
    part: str
    wall_seconds: float
    cpu_seconds: float


def bench_compilation(suite: Path, cores: int) -> Report:
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
    rows = Rows("compile", suite.name)
    compiled = [one for _, listed in found for one in listed]
    add_parts(rows, [costs for costs, _ in found], compiled)
    rows.add("all", PARTS, WALL_TIME, "s", time.perf_counter() - started)
    add_functions(rows, compiled)
    return rows.report(
        about=f"kernels compiled into an empty folder, a process for each part, {cores} at a time",
        contenders=[],
        unprinted=frozenset({EVERY}),
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


def add_parts(rows: Rows, parts: list[PartCosts], compiled: list[Compiled]) -> None:
    """Add what each part cost, and all of them: of its functions, those of this package are its kernels."""
    for name in [*(costs.part for costs in parts), "all"]:
        of_part = [one for one in compiled if name in ("all", one.part)]
        own = [one for one in of_part if one.function.startswith(OWN)]
        figures: dict[tuple[str, str], float] = {
            (CPU_TIME, "s"): sum(costs.cpu_seconds for costs in parts if name in ("all", costs.part)),
            ("kernels", ""): len(own),
            ("CPU time of kernels", "s"): _seconds(own),
            ("numba's functions", ""): len(of_part) - len(own),
            ("CPU time of numba's functions", "s"): _seconds(of_part) - _seconds(own),
        }
        rows.add_each(name, PARTS, figures)
    for costs in parts:
        rows.add(costs.part, PARTS, WALL_TIME, "s", costs.wall_seconds)


def add_functions(rows: Rows, compiled: Iterable[Compiled]) -> None:
    """Add the most costly functions, and every compilation."""
    by_function: dict[str, list[Compiled]] = defaultdict(list)
    for one in compiled:
        by_function[one.function].append(one)
        rows.add(one.function, EVERY, CPU_TIME, "s", one.seconds, note=f"{one.part}: {one.signature}")
    costly = sorted(by_function.items(), key=lambda item: -_seconds(item[1]))
    for name, found in costly[:LONGEST]:
        figures: dict[tuple[str, str], float] = {
            ("compiled", ""): len(found),
            ("signatures", ""): len({one.signature for one in found}),
            ("parts", ""): len({one.part for one in found}),
            (CPU_TIME, "s"): _seconds(found),
        }
        rows.add_each(name, COSTLY, figures)


def _seconds(compiled: Iterable[Compiled]) -> float:
    return sum(one.seconds for one in compiled)
