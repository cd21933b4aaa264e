"""Solvers for the classifiers of some siblings: two-phase SGD, AdaGrad, dual coordinate descent. Kernels.

A solver is a type, so that numba compiles `solve` for the one that is used and for no other. Siblings see the same
instances in the same order, so that a non-zero touches one run of their weights; they are padded to 4, to 8 or to a
multiple of 16 (`xmlc.kernels.sibling_rows`), and each is a problem of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from xmlc.kernels.arrays import borrowed, row_of
from xmlc.kernels.counter_random import shuffle, stream_key
from xmlc.kernels.float32 import fma, sigmoid
from xmlc.kernels.sibling_rows import adagrad_to_rows, add_to_rows, dense_scores, padded_size
from xmlc.kernels.vectors import Lanes, Vectors
from xmlc.runtime.kernel_cache import njit

SMALL_CHANGE = np.float32(0.01)  # of the tolerance: a smaller change is not worth touching the weights
NEWTON_STEPS = 3  # of a logistic coordinate; what they leave, the next pass takes
DualStep = Callable[[Lanes, Lanes, Lanes, Lanes], Lanes]


class Sgd(NamedTuple):
    """Two-phase stochastic gradient descent with L2 regularisation (plt2016, Appendix B).

    Attributes
    ----------
    step : float
        Initial step size: step t (from 0) of a node is ``step / (1 + lam * step * t)``. With t from 1, as in the
        authors' Java program, all steps are those of the initial size ``step / (1 + lam * step)``.
    lam : float
        Regularisation lambda.
    epochs : int
        Passes over the instances.
    """

    step: float
    lam: float
    epochs: int


class AdaGrad(NamedTuple):
    """AdaGrad without regularisation (oplt2021, Section 6).

    Attributes
    ----------
    step : float
        A weight's step is ``step / sqrt(eps + its squared derivatives so far)``.
    eps : float
    epochs : int
        Passes over the instances.
    """

    step: float
    eps: float
    epochs: int


class DualDescent(NamedTuple):
    """Dual coordinate descent with L2 regularisation, see `train_children_dual`.

    Attributes
    ----------
    C : float
        Weight of the loss against half the squared length of a node's weights.
    tol : float
        A node stops when none of its dual variables moved by more than ``tol * C`` in a pass.
    max_epochs : int
        Passes over the instances, at most.
    squared_hinge : bool
        The squared hinge loss; else the logistic loss.
    key : uint64
        Random stream of the order of the instances.
    """

    C: float
    tol: float
    max_epochs: int
    squared_hinge: bool
    key: np.uint64


Solver = Sgd | AdaGrad | DualDescent


def numbers_per_weight(solver):
    """Return how many float32 a solver keeps for each weight: AdaGrad the weight and its sum of squared derivatives."""
    raise TypeError("only kernels call this")


@overload(numbers_per_weight)
def _choose_numbers_per_weight(solver):
    if solver.instance_class is AdaGrad:
        return lambda solver: 2
    return lambda solver: 1


def solve(solver, ends, ids, values, targets, state, bias, n_siblings, block):
    """Train the classifiers of some siblings.

    Parameters
    ----------
    solver : Sgd, AdaGrad or DualDescent
    ends : int64 (instances + 1,), ids : uint32, values : float32
        Instances that reach the parent, in the order of the pass, with the parent's feature numbers.
    targets : uint8 (instances, padded)
        z_t of each instance and sibling; the siblings, here and below, padded to `padded_size` with targets 0.
    state : float32 (features * numbers_per_weight * padded,)
        Zero on entry; on return a feature's row begins with the weights of the siblings.
    bias : float32 (padded,)
        Zero on entry; the weight of the constant feature 1 on return.
    n_siblings : int
        How many siblings are no padding.
    block : int
        The number of their block.

    Returns
    -------
    int
        Pairs of a non-zero and a sibling that were visited, once for each pass.
    """
    raise TypeError("only kernels call this")


@overload(solve)
def _choose_solve(solver, ends, ids, values, targets, state, bias, n_siblings, block):
    if solver.instance_class is Sgd:

        def implementation(solver, ends, ids, values, targets, state, bias, n_siblings, block):
            train_children(ends, ids, values, targets, state, bias, solver.step, solver.lam, solver.epochs)
            return solver.epochs * ids.size * n_siblings

    elif solver.instance_class is AdaGrad:

        def implementation(solver, ends, ids, values, targets, state, bias, n_siblings, block):
            train_children_adagrad(ends, ids, values, targets, state, bias, solver.step, solver.eps, solver.epochs)
            return solver.epochs * ids.size * n_siblings

    else:

        def implementation(solver, ends, ids, values, targets, state, bias, n_siblings, block):
            return train_children_dual(
                ends, ids, values, targets, state, bias, n_siblings,
                solver.squared_hinge, solver.C, solver.tol, solver.max_epochs, stream_key(solver.key, block),
            )  # fmt: skip

    return implementation


@njit(cache=True, nogil=True)
def train_children(ends, ids, values, targets, weights, bias, gamma, lam, epochs):
    """Train the node classifiers of some siblings by two-phase SGD with lazy scaling (Appendix B).

    ``weights`` holds the scaled weights Pi_t * w_t until the end; step t (from 0) is
    gamma_t = gamma / (1 + lam * gamma * t), and all siblings share t and Pi because they see the same
    instances. Moves 16 bytes per non-zero and sibling (two reads, one write, and the instance itself).

    Parameters
    ----------
    ends : int64, ids : uint32, values : float32
        Instances that reach the parent, in the order of the pass, with the parent's feature numbers.
    targets : uint8 (instances, siblings)
        z_t of each instance and sibling; the siblings, here and below, padded to `padded_size` with targets 0.
    weights : float32 (features * siblings,)
        Siblings side by side; zero on entry, the weights on return.
    bias : float32 (siblings,)
        Zero on entry; the weight of the constant feature 1 on return.
    """
    n_siblings = bias.size
    steps = np.empty(n_siblings, dtype=np.float32)
    scale = 1.0
    t = 0
    for _ in range(epochs):
        for i in range(ends.size - 1):
            row_ids, row_values = ids[ends[i] : ends[i + 1]], values[ends[i] : ends[i + 1]]
            dense_scores(row_ids, row_values, weights, n_siblings, bias, steps)
            gamma_t = gamma / (1.0 + lam * gamma * t)
            inverse, step = np.float32(1.0 / scale), np.float32(scale * gamma_t)
            for c in range(n_siblings):
                steps[c] = step * (np.float32(targets[i, c]) - sigmoid(steps[c] * inverse))
            add_to_rows(row_ids, row_values, steps, weights, bias)
            scale *= 1.0 + lam * gamma_t
            t += 1
    inverse = np.float32(1.0 / scale)
    bias *= inverse
    weights *= inverse


@njit(cache=True, nogil=True)
def train_children_adagrad(ends, ids, values, targets, state, bias, gamma, eps, epochs):
    """Train the node classifiers of some siblings by AdaGrad (Duchi, Hazan and Singer, JMLR 2011).

    A weight moves by gamma * g / sqrt(eps + sum of its squared derivatives so far, g included), where g is the
    derivative of the logistic loss by it. There is no regularisation.

    Parameters as for `train_children`, with eps in place of lam and ``state``, float32 (features * 2 * siblings,), in
    place of the weights: for each feature the weights of the padded siblings and then their sums, in the same or
    neighbouring cache lines. Moves 24 bytes per non-zero and sibling (two reads of the weight, a read of its
    sum of squares, a write of both, and the instance itself).
    """
    n_siblings = bias.size
    scores = np.empty(n_siblings, dtype=np.float32)
    bias_squares = np.zeros(n_siblings, dtype=np.float32)
    rate, eps = np.float32(gamma), np.float32(eps)
    for _ in range(epochs):
        for i in range(ends.size - 1):
            row_ids, row_values = borrowed(ids, ends[i], ends[i + 1]), borrowed(values, ends[i], ends[i + 1])
            dense_scores(row_ids, row_values, state, 2 * n_siblings, bias, scores)
            adagrad_steps(scores, row_of(targets, i), bias, bias_squares, rate, eps)
            adagrad_to_rows(row_ids, row_values, scores, rate, eps, state, 2 * n_siblings)


@njit(cache=True, nogil=True)
def train_children_dual(ends, ids, values, targets, weights, bias, n_real, squared_hinge, cost, tolerance, passes, key):
    """Train the node classifiers of some siblings by dual coordinate descent.

    Each child's weights w (the bias among them, of a constant feature 1) minimise

        1/2 |w|^2 + C sum_i loss(side_i w.x_i)

    with the squared hinge loss max(0, 1 - m)^2 or the logistic loss log(1 + exp(-m)) of the margin m. Both are solved
    by their duals, one variable alpha_i for each instance, with w = sum_i alpha_i side_i x_i kept beside them (Hsieh et
    al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008; Yu, Huang and Lin, "Dual coordinate
    descent methods for logistic regression and maximum entropy models", Machine Learning 2011).

    The order of the instances is drawn anew for each pass. A sibling stops when no alpha moved
    by ``tolerance * cost`` in a pass, and as soon as those still going fill three quarters of the registers, they go on
    by themselves. Moves 12 bytes per non-zero and sibling in a pass; the alphas take 4 bytes per instance and sibling.

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

    Returns
    -------
    int
        Non-zeros visited, each counted once for every sibling that was still going.
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
    n_going, visited = n_real, 0
    for number in range(passes):
        visited += n_going * ids.size
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
        if 4 * size <= 3 * own_bias.size:
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
    return visited


@njit(cache=True, nogil=True)
def dual_pass(
    ends, ids, values, targets, order, squares, squared_hinge, cost, smallest, alpha, going, largest, weights, bias
):
    """Visit every instance once; parameters as for `train_children_dual` and `dual_steps`."""
    changes = np.empty(bias.size, dtype=np.float32)
    for i in order:
        row_ids, row_values = borrowed(ids, ends[i], ends[i + 1]), borrowed(values, ends[i], ends[i + 1])
        dense_scores(row_ids, row_values, weights, bias.size, bias, changes)
        step = (squares[i], cost, smallest, squared_hinge)
        if dual_steps(changes, row_of(targets, i), row_of(alpha, i), going, largest, *step):
            add_to_rows(row_ids, row_values, changes, weights, bias)


@njit(cache=True, nogil=True)
def squared_lengths(ends, values):
    """Return |x|^2 of each instance, float32, with the constant feature."""
    squares = np.ones(ends.size - 1, dtype=np.float32)
    for i in range(squares.size):
        for value in borrowed(values, ends[i], ends[i + 1]):
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


def squared_hinge_step(margin: Lanes, alpha: Lanes, square: Lanes, cost: Lanes) -> Lanes:
    """Return the exact step of alpha >= 0 for the squared hinge loss.

    Parameters
    ----------
    margin : Lanes
        w.x of the instance for a positive target, -w.x for a negative one.
    alpha : Lanes
    square : Lanes
        |x|^2, with the constant feature.
    cost : Lanes
        C.
    """
    one = margin.constant(1.0)
    ridge = margin.constant(0.5) / cost
    inverse = one / (square + ridge)
    slope = ridge.times_plus(alpha, margin - one)
    return (-slope * inverse).at_least(-alpha)


def logistic_step(margin: Lanes, alpha: Lanes, square: Lanes, cost: Lanes) -> Lanes:
    """Return the step of alpha for the logistic loss: 0 <= alpha <= C, found by Newton's method.

    The step s is where alpha + s = C sigmoid(-(m + s |x|^2)). Newton's method starts from the largest step that cannot
    go too far, because the sigmoid's slope is at most 1/4, and a step out of its bracket becomes a bisection. If the
    last one is a bisection, the end of the bracket that is surely no worse than no step is taken.
    Parameters as for `squared_hinge_step`.
    """
    zero, half, one = (margin.constant(number) for number in (0.0, 0.5, 1.0))
    curvature = cost * square
    cautious = one / margin.constant(0.25).times_plus(curvature, one)
    low, high = -alpha, cost - alpha
    first = cost.times_plus((-margin).sigmoid(), -alpha) * cautious
    step, inside = first, None
    for _ in range(NEWTON_STEPS):
        p = (-square.times_plus(step, margin)).sigmoid()
        excess = (-cost).times_plus(p, alpha + step)
        below = excess.compared("<", zero)
        low, high = step.or_else(below, low), high.or_else(below, step)
        newton = step - excess / (curvature * p).times_plus(one - p, one)
        inside = margin.vectors.builder.and_(low.compared("<=", newton), newton.compared("<=", high))
        step = newton.or_else(inside, half * (low + high))
    return step.or_else(inside, low.or_else(first.compared(">", zero), high))


def _dual_stepper(width: int, find: DualStep) -> Any:
    """Make a kernel that steps ``width`` neighbouring siblings for one instance and tells whether weights change.

    A compiler that does not know how many there are takes them one at a time where an instance has few non-zeros, and a
    logistic step is then 33 ns. Sixteen together take 4.7 ns each, and 64 together 2.7: the operations of a step wait
    for one another, and in the meantime a processor takes those of the next register.

    It takes scores (float32; overwritten by how much of x the weights change), targets (uint8), alpha (float32), going
    (bool), largest (float32), of each of which it uses these columns, the first column (int64), and |x|^2, C, and the
    largest step that is not taken (float32).
    """

    @intrinsic
    def step_siblings(typing_context, scores, targets, alpha, going, largest, column, square, cost, smallest):
        def generate(context, builder, signature, arguments):
            vectors = Vectors(builder, width)
            scores, targets, alpha, going, largest = (
                context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in range(5)
            )
            column = arguments[5]
            square, cost, smallest = (Lanes(vectors, vectors.broadcast(number)) for number in arguments[6:])
            score, alpha_before, largest_before = (
                Lanes(vectors, vectors.load(vectors.at(data, column))) for data in (scores, alpha, largest)
            )
            target, is_going = (vectors.nonzero_bytes(data, column) for data in (targets, going))
            step = find(score.or_else(target, -score), alpha_before, square, cost)
            size, zero = step.called("fabs"), step.constant(0.0)
            step = step.or_else(builder.and_(is_going, size.compared(">", smallest)), zero)
            results = (step.or_else(target, -step), alpha_before + step, largest_before.at_least(size))
            for result, data in zip(results, (scores, alpha, largest)):
                vectors.store(result.value, vectors.at(data, column))
            changes = builder.bitcast(step.compared("!=", zero), ir.IntType(width))
            return builder.icmp_unsigned("!=", changes, ir.Constant(changes.type, 0))

        floats = (types.float32,) * 3
        return types.boolean(scores, targets, alpha, going, largest, types.int64, *floats), generate

    return step_siblings


def _adagrad_stepper(width: int) -> Any:
    """Make a kernel that turns ``width`` neighbouring scores into derivatives and steps their siblings' biases.

    It takes scores (float32; overwritten by the derivatives of the logistic loss), targets (uint8), bias and the sums
    of its squared derivatives (float32), of each of which it uses these columns, the first column (int64), the rate and
    eps (float32).
    """

    @intrinsic
    def step_biases(typing_context, scores, targets, bias, squares, column, rate, eps):
        def generate(context, builder, signature, arguments):
            vectors = Vectors(builder, width)
            scores, targets, bias, squares = (
                context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in range(4)
            )
            column = arguments[4]
            rate, eps = (Lanes(vectors, vectors.broadcast(number)) for number in arguments[5:])
            score, bias_before, squares_before = (
                Lanes(vectors, vectors.load(vectors.at(data, column))) for data in (scores, bias, squares)
            )
            one = score.constant(1.0)
            sign = (-one).or_else(vectors.nonzero_bytes(targets, column), one)
            derivative = sign * (sign * score).sigmoid()
            total = derivative.times_plus(derivative, squares_before)
            moved = (-(rate * derivative)).times_plus((eps + total).inverse_sqrt(), bias_before)
            for result, data in zip((derivative, moved, total), (scores, bias, squares)):
                vectors.store(result.value, vectors.at(data, column))
            return context.get_dummy_value()

        return types.void(scores, targets, bias, squares, types.int64, types.float32, types.float32), generate

    return step_biases


hinge_16, hinge_8, hinge_4 = (_dual_stepper(width, squared_hinge_step) for width in (16, 8, 4))
logistic_64, logistic_32, logistic_16, logistic_8, logistic_4 = (
    _dual_stepper(width, logistic_step) for width in (64, 32, 16, 8, 4)
)
adagrad_16, adagrad_8, adagrad_4 = (_adagrad_stepper(width) for width in (16, 8, 4))


@njit(cache=True, nogil=True)
def dual_steps(scores, targets, alpha, going, largest, square, cost, smallest, squared_hinge):
    """Step the dual variables of siblings still going for one instance, unless the steps are small.

    Parameters
    ----------
    scores : float32 (siblings,)
        w.x of the instance; overwritten by how much of x each sibling's weights change.
    targets : uint8 (siblings,)
    alpha : float32 (siblings,)
        Takes the steps.
    going : bool (siblings,)
    largest : float32 (siblings,)
        Raised to the size of the step, taken or not.
    square, cost : float32
        |x|^2, with the constant feature, and C.
    smallest : float32
        Steps of at most this size are not taken.
    squared_hinge : bool
        The squared hinge loss; else the logistic loss.

    Returns
    -------
    bool
        Whether any weight changes.
    """
    size, column, changes = scores.size, 0, False
    if squared_hinge:
        while column + 16 <= size:
            changes |= hinge_16(scores, targets, alpha, going, largest, column, square, cost, smallest)
            column += 16
        if size == 8:
            changes = hinge_8(scores, targets, alpha, going, largest, 0, square, cost, smallest)
        elif size == 4:
            changes = hinge_4(scores, targets, alpha, going, largest, 0, square, cost, smallest)
        return changes
    while column + 64 <= size:
        changes |= logistic_64(scores, targets, alpha, going, largest, column, square, cost, smallest)
        column += 64
    if column + 32 <= size:
        changes |= logistic_32(scores, targets, alpha, going, largest, column, square, cost, smallest)
        column += 32
    if column + 16 <= size:
        changes |= logistic_16(scores, targets, alpha, going, largest, column, square, cost, smallest)
    elif size == 8:
        changes = logistic_8(scores, targets, alpha, going, largest, 0, square, cost, smallest)
    elif size == 4:
        changes = logistic_4(scores, targets, alpha, going, largest, 0, square, cost, smallest)
    return changes


@njit(cache=True, nogil=True)
def adagrad_steps(scores, targets, bias, squares, rate, eps):
    """Turn the scores of an instance into derivatives of the logistic loss, and take AdaGrad's step of the biases.

    Parameters
    ----------
    scores : float32 (siblings,)
        Overwritten by the derivatives.
    targets : uint8 (siblings,)
    bias, squares : float32 (siblings,)
        The biases and the sums of their squared derivatives.
    rate, eps : float32
    """
    size = scores.size
    for column in range(0, size - 15, 16):
        adagrad_16(scores, targets, bias, squares, column, rate, eps)
    if size == 8:
        adagrad_8(scores, targets, bias, squares, 0, rate, eps)
    elif size == 4:
        adagrad_4(scores, targets, bias, squares, 0, rate, eps)
