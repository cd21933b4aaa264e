"""How fast nearest neighbours are found, beside the authors' Go program, and what a second thread gives.

The program is not installed with this package; its times were measured elsewhere and are scaled, see
`xmlc.bench.calibration`. One process, one task at a time, rounds that take turns; the best round of each counts, the
calibration included. Kernels are compiled and the data is in memory before anything is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from xmlc.bench.answers import differing, precisions
from xmlc.bench.calibration import SECONDS_ELSEWHERE, Calibration, calibration_of, calibration_work
from xmlc.bench.nearest.elsewhere import (
    ELSEWHERE,
    PREPARATION_ELSEWHERE,
    SETTINGS,
    SMALL,
    Setting,
    TimesElsewhere,
)
from xmlc.bench.results import INLINE, PRECISION, Data, InTurns
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.models.nearest import SparseWeightedNearestNeighbors
from xmlc.passport import WARM_UP_ROWS, in_turns, passport, peak_bytes

Answer = tuple[np.ndarray, np.ndarray]  # labels and scores
K = 5
AT_LEAST = 0.3  # seconds of a task per round
CALIBRATION, PREPARATION = "calibration", "preparation"


@dataclass(frozen=True)
class MeasuredSetting:
    """Asking with one setting, on one and on several threads.

    Attributes
    ----------
    setting : Setting
    ms : dict of list of float
        By number of threads: per test instance, of the rounds.
    speed_up : float
        Of the best rounds.
    differing_arrays : list of str
        Which of labels and scores are not the same bits on several threads.
    precision : list of float
        P@1, P@3 and P@5 as shares.
    similarities, similarities_share : float
        Computed per test instance, and which share of the training instances that is.
    """

    setting: Setting
    ms: dict[int, list[float]]
    speed_up: float
    differing_arrays: list[str]
    precision: list[float] = field(metadata=PRECISION)
    similarities: float
    similarities_share: float


@dataclass(frozen=True)
class BesideOthers:
    """Times of others beside ours.

    Attributes
    ----------
    known : TimesElsewhere
        ``setting`` being ours.
    scaled_ms : float or None
        None without calibration.
    our_ms, ratio : float
        Of ours to the scaled time, or else to the time as it was.
    difference : float or None
        The largest of |P@k - P@k| in points, where theirs is known.
    """

    known: TimesElsewhere = field(metadata=INLINE)
    scaled_ms: float | None
    our_ms: float
    ratio: float
    difference: float | None


@dataclass(frozen=True, kw_only=True)
class Neighbours(InTurns):
    """Preparation, and asking with both of `SETTINGS`; ``shape`` has the test instances asked for.

    Attributes
    ----------
    n_train : int
    preparation_seconds : list of float
        Of the rounds; like ``index_bytes`` they do not depend on the setting.
    index_bytes : int
    settings : list of MeasuredSetting
    calibration : Calibration or None
    elsewhere : list of BesideOthers
    preparation_elsewhere : float or None
        Seconds, scaled.
    """

    n_train: int
    preparation_seconds: list[float]
    index_bytes: int
    settings: list[MeasuredSetting]
    calibration: Calibration | None
    elsewhere: list[BesideOthers]
    preparation_elsewhere: float | None


def compare_nearest(
    data: Path,
    threads: int = 2,
    rounds: int = 3,
    calibration: bool = True,
    calibration_data: Path | None = None,
    instances: int | None = None,
) -> Neighbours:
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

    Raises
    ------
    XmlcError
        A folder holds no dataset, that for the calibration is none of the known ones, or napkinXC is not installed.
    """
    whole = Data.read(data)
    content = replace(whole, X_test=whole.X_test[:instances], Y_test=whole.Y_test[:instances])
    models = {setting: setting.model(1).fit(content.X, content.Y) for setting in SETTINGS}
    calibrated_on = _calibration_dataset(content.name, calibration_data) if calibration else None
    tasks: dict[str, Callable[[], object]] = {}
    if calibrated_on:
        part = (content.X, content.Y) if calibration_data is None else Prepared(calibration_data).part("train")
        tasks[CALIBRATION] = calibration_work(*part)
    tasks[PREPARATION] = lambda: SparseWeightedNearestNeighbors(n_jobs=1).fit(content.X, content.Y)
    asked = {(setting, n): _Asked(models[setting], n, content) for setting in SETTINGS for n in (1, threads)}
    tasks |= {_name(*key): one.ask for key, one in asked.items()}
    seconds, _ = in_turns(tasks, rounds, AT_LEAST)
    scaled_by = calibration_of(calibrated_on, min(seconds[CALIBRATION])) if calibrated_on else None
    settings = [_measured(setting, [asked[setting, n] for n in (1, threads)], seconds, content) for setting in SETTINGS]
    known = PREPARATION_ELSEWHERE.get(content.name)
    return Neighbours(
        dataset=content.name,
        shape=[*content.X_test.shape, content.Y.shape[1]],
        n_train=content.X.shape[0],
        rounds=rounds,
        threads=threads,
        preparation_seconds=seconds[PREPARATION],
        index_bytes=models[SMALL].index_bytes_,
        settings=settings,
        calibration=scaled_by,
        elsewhere=_compared(content.name, settings, scaled_by),
        preparation_elsewhere=known and known * (scaled_by.scale if scaled_by else 1.0),
        peak_bytes=peak_bytes(),
        passport=passport(threads),
    )


class _Asked:
    """A trained model, asked on some threads for the best labels of all test instances, and its last answer."""

    answer: Answer

    def __init__(self, model: SparseWeightedNearestNeighbors, n_jobs: int, data: Data):
        self.n_jobs, self.data = n_jobs, data
        self.model = copy(model).set_params(n_jobs=n_jobs)
        self.model.predict_top_k(data.X_test[:WARM_UP_ROWS], K)

    def ask(self) -> None:
        self.answer = self.model.predict_top_k(self.data.X_test, K)


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


def _measured(setting: Setting, asked: list[_Asked], seconds: Mapping[str, list[float]], data: Data) -> MeasuredSetting:
    """Summarise one setting, asked on one and on several threads."""
    turns = {one.n_jobs: seconds[_name(setting, one.n_jobs)] for one in asked}
    (one, several), n = turns.values(), data.X_test.shape[0]
    arrays = [dict(zip(("labels", "scores"), each.answer)) for each in asked]
    similarities = float(np.mean(np.asarray(asked[0].model.inner_products_)))
    return MeasuredSetting(
        setting=setting,
        ms={n_jobs: [1e3 * turn / n for turn in spent] for n_jobs, spent in turns.items()},
        speed_up=min(one) / min(several),
        differing_arrays=differing(*arrays),
        precision=precisions(data.Y_test, arrays[0]["labels"]),
        similarities=similarities,
        similarities_share=similarities / data.X.shape[0],
    )


def _compared(name: str, settings: list[MeasuredSetting], calibration: Calibration | None) -> list[BesideOthers]:
    """Put the times of others beside ours."""
    rows = []
    for known in ELSEWHERE.get(name, ()):
        for ours in settings:
            if known.setting not in (None, ours.setting):
                continue
            scaled = known.ms * calibration.scale if calibration else None
            our_ms = min(ours.ms[1])
            difference = None
            if known.precision:
                difference = float(np.abs(100 * np.array(ours.precision) - known.precision).max())
            whose = replace(known, setting=ours.setting)
            rows.append(BesideOthers(whose, scaled, our_ms, our_ms / (scaled or known.ms), difference))
    return rows
