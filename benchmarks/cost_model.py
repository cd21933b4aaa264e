"""Formulas for the costs of workflow steps that nobody measured.

Those of training and ranking are fitted to shapes.csv, the measurements of `benchmarks scale`. The
other steps read, score and write estimates.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from xmlc.models._held_out import n_held_out_parts
from xmlc.models.averaged_forest import GROWING_BYTES
from xmlc.models.parabel import usual_hyperparameters
from xmlc.models.plt.estimator import usual_arity
from xmlc.models.registry import LEARNERS
from xmlc.models.stacking import Stacking, default_members
from xmlc.suite.config.catalogue import Size

SHAPES = Path(__file__).with_name("shapes.csv")
FORESTS = (
    "fastxml",
    "ldsm",
    "parabel",
    "benchmarks/baselines/omikuji_parabel.py:OmikujiParabel",
)
# Trees or passes by default
UNITS = {"fastxml": 50, "ldsm": 10, "oplt": 3, "parabel": 3, "plt": 30}
# A tree below the largest measured size counts as (nodes / LDSM_NODES) ** LDSM_POWER trees
LDSM_NODES = 2000
LDSM_POWER = 0.35
# Variables of the fit, with trees of a forest or passes as "units"
COLUMNS = ("n", "nonzeros", "labels", "m", "units", "arity", "d")
# Exponents that the fit prefers
USUAL = {
    "seconds": (1.0, 1.0, 0.5, 0.2, 1.0, 0.3, 0.0),
    "peak_bytes": (0.8, 0.7, 0.5, 0.2, 0.0, 0.5, 0.2),
    "model_bytes": (0.8, 0.7, 0.5, 0.2, 0.0, 0.5, 0.2),
    "ranking_ms": (0.0, 0.7, 0.3, 0.3, 0.0, 0.2, 0.0),
}
# Weight of the squared distances from these, next to squared errors of log(cost)
WEIGHT = 0.3
LEAST = 0.01  # an LdSM tree of few nodes is a fraction of a tree
MANY = 5000  # instances below which a measurement has a lower weight
# Most bytes for building a tree by 2-means, measured on the shape of delicious-200k
KMEANS_BYTES = 8.6e9
# Most bytes of a label tree per label and feature, which small datasets nearly reach
MOST = 24
SLOT = {"plt": 4, "vw-cmt": 16}  # bytes of a hashed weight
OF_DATA = 4  # memory of a step that prepares data, per byte of the arrays
DATA_SECONDS = 1e-7  # CPU seconds of such a step, per byte
ESTIMATE_BYTES = 8  # bytes on disk of a stored estimate
ESTIMATE_SECONDS = 1e-7  # CPU seconds of a threshold method, per estimate
# Estimates in memory at once, and bytes of each with temporary arrays
READ_TOGETHER = 2**24
BLOCK_BYTES = 32
# Most bytes of a model that stay in memory during prediction. With less memory, mapped files are
# read again and again: a PLT of 1.8 GB ranked in 6 CPU seconds, but within 0.9 GB in 17.
MAPPED_BYTES = 8e9
# Estimates per instance and label of an estimator that is not in `DEFAULTS`
OF_INSTANCES = 60
# What determines the number of estimates of an instance
DEFAULTS: dict[str, dict[str, Any]] = {
    "fastxml": {"n_trees": 50, "max_leaf": 10, "labels_per_leaf": 100},
    "ldsm": {"n_trees": 10, "arity": 2, "max_nodes": None},
    "stacking": {"estimators": None, "n_candidates": 50},
    "swnn": {"S": 75},
}
OVERLAP = 0.85  # t trees have estimates for t ** OVERLAP times as many labels as one
LEAF_SHARE = 0.67  # training instances in an average leaf of FastXML / max_leaf


class FitCosts(NamedTuple):
    """Costs of training a model and of ranking with it."""

    #: CPU seconds of training.
    seconds: float
    #: Peak memory in bytes, without the data and the process.
    peak_bytes: float
    #: On disk.
    model_bytes: float
    #: CPU milliseconds for ranking one instance.
    ranking_ms: float


# Costs of an estimator that was not measured, per byte of the data
UNKNOWN = FitCosts(1e-6, 50.0, 10.0, 0.0)


@dataclass(frozen=True)
class Workload:
    """A model, the data that it learns from, and the rows that it predicts."""

    size: Size
    estimator: str
    hyperparameters: Mapping[str, Any]
    #: Training instances.
    n: float
    #: Predicted instances.
    rows: float
    threads: int
    #: Smallest estimate that is stored.
    min_probability: float = 1e-4
    #: Threshold or inference methods.
    methods: int = 1


class StepCosts(NamedTuple):
    """CPU seconds, bytes of memory and bytes on disk of a step, apart from its process."""

    seconds: float
    private: float
    disk: float = 0.0


def costs_of_data(size: Size) -> StepCosts:
    """Return the costs of preparing a dataset."""
    return StepCosts(DATA_SECONDS * size.bytes, OF_DATA * size.bytes, size.bytes)


def costs_of_step(step: str, work: Workload) -> StepCosts:
    """Return the costs of a step with a model, without the memory of mapped files."""
    size = work.size
    fit = costs_of_fit(work)
    if step in ("train", "progressive"):
        return StepCosts(fit.seconds, size.bytes + fit.peak_bytes, fit.model_bytes)
    seconds = work.rows * fit.ranking_ms / 1e3
    private = size.bytes
    if work.estimator not in LEARNERS:
        private += fit.peak_bytes
    if step in ("rank", "forest"):
        return StepCosts(seconds, private)
    count = work.rows * estimates_of_row(work)
    if step == "estimate":
        methods = 1
    else:
        methods = work.methods
    seconds += methods * ESTIMATE_SECONDS * count
    private += BLOCK_BYTES * min(count, READ_TOGETHER)
    return StepCosts(seconds, private, ESTIMATE_BYTES * count if step == "estimate" else 0.0)


def costs_of_fit(work: Workload) -> FitCosts:
    """Return the costs of training, with trees on all threads, and of ranking."""
    given = work.hyperparameters
    costs = costs_of(work.size, work.n, work.estimator, given)
    peak = costs.peak_bytes
    disk = costs.model_bytes
    if work.estimator in ("fastxml", "ldsm"):
        _, trees, _ = variant_of(work.estimator, given, work.size.m)
        at_once = max(1.0, min(work.threads, trees))
        peak = max(peak, min(at_once * peak, GROWING_BYTES))
    if isinstance(given.get("hash_bits"), int):
        peak = SLOT.get(work.estimator, 4) * 2.0 ** given["hash_bits"]
        if work.estimator == "plt":  # the file of a model has the whole table
            disk = peak
    return costs._replace(peak_bytes=peak, model_bytes=disk)


def costs_of(size: Size, n: float, estimator: str, given: Mapping[str, Any]) -> FitCosts:
    """Return the costs of training on n instances, with one tree at a time."""
    if estimator == "stacking":
        return _costs_of_stacking(size, n, given)
    variant, units, arity = variant_of(estimator, given, size.m)
    costs = _predicted(size, n, variant, units, arity)
    if variant == "fastxml-tail":  # shapes.csv has the costs of one tree with tail classifiers
        forest = _predicted(size, n, "fastxml", units - 1, arity)
        return FitCosts(*map(sum, zip(costs, forest, strict=True)))
    if variant.startswith(("parabel", "plt-kmeans")):
        costs = costs._replace(peak_bytes=min(costs.peak_bytes, KMEANS_BYTES + size.bytes))
    most = math.inf
    if estimator in ("plt", "oplt"):
        most = MOST * size.d * size.m
    peak = min(costs.peak_bytes, 3 * most)
    return costs._replace(peak_bytes=peak, model_bytes=min(costs.model_bytes, most))


def _costs_of_stacking(size: Size, n: float, given: Mapping[str, Any]) -> FitCosts:
    """Return the costs of members in turn, on each part and on all rows."""
    members = []
    for name, kind in given.get("estimators") or default_members(size.m):
        own: dict[str, Any] = {}
        if not isinstance(kind, str):
            ((kind, own),) = kind.items()
        of_member = {
            key.partition("__")[2]: given[key] for key in given if key.startswith(f"{name}__")
        }
        members.append(costs_of(size, n, kind, own | of_member))
    trainings = 1 + n_held_out_parts(n, given.get("n_held_out", Stacking.n_held_out))
    return FitCosts(
        trainings * math.fsum(member.seconds for member in members),
        max(member.peak_bytes for member in members),
        math.fsum(member.model_bytes for member in members),
        math.fsum(member.ranking_ms for member in members),
    )


def variant_of(estimator: str, given: Mapping[str, Any], m: float) -> tuple[str, float, float]:
    """Return a variant in shapes.csv, its trees or passes, and the arity."""
    is_plt = estimator == "plt"
    is_batch = given.get("solver") == "batch"
    is_hashed = bool(given.get("hash_bits"))
    cuts = given.get("weight_threshold", "auto")
    if cuts == "auto":
        cuts = given.get("unit_norm", True) and not is_hashed and not given.get("online")
    parts = {
        "-hashed": is_plt and is_hashed,
        "-kmeans": is_plt and not is_hashed and given.get("tree", "kmeans") == "kmeans",
        "-batch": is_batch,
        "-greedy": estimator == "oplt" and given.get("policy") != "random",
        "-tail": given.get("propensity_weighted"),
        "-cut": cuts and estimator in ("plt", "oplt"),
        "-search": is_plt and is_batch and given.get("C") is None,  # training then selects C
        "-hinge": is_plt and given.get("loss") == "squared_hinge" and given.get("C"),
    }
    variant = estimator + "".join(part for part, is_so in parts.items() if is_so)
    counted = "epochs"
    if estimator in FORESTS:
        counted = "n_trees"
    if is_batch:
        units = 1.0
    else:
        units = float(given.get(counted, UNITS.get(estimator, 1)))
    if estimator == "ldsm":
        nodes = given.get("max_nodes") or LDSM_NODES
        units *= min(1.0, nodes / LDSM_NODES) ** LDSM_POWER
    usual: Any = 2
    if is_plt:
        usual = usual_arity(given.get("tree"), given.get("solver"), m)
    elif estimator == "parabel":
        usual = usual_hyperparameters(m)["arity"]
    return variant, units, float(given.get("arity") or usual)


def _predicted(size: Size, n: float, variant: str, units: float, arity: float) -> FitCosts:
    if not fitted(variant, "seconds"):
        return FitCosts(*(each * size.bytes for each in UNKNOWN))
    shape = (n, size.nonzeros, size.labels_per_instance, size.m, units, arity, size.d)
    return FitCosts(*(predicted(fitted(variant, target), shape) for target in USUAL))


@cache
def measured() -> dict[str, list[dict[str, str]]]:
    """Return shapes.csv, grouped by estimator."""
    rows: dict[str, list[dict[str, str]]] = {}
    with SHAPES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["estimator"], []).append(row)
    return rows


@cache
def fitted(variant: str, target: str) -> tuple[float, ...]:
    """Return the constant and the exponents of a variant's cost from `fit`.

    A variant that was not measured, such as ``plt-kmeans-batch``, has those of ``plt-kmeans``.
    """
    found = fit(measured().get(variant, ()), target, variant in FORESTS)
    if not found and "-" in variant:
        return fitted(variant.rpartition("-")[0], target)
    return found


def fit(rows: Sequence[Mapping[str, str]], target: str, forest: bool) -> tuple[float, ...]:
    """Return a constant and the exponents of `COLUMNS` that predict a cost, a column of shapes.csv.

    The fit minimises the squared errors of log(cost) plus `WEIGHT` times the squared distances of
    the exponents, which are at least 0, from `USUAL`. Because each tree of a forest costs the same,
    the exponent of their number is not fitted. Without rows, the result is empty.
    """
    rows = [row for row in rows if row[target]]
    if not rows:
        return ()
    sizes = np.array([[float(row[name]) for name in COLUMNS] for row in rows])
    X = np.log(np.maximum(sizes, LEAST))
    y = np.log([float(row[target]) for row in rows])
    usual = np.array(USUAL[target])
    if forest:
        trees = COLUMNS.index("units")
        usual[trees] = target != "peak_bytes"  # memory was measured with one tree at a time
        y = y - usual[trees] * X[:, trees]
        X[:, trees] = 0.0
    weights = np.minimum(1.0, np.exp(X[:, 0]) / MANY)
    centre = np.average(X, axis=0, weights=weights)
    middle = np.average(y, weights=weights)
    roots = np.sqrt(np.append(weights, np.full(usual.size, WEIGHT)))
    A = np.vstack((X - centre, np.eye(usual.size)))
    exponents, _ = nnls(roots[:, np.newaxis] * A, roots * np.append(y - middle, usual))
    return (float(middle - exponents @ centre), *exponents.tolist())


def predicted(fit: Sequence[float], shape: Sequence[float]) -> float:
    """Return the cost of a shape, a value for each of `COLUMNS`, or 0 without a fit."""
    if not fit:
        return 0.0
    powers = (
        exponent * math.log(max(value, LEAST))
        for exponent, value in zip(fit[1:], shape, strict=True)
    )
    return math.exp(fit[0] + math.fsum(powers))


def estimates_of_row(work: Workload) -> float:
    """Return the number of estimates per instance above the minimum probability.

    Nearest neighbours have estimates for the labels of S instances, Stacking for the candidates of
    its members, and a tree of FastXML or LdSM for the labels of the training instances in its
    leaves. Because LdSM sends an instance to several children, it reaches four times as many of
    these with arity 4 as with arity 2. The upper bound assumes that the k-th largest estimate is
    proportional to 1 / k and that the estimates sum to the number of labels.
    """
    size = work.size
    labels = size.labels_per_instance
    values = DEFAULTS.get(work.estimator, {}) | {**work.hyperparameters}
    if work.estimator == "swnn":
        count = values["S"] * labels
    elif work.estimator == "fastxml":
        of_instances = values["n_trees"] * LEAF_SHARE * values["max_leaf"] * labels
        count = min(of_instances, values["n_trees"] ** OVERLAP * values["labels_per_leaf"])
    elif work.estimator == "ldsm":
        leaves = (values["max_nodes"] or max(1000, work.n / 2)) / 2
        of_leaf = (values["arity"] / 2) ** 2 * work.n / leaves * labels
        count = values["n_trees"] ** OVERLAP * of_leaf
    elif work.estimator == "stacking":
        members = values["estimators"] or default_members(size.m)
        count = len(members) * values["n_candidates"]
    else:
        count = OF_INSTANCES * labels
    most = labels / (work.min_probability * max(1.0, math.log(size.m)))
    return float(min(size.m, most, count))
