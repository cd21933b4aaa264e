"""What trainings cost: laws of the size of the data, fitted to the shapes that `benchmarks scale` measured."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xmlc.models.domains import parabel, plt, stacking
from xmlc.suite.config.catalogue import Dataset

SHAPES = Path(__file__).with_name("shapes.csv")
LARGE = 100e6  # bytes of a dataset's arrays, above which its models are dropped where `keep_models` says nothing
# The cost model of a forest counts trees; other cost models count passes.
FORESTS = ("fastxml", "ldsm", "parabel", "benchmarks/peers/omikuji_parabel.py:OmikujiParabel")
COLUMNS = ("n", "nonzeros", "labels", "m", "units", "arity", "d")  # units are trees of a forest, else passes
# Exponents of these where the rows say nothing.
USUAL = {
    "seconds": (1.0, 1.0, 0.5, 0.2, 1.0, 0.3, 0.0),
    "peak_bytes": (0.8, 0.7, 0.5, 0.2, 0.0, 0.5, 0.2),
    "model_bytes": (0.8, 0.7, 0.5, 0.2, 0.0, 0.5, 0.2),
    "ranking_ms": (0.0, 0.7, 0.3, 0.3, 0.0, 0.2, 0.0),
}
MOST = 24  # bytes of a label tree's model for each pair of label and feature; small sets come near
WEIGHT = 0.3  # of USUAL beside the rows, whose logarithms of n vary by 4 between a shape and its 1/64


class Size(NamedTuple):
    """How large a dataset is: instances, features, labels, and averages for an instance.

    The defaults are for sets that the catalogue does not know: one of the papers' has 20 to 700 features and 2 to 75
    labels an instance.
    """

    n_train: float = 50_000.0
    n_test: float = 10_000.0
    d: float = 100_000.0
    m: float = 10_000.0
    nonzeros: float = 100.0
    labels_per_instance: float = 5.0

    @property
    def bytes(self) -> float:
        """Bytes of its arrays: 8 for a non-zero, 4 for a label of an instance."""
        return (self.n_train + self.n_test) * (8 * self.nonzeros + 4 * self.labels_per_instance)


class Costs(NamedTuple):
    """What a training takes."""

    #: Of one processor.
    seconds: float
    #: Memory above the data and the process.
    peak_bytes: float
    #: On disk.
    model_bytes: float
    #: To rank an instance, of one processor.
    ranking_ms: float


# Of estimators that have no row, for each byte of the data; an estimator of the user's own may have the key `memory`.
UNKNOWN = Costs(1e-6, 50.0, 10.0, 0.0)


def size_in(entry: Dataset) -> Size:
    """Return the size of a dataset as the catalogue has it."""
    given = entry.known_shape | {**(entry.synthetic or {})}
    if given.get("kind") in ("objects", "texts"):
        given["labels_per_instance"] = 1
    given |= {short: given[long] for long, short in (("n_features", "d"), ("n_labels", "m")) if long in given}
    return Size(**{name: float(given[name]) for name in Size._fields if name in given})


def variant_of(estimator: str, given: Mapping[str, object], m: float) -> tuple[str, float, float]:
    """Return the name under which a model is measured, its trees or passes, and the arity of its tree over m labels."""
    name = estimator
    if estimator == "plt":
        name += "-hashed" if given.get("hash_bits") else "-kmeans" if given.get("tree", "kmeans") == "kmeans" else ""
    name += "-batch" if given.get("solver") == "batch" else ""
    name += "-tail" if given.get("propensity_weighted") else ""
    name += "-greedy" if estimator == "oplt" and given.get("policy") != "random" else ""
    automatic = "auto" if estimator == "plt" and not given.get("hash_bits") and given.get("unit_norm", True) else None
    cut = automatic if (cut := given.get("weight_cut", "auto")) == "auto" else cut
    name += "-cut" if cut and estimator in ("plt", "oplt") else ""
    usual = {"fastxml": 50, "ldsm": 50, "oplt": 3, "parabel": 3, "plt": 10}.get(estimator, 1)
    units = given.get("n_trees" if estimator in FORESTS else "epochs", usual)
    units = 1 if given.get("solver") == "batch" else units  # whose `epochs` are the most that it takes
    arities = {"plt": plt.usual_arity(given.get("tree"), given.get("solver"), m), "parabel": parabel.usual(m)["arity"]}
    arity = given.get("arity") or arities.get(estimator, 2)
    return name, float(units) if isinstance(units, int) else 1.0, float(arity) if isinstance(arity, int) else 2.0


def costs_of(size: Size, n: float, estimator: str, given: Mapping[str, object]) -> Costs:
    """Return what training an estimator on n instances of a dataset takes.

    Parameters
    ----------
    size : Size
    n : float
    estimator : str
    given : mapping of str to object
        Its hyperparameters.
    """
    if estimator == "stacking":
        return _costs_of_stacking(size, n, given)
    variant, units, arity = variant_of(estimator, given, size.m)
    if not fitted(variant, "seconds"):
        return Costs(*(each * size.bytes for each in UNKNOWN))
    point = logarithms(n, size.nonzeros, size.labels_per_instance, size.m, units, arity, size.d)
    costs = Costs(*(value(fitted(variant, target), point) for target in USUAL))
    most = MOST * size.d * size.m if estimator in ("plt", "oplt") else math.inf
    return costs._replace(peak_bytes=min(costs.peak_bytes, 3 * most), model_bytes=min(costs.model_bytes, most))


def _costs_of_stacking(size: Size, n: float, given: Mapping[str, Any]) -> Costs:
    """Return the costs of members that are trained twice, one after the other."""
    members = given.get("estimators", stacking.MEMBERS)
    own = {
        name: {key.partition("__")[2]: given[key] for key in given if key.startswith(f"{name}__")}
        for name, _ in members
    }
    seconds, peaks, sizes, ranking_ms = zip(
        *(costs_of(size, n, kind, own[name]) for name, kind in members), strict=True
    )
    return Costs(2 * math.fsum(seconds), max(peaks), math.fsum(sizes), math.fsum(ranking_ms))


def logarithms(*shape: float) -> tuple[float, ...]:
    """Return the logarithms of n, non-zeros, labels of an instance, m, units, arity and d."""
    return tuple(math.log(max(each, 1.0)) for each in shape)


def value(law: Sequence[float], point: Sequence[float]) -> float:
    """Return what a law says of a shape: exp(law[0] + law[1] point[0] + ...)."""
    return math.exp(law[0] + math.fsum(b * x for b, x in zip(law[1:], point, strict=True))) if law else 0.0


@cache
def measured() -> dict[str, list[dict[str, str]]]:
    """Return the rows of shapes.csv by estimator."""
    rows: dict[str, list[dict[str, str]]] = {}
    with SHAPES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["estimator"], []).append(row)
    return rows


@cache
def fitted(estimator: str, target: str) -> tuple[float, ...]:
    """Return the law of an estimator's column; if no row has a number there, the law of the simpler estimator."""
    law = fit(measured().get(estimator, ()), target, estimator in FORESTS)
    return law or (fitted(estimator.rpartition("-")[0], target) if "-" in estimator else ())


def fit(rows: Sequence[Mapping[str, str]], target: str, forest: bool) -> tuple[float, ...]:
    """Fit a law to rows: the exponents, none below 0, that are best by squares and not far from `USUAL`.

    What a law foretells thus grows with each number of the shape.

    Parameters
    ----------
    rows : sequence of mapping
    target : str
        The column.
    forest : bool
        Whether units are trees, each of which is on disk.

    Returns
    -------
    tuple of float, length 8 or 0
    """
    rows = [row for row in rows if row[target]]
    if not rows:
        return ()
    from scipy.optimize import nnls  # imported here because it loads slowly

    X = np.array([logarithms(*(float(row[name]) for name in COLUMNS)) for row in rows])
    y = np.log([float(row[target]) for row in rows])
    usual = np.array(USUAL[target])
    if forest and target in ("model_bytes", "ranking_ms"):
        usual[4] = 1.0
    centre, middle = X.mean(axis=0), y.mean()
    weight = math.sqrt(WEIGHT)
    A = np.vstack((X - centre, weight * np.eye(usual.size)))
    exponents, _ = nnls(A, np.append(y - middle, weight * usual))
    return (float(middle - exponents @ centre), *exponents.tolist())
