"""The median time in which a model ranks the best labels of one instance."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.commands import benchmark, count_option, several_option
from benchmarks.fresh import PROGRAMS, TOP, Estimator
from benchmarks.harness import RATIO, Contender, Data, Report
from xmlc.kernels.unit_length import unit_rows
from xmlc.suite.options import data_option

BASELINE = "omikuji"
REQUEST = "single request"
AT_ONCE = 50  # requests that a program answers before the next one takes its turn
LINEAR = {"BR": "BinaryRelevance", "PCC": "ProbabilisticClassifierChain"}
CONTENDERS: dict[str, Callable[[], Any]] = {
    **{
        name: make
        for name, make in PROGRAMS.items()
        if name not in ("napkinXC", "PECOS", "LibMultiLabel")
    },
    **{name: partial(Estimator, f"xmlc.models:{path}") for name, path in LINEAR.items()},
}


@benchmark(
    "requests",
    "Measure single requests, next to omikuji.",
    data_option,
    several_option("--program", "named", tuple(CONTENDERS), "Program to measure; repeatable."),
    count_option("--requests", 1000, "Number of requests per program."),
)
def bench_requests(data: Path, named: Sequence[str], requests: int) -> Report:
    """Train on unit-length rows, and send requests to each program in turns."""
    dataset = Data.read(data)
    X_test = unit_rows(dataset.X_test)
    about = f"{dataset.size}, median of {requests} requests for {TOP} labels"
    report = Report(
        "requests", dataset.name, about, [Contender(name, "default settings") for name in named]
    )
    programs = {}
    asked = {}
    for name in named:
        programs[name] = CONTENDERS[name]()
        programs[name].fit(unit_rows(dataset.X), dataset.Y)
        rows = [
            programs[name].request(X_test[row : row + 1])
            for row in range(min(requests, X_test.shape[0]))
        ]
        programs[name].one(rows[0])  # compiles kernels
        asked[name] = cycle(rows)
    seconds: dict[str, list[float]] = {name: [] for name in named}
    for start in range(0, requests, AT_ONCE):
        for name in named:
            for request in islice(asked[name], min(AT_ONCE, requests - start)):
                before = time.perf_counter()
                programs[name].one(request)
                seconds[name].append(time.perf_counter() - before)
    medians = {name: 1e3 * float(np.median(turns)) for name, turns in seconds.items()}
    for name in named:
        report.add(name, REQUEST, "time", "ms", medians[name])
        if BASELINE in named:
            report.add(
                f"{name} / {BASELINE}", REQUEST, "time", RATIO, medians[name] / medians[BASELINE]
            )
    return report
