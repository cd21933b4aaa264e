"""The methods by the names that configuration files use, each as a sweep over its grid (plt2016, Section 6.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.thresholds.bounds import kappa, lower_bounds
from xmlc.thresholds.fta import FTA
from xmlc.thresholds.ofo import OFO
from xmlc.thresholds.sto import STO


@dataclass(frozen=True)
class GridPoint:
    """What one value of a method's grid gives.

    Attributes
    ----------
    thresholds : ndarray of float32, shape (m,)
    c : float or None
        The value of the grid C; 1/c is the abscissa of Figure 1.
    a, b : float or None
        OFO's input parameters.
    """

    thresholds: np.ndarray
    c: float | None = None
    a: float | None = None
    b: float | None = None


Sweep = Callable[[sparse.csr_array, sparse.csr_array, np.ndarray, Sequence[float]], Iterator[GridPoint]]
METHODS: dict[str, Sweep] = {}


def register(name: str) -> Callable[[Sweep], Sweep]:
    """Make a sweep known under a name: a function (spe, Y, priors, grid) that yields grid points.

    ``spe`` and ``Y`` are the validation estimates and label sets, ``priors`` the labels' shares in the training
    part, ``grid`` the set C, ascending. Yield the cheapest predictions first: of equal scores the first is chosen.
    """

    def add(sweep: Sweep) -> Sweep:
        if name in METHODS:
            raise XmlcError(f"a threshold method {name!r} is registered already")
        METHODS[name] = sweep
        return sweep

    return add


@register("fta")
def sweep_fta(
    spe: sparse.csr_array, Y: sparse.csr_array, priors: np.ndarray, grid: Sequence[float]
) -> Iterator[GridPoint]:
    """Give one common threshold 1/c after the other."""
    for c in grid:
        yield GridPoint(np.full(spe.shape[1], 1.0 / c, dtype=np.float32), c=c)


@register("fta-labelwise")
def sweep_fta_label_wise(
    spe: sparse.csr_array, Y: sparse.csr_array, priors: np.ndarray, grid: Sequence[float]
) -> Iterator[GridPoint]:
    """Give, for each c, the best thresholds label by label among max(1/c', nu_j) with c' up to c."""
    nu = lower_bounds(priors)
    for i, c in enumerate(grid):
        method = FTA(grid=tuple(grid[: i + 1]), label_wise=True, lower_bounds=nu).fit(spe, Y)
        yield GridPoint(method.thresholds_, c=c)


@register("sto")
def sweep_sto(
    spe: sparse.csr_array, Y: sparse.csr_array, priors: np.ndarray, grid: Sequence[float]
) -> Iterator[GridPoint]:
    """Run STO with kappa_j = max(1/c, nu_j)."""
    nu = lower_bounds(priors)
    for c in grid:
        yield GridPoint(STO(kappa=kappa(c, nu)).fit(spe, Y).thresholds_, c=c)


@register("ofo")
def sweep_ofo(
    spe: sparse.csr_array, Y: sparse.csr_array, priors: np.ndarray, grid: Sequence[float]
) -> Iterator[GridPoint]:
    """Run OFO with a = 1 and b in C."""
    nu = lower_bounds(priors)
    for c in grid:
        yield GridPoint(OFO(a=1, b=c, lower_bounds=nu).fit(spe, Y).thresholds_, c=c, a=1, b=c)


# Appendix D tunes a and b but does not list the values tried; some of those that Table 4 prints are in no set that
# the paper names. The grid is every a below with every b = a * c, and the pairs that Table 4 prints.
A_VALUES = (1, 10, 100, 1000, 10000)
TABLE_4_PAIRS = (
    (100, 200),
    (100, 500),
    (300, 20000),
    (700, 5000),
    (1000, 100000),
    (5000, 100000),
    (10000, 100000),
)


def ofo_pairs(grid: Sequence[float]) -> list[tuple[float, float]]:
    """List the pairs (a, b) that are tried for Table 4, the highest initial threshold first."""
    pairs = {(a, a * c) for a in A_VALUES for c in grid} | set(TABLE_4_PAIRS)
    return sorted(pairs, key=lambda pair: (-pair[0] / pair[1], pair))


@register("ofo-ab")
def sweep_ofo_ab(
    spe: sparse.csr_array, Y: sparse.csr_array, priors: np.ndarray, grid: Sequence[float]
) -> Iterator[GridPoint]:
    """Run OFO with a and b both tuned (Appendix D, Table 4)."""
    nu = lower_bounds(priors)
    for a, b in ofo_pairs(grid):
        yield GridPoint(OFO(a=a, b=b, lower_bounds=nu).fit(spe, Y).thresholds_, c=b / a, a=a, b=b)
