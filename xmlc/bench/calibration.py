"""How times that were measured elsewhere are carried over to this machine, for programs that are not installed with us.

Such a program ran once, on a machine of two AMD EPYC cores, together with napkinXC's liblinear PLT on the same data.
Here that PLT is trained in the same process as what is to be compared, and the program's times are multiplied by the
ratio of the two trainings.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

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


def calibration_of(dataset: str, seconds: float) -> dict[str, Any]:
    """Compare a training with that elsewhere: ``dataset``, ``seconds``, ``seconds_elsewhere``, ``scale`` = ratio."""
    elsewhere = SECONDS_ELSEWHERE[dataset]
    return {"dataset": dataset, "seconds": seconds, "seconds_elsewhere": elsewhere, "scale": seconds / elsewhere}


def calibration_text(calibration: dict[str, Any]) -> str:
    """Say by what times were scaled."""
    return (
        f"scaled by napkinXC's liblinear PLT on {calibration['dataset']}: {calibration['seconds']:.2f} s here, "
        f"{calibration['seconds_elsewhere']} s elsewhere"
    )
