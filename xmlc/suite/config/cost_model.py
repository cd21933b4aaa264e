"""Predict the costs of training a model.

The cost model is fitted to the measurements in shapes.csv, which `benchmarks scale` wrote.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xmlc.models.domains import parabel, plt, stacking
from xmlc.suite.config.catalogue import Size

SHAPES = Path(__file__).with_name("shapes.csv")
FORESTS = ("fastxml", "ldsm", "parabel", "benchmarks/baselines/omikuji_parabel.py:OmikujiParabel")
# Default number of trees of a forest, or default number of passes of another estimator.
UNITS = {"fastxml": 50, "ldsm": 10, "oplt": 3, "parabel": 3, "plt": 30}
# The largest measured number of nodes of an LdSM tree. An LdSM tree with fewer than LDSM_NODES nodes counts as (nodes /
# LDSM_NODES) ** LDSM_POWER trees.
LDSM_NODES, LDSM_POWER = 2000, 0.35
# Variables of the cost model. "units" is the number of trees of a forest, or the number of passes of another estimator.
COLUMNS = ("n", "nonzeros", "labels", "m", "units", "arity", "d")
# Typical exponents of the variables in `COLUMNS`, for each predicted cost. The fit prefers exponents near these typical
# exponents.
USUAL = {
    "seconds": (1.0, 1.0, 0.5, 0.2, 1.0, 0.3, 0.0),
    "peak_bytes": (0.8, 0.7, 0.5, 0.2, 0.0, 0.5, 0.2),
    "model_bytes": (0.8, 0.7, 0.5, 0.2, 0.0, 0.5, 0.2),
    "ranking_ms": (0.0, 0.7, 0.3, 0.3, 0.0, 0.2, 0.0),
}
# Weight of the squared distances between the fitted exponents and USUAL. The squared errors of log(cost) have weights
# of at most 1. In the measurements, the smallest copy of a dataset has 1/64 of the instances, so log(n) varies by 4.
WEIGHT = 0.3
# Lower bound for the value of each variable in `COLUMNS`. The bound must be less than 1, because `variant_of` may count
# an LdSM tree of few nodes as a small fraction of a tree.
LEAST = 0.01
MANY = 5000  # Measurements with fewer instances than this have a lower weight in the fit.
# Maximum bytes of memory, apart from the data, for building a tree of 2-means. The limit on label vectors in
# `xmlc.models.trees.representations` led to 8.5 GB on the shape of delicious-200k. Later phases of training took less
# in all measurements. For datasets with more labels or features, the value is an extrapolation.
KMEANS_BYTES = 8.6e9
KMEANS = ("parabel", "plt-kmeans")
# Maximum bytes of a label tree per pair of label and feature. Trees of small datasets nearly have this maximum size.
MOST = 24


class FitCosts(NamedTuple):
    """Hold the predicted costs of training a model and of ranking with it."""

    #: CPU seconds of training.
    seconds: float
    #: Peak memory in bytes, without the memory for the data and the process.
    peak_bytes: float
    #: Bytes of the model on disk.
    model_bytes: float
    #: CPU milliseconds for ranking the labels of one instance.
    ranking_ms: float


# Costs of an estimator without measurements, divided by the bytes of the data. If a suite sets the key `memory` of a
# model, this key replaces the predicted memory.
UNKNOWN = FitCosts(1e-6, 50.0, 10.0, 0.0)


def costs_of(size: Size, n: float, estimator: str, given: Mapping[str, Any]) -> FitCosts:
    """Return the predicted costs of training an estimator on n instances of a dataset.

    Parameters
    ----------
    size : Size
    n : float
    estimator : str
    given : mapping of str to object
        Hyperparameters of the estimator.
    """
    if estimator == "stacking":
        return _costs_of_stacking(size, n, given)
    variant, units, arity = variant_of(estimator, given, size.m)
    costs = _predicted(size, n, variant, units, arity)
    if variant == "fastxml-tail":  # shapes.csv has the costs of one tree with tail classifiers.
        forest = _predicted(size, n, "fastxml", units - 1, arity)
        return FitCosts(*map(sum, zip(costs, forest, strict=True)))
    if variant.startswith(KMEANS):
        costs = costs._replace(peak_bytes=min(costs.peak_bytes, KMEANS_BYTES + size.bytes))
    most = MOST * size.d * size.m if estimator in ("plt", "oplt") else math.inf
    return costs._replace(peak_bytes=min(costs.peak_bytes, 3 * most), model_bytes=min(costs.model_bytes, most))


def variant_of(estimator: str, given: Mapping[str, Any], m: float) -> tuple[str, float, float]:
    """Return an estimator's variant in shapes.csv, the number of trees or passes, and the arity of the trees."""
    is_plt, is_batch, is_hashed = estimator == "plt", given.get("solver") == "batch", bool(given.get("hash_bits"))
    drops = given.get("weight_threshold", "auto")
    if drops == "auto":
        drops = given.get("unit_norm", True) and not is_hashed and not given.get("online")
    parts = {
        "-hashed": is_plt and is_hashed,
        "-kmeans": is_plt and not is_hashed and given.get("tree", "kmeans") == "kmeans",
        "-batch": is_batch,
        "-greedy": estimator == "oplt" and given.get("policy") != "random",
        "-tail": given.get("propensity_weighted"),
        "-cut": drops and estimator in ("plt", "oplt"),
        "-search": is_plt and is_batch and given.get("C") is None,  # If C is None, training selects C.
        "-hinge": is_plt and given.get("loss") == "squared_hinge" and given.get("C"),
    }
    units = 1.0 if is_batch else given.get("n_trees" if estimator in FORESTS else "epochs", UNITS.get(estimator, 1))
    if estimator == "ldsm":
        units *= min(1.0, (given.get("max_nodes") or LDSM_NODES) / LDSM_NODES) ** LDSM_POWER
    arities = {"plt": plt.usual_arity(given.get("tree"), given.get("solver"), m), "parabel": parabel.usual(m)["arity"]}
    arity: Any = given.get("arity") or arities.get(estimator, 2)
    return estimator + "".join(part for part, is_so in parts.items() if is_so), float(units), float(arity)


