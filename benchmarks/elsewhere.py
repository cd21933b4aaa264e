"""Comparisons with programs that were measured on other machines (``elsewhere.csv``).

`Elsewhere` compares only results with the same train/test split and the same form of the rows, raw
or scaled to unit length. It scales times to this machine by the training time of napkinXC's
liblinear PLT, measured here in the same rounds as the contenders, over that on the other machine.
"""

from __future__ import annotations

import csv
import hashlib
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness import PER_SECOND, TIME, Data, Report, Task
from xmlc.core.errors import needs_extra
from xmlc.kernels.unit_length import unit_rows

FILE = Path(__file__).with_name("elsewhere.csv")
ANY = "any"
UNIT_ROWS = "unit"
ALL = "all"
CALIBRATION = "calibration"
CALIBRATION_METHOD = "PLT, liblinear"
# Train/test splits by a digest of the test set's label sets (first digits of SHA-256)
SPLITS = {
    "ad7cd9ef8e263afd": "repository 1",  # delicious
    "b55c543cb0bc8d4a": "repository 1",  # bibtex
    "fbb7e10b6736bc4d": "only one",  # tib-core-26k
}


@dataclass(frozen=True)
class Figure:
    """A result of another program, which is a line of ``elsewhere.csv``."""

    dataset: str
    #: xmlc's contender to compare with.
    method: str
    program: str
    #: Task, measure and unit, as in `Row`.
    task: str
    measure: str
    value: float
    unit: str
    #: A name in `SPLITS`, or "any" for a time, which depends only on the sizes.
    split: str
    #: Form of the rows: unit (scaled to length 1), raw, or any.
    rows: str
    #: Ranked test instances, such as "all" or "first 3000".
    subset: str
    machine: str
    source: str

    @property
    def name(self) -> str:
        """Return the program and its method."""
        return f"{self.program}: {self.method}"

    @property
    def is_time(self) -> bool:
        """Return whether the result depends on the machine."""
        return self.unit.split()[0] in PER_SECOND


@cache
def read_figures() -> tuple[Figure, ...]:
    """Return all results in ``elsewhere.csv``."""
    with open(FILE, encoding="utf-8", newline="") as lines:
        content: Iterable[dict[str, Any]] = csv.DictReader(lines)
        return tuple(Figure(**line | {"value": float(line["value"])}) for line in content)


def split_of(Y_test: sparse.csr_array) -> str:
    """Return the split by its test label sets, or "unknown"."""
    digest = hashlib.sha256(np.ascontiguousarray(Y_test.indptr, dtype=np.int64).data)
    digest.update(np.ascontiguousarray(Y_test.indices, dtype=np.int32).data)
    return SPLITS.get(digest.hexdigest()[:16], "unknown")


def figures_for(
    dataset: str, method: str, split: str, rows: str, subset: str = ALL
) -> list[Figure]:
    """Return the results to compare with a contender.

    Their ``split``, ``rows`` and ``subset`` (`Figure`) are the given value or "any".
    """
    return [
        figure
        for figure in read_figures()
        if (figure.dataset, figure.method) == (dataset, method)
        and figure.split in (ANY, split)
        and figure.rows in (ANY, rows)
        and figure.subset in (ANY, subset)
    ]


def calibration_task(X: sparse.csr_array, Y: sparse.csr_array) -> Task:
    """Return the task whose time gives the scale: training napkinXC's liblinear PLT on one thread.

    Raises
    ------
    XmlcError
        If napkinXC is not installed.
    """
    try:
        from napkinxc.models import PLT
    except ImportError as error:
        raise needs_extra("scaling of times needs napkinXC", "baselines") from error
    unit = sparse.csr_matrix(unit_rows(X))
    label_sets = [row.tolist() for row in np.split(Y.indices, Y.indptr[1:-1])]

    def train() -> None:
        with tempfile.TemporaryDirectory(prefix="napkinxc-") as folder:
            PLT(folder, optimizer="liblinear", threads=1, seed=0).fit(unit, label_sets)

    return Task(f"napkinXC, {CALIBRATION_METHOD}", CALIBRATION, train)


class Elsewhere:
    """Results from elsewhere for a report on one dataset.

    They fit the xmlc ``contenders``, the ``form`` of the rows (unit or raw) and the ``subset`` of
    ranked test instances. ``tasks`` has the task whose time gives the scale, to measure in the same
    rounds as the contenders' tasks, but is empty without ``calibrate`` or results.

    Raises
    ------
    XmlcError
        If napkinXC is needed but not installed.
    """

    def __init__(
        self,
        data: Data,
        contenders: Iterable[str],
        form: str,
        subset: str = ALL,
        calibrate: bool = True,
    ):
        self.split = split_of(data.Y_test)
        self.figures = {
            name: figures_for(data.name, name, self.split, form, subset) for name in contenders
        }
        self.tasks: list[Task] = []
        known = figures_for(data.name, CALIBRATION_METHOD, ANY, ANY)
        if calibrate and known and any(self.figures.values()):
            self.seconds = known[0].value
            self.tasks = [calibration_task(data.X, data.Y)]

    def compare(self, report: Report) -> None:
        """Add the results to a report of measured tasks, with comparisons and a remark."""
        here = [report.value(task.contender, task.name, TIME) for task in self.tasks]
        scale = None
        if here:
            scale = here[0] / self.seconds
        for contender, figures in self.figures.items():
            for figure in figures:
                note = f"{figure.machine}, {figure.source}"
                if figure.is_time:
                    note = (
                        f"{figure.value:g} {figure.unit} on {note}{'' if scale else ', not scaled'}"
                    )
                if figure.is_time:
                    value = figure.value * (scale or 1.0)
                else:
                    value = figure.value
                report.add(figure.name, figure.task, figure.measure, figure.unit, value, note=note)
            for name, task, program in dict.fromkeys(
                (one.name, one.task, one.program) for one in figures
            ):
                report.compare(contender, name, task, costs=bool(here), label=program)
        if any(self.figures.values()):
            scaled = "not scaled to this machine, and not compared."
            if here:
                scaled = (
                    f"scaled by {self.tasks[0].contender}: {here[0]:.2f} s here, {self.seconds:g} "
                    "s there."
                )
            same = f"P@k is compared only for the same split ({self.split}) and scaling of rows."
            report.remarks.append(f"Times measured elsewhere are {scaled} {same}")
