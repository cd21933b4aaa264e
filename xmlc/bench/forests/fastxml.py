"""How fast a forest is grown and asked, beside the authors' C++ program, and what a second thread gives.

The program itself is not installed with this package; its times were measured elsewhere and are scaled, see
`xmlc.bench.calibration`. One process, one task at a time, rounds that take turns; compilation and reading excluded.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xmlc.bench.answers import precisions
from xmlc.bench.calibration import calibration_of, calibration_work
from xmlc.data.prepared import Prepared
from xmlc.models.fastxml import FastXML
from xmlc.passport import WARM_UP_ROWS, passport, peak_bytes, timed


@dataclass(frozen=True)
class ProgramTimes:
    """One thread, rows of unit length, best 5 labels; all of one machine.

    Attributes
    ----------
    n_trees : int
    train_seconds, predict_ms : float
        Of the authors' C++ program; prediction per test instance.
    """

    n_trees: int
    train_seconds: float
    predict_ms: float


PROGRAM = {
    "delicious": ProgramTimes(50, 19.3, 0.427),
    "tib-core-26k": ProgramTimes(10, 47.4, 0.101),
}


def compare_with_program(data: Path, n_trees: int | None = None, threads: int = 2, rounds: int = 2) -> dict[str, Any]:
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

    Returns
    -------
    dict
        ``dataset``; ``seconds`` and ``ms`` by number of threads, medians; ``speedup``; ``p@k``; ``peak_bytes`` of the
        process; for a dataset of `PROGRAM` also ``calibration`` (`calibration_of`), ``program`` scaled by it, and the
        ratios ``train_ratio`` and ``predict_ratio`` to it; ``passport``.

    Raises
    ------
    XmlcError
        The dataset needs the calibration and napkinXC is not installed.
    """
    prepared = Prepared(data)
    (X, Y), (X_test, Y_test) = prepared.part("train"), prepared.part("test")
    known = PROGRAM.get(prepared.meta["name"])
    n_trees = n_trees or (known.n_trees if known else 50)
    model = FastXML(n_trees=n_trees, unit_norm=True)
    model.fit(X[:WARM_UP_ROWS], Y[:WARM_UP_ROWS]).predict_top_k(X[:WARM_UP_ROWS], 5)
    seconds: dict[int, list[float]] = {1: [], threads: []}
    ms: dict[int, list[float]] = {1: [], threads: []}
    calibrations = []
    calibrate = calibration_work(X, Y) if known and n_trees == known.n_trees else None
    for _ in range(rounds):
        if calibrate:
            calibrations.append(timed(calibrate)[1])
        for n in seconds:
            model.set_params(n_jobs=n)
            seconds[n].append(timed(lambda: model.fit(X, Y))[1])
            (labels, _), asked = timed(lambda: model.predict_top_k(X_test, 5))
            ms[n].append(1e3 * asked / X_test.shape[0])
    name, medians = prepared.meta["name"], {n: statistics.median(values) for n, values in seconds.items()}
    result = {
        "dataset": name,
        "n_trees": n_trees,
        "seconds": medians,
        "ms": {n: statistics.median(values) for n, values in ms.items()},
        "p@k": precisions(Y_test, labels),
        "peak_bytes": peak_bytes(),
        "passport": passport(threads),
        "speedup": medians[1] / medians[threads],
    }
    if known is None or not calibrations:
        return result
    return result | _ratios(known, result, calibration_of(name, statistics.median(calibrations)))


def _ratios(known: ProgramTimes, result: dict[str, Any], calibration: dict[str, Any]) -> dict[str, Any]:
    train, predict = known.train_seconds * calibration["scale"], known.predict_ms * calibration["scale"]
    return {
        "calibration": calibration,
        "measured_elsewhere": asdict(known),
        "program": {"train_seconds": train, "predict_ms": predict},
        "train_ratio": result["seconds"][1] / train,
        "predict_ratio": result["ms"][1] / predict,
    }
