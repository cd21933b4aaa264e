"""L2-regularised classifiers for the children of one tree node by dual coordinate descent: kernels.

Each child's weights w (the bias among them, of a constant feature 1) minimise

    1/2 |w|^2 + C sum_i loss(side_i w.x_i)

with the squared hinge loss max(0, 1 - m)^2 or the logistic loss log(1 + exp(-m)) of the margin m. Both are solved by
their duals, one variable alpha_i for each instance, with w = sum_i alpha_i side_i x_i kept beside them (Hsieh et al.,
"A dual coordinate descent method for large-scale linear SVM", ICML 2008; Yu, Huang and Lin, "Dual coordinate descent
methods for logistic regression and maximum entropy models", Machine Learning 2011).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.kernels.counter_random import shuffle, stream_key
from xmlc.kernels.float32 import fma, sigmoid
from xmlc.kernels.sibling_rows import add_to_rows, dense_scores, padded_size

NEWTON_STEPS = 3  # of a logistic coordinate; what they leave, the next pass takes
SMALL_CHANGE = np.float32(0.01)  # of the tolerance: a smaller change is not worth touching the weights


@njit(cache=True, nogil=True, error_model="numpy")
def squared_hinge_steps(scores, targets, alpha, square, cost, steps):
    """Write the exact step of each sibling's alpha for one instance: alpha >= 0.

    Parameters
    ----------
    scores : float32 (siblings,)
        w.x of the instance.
    targets : uint8 (siblings,)
    alpha : float32 (siblings,)
    square : float32
        |x|^2, with the constant feature.
    cost : float32
        C.
    steps : float32 (siblings,)
        Overwritten.
    """
    one = np.float32(1.0)
    ridge = np.float32(0.5) / cost
    inverse = one / (square + ridge)
    for c in range(scores.size):
        margin = scores[c] if targets[c] else -scores[c]
        slope = fma(ridge, alpha[c], margin - one)
        steps[c] = max(-slope * inverse, -alpha[c])


@njit(cache=True, nogil=True, error_model="numpy")
def logistic_steps(scores, targets, alpha, square, cost, steps):
    """Write the step of each sibling's alpha for one instance: 0 <= alpha <= C, found by Newton's method.

    The step s is where alpha + s = C sigmoid(-(m + s |x|^2)). Newton's method starts from the largest step that cannot
    go too far, because the sigmoid's slope is at most 1/4, and a step out of its bracket becomes a bisection. If the
    last one is a bisection, the end of the bracket that is surely no worse than no step is taken.
    Parameters as for `squared_hinge_steps`.
    """
    one, half = np.float32(1.0), np.float32(0.5)
    curvature = cost * square
    cautious = one / fma(np.float32(0.25), curvature, one)
    for c in range(scores.size):
        margin = scores[c] if targets[c] else -scores[c]
        low, high = -alpha[c], cost - alpha[c]
        first = fma(cost, sigmoid(-margin), -alpha[c]) * cautious
        step, inside = first, True
        for _ in range(NEWTON_STEPS):
            p = sigmoid(-fma(square, step, margin))
            excess = fma(-cost, p, alpha[c] + step)
            low = step if excess < np.float32(0.0) else low
            high = high if excess < np.float32(0.0) else step
            newton = step - excess / fma(curvature * p, one - p, one)
            inside = low <= newton and newton <= high
            step = newton if inside else half * (low + high)
        safe = low if first > np.float32(0.0) else high
        steps[c] = step if inside else safe


@njit(cache=True, nogil=True)
def keep_steps(steps, targets, alpha, going, smallest, largest, changes):
    """Take the steps of siblings still going, unless they are small; return whether any weight changes.

    Parameters
    ----------
    steps, alpha : float32 (siblings,)
        alpha takes the steps that are kept.
    targets : uint8 (siblings,)
    going : bool (siblings,)
    smallest : float32
    largest : float32 (siblings,)
        Raised to the size of the step.
    changes : float32 (siblings,)
        Overwritten: by how much of x each sibling's weights change.
    """
    total = np.float32(0.0)
    for c in range(steps.size):
        size = abs(steps[c])
        step = steps[c] if going[c] and size > smallest else np.float32(0.0)
        largest[c] = max(largest[c], size)
        alpha[c] += step
        changes[c] = step if targets[c] else -step
        total += abs(step)
    return total > np.float32(0.0)


@njit(cache=True, nogil=True)
def squared_lengths(ends, values):
    """Return |x|^2 of each instance, float32, with the constant feature."""
    squares = np.ones(ends.size - 1, dtype=np.float32)
    for i in range(squares.size):
        for value in values[ends[i] : ends[i + 1]]:
            squares[i] = fma(value, value, squares[i])
    return squares


@njit(cache=True, nogil=True)
def some_columns(rows, columns, size):
    """Copy some columns of a matrix side by side into one of ``size`` columns, zeros at the end."""
    result = np.zeros((rows.shape[0], size), dtype=rows.dtype)
    for i in range(rows.shape[0]):
        for c in range(columns.size):
            result[i, c] = rows[i, columns[c]]
    return result


@njit(cache=True, nogil=True)
def put_columns(rows, columns, result):
    """Copy the first columns of a matrix to those of another that ``columns`` names."""
    for i in range(rows.shape[0]):
        for c in range(columns.size):
            result[i, columns[c]] = rows[i, c]


@njit(cache=True, nogil=True)
def train_children_dual(ends, ids, values, targets, weights, bias, n_real, squared_hinge, cost, tolerance, passes, key):
    """Train the node classifiers of some siblings by dual coordinate descent.

    Siblings see the same instances in the same order, drawn anew for each pass, so that a non-zero touches one run of
    their weights; each is a problem of its own, which nothing of its siblings changes. One stops when no alpha moved
    by ``tolerance * cost`` in a pass, and as soon as those still going fill half of the registers, they go on by
    themselves. Moves 12 bytes per non-zero and sibling in a pass; the alphas take 4 bytes per instance and sibling.

    Parameters
    ----------
    ends, ids, values, targets, weights, bias
        As for `train_children`.
    n_real : int
        How many siblings are no padding.
    squared_hinge : bool
        Or logistic.
    cost, tolerance : float
    passes : int
        At most so many.
    key : uint64
        Random stream of the order of the instances.
    """
    cost = np.float32(cost)
    enough = np.float32(tolerance) * cost
    squares = squared_lengths(ends, values)
    order = np.arange(squares.size)
    alpha = np.zeros(targets.shape, dtype=np.float32)
    original = weights.reshape((-1, bias.size))
    siblings = np.arange(n_real)  # which columns those are that are still going
    own_targets, own_weights, own_bias = targets, original, bias
    largest = np.empty(bias.size, dtype=np.float32)
    going = np.arange(bias.size) < n_real
    for number in range(passes):
        shuffle(order, stream_key(key, number))
        largest[:] = 0
        dual_pass(
            ends, ids, values, own_targets, order, squares, squared_hinge, cost, SMALL_CHANGE * enough,
            alpha, going, largest, own_weights.reshape(own_weights.size), own_bias,
        )  # fmt: skip
        going &= largest > enough
        n_going = going.sum()
        if n_going == 0:
            break
        size = padded_size(n_going)
        if 2 * size <= own_bias.size:
            left = np.flatnonzero(going)
            if own_bias.size < bias.size:
                put_columns(own_weights, siblings, original)
                put_columns(own_bias.reshape((1, -1)), siblings, bias.reshape((1, -1)))
            siblings = siblings[left]
            alpha, own_targets = some_columns(alpha, left, size), some_columns(own_targets, left, size)
            own_weights, own_bias = (
                some_columns(own_weights, left, size),
                some_columns(own_bias.reshape((1, -1)), left, size)[0],
            )
            largest = np.empty(size, dtype=np.float32)
            going = np.arange(size) < n_going
    if own_bias.size < bias.size:
        put_columns(own_weights, siblings, original)
        put_columns(own_bias.reshape((1, -1)), siblings, bias.reshape((1, -1)))


@njit(cache=True, nogil=True)
def dual_pass(
    ends, ids, values, targets, order, squares, squared_hinge, cost, smallest, alpha, going, largest, weights, bias
):
    """Visit every instance once; parameters as for `train_children_dual` and `keep_steps`."""
    scores, steps = np.empty(bias.size, dtype=np.float32), np.empty(bias.size, dtype=np.float32)
    for i in order:
        row_ids, row_values = ids[ends[i] : ends[i + 1]], values[ends[i] : ends[i + 1]]
        dense_scores(row_ids, row_values, weights, bias.size, bias, scores)
        if squared_hinge:
            squared_hinge_steps(scores, targets[i], alpha[i], squares[i], cost, steps)
        else:
            logistic_steps(scores, targets[i], alpha[i], squares[i], cost, steps)
        if keep_steps(steps, targets[i], alpha[i], going, smallest, largest, scores):
            add_to_rows(row_ids, row_values, scores, weights, bias)
