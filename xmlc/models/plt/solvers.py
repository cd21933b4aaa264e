"""Train the classifiers of some siblings by two-phase SGD, AdaGrad or dual coordinate descent. Kernels.

Each solver is a type, so that numba compiles `solve` only for the solver in use. The classifiers of siblings are
independent, but learn from the same instances in the same order. For each non-zero, a solver therefore reads and writes
the contiguous weights of all siblings. The number of siblings is padded to 4, to 8 or to a multiple of 16
(`xmlc.kernels.sibling_rows`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import copy_into, row_of, unchecked_view
from xmlc.kernels.counter_random import shuffle, stream_key
from xmlc.kernels.float32 import fma, sigmoid
from xmlc.kernels.sibling_rows import adagrad_to_rows, add_to_rows, dense_scores, padded_size

SMALL_CHANGE = np.float32(0.01)  # a step is skipped, to save time, if its ratio to the tolerance is below 0.01


class Sgd(NamedTuple):
    """Select two-phase stochastic gradient descent with L2 regularisation (plt2016, Appendix B).

    Attributes
    ----------
    step : float
        Initial step size. The size of a node's step t (from 0) is ``step / (1 + lam * step * t)``. The authors' Java
        program counts steps from t = 1. To imitate the authors' program, set the initial step size to ``step / (1 + lam
        * step)``.
    lam : float
        The regularisation parameter lambda.
    epochs : int
        Number of passes over the instances.
    """

    step: float
    lam: float
    epochs: int


class AdaGrad(NamedTuple):
    """Select AdaGrad without regularisation (oplt2021, Section 6).

    Attributes
    ----------
    step : float
        The step size of a weight is ``step / sqrt(eps + the sum of the weight's squared derivatives so far)``.
    eps : float
        The constant in the formula of the step size, see ``step``.
    epochs : int
        Number of passes over the instances.
    """

    step: float
    eps: float
    epochs: int


class DualDescent(NamedTuple):
    """Select dual coordinate descent with L2 regularisation, see `train_children_dual`.

    Attributes
    ----------
    C : float
        Weight of the loss, relative to half the squared length of a node's weight vector.
    tol : float
        The training of a node stops when no dual variable moves by more than ``tol * C`` in a pass. For an instance
        with a weight below 1, the limit ``tol * C`` is multiplied by the weight.
    max_epochs : int
        The largest number of passes over the instances.
    squared_hinge : bool
        True for the squared hinge loss, False for the logistic loss.
    key : uint64
        Key of the random numbers that order the instances.
    """

    C: float
    tol: float
    max_epochs: int
    squared_hinge: bool
    key: np.uint64


class Siblings(NamedTuple):
    """Hold the state of siblings that dual coordinate descent trains together."""

    #: uint8 (instances, siblings): targets z_t, which are 1 if the instance has a label below the sibling
    targets: np.ndarray
    #: float32 (instances, siblings): dual variables
    alpha: np.ndarray
    #: float32 (features, siblings): weights of the siblings
    weights: np.ndarray
    #: float32 (siblings,): each sibling's weight of the constant feature
    bias: np.ndarray
    #: bool (siblings,): whether the training of a sibling continues
    going: np.ndarray
    #: float32 (siblings,): size of the largest step in a pass, skipped steps included. If the weight of an instance is
    #: below 1, the step is divided by the weight.
    largest: np.ndarray


Solver = Sgd | AdaGrad | DualDescent


@njit(cache=True, nogil=True)
def train_children(solver, x, importance, targets, state, bias, n_siblings, block):
    """Train the node classifiers of some siblings by two-phase SGD with lazy scaling (plt2016, Appendix B).

    Until the last pass ends, ``state`` holds the scaled weights Pi_t * w_t. The size of step t (from 0) is gamma_t =
    gamma / (1 + lam * gamma * t). All siblings share t and Pi, because all siblings learn from the same instances. For
    an instance of weight v, the step is multiplied by v, and t increases by v.

    For each non-zero and each sibling, the kernel moves 16 bytes: two reads and one write of the weight, and one read
    of the instance. For the parameters see `solve`.
    """
    (gamma, lam, epochs), (ends, ids, values) = solver, x
    steps = np.empty(bias.size, dtype=np.float32)
    scale, t = 1.0, 0.0
    for _ in range(epochs):
        for i in range(ends.size - 1):
            row_ids, row_values = ids[ends[i] : ends[i + 1]], values[ends[i] : ends[i + 1]]
            dense_scores(row_ids, row_values, state, bias.size, bias, steps)
            gamma_t, weight = gamma / (1.0 + lam * gamma * t), np.float64(importance[i])
            inverse, step = np.float32(1.0 / scale), np.float32(scale * gamma_t * weight)
            for c in range(bias.size):
                steps[c] = step * (np.float32(targets[i, c]) - sigmoid(steps[c] * inverse))
            add_to_rows(row_ids, row_values, steps, state, bias)
            scale *= 1.0 + lam * gamma_t * weight
            t += weight
    inverse = np.float32(1.0 / scale)
    bias *= inverse
    state *= inverse


@njit(cache=True, nogil=True)
def train_children_adagrad(solver, x, importance, targets, state, bias, n_siblings, block):
    """Train the node classifiers of some siblings by AdaGrad (Duchi, Hazan and Singer, JMLR 2011).

    A step changes a weight by gamma * g / sqrt(eps + sum of the weight's squared derivatives so far, g included). Here
    g is the derivative of the logistic loss with respect to the weight. The weights are not regularised. For an
    instance of weight v, the step and the squared derivative are multiplied by v. The code therefore multiplies both g
    and gamma by the square root of the instance weight v.

    For the parameters see `solve`. A row of ``state`` contains the weights of the padded siblings, and then each
    weight's sum of squared derivatives. A weight and its sum of squared derivatives are in the same or adjacent cache
    lines. For each non-zero and each sibling, the kernel moves 24 bytes. These are two reads and one write of the
    weight, a read and a write of the sum, and a read of the instance.
    """
    (ends, ids, values), padded = x, bias.size
    scores = np.empty(padded, dtype=np.float32)
    constant, one = np.zeros(1, dtype=np.uint32), np.ones(1, dtype=np.float32)
    # ``bias_state`` is the counterpart of ``state`` for the constant feature
    bias_state = np.zeros(2 * padded, dtype=np.float32)
    rate, eps = np.float32(solver.step), np.float32(solver.eps)
    for _ in range(solver.epochs):
        for i in range(ends.size - 1):
            row_ids = unchecked_view(ids, ends[i], ends[i + 1])
            row_values = unchecked_view(values, ends[i], ends[i + 1])
            dense_scores(row_ids, row_values, state, 2 * padded, bias_state, scores)
            logistic_derivatives(scores, row_of(targets, i))
            root = np.sqrt(importance[i])
            for c in range(padded):
                scores[c] *= root
            adagrad_to_rows(constant, one, scores, rate * root, eps, bias_state, 2 * padded)
            adagrad_to_rows(row_ids, row_values, scores, rate * root, eps, state, 2 * padded)
    copy_into(bias, bias_state[:padded])


@njit(cache=True, nogil=True)
def train_children_dual(solver, x, importance, targets, state, bias, n_siblings, block):
    """Train the node classifiers of some siblings by dual coordinate descent.

    The weights w of each child, including the bias of a constant feature 1, minimise

        1/2 |w|^2 + C sum_i v_i loss(side_i w.x_i)

    Here v_i is the weight of instance i, and side_i is 1 for a positive target and -1 for a negative target. The loss
    of a margin m is max(0, 1 - m)^2 (squared hinge) or log(1 + exp(-m)) (logistic). The solver works on the dual
    problem, with one variable alpha_i for each instance, and maintains w = sum_i alpha_i side_i x_i. The method is from
    two papers (Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008; Yu, Huang and
    Lin, "Dual coordinate descent methods for logistic regression and maximum entropy models", Machine Learning 2011).

    Each pass visits the instances in a new random order. The training of a sibling stops after a pass in which no dual
    variable moves by more than its limit. The limit of alpha_i is ``tol * C``, multiplied by the instance weight v_i if
    v_i is below 1. When the siblings still in training fit into three quarters of the registers, the kernel copies
    their state and continues without the stopped siblings.

    In a pass, the kernel moves 12 bytes per non-zero and sibling. The dual variables take 4 bytes per instance and
    sibling. For the parameters see `solve`.
    """
    key = stream_key(solver.key, block)
    cost = np.float32(solver.C)
    enough = np.float32(solver.tol) * cost
    squares = squared_lengths(x)
    order = np.arange(squares.size)
    alpha, weights = np.zeros(targets.shape, dtype=np.float32), state.reshape((-1, bias.size))
    going, largest = np.arange(bias.size) < n_siblings, np.empty(bias.size, dtype=np.float32)
    every = Siblings(targets, alpha, weights, bias, going, largest)
    some, columns = every, np.arange(n_siblings)  # column c of `some` belongs to column ``columns[c]`` of `every`
    for number in range(solver.max_epochs):
        shuffle(order, stream_key(key, number))
        dual_pass(x, importance, order, squares, some, cost, SMALL_CHANGE * enough, solver.squared_hinge)
        n_going = np.int64(0)
        for c in range(some.going.size):
            some.going[c] &= some.largest[c] > enough
            n_going += some.going[c]
        size = padded_size(n_going)
        if n_going == 0:
            break
        if 4 * size <= 3 * some.bias.size:
            put_columns(some, columns, every)
            left = np.flatnonzero(some.going)
            some, columns = some_columns(some, left, size), columns[left]
    put_columns(some, columns, every)


SOLVERS: dict[Any, Any] = {Sgd: train_children, AdaGrad: train_children_adagrad, DualDescent: train_children_dual}


def solve(
    solver: Any, x: Any, importance: Any, targets: Any, state: Any, bias: Any, n_siblings: int, block: int
) -> None:
    """Train the classifiers of some siblings.

    The type of the solver selects the kernel from `SOLVERS`, in Python and in compiled code.

    Parameters
    ----------
    solver : Sgd, AdaGrad or DualDescent
        The solver and its settings.
    x : KernelCSR
        The instances that reach the parent node, in the order of a pass, with renumbered features.
    importance : float32 (instances,)
        Positive weight of each instance's loss.
    targets : uint8 (instances, padded)
        Target z_t of each instance and sibling. The padded number of siblings, ``padded``, is the result of
        `padded_size`. The targets of padding columns are 0.
    state : float32 (features * numbers_per_weight * padded,)
        The array is zero on entry. On return, the row of each feature begins with the siblings' weights. See
        `numbers_per_weight`.
    bias : float32 (padded,)
        The array is zero on entry. On return, ``bias`` holds the siblings' weights of the constant feature 1.
    n_siblings : int
        Number of siblings without padding.
    block : int
        Index of the block that contains the siblings.
    """
    SOLVERS[type(solver)](solver, x, importance, targets, state, bias, n_siblings, block)


@overload(solve)
def _choose_solver(solver, x, importance, targets, state, bias, n_siblings, block):
    return SOLVERS[solver.instance_class].py_func


def numbers_per_weight(solver: Solver) -> int:
    """Return how many float32 numbers a solver stores per weight. AdaGrad also stores a sum of squares per weight."""
    return 2 if isinstance(solver, AdaGrad) else 1


@njit(cache=True, nogil=True)
def dual_pass(x, importance, order, squares, siblings, cost, smallest, squared_hinge):
    """Make one pass of dual coordinate descent over all instances, in the given order.

    Parameters
    ----------
    x, importance
        As for `solve`.
    order : int64 (instances,)
        Order in which the pass visits the instances.
    squares : float32 (instances,)
        Result of `squared_lengths`.
    siblings : Siblings
        The siblings to train, updated in place.
    cost, smallest : float32
        Arguments of `dual_steps` for an instance of weight 1.
    squared_hinge : bool
        True for the squared hinge loss, False for the logistic loss.
    """
    (ends, ids, values), (targets, alpha, weights, bias, going, largest) = x, siblings
    weights = weights.reshape(weights.size)
    changes, work = np.empty(bias.size, dtype=np.float32), np.empty(4 * bias.size, dtype=np.float32)
    largest[:] = 0
    for i in order:
        row_ids, row_values = unchecked_view(ids, ends[i], ends[i + 1]), unchecked_view(values, ends[i], ends[i + 1])
        dense_scores(row_ids, row_values, weights, bias.size, bias, changes)
        light = min(importance[i], np.float32(1.0))
        step = (squares[i], cost * importance[i], smallest * light, np.float32(1.0) / light, squared_hinge)
        if dual_steps(changes, row_of(targets, i), row_of(alpha, i), going, largest, work, *step):
            add_to_rows(row_ids, row_values, changes, weights, bias)


@njit(cache=True, nogil=True)
def squared_lengths(x):
    """Return |x|^2 of each instance, float32, including the constant feature."""
    squares = np.ones(x.indptr.size - 1, dtype=np.float32)
    for i in range(squares.size):
        for value in unchecked_view(x.data, x.indptr[i], x.indptr[i + 1]):
            squares[i] = fma(value, value, squares[i])
    return squares


@njit(cache=True, nogil=True)
def some_columns(siblings, columns, size):
    """Return copies of some siblings in the first columns of arrays with ``size`` columns, padded with zeros.

    Parameters
    ----------
    siblings : Siblings
        All siblings.
    columns : int64
        Columns of the siblings to copy.
    size : int
        Number of columns of each new array.
    """
    targets, alpha, weights, bias, _, _ = siblings
    targets, alpha = columns_of(targets, columns, size), columns_of(alpha, columns, size)
    weights, bias = columns_of(weights, columns, size), columns_of(bias.reshape((1, -1)), columns, size)[0]
    return Siblings(targets, alpha, weights, bias, np.arange(size) < columns.size, np.empty(size, dtype=np.float32))


@njit(cache=True, nogil=True)
def columns_of(rows, columns, size):
    """Return a matrix of ``size`` columns: the given columns of ``rows``, and then columns of zeros.

    Parameters
    ----------
    rows : array (n, siblings)
        Matrix with a column for each sibling.
    columns, size
        As for `some_columns`.
    """
    result = np.zeros((rows.shape[0], size), dtype=rows.dtype)
    for i in range(rows.shape[0]):
        for c in range(columns.size):
            result[i, c] = rows[i, columns[c]]
    return result


@njit(cache=True, nogil=True)
def put_columns(some, columns, every):
    """Copy the weights and biases of some siblings to the siblings' columns in ``every``.

    Parameters
    ----------
    some : Siblings
        The siblings to copy. If ``some`` has all siblings, nothing is copied.
    columns : int64
        The column in ``every`` of each sibling in ``some``.
    every : Siblings
        All siblings, updated in place.
    """
    if some.bias.size < every.bias.size:
        for c in range(columns.size):
            every.bias[columns[c]] = some.bias[c]
        for i in range(some.weights.shape[0]):
            for c in range(columns.size):
                every.weights[i, columns[c]] = some.weights[i, c]


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def squared_hinge_step(margin, alpha, square, cost):
    """Return the optimal step of a dual variable alpha >= 0 for the squared hinge loss.

    Parameters
    ----------
    margin : float32
        Margin of the instance: w.x for a positive target, -w.x for a negative target.
    alpha : float32
        Dual variable of the instance.
    square : float32
        Squared length |x|^2 of the instance, including the constant feature.
    cost : float32
        C times the weight of the instance.
    """
    one = np.float32(1.0)
    ridge = np.float32(0.5) / cost
    slope = fma(ridge, alpha, margin - one)
    return max(-slope * (one / (square + ridge)), -alpha)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def newton_step(step, low, high, margin, alpha, square, cost):
    """Improve the step of a dual variable for the logistic loss by Newton's method or bisection.

    Parameters
    ----------
    step : float32
        The step to improve.
    low, high : float32
        Lower and upper bound of the optimal step.
    margin, alpha, square, cost : float32
        As for `squared_hinge_step`.

    Returns
    -------
    step : float32
        Newton's step if it is inside the new bracket, else the middle of the bracket.
    low, high : float32
        The new bracket: lower and upper bound of the optimal step.
    inside : bool
        Whether Newton's step is inside the new bracket.
    """
    one = np.float32(1.0)
    p = sigmoid(-fma(square, step, margin))
    excess = fma(-cost, p, alpha + step)
    low, high = (step, high) if excess < np.float32(0.0) else (low, step)
    newton = step - excess / fma(cost * square * p, one - p, one)
    inside = (low <= newton) & (newton <= high)
    return newton if inside else np.float32(0.5) * (low + high), low, high, inside


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def logistic_steps(scores, targets, alpha, square, cost, work):
    """Overwrite the score of each sibling with the step of its dual variable for the logistic loss, by Newton's method.

    The step s solves alpha + s = C sigmoid(-(m + s |x|^2)), with margin m and 0 <= alpha <= C. Newton's method starts
    from the largest step that cannot overshoot. The first step follows from the largest slope of the sigmoid, 1/4. A
    Newton step outside its bracket is replaced by a bisection. If the last iteration is a bisection, the result is the
    bracket end nearer to 0, so that the objective does not increase.

    Three iterations suffice, because the next pass corrects the remaining error. Each iteration has a separate loop
    over the siblings. While the division for one sibling is pending, the processor continues with other siblings. For
    the parameters see `dual_steps`.
    """
    n = scores.size
    first, steps = unchecked_view(work, 0, n), unchecked_view(work, n, 2 * n)
    lows, highs = unchecked_view(work, 2 * n, 3 * n), unchecked_view(work, 3 * n, 4 * n)
    largest = np.float32(1.0) / fma(np.float32(0.25), cost * square, np.float32(1.0))
    for c in range(n):
        scores[c] = scores[c] if targets[c] else -scores[c]  # from here on, ``scores`` contains margins
        first[c] = fma(cost, sigmoid(-scores[c]), -alpha[c]) * largest
    for c in range(n):
        low, high = -alpha[c], cost - alpha[c]
        steps[c], lows[c], highs[c], _ = newton_step(first[c], low, high, scores[c], alpha[c], square, cost)
    for c in range(n):
        steps[c], lows[c], highs[c], _ = newton_step(steps[c], lows[c], highs[c], scores[c], alpha[c], square, cost)
    for c in range(n):
        step, low, high, inside = newton_step(steps[c], lows[c], highs[c], scores[c], alpha[c], square, cost)
        safe = low if first[c] > np.float32(0.0) else high
        scores[c] = step if inside else safe


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def take_step(step, c, scores, targets, alpha, going, largest, smallest, inverse):
    """Add ``step`` to the dual variable of sibling ``c``, unless the step is small or the sibling has stopped.

    The function replaces the score of the sibling by the factor f in the change f x of the sibling's weights. See
    `dual_steps` for the other arguments.
    """
    size = abs(step)
    step = step if going[c] & (size > smallest) else np.float32(0.0)
    largest[c] = max(largest[c], size * inverse)
    alpha[c] += step
    scores[c] = step if targets[c] else -step


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def dual_steps(scores, targets, alpha, going, largest, work, square, cost, smallest, inverse, squared_hinge):
    """Update the dual variables of one instance for all siblings that have not stopped.

    The called functions are inlined, so that the compiler can vectorise the loops over siblings by 16. Without
    inlining, a logistic step takes ten times as long.

    Parameters
    ----------
    scores : float32 (siblings,)
        Linear score w.x of the instance for each sibling. On return, each score is replaced by the factor f in the
        change f x of the sibling's weights.
    targets : uint8 (siblings,)
        Target z_t of the instance for each sibling.
    alpha : float32 (siblings,)
        The instance's dual variable for each sibling, updated in place.
    going : bool (siblings,)
        Whether the training of each sibling continues.
    largest : float32 (siblings,)
        Largest absolute step so far times ``inverse``, skipped steps included, updated in place.
    work : float32 (4 * siblings,)
        Scratch memory.
    square : float32
        Squared length |x|^2 of the instance, including the constant feature.
    cost : float32
        C times the weight of the instance.
    smallest : float32
        Steps of at most this size are skipped.
    inverse : float32
        1 divided by the instance's weight if the weight is below 1, else 1.
    squared_hinge : bool
        True for the squared hinge loss, False for the logistic loss.

    Returns
    -------
    bool
        Whether the weights of any sibling change.
    """
    siblings = (scores, targets, alpha, going, largest, smallest, inverse)
    if squared_hinge:
        for c in range(scores.size):
            margin = scores[c] if targets[c] else -scores[c]
            take_step(squared_hinge_step(margin, alpha[c], square, cost), c, *siblings)
    else:
        logistic_steps(scores, targets, alpha, square, cost, work)
        for c in range(scores.size):
            take_step(scores[c], c, *siblings)
    changes = False
    for c in range(scores.size):
        changes |= scores[c] != np.float32(0.0)
    return changes


@njit(cache=True, nogil=True, error_model="numpy")
def logistic_derivatives(scores, targets):
    """Overwrite the scores of an instance with derivatives of the logistic loss.

    Parameters
    ----------
    scores : float32 (siblings,)
        Linear score of each sibling, replaced by the derivative.
    targets : uint8 (siblings,)
        Target z_t of each sibling.
    """
    for c in range(scores.size):
        sign = np.float32(-1.0) if targets[c] else np.float32(1.0)
        scores[c] = sign * sigmoid(sign * scores[c])
