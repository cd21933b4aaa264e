"""Training and predictions, timed without compilation, and what a model tells of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import TypeVar

import numpy as np
from scipy import sparse

from xmlc.core.files import temporary_folder
from xmlc.core.growing import read_in_parts
from xmlc.core.passport import WARM_UP_ROWS, cpu_seconds, peak_bytes, timed
from xmlc.data.matrices import CSRWriter, places_of, without
from xmlc.kernels.csr import ENTRIES_PER_BLOCK, ROUNDING, check_probabilities, lent, some_rows
from xmlc.models.abilities import looks_up
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.warm_up import warm_up
from xmlc.suite.results.records.training import TrainingCosts
from xmlc.suite.steps.prepared import Prepared

T = TypeVar("T")


def fit_timed(
    model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array, folder: Path | None = None
) -> tuple[float, float]:
    """Compile by a few rows, then fit, and write the model where a folder is given: in the time that is returned.

    Returns
    -------
    seconds, cpu_seconds : float
        Wall seconds, and processor seconds on all threads.
    """
    warm_up(model, X, Y)
    before = cpu_seconds()
    _, seconds = timed(lambda: model.fit(X, Y) if folder is None else model.fit_to(folder, X, Y))
    return seconds, cpu_seconds() - before


@contextmanager
def trained_beside(
    out: Path, model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array
) -> Iterator[tuple[float, float]]:
    """Fit a model into a temporary folder next to a file, and keep few of its pages in memory in the block.

    Yields
    ------
    seconds, cpu_seconds : float
        As from `fit_timed`.
    """
    with temporary_folder(out) as folder:
        times = fit_timed(model, X, Y, folder / "model")
        with read_in_parts(model._state()[0].values()):
            yield times


def training_costs(
    model: SparseProbabilityEstimator, seconds: float, cpu_seconds: float, threads: int, model_bytes: int
) -> TrainingCosts:
    """Return the costs of training until now; of one that looks estimates up, memory and disk alone."""
    known = not looks_up(model)
    return TrainingCosts(
        train_seconds=seconds if known else None,
        train_cpu_seconds=cpu_seconds if known else None,
        train_threads=threads if known else None,
        train_peak_bytes=peak_bytes(),
        model_bytes=model_bytes,
    )


def instances_for(model: SparseProbabilityEstimator, prepared: Prepared, part: str) -> sparse.csr_array:
    """Return the instances of one part; a model that looks estimates up looks up theirs."""
    if looks_up(model):
        model.look_up(prepared, part)
    return prepared.part(part)[0]


def predict_timed(
    model: SparseProbabilityEstimator, X: sparse.csr_array, predict: Callable[[sparse.csr_array], T]
) -> tuple[T, float | None]:
    """Call ``predict`` on a few rows, so that compilation is in no measured time, then on all of them.

    Returns
    -------
    result
    ms_per_instance : float or None
        Wall milliseconds per instance; None for one that looks estimates up.
    """
    if looks_up(model):
        return predict(X), None
    predict(X[:WARM_UP_ROWS])
    result, seconds = timed(lambda: predict(X))
    return result, 1e3 * seconds / max(X.shape[0], 1)


def rank_timed(model: SparseProbabilityEstimator, prepared: Prepared, k: int) -> tuple[np.ndarray, float | None]:
    """Rank the first k labels of each test instance, pairs left out aside: int32 of shape (n, k), and milliseconds."""
    X, left_out = instances_for(model, prepared, "test"), prepared.left_out("test")
    more = 0 if left_out is None else int(np.diff(left_out.indptr).max(initial=0))
    (labels, _), ms = predict_timed(model, X, lambda rows: model.predict_top_k(rows, k + more))
    if left_out is not None:
        places = np.arange(len(labels), dtype=np.int64)[:, None] * left_out.shape[1] + labels
        labels = np.where(np.isin(places, places_of(left_out)), np.int32(-1), labels)
        labels = np.take_along_axis(labels, np.argsort(labels < 0, axis=1, kind="stable"), axis=1)[:, :k]
    return labels, ms


def estimate_timed(
    model: SparseProbabilityEstimator,
    prepared: Prepared,
    part: str,
    threshold: float | np.ndarray,
    then: Callable[[sparse.csr_array], None],
) -> float | None:
    """Estimate a few instances, then all, some of them at a time; the time of ``then`` is not in the result.

    Parameters
    ----------
    model, prepared, part
    threshold : float or ndarray, shape (m,)
    then : callable
        Is given the estimates above it, pairs left out aside, CSR, some instances after the other; there is one call
        at least.

    Returns
    -------
    float or None
        As of `predict_timed`.
    """
    X, left_out = instances_for(model, prepared, part), prepared.left_out(part)
    spent, rows, last = 0.0, X.shape[0], 0
    if not looks_up(model):
        few = model.predict_proba(X[:WARM_UP_ROWS], threshold)
        rows = ENTRIES_PER_BLOCK * few.shape[0] // max(few.nnz, 1) + 1

    def take(spe: sparse.csr_array) -> None:
        nonlocal spent, last
        first, last = last, last + spe.shape[0]
        kept, seconds = timed(lambda: spe if left_out is None else without(spe, some_rows(left_out, first, last)))
        spent += seconds + timed(lambda: then(kept))[1]

    _, seconds = timed(lambda: model.estimate_blocks(X, threshold, rows, take))
    return None if looks_up(model) else 1e3 * (seconds - spent) / max(X.shape[0], 1)


def write_estimates(
    model: SparseProbabilityEstimator, prepared: Prepared, part: str, floor: float, folder: Path
) -> tuple[sparse.csr_array, float | None]:
    """Write a part's estimates above a floor into an existing folder; return them, mapped, and their milliseconds.

    Raises
    ------
    XmlcError
        One is no probability.
    """
    writer = CSRWriter(folder, part)

    def write(spe: sparse.csr_array) -> None:
        check_probabilities(spe.data, "what the model estimates", 1 + ROUNDING)
        writer.append(spe)

    ms = estimate_timed(model, prepared, part, floor, write)
    return lent(writer.finished()), ms


def mean_of(counts: np.ndarray | None) -> float | None:
    """Return the mean of what a model tells of each instance; None where it tells nothing, or there is no instance."""
    return None if counts is None or counts.size == 0 else fmean(counts)
