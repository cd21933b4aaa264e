"""Provide kernels that fit L1-regularised logistic regression by newGLMNET (Yuan, Ho and Lin, JMLR 2012)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import unchecked_view, unowned
from xmlc.kernels.counter_random import shuffle, stream_key
from xmlc.kernels.float32 import exp_of_negative, log1p_of_share
from xmlc.kernels.sums import sparse_dot, sparse_dots, total

CURVATURE_SHIFT = 1e-12
SUFFICIENT_DECREASE = 0.01
LINE_SEARCH_SHRINKAGE = 0.5


class StoppingCriteria(NamedTuple):
    """Hold the limits at which `fit_logistic` stops.

    Attributes
    ----------
    tolerance : float
        Training stops if the optimality conditions are nearly satisfied. Then the sum of their violations is at most
        ``tolerance`` times the sum at w = 0.
    newton_steps, passes, line_search_steps : int
        Largest numbers of Newton steps, of coordinate-descent passes per Newton step, and of step sizes that are tried
        per Newton step.
    """

    tolerance: float = 0.01
    newton_steps: int = 10
    passes: int = 10
    line_search_steps: int = 20


class Sides(NamedTuple):
    """Hold the class, the margin and the derivatives of the loss of each of the n instances of a node."""

    side: np.ndarray  # Class of each instance, 1 or -1, int8 (n,).
    costs: tuple[float, float]  # Factors of the loss of positive and of negative instances, float32.
    margins: np.ndarray  # Margin w.x_i of each instance, float32 (n,).
    gradient: np.ndarray  # First derivative of each instance's loss with respect to its margin, float32 (n,).
    curvature: np.ndarray  # Second derivative of each instance's loss with respect to its margin, float32 (n,).
    along: np.ndarray  # Change of the margins, or of the first derivatives, by the Newton step, float32 (n,).
    terms: np.ndarray  # Scratch for the losses of the instances, float32 (n,).


@njit
def fit_logistic(columns, side, costs, stopping, key, weights, margins):
    """Minimise sum_j |w_j| + sum_i cost_i log(1 + exp(-side_i w.x_i)), starting from w = 0.

    Parameters
    ----------
    columns : (int64 (p + 1,), uint32, float32)
        Instances, column by column. The constant feature is one of the columns. The arrays are the start of each
        column, the instances with a non-zero in each column, and the values of these non-zeros.
    side, costs
        See `Sides`.
    stopping : StoppingCriteria
        Limits of the iteration.
    key : uint64
        Stream of random numbers for the order of the coordinates.
    weights : float32 (p,), margins : float32 (n,)
        ``weights`` is overwritten with the solution w, and ``margins`` with the products w.x_i.

    Notes
    -----
    Each Newton step minimises the second-order model of the loss plus the L1 norm. Coordinate descent updates only the
    weights that are non-zero or violate the optimality conditions. After coordinate descent, the step is halved until
    the objective decreases sufficiently. Each pass of coordinate descent visits the coordinates in a new random order.
    With a fixed order of the coordinates, the fit at the root of a tree took three times as long on the datasets
    delicious and tib-core-26k. With a fixed order of the coordinates, the forest also lost 0.4 points of P@3 on the
    dataset bibtex. An update of a weight reads 12 bytes for each non-zero of the weight's column. If the weight
    changes, the update reads 16 more bytes and writes 4 bytes for each non-zero. Arrays with one entry per instance
    stay in the cache.
    """
    by_row, by_column = np.zeros((4, side.size), dtype=np.float32), np.zeros((3, weights.size), dtype=np.float32)
    weights[:] = 0
    margins[:] = 0
    sides = Sides(side, costs, margins, by_row[0], by_row[1], by_row[2], by_row[3])
    active = np.empty(weights.size, dtype=np.uint32)
    # The first four of the five arrays in ``coordinates`` contain the weights, the first and second derivatives of the
    # loss with respect to the weights, and the changes of the weights by the Newton step. The last array of
    # ``coordinates`` begins with the numbers of the weights to update.
    coordinates = weights, by_column[0], by_column[1], by_column[2], active
    loss = logistic_loss(sides, np.float32(0))
    largest, initial, precision = np.float32(0), np.float32(0), np.float32(1)
    for newton in range(stopping.newton_steps):
        margin_derivatives(sides)
        shrinkage = largest / np.float32(side.size)
        n_active, violation, largest = column_derivatives(columns, sides, coordinates, shrinkage)
        if newton == 0:
            initial = violation
        if violation <= stopping.tolerance * initial:
            break
        working, step_key = active[:n_active], stream_key(key, newton)
        passes = descend(columns, sides, coordinates, working, precision * initial, stopping.passes, step_key)
        if passes == 1:
            precision *= np.float32(0.25)
        new_loss = line_search(columns, sides, coordinates, working, stopping.line_search_steps, loss)
        if new_loss < 0:
            break
        loss = new_loss


@njit
def logistic_loss(sides, size):
    """Return sum_i cost_i log(1 + exp(-side_i (margin_i + size * along_i))), summed in float64.

    The terms are first computed by vector instructions, and then summed in a fixed order.
    """
    sides = unowned(sides)
    side, costs, margins, along, terms = sides.side, sides.costs, sides.margins, sides.along, sides.terms
    for i in range(side.size):
        score = margins[i] + size * along[i]
        positive = side[i] > 0
        wrong = max(-score if positive else score, np.float32(0))
        terms[i] = (costs[0] if positive else costs[1]) * (wrong + log1p_of_share(exp_of_negative(-abs(score))))
    return total(terms)


@njit
def margin_derivatives(sides):
    """Write the first and second derivative of each instance's loss with respect to the instance's margin."""
    sides = unowned(sides)
    side, costs, margins, gradient, curvature = sides.side, sides.costs, sides.margins, sides.gradient, sides.curvature
    one = np.float32(1)
    for i in range(side.size):
        e = exp_of_negative(-abs(margins[i]))
        likely = one / (one + e)  # probability of the class that the margin predicts
        unlikely = e * likely
        positive = side[i] > 0
        cost = costs[0] if positive else costs[1]
        estimate = likely if margins[i] > 0 else unlikely
        gradient[i] = cost * (estimate - one if positive else estimate)
        curvature[i] = cost * likely * unlikely


@njit
def column_derivatives(columns, sides, coordinates, shrinkage):
    """Write the first and second derivative of the loss with respect to each weight, and list the weights to update.

    Returns
    -------
    n_active : int
        ``active[:n_active]`` are the weights that are non-zero or not at their optimum.
    violation, largest : float
        Sum and maximum of the violations of the optimality conditions.
    """
    (starts, rows, values), sides = unowned(columns), unowned(sides)
    weights, slope, bend, _, active = unowned(coordinates)
    one, zero = np.float32(1), np.float32(0)
    n_active, violations, largest = 0, zero, zero
    for j in range(weights.size):
        ids, own = unchecked_view(rows, starts[j], starts[j + 1]), unchecked_view(values, starts[j], starts[j + 1])
        first, second = sparse_dots(ids, own, sides.gradient, sides.curvature)
        slope[j] = first
        bend[j] = second + np.float32(CURVATURE_SHIFT)
        if weights[j] == 0 and abs(first) < one - shrinkage:
            continue
        violation = violation_of(first, weights[j])
        violations += violation
        largest = max(largest, violation)
        active[n_active] = j
        n_active += 1
    return n_active, violations, largest


@njit(inline="always")
def violation_of(derivative, weight):
    """Return the smallest magnitude of a subgradient with respect to one weight, which is zero at the optimum."""
    one = np.float32(1)
    if weight > 0:
        return abs(derivative + one)
    if weight < 0:
        return abs(derivative - one)
    return max(abs(derivative) - one, np.float32(0))


@njit
def descend(columns, sides, coordinates, active, precision, max_passes, key):
    """Minimise the second-order model of the objective by coordinate descent, and return the number of passes.

    The function writes the Newton step to ``coordinates``, and the change of each instance's first derivative to
    ``along``. A pass skips a zero weight if its derivative is well inside the interval in which zero is optimal. When
    the weights that are not skipped have converged, the next pass visits all weights again.
    """
    (starts, rows, values), sides = unowned(columns), unowned(sides)
    along, curvature, one = sides.along, sides.curvature, np.float32(1)
    weights, slope, bend, step, _ = unowned(coordinates)
    for j in active:
        step[j] = 0
    along[:] = 0
    n_live = active.size
    largest = np.float32(np.inf)
    for passes in range(max_passes):
        violations = np.float32(0)
        new_largest = violations
        shrinkage = largest / np.float32(along.size)
        shuffle(active[:n_live], stream_key(key, passes))
        k = 0
        while k < n_live:
            j = active[k]
            ids, own = unchecked_view(rows, starts[j], starts[j + 1]), unchecked_view(values, starts[j], starts[j + 1])
            derivative = slope[j] + np.float32(CURVATURE_SHIFT) * step[j] + sparse_dot(ids, own, along)
            weight = weights[j] + step[j]
            if weight == 0 and abs(derivative) < one - shrinkage:
                n_live -= 1
                active[k], active[n_live] = active[n_live], active[k]
                continue
            violation = violation_of(derivative, weight)
            violations += violation
            new_largest = max(new_largest, violation)
            move = coordinate_move(derivative, bend[j], weight)
            if abs(move) > np.float32(1e-12):
                step[j] += move
                for i in range(ids.size):
                    along[ids[i]] += move * own[i] * curvature[ids[i]]
            k += 1
        if violations <= precision:
            if n_live == active.size:
                return passes + 1
            n_live = active.size
            largest = np.float32(np.inf)
        else:
            largest = new_largest
    return max_passes


@njit(inline="always")
def coordinate_move(derivative, second, weight):
    """Return the change of a weight w, clamped to -10 .. 10, that minimises the second-order model of loss plus |w|."""
    one, limit = np.float32(1), np.float32(10)
    if derivative + one <= second * weight:
        move = -(derivative + one) / second
    elif derivative - one >= second * weight:
        move = -(derivative - one) / second
    else:
        move = -weight
    return min(max(move, -limit), limit)


@njit
def line_search(columns, sides, coordinates, active, max_steps, loss):
    """Change the weights by the first step size that decreases the objective sufficiently, and return the new loss.

    The tried step sizes begin with 1 and decrease. If all tried step sizes are too large, return -1.
    """
    (starts, rows, values), sides = unowned(columns), unowned(sides)
    margins, along = sides.margins, sides.along
    weights, slope, _, step, _ = unowned(coordinates)
    along[:] = 0
    predicted = 0.0
    for j in active:
        if step[j] != 0:
            predicted += slope[j] * step[j] + abs(weights[j] + step[j]) - abs(weights[j])
            ids, own = unchecked_view(rows, starts[j], starts[j + 1]), unchecked_view(values, starts[j], starts[j + 1])
            for i in range(ids.size):
                along[ids[i]] += step[j] * own[i]
    size = np.float32(1)
    for _ in range(max_steps):
        new_loss = logistic_loss(sides, size)
        change = new_loss - loss
        for j in active:
            change += abs(weights[j] + size * step[j]) - abs(weights[j])
        if change <= SUFFICIENT_DECREASE * size * predicted:
            for j in active:
                weights[j] += size * step[j]
            for i in range(margins.size):
                margins[i] += size * along[i]
            return new_loss
        size *= np.float32(LINE_SEARCH_SHRINKAGE)
    return -1.0
