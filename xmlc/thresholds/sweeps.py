"""The methods by the names that configuration files use, each as a sweep over its grid (plt2016, Section 6.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, XmlcError
from xmlc.kernels.csr import per_label
from xmlc.metrics.classification import MEASURES, TUNABLE, AveragedOverlap, measure_scores
from xmlc.metrics.measures import MEASURE_METHODS, UNLABELLED_METHODS
from xmlc.thresholds.bounds import GRID, checked_grid, kappa, lower_bounds
from xmlc.thresholds.bounds import priors as shares_in
from xmlc.thresholds.cuts import cuts_of
from xmlc.thresholds.expected import ExpectedF
from xmlc.thresholds.methods import STO, agreement_above, checked_pair
from xmlc.thresholds.one_pass import FTA, OFO, fixed_thresholds, instances
from xmlc.thresholds.pooled import CommonThreshold


@dataclass(frozen=True)
class GridPoint:
    """The thresholds that one value of a method's grid gives.

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


CSR = sparse.csr_array
Sweep = Callable[[CSR, CSR, np.ndarray, Sequence[float]], Iterator[GridPoint]]


@dataclass(frozen=True)
class SweptMethod:
    """A registered method: its sweep, and the measure (a name of `TUNABLE`) by which a grid point is chosen."""

    sweep: Sweep
    measure: str


METHODS: dict[str, SweptMethod] = {}


def register(name: str, measure: str = "macro_f") -> Callable[[Sweep], Sweep]:
    """Make a sweep known under a name: a function (spe, Y, priors, grid) that yields grid points.

    ``spe`` and ``Y`` are the validation estimates and label sets, ``priors`` the labels' shares in the training
    part, ``grid`` the set C. Yield the cheapest predictions first (small c): of equal scores the first is chosen.
    A sweep keeps one vector of thresholds at a time, so that a grid of any size fits in memory.

    Parameters
    ----------
    name : str
    measure : str
        What the method is for: the name in ``xmlc.metrics.classification.TUNABLE`` of the score that chooses.
    """

    def add(sweep: Sweep) -> Sweep:
        if name in METHODS:
            raise XmlcError(f"a threshold method {name!r} is registered already")
        if measure not in TUNABLE:
            raise InvalidDataError(f"method {name!r}, measure={measure!r}: expected {', '.join(TUNABLE)}")
        METHODS[name] = SweptMethod(sweep, measure)
        return sweep

    return add


@dataclass(frozen=True)
class Tried:
    """A grid point and the scores of its thresholds.

    Attributes
    ----------
    c, a, b : float or None
        As of `GridPoint`.
    validation : dict of str to float
        Macro-F, and the score of the measure that chooses, if it is another.
    test : dict of str to float or None
        Scores on the test set, where ``score_test`` is given.
    """

    c: float | None
    a: float | None
    b: float | None
    validation: dict[str, float]
    test: dict[str, float] | None


@dataclass(frozen=True)
class Tuned:
    """Outcome of `xmlc.thresholds.tune`.

    Attributes
    ----------
    grid : list of Tried
        In the order in which they were tried.
    best : int
        Index of the best of them.
    thresholds : ndarray of float32, shape (m,)
        The best point's; of float64 as of `xmlc.thresholds.STO`.
    """

    grid: list[Tried]
    best: int
    thresholds: np.ndarray


