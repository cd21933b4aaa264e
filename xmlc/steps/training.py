"""Training of a model, or of a share of a forest that is joined later, and its time without compilation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.passport import StepCosts, cpu_seconds, peak_bytes, timed
from xmlc.models.abilities import Forest, looks_up
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import estimator_class
from xmlc.models.warm_up import warm_up
from xmlc.records.training import TrainingCosts, TrainingRecord


def fit_timed(
    model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array, share: str | None = None
) -> tuple[float, float]:
    """Compile by a few rows, then fit.

    Parameters
    ----------
    model : SparseProbabilityEstimator
        Is fitted.
    X : csr_array, shape (n, d)
    Y : boolean csr_array, shape (n, m)
    share : str or None
        Such as ``2-of-8``: grow that share of a forest's trees only.

    Returns
    -------
    seconds, cpu_seconds : float
        Wall seconds, and processor seconds on all threads.

    Raises
    ------
    XmlcError
        A share is given but the estimator is no forest, or has fewer trees.
    """
    warm_up(model, X, Y)
    fit: Callable[[], object] = partial(model.fit, X, Y)
    if share is not None:
        if not isinstance(model, Forest):
            raise XmlcError(f"{type(model).__name__} is no forest: no share of its trees can be grown")
        fit = partial(model.fit_trees, X, Y, *share_of_trees(share, model.n_trees))
    before = cpu_seconds()
    _, seconds = timed(fit)
    return seconds, cpu_seconds() - before


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


def share_of_trees(share: str, n_trees: int) -> tuple[int, int]:
    """Return the first tree, and the one after the last, of a share such as ``2-of-8``.

    Raises
    ------
    XmlcError
        It is no share of so many trees.
    """
    matched = re.fullmatch(r"([1-9]\d*)-of-([1-9]\d*)", share)
    if not matched or not int(matched[1]) <= int(matched[2]) <= n_trees:
        raise XmlcError(f"share {share!r} of {n_trees} trees: expected I-of-N with I <= N <= {n_trees}")
    i, n = int(matched[1]), int(matched[2])
    return n_trees * (i - 1) // n, n_trees * i // n


def check_one_forest(records: Sequence[TrainingRecord], shares: Sequence[Path]) -> None:
    """Refuse shares, folders of which these are the records, that are of different forests.

    Raises
    ------
    XmlcError
        They differ in what was trained, or in the data.
    """
    same = [record.head_fields() | {"dataset": record.dataset.digest} for record in records]
    for key, value in same[0].items():
        if any(other[key] != value for other in same):
            if key == "dataset":
                raise XmlcError(
                    f"{shares[0]} and the other shares were trained on different data; delete and train them anew"
                )
            raise XmlcError(f"{shares[0]} and the other shares differ in {key}: they are not of one forest")


def joined_model(estimator: str, folders: Sequence[Path]) -> SparseProbabilityEstimator:
    """Load the models of all shares, in the order of their trees, and join them.

    Raises
    ------
    XmlcError
        The estimator is no forest, or trees are missing.
    """
    kind = estimator_class(estimator)
    parts = [kind.load(folder) for folder in folders]
    forests = [part for part in parts if isinstance(part, Forest)]
    if len(forests) < len(parts):
        raise XmlcError(f"{estimator} is no forest whose trees could be grown apart")
    return type(forests[0]).join_trees(forests)


def joined_record(records: Sequence[TrainingRecord], model_bytes: int) -> TrainingRecord:
    """Sum seconds, as if one job had grown all trees; the peak is the largest."""
    steps = [record.step for record in records]
    costs = replace(
        records[0].costs,
        train_seconds=sum(record.costs.train_seconds or 0 for record in records),
        train_cpu_seconds=sum(record.costs.train_cpu_seconds or 0 for record in records),
        train_peak_bytes=max(record.costs.train_peak_bytes or 0 for record in records),
        model_bytes=model_bytes,
    )
    whole: StepCosts = {
        **records[0].step,
        "seconds": sum(step["seconds"] for step in steps),
        "peak_bytes": max(step["peak_bytes"] for step in steps),
        "written_bytes": model_bytes,
    }
    return replace(records[0], costs=costs, step=whole)
