"""Threshold methods by their names in configuration files, as sweeps over a grid (plt2016, 6.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from xmlc.core.errors import InvalidDataError, XmlcError, nearest
from xmlc.kernels.csr import CSR, per_label
from xmlc.metrics.classification import MEASURES, TUNABLE, AveragedOverlap, measure_scores
from xmlc.metrics.measures import MEASURE_METHODS, UNLABELLED_METHODS
from xmlc.thresholds.bounds import GRID, checked_grid, kappa, lower_bounds
from xmlc.thresholds.bounds import priors as shares_in
from xmlc.thresholds.expected import ExpectedF
from xmlc.thresholds.fta import FTA, fixed_thresholds
from xmlc.thresholds.methods import agreement_above, checked_pair
from xmlc.thresholds.ofo import OFO
from xmlc.thresholds.one_pass import instances
from xmlc.thresholds.pooled import CommonThreshold
from xmlc.thresholds.sto import STO, candidates_of


class GridPoint(NamedTuple):
    """The thresholds for a value c of the grid C, of which Figure 1 in plt2016 shows 1/c.

    Attributes
    ----------
    thresholds : ndarray of float32, shape (m,)
    c, a, b : float or None
        The value c, and the input parameters of OFO.

    See Also
    --------
    register

    Examples
    --------
    >>> import numpy as np
    >>> from xmlc.thresholds.sweeps import GridPoint
    >>> GridPoint(np.array([0.5], dtype=np.float32), c=2).c
    2
    """

    thresholds: np.ndarray
    c: float | None = None
    a: float | None = None
    b: float | None = None


GridPoints = Iterator[GridPoint]
SweepFunction = Callable[[CSR, CSR, np.ndarray, Sequence[float]], GridPoints]


class SweptMethod(NamedTuple):
    """A sweep, and the measure (a name in `TUNABLE`) that chooses a grid point."""

    sweep: SweepFunction
    measure: str


METHODS: dict[str, SweptMethod] = {}


def register(name: str, measure: str = "macro_f") -> Callable[[SweepFunction], SweepFunction]:
    """Return a decorator that registers a sweep, a function (spe, Y, priors, grid) of grid points.

    ``spe`` and ``Y`` are validation estimates and label sets, ``priors`` the labels' shares in the
    training split, and ``grid`` the set C. Points with the fewest predictions (small c) must come
    first, because the first of equal scores is chosen. A sweep yields one vector of thresholds at a
    time, so a grid of any size fits in memory.

    Parameters
    ----------
    name : str
        New name of the method.
    measure : str
        Name in ``xmlc.metrics.classification.TUNABLE`` of the measure that chooses a point.

    Returns
    -------
    callable

    Raises
    ------
    XmlcError
        The name is taken, or the measure is unknown.

    See Also
    --------
    xmlc.thresholds.tune, GridPoint

    Examples
    --------
    >>> import numpy as np
    >>> from xmlc.thresholds import tune
    >>> from xmlc.thresholds.sweeps import GridPoint, METHODS, register
    >>> @register("half")
    ... def sweep_half(spe, Y, priors, grid):
    ...     yield GridPoint(np.full(Y.shape[1], 0.5, dtype=np.float32))
    >>> tune("half", [[0.6, 0.3]], [[1, 0]]).thresholds
    array([0.5, 0.5], dtype=float32)
    >>> _ = METHODS.pop("half")
    """

    def add(sweep: SweepFunction) -> SweepFunction:
        if name in METHODS:
            raise XmlcError(f"found a second threshold method {name!r}, expected a new name")
        if measure not in TUNABLE:
            raise InvalidDataError(
                f"method {name!r}: found measure={measure!r}, expected {nearest(measure, TUNABLE)}"
            )
        METHODS[name] = SweptMethod(sweep, measure)
        return sweep

    return add


class Tried(NamedTuple):
    """A grid point with its scores.

    Attributes
    ----------
    c, a, b : float or None
        As in `GridPoint`.
    validation : dict of str to float
        Macro-F on the validation set, and the measure that chooses a point if it is another.
    test : dict of str to float, or None
        Scores on the test set, if wanted.

    See Also
    --------
    Tuned

    Examples
    --------
    >>> from xmlc.thresholds.sweeps import Tried
    >>> Tried(2, None, None, {"macro_f": 0.5}, None).validation["macro_f"]
    0.5
    """

    c: float | None
    a: float | None
    b: float | None
    validation: dict[str, float]
    test: dict[str, float] | None


class Tuned(NamedTuple):
    """The result of `xmlc.thresholds.tune`.

    Attributes
    ----------
    grid : list of Tried
        All points in the order of the sweep.
    best : int
        Index of the best point.
    thresholds : ndarray of float32, shape (m,)
        Its thresholds.

    See Also
    --------
    xmlc.thresholds.tune, Tried

    Examples
    --------
    >>> from xmlc.thresholds import tune
    >>> tune("fta", [[0.6, 0.3], [0.4, 0.2]], [[1, 1], [1, 0]]).best
    0
    """

    grid: list[Tried]
    best: int
    thresholds: np.ndarray


def tune(
    method: str,
    spe: CSR,
    Y: CSR,
    priors: np.ndarray | None = None,
    grid: Sequence[float] = GRID,
    min_probability: float = 0.0,
    score_test: Callable[[np.ndarray], dict[str, float]] | None = None,
    measure: str | None = None,
    unlabelled: CSR | None = None,
) -> Tuned:
    """Try all points of a method's grid, and choose the best by a measure on the validation set.

    If two points have equal scores, the earlier one is chosen, which has the higher thresholds.
    plt2016 tunes in this way (Section 6.2).

    Parameters
    ----------
    method : str
        A name in ``METHODS``.
    spe : csr_array of float32 or float64, shape (n, m)
        Validation estimates.
    Y : boolean csr_array, shape (n, m)
        Validation label sets.
    priors : ndarray, shape (m,), or None
        Shares of the labels in the training split. None uses those in ``Y``.
    grid : sequence of float
        The set C of values c to try.
    min_probability : float
        Minimum probability of the stored estimates, and of all thresholds.
    score_test : callable, optional
        Called with the thresholds of each point, returns their scores on the test set.
    measure : str, optional
        Measure that chooses a point, such as ``macro_f_present``, instead of the method's default,
        mostly macro-F (0/0 = 1, all labels). Any name in the result of
        `xmlc.metrics.classification_metrics` whose higher values are better.
    unlabelled : csr_array of float32, shape (n, m), optional
        Estimates that replace ``spe`` if the method needs no validation set.

    Returns
    -------
    Tuned
        All points with their scores, and the best point's thresholds.

    Raises
    ------
    XmlcError
        If the method or the measure is unknown, shapes differ, or an estimate, a prior or
        ``min_probability`` is not in 0 .. 1.

    See Also
    --------
    OutOfFold : Tunes thresholds without a validation set.

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
        raise InvalidDataError(
            f"found threshold method {method!r}, expected {nearest(str(method), METHODS)}"
        )
    spe, Y = checked_pair(spe, Y)
    if priors is None:
        priors = shares_in(Y)
    priors = per_label(priors, Y.shape[1], np.float64, "priors", "share")
    minima = per_label(min_probability, Y.shape[1], np.float32, "min_probability", "probability")
    names = scores_of(method, measure)
    learned = spe
    if unlabelled is not None and method in UNLABELLED_METHODS:
        learned = unlabelled
    points: list[Tried] = []
    best = 0
    best_score = -1.0
    best_thresholds = np.empty(0, dtype=np.float32)
    for point in METHODS[method].sweep(learned, Y, priors, grid):
        thresholds = np.maximum(point.thresholds, minima)
        scores = measure_scores(agreement_above(Y, spe, thresholds), names)
        score = scores[names[-1]]
        if score > best_score:
            best = len(points)
            best_score = score
            best_thresholds = thresholds
        test = None
        if score_test is not None:
            test = score_test(thresholds)
        points.append(Tried(point.c, point.a, point.b, scores, test))
    return Tuned(points, best, best_thresholds)