def tune(
    method: str,
    spe: sparse.csr_array,
    Y: sparse.csr_array,
    priors: np.ndarray | None = None,
    grid: Sequence[float] = GRID,
    floor: float = 0.0,
    score_test: Callable[[np.ndarray], dict[str, float]] | None = None,
    measure: str | None = None,
    unlabelled: sparse.csr_array | None = None,
) -> Tuned:
    """Sweep a method's grid and choose by a measure on the validation set, macro-F for most (0/0 = 1, all labels).

    Parameters
    ----------
    method : str
        A name of ``METHODS``.
    spe : csr_array of float32 or float64, shape (n, m)
        Validation estimates.
    Y : boolean csr_array, shape (n, m)
        Validation label sets.
    priors : ndarray, shape (m,), or None
        Shares of the labels in the training part; None: those in Y.
    grid : sequence of float
        The set C.
    floor : float
        The SPE holds only estimates above it, so no threshold is put below.
    score_test : callable, optional
        Is given each point's thresholds and returns their scores on the test set.
    measure : str, optional
        What chooses in place of the method's own measure, such as ``macro_f_present``: a name that
        `xmlc.metrics.classification_metrics` returns, of a measure that is best where it is highest.
    unlabelled : csr_array of float32, optional
        Estimates that a method without a validation set is fitted on in place of ``spe``.

    Raises
    ------
    XmlcError
        The method or the measure is unknown, shapes differ, or an estimate, a prior or the floor is not in 0 .. 1.

    Notes
    -----
    A later point must score strictly higher to be chosen, so that of equals the highest threshold wins.

    Examples
    --------
    >>> from xmlc.thresholds import priors, tune
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> tuned = tune("fta", spe, Y, priors(Y))
    >>> tuned.grid[tuned.best].c, tuned.thresholds.round(3).tolist()
    (4, [0.4000000059604645, 0.25])
    """
    if method not in METHODS:
        raise InvalidDataError(f"threshold method {method!r} is unknown; expected one of {', '.join(METHODS)}")
    spe, Y = checked_pair(spe, Y)
    priors = per_label(shares_in(Y) if priors is None else priors, Y.shape[1], np.float64, "priors", "share")
    floors = per_label(floor, Y.shape[1], np.float32, "floor", "probability")
    points: list[Tried] = []
    best, best_score, best_thresholds = 0, -1.0, np.empty(0, dtype=np.float32)
    *_, measure = names = scores_of(method, measure)
    learned = spe if unlabelled is None or method not in UNLABELLED_METHODS else unlabelled
    for point in METHODS[method].sweep(learned, Y, priors, grid):
        thresholds = np.maximum(point.thresholds, floors)
        scores = measure_scores(agreement_above(Y, spe, thresholds), names)
        if scores[measure] > best_score:
            best, best_score, best_thresholds = len(points), scores[measure], thresholds
        points.append(Tried(point.c, point.a, point.b, scores, score_test(thresholds) if score_test else None))
    return Tuned(points, best, best_thresholds)


def scores_of(method: str, measure: str | None = None) -> tuple[str, ...]:
    """Name the measures that a registered method's grid points are scored by: macro-F, and the one that chooses."""
    measure, known = measure or METHODS[method].measure, [one.name for one in MEASURES if one.better == "higher"]
    if measure not in known:
        raise InvalidDataError(f"measure={measure!r}: expected one of {', '.join(known)}, best where highest")
    return tuple(dict.fromkeys(("macro_f", measure)))


@register("fta")
def sweep_fta(spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]) -> Iterator[GridPoint]:
    """Give kappa_j = max(1/c, nu_j) for one c after the other (Section 6.2)."""
    nu = lower_bounds(priors)
    for c in checked_grid(grid):
        yield GridPoint(kappa(c, nu), c=c)


@register("fta-labelwise")
def sweep_fta_label_wise(spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]) -> Iterator[GridPoint]:
    """Give, for each c, the best thresholds label by label among max(1/c', nu_j) with c' up to c."""
    grid, lower = checked_grid(grid), lower_bounds(priors).astype(np.float32)
    scores, fixed = FTA(grid, lower_bounds=lower).fit(spe, Y).label_scores(), fixed_thresholds(grid)
    best, chosen = scores[:, 0].copy(), np.zeros(lower.size, dtype=np.int64)
    for i, c in enumerate(grid):
        better = scores[:, i] > best
        best[better], chosen[better] = scores[better, i], i
        yield GridPoint(np.maximum(fixed[chosen], lower), c=c)


