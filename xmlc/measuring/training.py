"""Training of a model or of a share of a forest's trees, and its time without compilation."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.models.base import Forest, LooksUp, SparseProbabilityEstimator
from xmlc.models.warm_up import warm_up
from xmlc.passport import cpu_seconds, peak_bytes, timed
from xmlc.records.training import TrainingCosts


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
    """Return what training cost, until now; of an oracle, which learns nothing, memory and disk alone."""
    known = not isinstance(model, LooksUp)
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