def scores_of(method: str, measure: str | None = None) -> tuple[str, ...]:
    """Return the validation scores of a point: macro-F, and the measure that chooses one."""
    measure = measure or METHODS[method].measure
    known = [candidate.name for candidate in MEASURES if candidate.better == "higher"]
    if measure not in known:
        raise InvalidDataError(
            f"found measure={measure!r}, expected {nearest(str(measure), known)}"
        )
    return tuple(dict.fromkeys(("macro_f", measure)))


@register("fta")
def sweep_fta(spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]) -> GridPoints:
    """Yield the thresholds kappa_j = max(1/c, nu_j) for each c (Section 6.2)."""
    nu = lower_bounds(priors)
    for c in checked_grid(grid):
        yield GridPoint(kappa(c, nu), c=c)


@register("fta-labelwise")
def sweep_fta_label_wise(spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]) -> GridPoints:
    """Yield, for each c, the best threshold of each label among max(1/c', nu_j) with c' <= c."""
    grid = checked_grid(grid)
    lower = lower_bounds(priors).astype(np.float32)
    scores = FTA(grid, lower_bounds=lower).fit(spe, Y).label_scores()
    for i, c in enumerate(grid):
        chosen = scores[:, : i + 1].argmax(axis=1)
        yield GridPoint(np.maximum(fixed_thresholds(grid)[chosen], lower), c=c)