@register("sto")
def sweep_sto(spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]) -> Iterator[GridPoint]:
    """Run STO with kappa_j = max(1/c, nu_j)."""
    nu, cuts = lower_bounds(priors), cuts_of(spe, Y)
    for c in checked_grid(grid):
        yield GridPoint(STO(kappa=kappa(c, nu)).fit_cuts(cuts).thresholds_, c=c)


@register("ofo")
def sweep_ofo(spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]) -> Iterator[GridPoint]:
    """Run OFO with a = 1 and b in C."""
    return _run_ofo(spe, Y, priors, ((1, c, c) for c in checked_grid(grid)))


# Appendix D takes a from C, the authors' program from C and 1 with b from C. Table 4 prints values that are in
# neither set, so these are added.
TABLE_4_A = (300, 700, 5000)
TABLE_4_B = (500, 5000, 20000, 100000)


def ofo_pairs(grid: Sequence[float]) -> list[tuple[float, float]]:
    """List the pairs (a, b) that are tried for Table 4, the highest initial threshold first.

    All a from C, 1 and `TABLE_4_A`, all b from C and `TABLE_4_B`, with a/b at most 0.5 (equation (5)): 132 pairs. The
    lower end of (5) differs from label to label; OFO keeps each threshold above it.
    """
    grid = checked_grid(grid)
    pairs = {(a, b) for a in (1, *grid, *TABLE_4_A) for b in (*grid, *TABLE_4_B) if 2 * a <= b}
    return sorted(pairs, key=lambda pair: (-pair[0] / pair[1], pair))


@register("ofo-ab")
def sweep_ofo_ab(spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]) -> Iterator[GridPoint]:
    """Run OFO with a and b both tuned (Appendix D, Table 4)."""
    return _run_ofo(spe, Y, priors, ((a, b, b / a) for a, b in ofo_pairs(grid)))


def _run_ofo(spe: CSR, Y: CSR, priors: np.ndarray, points: Iterable[tuple[float, float, float]]) -> Iterator[GridPoint]:
    """Run OFO with a and b of each point (a, b, c)."""
    nu, blocks = lower_bounds(priors), instances(spe, Y)
    for a, b, c in points:
        yield GridPoint(OFO(a=a, b=b, lower_bounds=nu).learn(blocks, nu.size).thresholds_, c=c, a=a, b=b)


def fit_unlabelled(method: str, spe: sparse.csr_array, priors: np.ndarray | None) -> ExpectedF:
    """Fit a method of ``UNLABELLED_METHODS`` on the estimates of the instances whose label sets are sought."""
    return ExpectedF(zero_division=UNLABELLED_METHODS[method], prior=priors).fit(spe)


def _unlabelled(method: str, spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]) -> Iterator[GridPoint]:
    yield GridPoint(fit_unlabelled(method, spe, priors).thresholds_)


def _for_measure(
    measure: AveragedOverlap, spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]
) -> Iterator[GridPoint]:
    """Sweep as ``for-<measure>``: STO with the measure in place of F where it is a mean over labels, else one cut.

    ``for-macro-f`` is ``sto``. STO's grid of floors gives the other macro-averaged measures their lower bound too; an
    exact common threshold needs neither floor nor grid.
    """
    average, overlap = measure
    if average != "macro":
        yield GridPoint(CommonThreshold(average, overlap).fit_checked(spe, Y).thresholds_)
        return
    nu, cuts = lower_bounds(priors, overlap.recall), cuts_of(spe, Y)
    for c in checked_grid(grid):
        yield GridPoint(STO(kappa=kappa(c, nu), overlap=overlap).fit_cuts(cuts).thresholds_, c=c)


for _name in UNLABELLED_METHODS:
    register(_name)(partial(_unlabelled, _name))
for _method, _name in MEASURE_METHODS.items():
    register(_method, _name)(partial(_for_measure, TUNABLE[_name]))
