"""Steps of the solvers for one instance and neighbouring siblings, in whole registers: kernels.

Siblings are padded to 4, to 8 or to a multiple of 16 (`xmlc.kernels.sibling_rows`), and each is a problem of its own. A
compiler that does not know how many there are takes them one at a time where an instance has few non-zeros, and a
logistic step is then 33 ns. Sixteen together take 4.7 ns each, and 64 together 2.7: the operations of a step wait for
one another, and in the meantime a processor takes those of the next register.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from xmlc.kernels.vectors import Lanes, Vectors
from xmlc.runtime.kernel_cache import njit

NEWTON_STEPS = 3  # of a logistic coordinate; what they leave, the next pass takes
DualStep = Callable[[Lanes, Lanes, Lanes, Lanes], Lanes]


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
