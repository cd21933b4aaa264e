"""Train the classifiers of some siblings by two-phase SGD, AdaGrad or dual coordinate descent.

Kernels.

Each solver is a type, so that numba compiles `solve` only for the solver in use. The classifiers of
siblings are independent, but learn from the same instances in the same order. For each non-zero, a
solver therefore reads and writes the contiguous weights of all siblings. The number of siblings is
padded to 4, to 8 or to a multiple of 16 (`xmlc.kernels.sibling_rows`).

Each instance has the constant feature 0 with value 1. The weight of the constant feature is the
classifier's bias.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of, row_of_csr, unchecked_view
from xmlc.kernels.counter_random import shuffle, stream_key
from xmlc.kernels.float32 import fma, sigmoid
from xmlc.kernels.sibling_rows import adagrad_to_rows, add_to_rows, dense_scores, padded_size

# a step is skipped, to save time, if its ratio to the tolerance is below 0.01
SMALL_CHANGE = np.float32(0.01)


class Sgd(NamedTuple):
    """Select two-phase stochastic gradient descent with L2 regularisation (plt2016, Appendix B).

    Attributes
    ----------
    step : float
        Initial step size. The size of a node's step t (from 0) is ``step / (1 + lam * step * t)``.
        The authors' Java program counts steps from t = 1. To imitate the authors' program, set the
        initial step size to ``step / (1 + lam
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
        The step size of a weight is ``step / sqrt(eps + the sum of the weight's squared derivatives
        so far)``.
    eps : float
        The constant in the formula of the step size, see ``step``.
    epochs : int
        Number of passes over the instances.
    """

    step: float
    eps: float
    epochs: int


class DualDescent(NamedTuple):
    """Select dual coordinate descent with L2 regularisation, see `dual_descent`.

    Attributes
    ----------
    C : float
        Weight of the loss, relative to half the squared length of a node's weight vector.
    tol : float
        The training of a node stops when no dual variable moves by more than ``tol * C`` in a pass.
        For an instance with a weight below 1, the limit ``tol * C`` is multiplied by the weight.
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


Solver = Sgd | AdaGrad | DualDescent


@njit
def sgd(solver, x, importance, targets, weights, n_siblings, block):
    """Train the node classifiers of some siblings by two-phase SGD with lazy scaling (plt2016,
    Appendix B).

    Until the last pass ends, ``weights`` holds the scaled weights Pi_t * w_t. The size of step t
    (from 0) is gamma_t = gamma / (1 + lam * gamma * t). All siblings share t and Pi, because all
    siblings learn from the same instances. For an instance of weight v, the step is multiplied by
    v, and t increases by v.

    For each non-zero and each sibling, the kernel moves 16 bytes: two reads and one write of the
    weight, and one read of the instance. For the parameters see `solve`.
    """
    gamma, lam, epochs = solver
    padded = targets.shape[1]
    zeros = np.zeros(padded, dtype=np.float32)
    steps = np.empty(padded, dtype=np.float32)
    scale = 1.0
    t = 0.0
    for _ in range(epochs):
        for i in range(targets.shape[0]):
            ids, values = row_of_csr(x, i)
            dense_scores(ids, values, weights, padded, zeros, steps)
            gamma_t = gamma / (1.0 + lam * gamma * t)
            weight = np.float64(importance[i])
            inverse = np.float32(1.0 / scale)
            step = np.float32(scale * gamma_t * weight)
            for c in range(padded):
                steps[c] = step * (np.float32(targets[i, c]) - sigmoid(steps[c] * inverse))
            add_to_rows(ids, values, steps, weights)
            scale *= 1.0 + lam * gamma_t * weight
            t += weight
    weights *= np.float32(1.0 / scale)


@njit
def adagrad(solver, x, importance, targets, weights, n_siblings, block):
    """Train the node classifiers of some siblings by AdaGrad (Duchi, Hazan and Singer, JMLR 2011).

    A step changes a weight by gamma * g / sqrt(eps + sum of the weight's squared derivatives so
    far, g included). Here g is the derivative of the logistic loss with respect to the weight. The
    weights are not regularised. For an instance of weight v, the step and the squared derivative
    are multiplied by v. The code therefore multiplies both g and gamma by the square root of the
    instance weight v.

    For the parameters see `solve`. A row of ``weights`` contains the weights of the padded
    siblings, and then each weight's sum of squared derivatives. A weight and its sum of squared
    derivatives are in the same or adjacent cache lines. For each non-zero and each sibling, the
    kernel moves 24 bytes. These are two reads and one write of the weight, a read and a write of
    the sum, and a read of the instance.
    """
    padded = targets.shape[1]
    zeros = np.zeros(padded, dtype=np.float32)
    scores = np.empty(padded, dtype=np.float32)
    rate = np.float32(solver.step)
    eps = np.float32(solver.eps)
    for _ in range(solver.epochs):
        for i in range(targets.shape[0]):
            ids, values = row_of_csr(x, i)
            dense_scores(ids, values, weights, 2 * padded, zeros, scores)
            logistic_derivatives(scores, row_of(targets, i))
            root = np.sqrt(importance[i])
            for c in range(padded):
                scores[c] *= root
            adagrad_to_rows(ids, values, scores, rate * root, eps, weights, 2 * padded)


@njit
def dual_descent(solver, x, importance, targets, weights, n_siblings, block):
    """Train the node classifiers of some siblings by dual coordinate descent.

    The weights w of each child, including the bias of a constant feature 1, minimise

        1/2 |w|^2 + C sum_i v_i loss(side_i w.x_i)

    Here v_i is the weight of instance i, and side_i is 1 for a positive target and -1 for a
    negative target. The loss of a margin m is max(0, 1 - m)^2 (squared hinge) or log(1 + exp(-m))
    (logistic). The solver works on the dual problem, with one variable alpha_i for each instance,
    and maintains w = sum_i alpha_i side_i x_i. The method is from two papers (Hsieh et al., "A dual
    coordinate descent method for large-scale linear SVM", ICML 2008; Yu, Huang and Lin, "Dual
    coordinate descent methods for logistic regression and maximum entropy models", Machine Learning
    2011).

    Each pass visits the instances in a new random order. The training of a sibling stops after a
    pass in which no dual variable moves by more than its limit. The limit of alpha_i is ``tol *
    C``, multiplied by the instance weight v_i if v_i is below 1. When the siblings still in
    training fit into three quarters of the registers, the kernel copies their state and continues
    without the stopped siblings.

    In a pass, the kernel moves 12 bytes per non-zero and sibling. The dual variables take 4 bytes
    per instance and sibling. For the parameters see `solve`.
    """
    key = stream_key(solver.key, block)
    cost = np.float32(solver.C)
    enough = np.float32(solver.tol) * cost
    one = np.float32(1.0)
    squares = squared_lengths(x)
    order = np.arange(squares.size)
    alpha = np.zeros(targets.shape, dtype=np.float32)
    every = weights.reshape((-1, targets.shape[1]))
    own = every  # the weights of the siblings in training
    columns = np.arange(n_siblings)  # the columns of these siblings in ``every``
    going = np.arange(targets.shape[1]) < n_siblings
    for epoch in range(solver.max_epochs):
        shuffle(order, stream_key(key, epoch))
        rows = own.reshape(own.size)
        zeros = np.zeros(going.size, dtype=np.float32)
        scores = np.empty(going.size, dtype=np.float32)
        work = np.empty(4 * going.size, dtype=np.float32)
        largest = np.zeros(going.size, dtype=np.float32)
        for i in order:
            ids, values = row_of_csr(x, i)
            dense_scores(ids, values, rows, scores.size, zeros, scores)
            light = min(importance[i], one)
            step = (
                squares[i],
                cost * importance[i],
                SMALL_CHANGE * enough * light,
                one / light,
                solver.squared_hinge,
            )
            if dual_steps(
                scores, row_of(targets, i), row_of(alpha, i), going, largest, work, *step
            ):
                add_to_rows(ids, values, scores, rows)
        n_going = np.int64(0)
        for c in range(going.size):
            going[c] &= largest[c] > enough
            n_going += going[c]
        size = padded_size(n_going)
        if n_going == 0:
            break
        if 4 * size <= 3 * going.size:
            put_columns(own, columns, every)
            left = np.flatnonzero(going)
            columns = columns[left]
            own = some_columns(own, left, size)
            alpha = some_columns(alpha, left, size)
            targets = some_columns(targets, left, size)
            going = np.arange(size) < left.size
    put_columns(own, columns, every)


SOLVERS: dict[Any, Any] = {Sgd: sgd, AdaGrad: adagrad, DualDescent: dual_descent}


def solve(
    solver: Any, x: Any, importance: Any, targets: Any, weights: Any, n_siblings: int, block: int
) -> None:
    """Train the classifiers of some siblings.

    The type of the solver selects the kernel from `SOLVERS`, in Python and in compiled code.

    Parameters
    ----------
    solver : Sgd, AdaGrad or DualDescent
        The solver and its settings.
    x : KernelCSR
        The instances that reach the parent node, in the order of a pass, with renumbered features.
        Each instance begins with the constant feature 0.
    importance : float32 (instances,)
        Positive weight of each instance's loss.
    targets : uint8 (instances, padded)
        Target z_t of each instance and sibling. The padded number of siblings, ``padded``, is the
        result of `padded_size`. The targets of padding columns are 0.
    weights : float32 (features * numbers_per_weight * padded,)
        The array is zero on entry. On return, the row of each feature begins with the siblings'
        weights. See `numbers_per_weight`.
    n_siblings : int
        Number of siblings without padding.
    block : int
        Index of the block that contains the siblings.
    """
    SOLVERS[type(solver)](solver, x, importance, targets, weights, n_siblings, block)


@overload(solve)
def _choose_solver(solver, x, importance, targets, weights, n_siblings, block):
    return SOLVERS[solver.instance_class].py_func


def numbers_per_weight(solver: Solver) -> int:
    """Return how many float32 numbers a solver stores per weight.

    AdaGrad also stores a sum of squares per weight.
    """
    if isinstance(solver, AdaGrad):
        return 2
    return 1


@njit
def squared_lengths(x):
    """Return |x|^2 of each instance, float32, including the constant feature."""
    squares = np.zeros(x.indptr.size - 1, dtype=np.float32)
    for i in range(squares.size):
        for value in unchecked_view(x.data, x.indptr[i], x.indptr[i + 1]):
            squares[i] = fma(value, value, squares[i])
    return squares


@njit
def some_columns(table, columns, size):
    """Return a matrix of ``size`` columns: the given columns of ``table``, and then columns of
    zeros.
    """
    result = np.zeros((table.shape[0], size), dtype=table.dtype)
    for i in range(table.shape[0]):
        for c in range(columns.size):
            result[i, c] = table[i, columns[c]]
    return result


@njit
def put_columns(own, columns, every):
    """Write column c of ``own`` to column ``columns[c]`` of ``every``."""
    for i in range(every.shape[0]):
        for c in range(columns.size):
            every[i, columns[c]] = own[i, c]


@njit(error_model="numpy", forceinline=True)
def dual_steps(
    scores, targets, alpha, going, largest, work, square, cost, smallest, inverse, squared_hinge
):
    """Update the dual variables of one instance for all siblings that have not stopped.

    The squared hinge loss has a closed form of the optimal step of a dual variable alpha >= 0. For
    the logistic loss, the step s solves alpha + s = C sigmoid(-(m + s |x|^2)), with margin m and 0
    <= alpha <= C. Newton's method starts from the largest step that cannot overshoot. The first
    step follows from the largest slope of the sigmoid, 1/4. A Newton step outside its bracket is
    replaced by a bisection. If the last iteration is a bisection, the result is the bracket end
    nearer to 0, so that the objective does not increase. Three iterations suffice, because the next
    pass corrects the remaining error.

    Each loop over the siblings contains one division per sibling and no call, so that the compiler
    vectorises it by 16.

    Parameters
    ----------
    scores : float32 (siblings,)
        Linear score w.x of the instance for each sibling. On return, each score is replaced by the
        factor f in the change f x of the sibling's weights.
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
    n = scores.size
    zero = np.float32(0.0)
    half = np.float32(0.5)
    one = np.float32(1.0)
    first = unchecked_view(work, 0, n)
    steps = unchecked_view(work, n, 2 * n)
    lows = unchecked_view(work, 2 * n, 3 * n)
    highs = unchecked_view(work, 3 * n, 4 * n)
    for c in range(n):
        score = scores[c]
        scores[c] = score if targets[c] else -score  # from here on, ``scores`` contains margins
    if squared_hinge:
        ridge = half / cost
        inverse_curvature = one / (square + ridge)
        for c in range(n):
            slope = fma(ridge, alpha[c], scores[c] - one)
            steps[c] = max(-slope * inverse_curvature, -alpha[c])
    else:
        longest = one / fma(np.float32(0.25), cost * square, one)
        for c in range(n):
            first[c] = fma(cost, sigmoid(-scores[c]), -alpha[c]) * longest
            steps[c] = first[c]
            lows[c] = -alpha[c]
            highs[c] = cost - alpha[c]
        for iteration in range(3):
            last = iteration == 2
            for c in range(n):
                step = steps[c]
                low = lows[c]
                high = highs[c]
                p = sigmoid(-fma(square, step, scores[c]))
                excess = fma(-cost, p, alpha[c] + step)
                if excess < zero:
                    low = step
                else:
                    high = step
                newton = step - excess / fma(cost * square * p, one - p, one)
                inside = (low <= newton) & (newton <= high)
                nearer = low if first[c] > zero else high
                other = nearer if last else half * (low + high)
                steps[c] = newton if inside else other
                lows[c] = low
                highs[c] = high
    changes = False
    for c in range(n):
        step = steps[c]
        size = abs(step)
        if not (going[c] & (size > smallest)):
            step = zero
        largest[c] = max(largest[c], size * inverse)
        alpha[c] += step
        scores[c] = step if targets[c] else -step
        changes |= step != zero
    return changes


@njit(error_model="numpy")
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
