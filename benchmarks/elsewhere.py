"""Results of programs that are not installed with this package: ``elsewhere.csv``, and their comparison.

A figure holds for one split and one form of the rows only; `Elsewhere` compares with no other. Times are scaled to this
machine: napkinXC's liblinear PLT was trained on the machine of the file too, and is trained here in the same rounds as
what is compared; every time of the file is multiplied by the ratio of the two trainings.
"""

from __future__ import annotations

import csv
import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
from scipy import sparse

from benchmarks.harness import PER_SECOND, TIME, TRAINING, Data, Rows, Task
from xmlc.core.errors import XmlcError, needs_extra
from xmlc.data.prepared import Prepared
from xmlc.kernels.csr import unit_rows

FILE = Path(__file__).with_name("elsewhere.csv")
ANY, UNIT_ROWS, ALL = "any", "unit", "all"
CALIBRATION, CALIBRATION_METHOD = "calibration", "PLT, liblinear"
# The splits that prepared data are known to be, by the first digits of the SHA-256 of the label sets to test on.
SPLITS = {
    "ad7cd9ef8e263afd": "repository 1",  # delicious
    "b55c543cb0bc8d4a": "repository 1",  # bibtex
    "fbb7e10b6736bc4d": "only one",  # tib-core-26k
}


@dataclass(frozen=True)
class Figure:
    """One figure of a program of others: a line of ``elsewhere.csv``."""

    dataset: str
    #: A contender of ours that it is compared with, or the part of its name before a comma.
    method: str
    program: str
    #: As in `Row`.
    task: str
    measure: str
    value: float
    unit: str
    #: Which train/test split, as in `SPLITS`; "any" of a time, which depends on sizes only.
    split: str
    #: The form of the rows: unit (scaled to length 1), raw, or any.
    rows: str
    #: "all", or the test instances that were used.
    subset: str
    machine: str
    source: str

    @property
    def name(self) -> str:
        """The program and the method, as the contender of a row."""
        return f"{self.program}: {self.method}"

    @property
    def is_time(self) -> bool:
        """Whether it depends on the machine."""
        return self.unit.split()[0] in PER_SECOND


@cache
def read_figures(file: Path = FILE) -> tuple[Figure, ...]:
    """Read the file.

    Raises
    ------
    XmlcError
        A line has a value that is no number, or an empty cell.
    """
    with open(file, encoding="utf-8", newline="") as lines:
        content = list(csv.DictReader(lines))
    for number, line in enumerate(content, start=2):
        empty = [name for name, cell in line.items() if not cell]
        if empty:
            raise XmlcError(f"{file}:{number}: empty: {', '.join(map(str, empty))}")
    try:
        return tuple(msgspec.convert(content, list[Figure], strict=False))
    except msgspec.ValidationError as error:
        raise XmlcError(f"{file}: {error}") from error


def split_of(Y_test: sparse.csr_array) -> str:
    """Name the split of label sets to test on; "unknown" if it is none of `SPLITS`."""
    digest = hashlib.sha256(np.ascontiguousarray(Y_test.indptr, dtype=np.int64).data)
    digest.update(np.ascontiguousarray(Y_test.indices, dtype=np.int32).data)
    return SPLITS.get(digest.hexdigest()[:16], "unknown")


def figures_for(dataset: str, method: str, split: str, rows: str, subset: str = ALL) -> list[Figure]:
    """Return the figures that a contender may be compared with: of this split, form of the rows and subset only."""
    wanted = (split, rows, subset)
    return [
        figure
        for figure in read_figures()
        if figure.dataset == dataset
        and (method == figure.method or method.startswith(f"{figure.method}, "))
        and all(found in (ANY, own) for found, own in zip((figure.split, figure.rows, figure.subset), wanted))
    ]


def seconds_elsewhere() -> dict[str, float]:
    """Return the seconds of the calibration elsewhere, by dataset."""
    return {
        figure.dataset: figure.value
        for figure in read_figures()
        if (figure.method, figure.task, figure.measure) == (CALIBRATION_METHOD, TRAINING, TIME)
    }


def calibration_task(X: sparse.csr_array, Y: sparse.csr_array) -> Task:
    """Return the task that times are scaled by: the training of napkinXC's liblinear PLT on one thread.

    Raises
    ------
    XmlcError
        napkinXC is not installed.
    """
    try:
        from napkinxc.models import PLT
    except ImportError as error:
        raise needs_extra("the calibration needs napkinXC", "peers") from error
    unit, label_sets = sparse.csr_matrix(unit_rows(X)), [row.tolist() for row in np.split(Y.indices, Y.indptr[1:-1])]

    def train() -> None:
        with tempfile.TemporaryDirectory(prefix="napkinxc-") as folder:
            PLT(folder, optimizer="liblinear", threads=1, seed=0).fit(unit, label_sets)

    return Task(f"napkinXC, {CALIBRATION_METHOD}", CALIBRATION, train)


