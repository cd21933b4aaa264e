"""How fast nearest neighbours are found, beside the authors' Go program, and what a second thread gives.

The program is not installed with this package; its times were measured elsewhere and are scaled, see
`xmlc.bench.calibration`. One process, one task at a time, rounds that take turns; the best round of each counts, the
calibration included. Kernels are compiled and the data is in memory before anything is measured.
"""

from __future__ import annotations

from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.bench.answers import differing, precisions
from xmlc.bench.calibration import SECONDS_ELSEWHERE, calibration_of, calibration_work
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.models.nearest import SparseWeightedNearestNeighbors
from xmlc.passport import WARM_UP_ROWS, in_turns, passport, peak_bytes

K = 5
AT_LEAST = 0.3  # seconds of a task per round
CALIBRATION, PREPARATION = "calibration", "preparation"


class Setting(NamedTuple):
    """Hyperparameters of the method."""

    S: int
    alpha: float
    beta: float


SMALL, LARGE = Setting(20, 1, 1), Setting(75, 2, 1)
SETTINGS = (SMALL, LARGE)


@dataclass(frozen=True)
class TimesElsewhere:
    """What others took for the best 5 labels, on one thread.

    Attributes
    ----------
    whose : str
    ms : float
        Per test instance.
    setting : Setting or None
        None where it is not known; then both of `SETTINGS` are compared.
    precision : tuple of float or None
        P@1, P@3 and P@5, in percent.
    asked : float or None
        What this suite asks of itself: at most this ratio to the scaled time.
    """

    whose: str
    ms: float
    setting: Setting | None = None
    precision: tuple[float, float, float] | None = None
    asked: float | None = None


GO, PAPER = "authors' Go program", "swnn2018, i7-7700K"
_AMAZON = (
    TimesElsewhere(f"paper's program, {PAPER}", 5.74, asked=1.0),
    TimesElsewhere("the same program later", 4.19),
)
ELSEWHERE = {
    "delicious": (
        TimesElsewhere(GO, 0.10, SMALL, asked=0.33),
        TimesElsewhere(GO, 0.150, LARGE, (68.7, 62.3, 57.5), 0.33),
    ),
    "tib-core-26k": (
        TimesElsewhere(GO, 0.40, SMALL, (44.5, 27.2, 19.8), 0.33),
        TimesElsewhere(GO, 0.50, LARGE, (44.2, 27.8, 20.5), 0.33),
    ),
    "amazon-670k": _AMAZON,
    "amazon-670k-shape": _AMAZON,  # a synthetic set: the precision of others says nothing about it
}
PREPARATION_ELSEWHERE = {"delicious": 0.011, "tib-core-26k": 0.34}  # seconds of the Go program


def compare_nearest(
    data: Path,
    threads: int = 2,
    rounds: int = 3,
    calibration: bool = True,
    calibration_data: Path | None = None,
    instances: int | None = None,
) -> dict[str, Any]:
    """Measure preparation and prediction on one and on several threads, for both of `SETTINGS`.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
    threads : int
        Compared with one thread.
    rounds : int
        How often everything is measured.
    calibration : bool
        Whether to train napkinXC's PLT too, so that the times of others are scaled.
    calibration_data : Path, optional
        Prepared dataset that it is trained on, one of `SECONDS_ELSEWHERE`; by default ``data`` if it is one of them,
        and without one nothing is scaled.
    instances : int, optional
        Ask for the first so many test instances.

    Returns
    -------
    dict
        ``dataset``, ``shape`` (test instances asked for, d, m), ``n_train``, ``rounds``, ``threads``;
        ``preparation_seconds`` of the rounds, and ``index_bytes``: they do not depend on the setting; ``settings``:
        list, see `_measured`; ``calibration`` (`calibration_of`) or None; ``elsewhere``: list, see `_compared`;
        ``preparation_elsewhere``: seconds, scaled, or None; ``peak_bytes``; ``passport``.

    Raises
    ------
    XmlcError
        A folder holds no dataset, that for the calibration is none of the known ones, or napkinXC is not installed.
    """
    prepared = Prepared(data)
    name = prepared.meta["name"]
    (X, Y), (X_test, Y_test) = prepared.part("train"), prepared.part("test")
    X_test, Y_test = X_test[:instances], Y_test[:instances]
    models = {setting: SparseWeightedNearestNeighbors(*setting, n_jobs=1).fit(X, Y) for setting in SETTINGS}
    tasks: dict[str, Any] = {}
    calibrated_on = _calibration_dataset(name, calibration_data) if calibration else None
    if calibrated_on:
        part = (X, Y) if calibration_data is None else Prepared(calibration_data).part("train")
        tasks[CALIBRATION] = calibration_work(*part)
    tasks[PREPARATION] = lambda: SparseWeightedNearestNeighbors(n_jobs=1).fit(X, Y)
    asking = {(setting, n): copy(models[setting]).set_params(n_jobs=n) for setting in SETTINGS for n in (1, threads)}
    for (setting, n), model in asking.items():
        model.predict_top_k(X_test[:WARM_UP_ROWS], K)
        tasks[_name(setting, n)] = lambda model=model: model.predict_top_k(X_test, K)
    seconds, found = in_turns(tasks, rounds, AT_LEAST)
    scaled_by = calibration_of(calibrated_on, min(seconds[CALIBRATION])) if calibrated_on else None
    settings = []
    for setting in SETTINGS:
        turns = {n: seconds[_name(setting, n)] for n in (1, threads)}
        answers = {n: found[_name(setting, n)] for n in (1, threads)}
        settings.append(_measured(setting, turns, answers, asking[setting, 1], X.shape[0], Y_test))
    known = PREPARATION_ELSEWHERE.get(name)
    return {
        "dataset": name,
        "shape": [*X_test.shape, Y.shape[1]],
        "n_train": X.shape[0],
        "rounds": rounds,
        "threads": threads,
        "preparation_seconds": seconds[PREPARATION],
        "index_bytes": models[SMALL].index_bytes_,
        "settings": settings,
        "calibration": scaled_by,
        "elsewhere": _compared(name, settings, scaled_by),
        "preparation_elsewhere": known and known * (scaled_by["scale"] if scaled_by else 1.0),
        "peak_bytes": peak_bytes(),
        "passport": passport(threads),
    }


