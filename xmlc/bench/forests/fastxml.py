"""How fast a forest is grown and asked, beside the authors' C++ program, and what a second thread gives.

The program itself is not installed with this package; its times were measured elsewhere and are scaled, see
`xmlc.bench.calibration`. One process, one task at a time, rounds that take turns; compilation and reading excluded.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from pathlib import Path

from xmlc.bench.answers import precisions
from xmlc.bench.calibration import Calibration, ProgramTimes, Ratios, calibration_of, calibration_work
from xmlc.bench.results import INLINE, OPTIONAL, PRECISION, Data
from xmlc.bench.text import counted
from xmlc.models.fastxml import FastXML
from xmlc.passport import WARM_UP_ROWS, Passport, passport, peak_bytes, timed


@dataclass(frozen=True, kw_only=True)
class ForestTimes(ProgramTimes):
    """The authors' C++ program on one thread: rows of unit length, best 5 labels.

    Attributes
    ----------
    n_trees : int
    """

    n_trees: int


PROGRAM = {
    "delicious": ForestTimes(n_trees=50, train_seconds=19.3, predict_ms=0.427),
    "tib-core-26k": ForestTimes(n_trees=10, train_seconds=47.4, predict_ms=0.101),
}


@dataclass(frozen=True)
class BesideProgram:
    """What the program took, and our times on one thread divided by that.

    Attributes
    ----------
    calibration : Calibration
    measured_elsewhere : ForestTimes
    program : ProgramTimes
        Scaled.
    ratios : Ratios
    """

    calibration: Calibration
    measured_elsewhere: ForestTimes
    program: ProgramTimes
    ratios: Ratios = field(metadata=INLINE)


@dataclass(frozen=True)
class Forests:
    """A forest on one and on several threads.

    Attributes
    ----------
    dataset : str
    n_trees : int
    seconds, ms : dict of float
        By number of threads, medians: of training; of prediction, per test instance.
    precision : list of float
        P@1, P@3 and P@5.
    peak_bytes : int
        Of the process.
    passport : Passport
    speedup : float
        Of training.
    beside : BesideProgram or None
        Where the program was measured on the dataset with as many trees.
    """

    dataset: str
    n_trees: int
    seconds: dict[int, float]
    ms: dict[int, float]
    precision: list[float] = field(metadata=PRECISION)
    peak_bytes: int
    passport: Passport
    speedup: float
    beside: BesideProgram | None = field(metadata=INLINE | OPTIONAL)


def compare_with_program(data: Path, n_trees: int | None = None, threads: int = 2, rounds: int = 2) -> Forests:
    """Measure training and prediction on one and on several threads.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
    n_trees : int, optional
        Size of the forest; by default that of the program's measurement, or 50.
    threads : int
        Compared with one thread.
    rounds : int
        How often everything is measured.

    Raises
    ------
    XmlcError
        The dataset needs the calibration and napkinXC is not installed.
    """
    content = Data.read(data)
    known = PROGRAM.get(content.name)
    n_trees = n_trees or (known.n_trees if known else 50)
    model = FastXML(n_trees=n_trees, unit_norm=True)
    X, Y = content.X[:WARM_UP_ROWS], content.Y[:WARM_UP_ROWS]
    model.fit(X, Y).predict_top_k(X, 5)
    measured = _Rounds(content, model, (1, threads))
    calibrations = []
    calibrate = calibration_work(content.X, content.Y) if known and n_trees == known.n_trees else None
    for _ in range(rounds):
        if calibrate:
            calibrations.append(timed(calibrate)[1])
        measured.one_more()
    seconds, ms = measured.medians()
    beside = None
    if known and calibrations:
        calibration = calibration_of(content.name, statistics.median(calibrations))
        program = known.scaled(calibration)
        beside = BesideProgram(calibration, known, program, Ratios.of(seconds[1], ms[1], program))
    return Forests(
        dataset=content.name,
        n_trees=n_trees,
        seconds=seconds,
        ms=ms,
        precision=measured.precision,
        peak_bytes=peak_bytes(),
        passport=passport(threads),
        speedup=seconds[1] / seconds[threads],
        beside=beside,
    )


class _Rounds:
    """Rounds of training and asking one model on some numbers of threads."""

    def __init__(self, data: Data, model: FastXML, threads: tuple[int, ...]):
        self.data, self.model = data, model
        self.seconds: dict[int, list[float]] = {n: [] for n in threads}
        self.ms: dict[int, list[float]] = {n: [] for n in threads}
        self.precision: list[float] = []

    def one_more(self) -> None:
        """Train and ask once on each number of threads."""
        data = self.data
        for n in self.seconds:
            self.model.set_params(n_jobs=n)
            self.seconds[n].append(timed(lambda: self.model.fit(data.X, data.Y))[1])
            (labels, _), asked = timed(lambda: self.model.predict_top_k(data.X_test, 5))
            self.ms[n].append(1e3 * asked / data.X_test.shape[0])
            self.precision = precisions(data.Y_test, labels)

    def medians(self) -> tuple[dict[int, float], dict[int, float]]:
        """Return the seconds of training and the milliseconds of asking, by number of threads."""
        seconds = {n: statistics.median(turns) for n, turns in self.seconds.items()}
        return seconds, {n: statistics.median(turns) for n, turns in self.ms.items()}


def to_text(result: Forests, rounds: int) -> str:
    """Return everything that was measured in some rounds, as lines."""
    precision = " ".join(f"{100 * value:.2f}" for value in result.precision)
    lines = [
        f"{result.dataset}: {result.n_trees} trees, rows of unit length; P@1/3/5 {precision} %",
        f"median of {rounds} rounds; peak of the process {result.peak_bytes / 1e6:.0f} MB; {result.passport['cpu']}",
        f"{'':<30}{'training s':>12}{'top 5, ms':>12}",
    ]
    for n, seconds in result.seconds.items():
        name = f"xmlc, {counted(n, 'thread')}"
        lines.append(f"{name:<30}{seconds:12.2f}{result.ms[n]:12.4f}")
    if result.beside:
        beside, program, ratios = result.beside, result.beside.program, result.beside.ratios
        lines += [
            f"{'C++, 1 thread, scaled':<30}{program.train_seconds:12.2f}{program.predict_ms:12.4f}",
            f"{'ratio on 1 thread':<30}{ratios.train_ratio:12.3f}{ratios.predict_ratio:12.3f}",
            f"{beside.calibration.text}, where the C++ program took {beside.measured_elsewhere.train_seconds} s",
        ]
    return "\n".join([*lines, f"speed-up of {max(result.seconds)} threads: {result.speedup:.2f}"])
