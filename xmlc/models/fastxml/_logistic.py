"""L1-regularised logistic regression by newGLMNET (Yuan, Ho and Lin, JMLR 2012). Kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of_csr, unowned
from xmlc.kernels.counter_random import shuffle, stream_key
from xmlc.kernels.float32 import exp_of_negative, log1p_of_share
from xmlc.kernels.sums import sparse_dot, sparse_dots, total

CURVATURE_SHIFT = 1e-12
SUFFICIENT_DECREASE = 0.01
LINE_SEARCH_SHRINKAGE = 0.5


class StoppingCriteria(NamedTuple):
    """The limits at which `fit_logistic` stops.

    Training stops once the violations of the optimality conditions sum to at most ``tolerance``
    times their sum at w = 0. ``passes`` and ``line_search_steps`` are per Newton step.
    """

    tolerance: float = 0.01
    newton_steps: int = 10
    passes: int = 10
    line_search_steps: int = 20


class Sides(NamedTuple):
    """The class, the margin and the loss's derivatives of each instance of a node."""

    side: np.ndarray  # class of each instance, 1 or -1, int8 (n,)
    # factors of the loss of positive and of negative instances, float32
    costs: tuple[float, float]
    margins: np.ndarray  # margin w.x_i of each instance, float32 (n,)
    # first derivative of each loss with respect to its margin, float32 (n,)
    gradient: np.ndarray
    # second derivative likewise, float32 (n,)
    curvature: np.ndarray
    # change of the margins, or of the first derivatives, by the Newton step, float32 (n,)
    along: np.ndarray
    terms: np.ndarray  # scratch for the losses, float32 (n,)


class Coordinates(NamedTuple):
    """The weights of a node, one for each of the p columns."""

    weights: np.ndarray  # float32 (p,)
    slopes: np.ndarray  # first derivative of the loss with respect to each weight, float32 (p,)
    bends: np.ndarray  # second derivative likewise, float32 (p,)
    steps: np.ndarray  # change of each weight by the Newton step, float32 (p,)
    active: np.ndarray  # begins with the numbers of the weights to update, uint32 (p,)


@njit
def fit_logistic(columns, side, costs, stopping, key, weights, margins):
    """Minimise sum_j |w_j| + sum_i cost_i log(1 + exp(-side_i w.x_i)), starting from w = 0.

    Each Newton step minimises the second-order model of the loss plus the L1 norm by coordinate
    descent, which updates only weights that are non-zero or violate the optimality conditions. The
    step is then halved until the objective decreases sufficiently. Each pass has a new random order
    of the coordinates, because with a fixed one the fit at the root of a tree took three times as
    long on delicious and tib-core-26k, and the forest lost 0.4 points of P@3 on bibtex.

    Row j of ``columns``, the transposed instances, lists those with a non-zero in column j, of
    which one is the constant feature. ``side`` and ``costs`` are as in `Sides`. ``weights``,
    float32 (p,), and ``margins``, float32 (n,), receive the solution w and the products w.x_i.
    """
    weights[:] = 0
    margins[:] = 0
    of_sides = np.zeros((4, side.size), dtype=np.float32)
    of_columns = np.zeros((3, weights.size), dtype=np.float32)
    active = np.empty(weights.size, dtype=np.uint32)
    sides = Sides(side, costs, margins, of_sides[0], of_sides[1], of_sides[2], of_sides[3])
    coordinates = Coordinates(weights, of_columns[0], of_columns[1], of_columns[2], active)
    loss = logistic_loss(sides, np.float32(0))
    largest = initial = np.float32(0)
    precision = np.float32(1)
    for newton in range(stopping.newton_steps):
        margin_derivatives(sides)
        shrinkage = largest / np.float32(side.size)
        n_active, violation, largest = column_derivatives(columns, sides, coordinates, shrinkage)
        if newton == 0:
            initial = violation
        if violation <= stopping.tolerance * initial:
            break
        working = active[:n_active]
        step_key = stream_key(key, newton)
        passes = descend(
            columns, sides, coordinates, working, precision * initial, stopping.passes, step_key
        )
        if passes == 1:
            precision *= np.float32(0.25)
        loss = line_search(columns, sides, coordinates, working, stopping.line_search_steps, loss)
        if loss < 0:
            break


@njit
def logistic_loss(sides, size):
    """Return sum_i cost_i log(1 + exp(-side_i (margin_i + size * along_i))), summed in float64.

    Vector instructions compute the terms, which are then summed in a fixed order.
    """
    sides = unowned(sides)
    for i in range(sides.side.size):
        score = sides.margins[i] + size * sides.along[i]
        cost = sides.costs[0]
        wrong = max(-score, np.float32(0))
        if sides.side[i] < 0:
            cost = sides.costs[1]
            wrong = max(score, np.float32(0))
        sides.terms[i] = cost * (wrong + log1p_of_share(exp_of_negative(-abs(score))))
    return total(sides.terms)


@njit
def margin_derivatives(sides):
    sides = unowned(sides)
    one = np.float32(1)
    for i in range(sides.side.size):
        margin = sides.margins[i]
        e = exp_of_negative(-abs(margin))
        likely = one / (one + e)  # probability of the class that the margin predicts
        unlikely = e * likely
        estimate = unlikely
        if margin > 0:
            estimate = likely
        cost = sides.costs[1]
        if sides.side[i] > 0:
            cost = sides.costs[0]
            estimate -= one
        sides.gradient[i] = cost * estimate
        sides.curvature[i] = cost * likely * unlikely