@dataclass(frozen=True)
class Calibration:
    """The training that times are scaled by, here and elsewhere, in seconds, and its ``dataset``."""

    dataset: str
    seconds: float
    elsewhere: float

    @property
    def scale(self) -> float:
        """The factor of times measured elsewhere."""
        return self.seconds / self.elsewhere

    @property
    def text(self) -> str:
        """How times were scaled, in words."""
        return (
            f"Times measured elsewhere are scaled by napkinXC's liblinear PLT on {self.dataset}: "
            f"{self.seconds:.2f} s here, {self.elsewhere:g} s there."
        )


class Elsewhere:
    """Results from elsewhere of some contenders on a dataset.

    Parameters
    ----------
    data : Data
    contenders : sequence of str
        Names of ours.
    form : {"unit", "raw"}
        The form of the rows that they are trained on.
    subset : str
        The test instances that they rank.
    calibrate : bool
        Whether to scale times.
    folder : Path, optional
        Prepared dataset for the calibration; by default ``data``, if its calibration is known and any time is.

    Attributes
    ----------
    tasks : list of Task
        The calibration, if there is one: to be measured with those of the contenders.

    Raises
    ------
    XmlcError
        The folder holds a dataset whose calibration is not known, or napkinXC is not installed.
    """

    def __init__(
        self,
        data: Data,
        contenders: Sequence[str],
        form: str,
        subset: str = ALL,
        calibrate: bool = True,
        folder: Path | None = None,
    ):
        self.contenders, self.split = list(contenders), split_of(data.Y_test)
        self.figures = {name: figures_for(data.name, name, self.split, form, subset) for name in contenders}
        self.tasks: list[Task] = []
        known, self._dataset = seconds_elsewhere(), data.name
        if not calibrate:
            return
        if folder is not None:
            prepared = Prepared(folder)
            self._dataset = prepared.meta["name"]
            if self._dataset not in known:
                listed = ", ".join(known)
                raise XmlcError(
                    f"{folder} holds {self._dataset}; the calibration was measured elsewhere on {listed} only"
                )
            self.tasks = [calibration_task(*prepared.part("train"))]
        elif data.name in known and any(figure.is_time for own in self.figures.values() for figure in own):
            self.tasks = [calibration_task(data.X, data.Y)]

    def compare(self, rows: Rows) -> list[str]:
        """Add the figures from elsewhere, and how ours compare with them; return remarks on that.

        Parameters
        ----------
        rows : Rows
            With everything that was measured. Times are compared only if the calibration is among it.
        """
        calibration = self._calibration(rows)
        for contender, figures in self.figures.items():
            pairs: dict[tuple[str, str, str], None] = {}
            for figure in figures:
                if rows.of(contender, figure.task):
                    _add_figure(rows, figure, calibration)
                    pairs[figure.name, figure.task, figure.program] = None
            for name, task, program in pairs:
                rows.compare(contender, name, task, costs=calibration is not None, label=program)
        if not any(self.figures.values()):
            return []
        unscaled = "Times measured elsewhere are not scaled to this machine, and not compared."
        scaled = calibration.text if calibration else unscaled
        corrected = " (c) marks figures that correct earlier ones." * any("(c)" in row.note for row in rows.all)
        same = f"P@k is compared on the same split ({self.split}) and the same form of the rows only."
        return [f"{scaled} {same}{corrected}"]

    def _calibration(self, rows: Rows) -> Calibration | None:
        found = [row.value for row in rows.all if row.task == CALIBRATION]
        return Calibration(self._dataset, found[0], seconds_elsewhere()[self._dataset]) if found else None


def _add_figure(rows: Rows, figure: Figure, calibration: Calibration | None) -> None:
    if figure.measure in [row.measure for row in rows.of(figure.name, figure.task)]:
        return  # one method of theirs may be compared with several contenders
    scale, note = 1.0, f"{figure.machine}, {figure.source}"
    if figure.is_time:
        scale = calibration.scale if calibration else 1.0
        note = f"{figure.value:g} {figure.unit} on {note}{'' if calibration else ', not scaled'}"
    rows.add(figure.name, figure.task, figure.measure, figure.unit, scale * figure.value, note=note)