def _predicted(size: Size, n: float, variant: str, units: float, arity: float) -> FitCosts:
    if not fitted(variant, "seconds"):
        return FitCosts(*(each * size.bytes for each in UNKNOWN))
    shape = n, size.nonzeros, size.labels_per_instance, size.m, units, arity, size.d
    return FitCosts(*(predicted(fitted(variant, target), shape) for target in USUAL))


def _costs_of_stacking(size: Size, n: float, given: Mapping[str, Any]) -> FitCosts:
    """Return the costs of training a stacked model.

    Each member is trained once for each part of the instances that is held out, and a last time on all instances.
    Only one member is trained at a time.
    """
    members = []
    for name, kind in given.get("estimators") or stacking.default_members(size.m):
        own: dict[str, Any] = {}
        if not isinstance(kind, str):
            ((kind, own),) = kind.items()
        of_member = {key.partition("__")[2]: given[key] for key in given if key.startswith(f"{name}__")}
        members.append(costs_of(size, n, kind, own | of_member))
    seconds, peaks, sizes, ranking_ms = zip(*members, strict=True)
    n_held_out = given.get("n_held_out", stacking.HELD_OUT)
    trainings = 1 + stacking.n_held_out_parts(n, n_held_out)
    return FitCosts(trainings * math.fsum(seconds), max(peaks), math.fsum(sizes), math.fsum(ranking_ms))


@cache
def measured() -> dict[str, list[dict[str, str]]]:
    """Return the rows of shapes.csv, grouped by the column ``estimator``."""
    rows: dict[str, list[dict[str, str]]] = {}
    with SHAPES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["estimator"], []).append(row)
    return rows


@cache
def fitted(variant: str, target: str) -> tuple[float, ...]:
    """Return the constant and the exponents that predict the cost ``target`` of a variant, as `fit` returns them.

    If a variant such as ``plt-kmeans-batch`` was not measured, the result for ``plt-kmeans`` is returned.
    """
    found = fit(measured().get(variant, ()), target, variant in FORESTS)
    return found or (fitted(variant.rpartition("-")[0], target) if "-" in variant else ())


def fit(rows: Sequence[Mapping[str, str]], target: str, forest: bool) -> tuple[float, ...]:
    """Fit the cost model to measurements of the cost ``target``, and return a constant and the exponents of `COLUMNS`.

    The exponents are at least 0. The fit minimises a sum: the squared errors of log(cost), plus `WEIGHT` times the
    squared distances of the exponents from `USUAL`.

    Each tree of a forest has the same cost, so the exponent of the number of trees is not fitted for a forest.

    Parameters
    ----------
    rows : sequence of mapping
    target : str
        The cost to predict: the name of a column of shapes.csv.
    forest : bool

    Returns
    -------
    tuple of float, length 8 or 0
    """
    rows = [row for row in rows if row[target]]
    if not rows:
        return ()
    from scipy.optimize import nnls  # SciPy's optimisers load slowly, so they are imported only here.

    X = np.log([[max(float(row[name]), LEAST) for name in COLUMNS] for row in rows])
    y, usual = np.log([float(row[target]) for row in rows]), np.array(USUAL[target])
    if forest:
        trees = COLUMNS.index("units")
        usual[trees] = target != "peak_bytes"  # When the memory was measured, only one tree was in memory.
        y, X[:, trees] = y - usual[trees] * X[:, trees], 0.0
    weights = np.minimum(1.0, np.exp(X[:, 0]) / MANY)
    centre, middle = np.average(X, axis=0, weights=weights), np.average(y, weights=weights)
    roots = np.sqrt(np.append(weights, np.full(usual.size, WEIGHT)))
    A = np.vstack((X - centre, np.eye(usual.size)))
    exponents, _ = nnls(roots[:, np.newaxis] * A, roots * np.append(y - middle, usual))
    return (float(middle - exponents @ centre), *exponents.tolist())


def predicted(fit: Sequence[float], shape: Sequence[float]) -> float:
    """Return the cost that the fitted cost model predicts, or 0 if ``fit`` is empty.

    ``shape`` contains a value for each variable in `COLUMNS`.
    """
    if not fit:
        return 0.0
    powers = (exponent * math.log(max(each, LEAST)) for exponent, each in zip(fit[1:], shape, strict=True))
    return math.exp(fit[0] + math.fsum(powers))
