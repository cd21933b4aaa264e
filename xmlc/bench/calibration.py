"""How times that were measured elsewhere are carried over to this machine, for programs that are not installed with us.

Such a program ran once, on a machine of two AMD EPYC cores, together with napkinXC's liblinear PLT on the same data.
Here that PLT is trained in the same process as what is to be compared, and the program's times are multiplied by the
ratio of the two trainings.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from scipy import sparse

from xmlc.csr import unit_rows
from xmlc.errors import XmlcError

SECONDS_ELSEWHERE = {"delicious": 10.6, "tib-core-26k": 47.0}  # k-means tree, rows of unit length, one thread


def calibration_work(X: sparse.csr_array, Y: sparse.csr_array) -> Callable[[], None]:
    """Return what is to be timed: the training of napkinXC's liblinear PLT on one thread.

    Parameters
    ----------
    X : csr_array, shape (n, d)
    Y : boolean csr_array, shape (n, m)
        Training part of a dataset of `SECONDS_ELSEWHERE`.

    Raises
    ------
    XmlcError
        napkinXC is not installed.
    """
    try:
        from napkinxc.models import PLT
    except ImportError as error:
        raise XmlcError("the calibration needs napkinXC: pip install 'xmlc[peers]'") from error
    rows = sparse.csr_matrix(unit_rows(X))
    label_sets = [Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist() for i in range(Y.shape[0])]

    def work() -> None:
        with tempfile.TemporaryDirectory(prefix="napkinxc-") as folder:
            PLT(folder, optimizer="liblinear", threads=1, seed=0).fit(rows, label_sets)

    return work


@dataclass(frozen=True)
class Calibration:
    """A training, here and elsewhere.

    Attributes
    ----------
    dataset : str
        That it was on.
    seconds, seconds_elsewhere : float
    scale : float
        What times measured elsewhere are multiplied by.
    """

    dataset: str
    seconds: float
    seconds_elsewhere: float
    scale: float

    @property
    def text(self) -> str:
        """By what times were scaled."""
        return (
            f"scaled by napkinXC's liblinear PLT on {self.dataset}: {self.seconds:.2f} s here, "
            f"{self.seconds_elsewhere} s elsewhere"
        )


def calibration_of(dataset: str, seconds: float) -> Calibration:
    """Compare a training on a dataset of `SECONDS_ELSEWHERE` with that elsewhere."""
    elsewhere = SECONDS_ELSEWHERE[dataset]
    return Calibration(dataset, seconds, elsewhere, seconds / elsewhere)


@dataclass(frozen=True)
class ProgramTimes:
    """What a program of others took elsewhere, or what it would take here.

    Attributes
    ----------
    train_seconds, predict_ms : float
        Prediction per test instance.
    """

    train_seconds: float
    predict_ms: float

    def scaled(self, calibration: Calibration) -> ProgramTimes:
        """Return the times that it would take here."""
        return ProgramTimes(self.train_seconds * calibration.scale, self.predict_ms * calibration.scale)


@dataclass(frozen=True)
class Ratios:
    """Our times divided by the scaled ones of a program.

    Attributes
    ----------
    train_ratio, predict_ratio : float
    """

    train_ratio: float
    predict_ratio: float

    @classmethod
    def of(cls, train_seconds: float, ms: float, program: ProgramTimes) -> Self:
        """Divide our times by those that the program would take here."""
        return cls(train_seconds / program.train_seconds, ms / program.predict_ms)