def _calibration_dataset(name: str, folder: Path | None) -> str | None:
    """Name the dataset to calibrate on, if there is one."""
    if folder is None:
        return name if name in SECONDS_ELSEWHERE else None
    chosen = Prepared(folder).meta["name"]
    if chosen not in SECONDS_ELSEWHERE:
        known = ", ".join(SECONDS_ELSEWHERE)
        raise XmlcError(f"{folder} holds {chosen}; the calibration has been measured elsewhere on {known} only")
    return chosen


def _name(setting: Setting, n_jobs: int) -> str:
    return f"{setting}, {n_jobs}"


def _measured(
    setting: Setting,
    turns: dict[int, list[float]],
    answers: dict[int, tuple[np.ndarray, np.ndarray]],
    model: SparseWeightedNearestNeighbors,
    n_train: int,
    Y_test: sparse.csr_array,
) -> dict[str, Any]:
    """Summarise one setting.

    Returns
    -------
    dict
        ``setting``; ``ms`` per instance of the rounds, by number of threads; ``speed_up`` of the best; which of the
        arrays ``differing_arrays`` are not the same bits on several threads; ``p@k`` as shares; ``similarities``
        computed per instance, and which ``similarities_share`` of the training instances that is.
    """
    (one, several), n = turns.values(), Y_test.shape[0]
    arrays = [dict(zip(("labels", "scores"), answer)) for answer in answers.values()]
    similarities = float(np.mean(model.inner_products_))
    return {
        "setting": setting._asdict(),
        "ms": {n_jobs: [1e3 * turn / n for turn in spent] for n_jobs, spent in turns.items()},
        "speed_up": min(one) / min(several),
        "differing_arrays": differing(*arrays),
        "p@k": precisions(Y_test, arrays[0]["labels"]),
        "similarities": similarities,
        "similarities_share": similarities / n_train,
    }


def _compared(name: str, settings: list[dict[str, Any]], calibration: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Put the times of others beside ours.

    Returns
    -------
    list of dict
        The fields of `TimesElsewhere`, ``setting`` being ours; ``scaled_ms``, None without calibration; ``our_ms``;
        ``ratio`` of ours to the scaled time, or else to the time as it was; ``difference``: the largest of |P@k - P@k|
        in points, or None.
    """
    rows = []
    for known in ELSEWHERE.get(name, ()):
        for ours in settings:
            if known.setting is not None and known.setting._asdict() != ours["setting"]:
                continue
            scaled = known.ms * calibration["scale"] if calibration else None
            our_ms = min(ours["ms"][1])
            difference = None
            if known.precision:
                difference = float(np.abs(100 * np.array(ours["p@k"]) - known.precision).max())
            rows.append(
                asdict(known)
                | {"setting": ours["setting"], "scaled_ms": scaled, "our_ms": our_ms}
                | {"ratio": our_ms / (scaled or known.ms), "difference": difference}
            )
    return rows