@njit
def column_derivatives(columns, sides, coordinates, shrinkage):
    """Write the loss's derivatives with respect to each weight, and list the weights to update.

    Returns
    -------
    n_active : int
        ``active[:n_active]`` are the weights that are non-zero or not at their optimum.
    violation, largest : float
        Sum and maximum of the violations of the optimality conditions.
    """
    columns = unowned(columns)
    sides = unowned(sides)
    weights, slopes, bends, _, active = unowned(coordinates)
    one = np.float32(1)
    violations = np.float32(0)
    largest = np.float32(0)
    n_active = 0
    for j in range(weights.size):
        rows, values = row_of_csr(columns, j)
        slopes[j], second = sparse_dots(rows, values, sides.gradient, sides.curvature)
        bends[j] = second + np.float32(CURVATURE_SHIFT)
        if weights[j] == 0 and abs(slopes[j]) < one - shrinkage:
            continue
        violation = violation_of(slopes[j], weights[j])
        violations += violation
        largest = max(largest, violation)
        active[n_active] = j
        n_active += 1
    return n_active, violations, largest


@njit(inline="always")
def violation_of(derivative, weight):
    """Return the smallest magnitude of a weight's subgradients, zero at the optimum."""
    one = np.float32(1)
    if weight > 0:
        return abs(derivative + one)
    if weight < 0:
        return abs(derivative - one)
    return max(abs(derivative) - one, np.float32(0))


@njit
def descend(columns, sides, coordinates, active, precision, max_passes, key):
    """Minimise the second-order model of the objective by coordinate descent, and count the passes.

    The Newton step goes to ``coordinates``, and the change of first derivatives to ``along``. A
    pass skips a zero weight if its derivative is well inside the interval in which
    zero is optimal, until the other weights have converged. Then the next pass visits all again.
    """
    columns = unowned(columns)
    sides = unowned(sides)
    weights, slopes, bends, steps, _ = unowned(coordinates)
    along = sides.along
    along[:] = 0
    for j in active:
        steps[j] = 0
    one = np.float32(1)
    largest = np.float32(np.inf)
    n_live = active.size
    for passes in range(max_passes):
        violations = np.float32(0)
        new_largest = np.float32(0)
        shrinkage = largest / np.float32(along.size)
        shuffle(active[:n_live], stream_key(key, passes))
        k = 0
        while k < n_live:
            j = active[k]
            rows, values = row_of_csr(columns, j)
            derivative = (
                slopes[j] + np.float32(CURVATURE_SHIFT) * steps[j] + sparse_dot(rows, values, along)
            )
            weight = weights[j] + steps[j]
            if weight == 0 and abs(derivative) < one - shrinkage:
                n_live -= 1
                active[k] = active[n_live]
                active[n_live] = j
                continue
            violation = violation_of(derivative, weight)
            violations += violation
            new_largest = max(new_largest, violation)
            move = coordinate_move(derivative, bends[j], weight)
            if abs(move) > np.float32(1e-12):
                steps[j] += move
                for i in range(rows.size):
                    along[rows[i]] += move * values[i] * sides.curvature[rows[i]]
            k += 1
        largest = new_largest
        if violations <= precision:
            if n_live == active.size:
                return passes + 1
            n_live = active.size
            largest = np.float32(np.inf)
    return max_passes


@njit(inline="always")
def coordinate_move(derivative, second, weight):
    """Return the change of a weight w, clamped to -10 .. 10, that minimises the second-order model
    of loss plus |w|.
    """
    one = np.float32(1)
    limit = np.float32(10)
    if derivative + one <= second * weight:
        move = -(derivative + one) / second
    elif derivative - one >= second * weight:
        move = -(derivative - one) / second
    else:
        move = -weight
    return min(max(move, -limit), limit)


@njit
def line_search(columns, sides, coordinates, active, max_steps, loss):
    """Change the weights by the first step size, from 1 down, that decreases the objective enough,
    and return the new loss, or -1 if all tried sizes are too large.
    """
    columns = unowned(columns)
    sides = unowned(sides)
    weights, slopes, _, steps, _ = unowned(coordinates)
    along = sides.along
    along[:] = 0
    predicted = 0.0
    for j in active:
        if steps[j] != 0:
            predicted += slopes[j] * steps[j] + abs(weights[j] + steps[j]) - abs(weights[j])
            rows, values = row_of_csr(columns, j)
            for i in range(rows.size):
                along[rows[i]] += steps[j] * values[i]
    size = np.float32(1)
    for _ in range(max_steps):
        new_loss = logistic_loss(sides, size)
        change = new_loss - loss
        for j in active:
            change += abs(weights[j] + size * steps[j]) - abs(weights[j])
        if change <= SUFFICIENT_DECREASE * size * predicted:
            for j in active:
                weights[j] += size * steps[j]
            for i in range(along.size):
                sides.margins[i] += size * along[i]
            return new_loss
        size *= np.float32(LINE_SEARCH_SHRINKAGE)
    return -1.0