def _for_measure(
    measure: AveragedOverlap, spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]
) -> GridPoints:
    """Yield the thresholds of the method ``for-<measure>``.

    For a macro-averaged measure, it is STO with this measure, and with minimum thresholds max(1/c,
    nu_j) for each c, from the measure's lower bound nu_j. For a micro- or instance-averaged one, it
    is the optimal common threshold, which needs neither a minimum nor a grid.
    """
    average, overlap = measure
    if average != "macro":
        yield GridPoint(CommonThreshold(average, overlap).fit(spe, Y).thresholds_)
        return
    nu = lower_bounds(priors, overlap.recall)
    candidates = candidates_of(spe, Y)
    for c in checked_grid(grid):
        yield GridPoint(
            STO(kappa=kappa(c, nu), overlap=overlap).fit_candidates(candidates).thresholds_, c=c
        )


register("sto")(partial(_for_measure, TUNABLE["macro_f"]))


@register("ofo")
def sweep_ofo(spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]) -> GridPoints:
    """Yield the thresholds of OFO with a = 1, for each b in C."""
    return _run_ofo(spe, Y, priors, ((1, c, c) for c in checked_grid(grid)))


# Appendix D of plt2016 chooses OFO's a from the grid C. In the authors' program, a is also 1, and
# these values of Table 4 are not in C.
TABLE_4_A = (300, 700, 5000)
TABLE_4_B = (500, 5000, 20000, 100000)


def ofo_pairs(grid: Sequence[float]) -> list[tuple[float, float]]:
    """Return the candidate pairs (a, b) for Table 4, the highest initial threshold first.

    The default grid gives 132 pairs. The value a is 1 or in C or `TABLE_4_A`, b is in C or
    `TABLE_4_B`, and a/b is at most 0.5 (equation (5)). That equation's lower bound differs between
    labels, and OFO never lowers a threshold below it.
    """
    grid = checked_grid(grid)
    pairs = {(a, b) for a, b in product((1, *grid, *TABLE_4_A), (*grid, *TABLE_4_B)) if 2 * a <= b}
    return sorted(pairs, key=lambda pair: (-pair[0] / pair[1], pair))


@register("ofo-ab")
def sweep_ofo_ab(spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]) -> GridPoints:
    """Yield the thresholds of OFO for each candidate pair of a and b (Appendix D, Table 4)."""
    return _run_ofo(spe, Y, priors, ((a, b, b / a) for a, b in ofo_pairs(grid)))


def _run_ofo(
    spe: CSR, Y: CSR, priors: np.ndarray, points: Iterable[tuple[float, float, float]]
) -> GridPoints:
    nu = lower_bounds(priors)
    blocks = instances(spe, Y)
    for a, b, c in points:
        yield GridPoint(
            OFO(a=a, b=b, lower_bounds=nu).learn(blocks, nu.size).thresholds_, c=c, a=a, b=b
        )


def fit_unlabelled(method: str, spe: CSR, priors: np.ndarray | None) -> ExpectedF:
    """Return a method of ``UNLABELLED_METHODS``, fitted to estimates."""
    return ExpectedF(zero_division=UNLABELLED_METHODS[method], prior=priors).fit(spe)


def _unlabelled(
    method: str, spe: CSR, Y: CSR, priors: np.ndarray, grid: Sequence[float]
) -> GridPoints:
    yield GridPoint(fit_unlabelled(method, spe, priors).thresholds_)


for _name in UNLABELLED_METHODS:
    register(_name)(partial(_unlabelled, _name))
for _method, _name in MEASURE_METHODS.items():
    register(_method, _name)(partial(_for_measure, TUNABLE[_name]))
