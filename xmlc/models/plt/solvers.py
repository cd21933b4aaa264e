"""Two-phase SGD, AdaGrad and dual coordinate descent for the classifiers of some siblings. Kernels.

Siblings have independent classifiers, but learn from the same instances in the same order. So for
each non-zero, a solver reads and writes the contiguous weights of all siblings, whose number is
padded to 4, 8 or a multiple of 16 (`xmlc.kernels.sibling_rows`). Each instance has a constant
feature 0 of value 1, whose weight is the bias.
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

# steps below this share of the tolerance are skipped, to save time
SMALL_CHANGE = np.float32(0.01)


class Sgd(NamedTuple):
    """Settings of two-phase SGD with L2 regularisation (plt2016, Appendix B).

    Step t = 0, 1, ... of a node has the size ``step / (1 + lam * step * t)``. The authors' Java
    program counts from t = 1, which an initial step size of ``step / (1 + lam * step)`` imitates.
    """

    step: float
    lam: float
    epochs: int


class AdaGrad(NamedTuple):
    """Settings of AdaGrad without regularisation (oplt2021, Section 6), see `adagrad`."""

    step: float
    eps: float
    epochs: int


class DualDescent(NamedTuple):
    """Settings of dual coordinate descent with L2 regularisation, see `dual_descent`.

    A node's training stops after a pass in which no dual variable moves by more than ``tol * C``,
    times the instance's weight if that is below 1. The loss is the logistic loss unless
    ``squared_hinge`` is true, and ``key`` defines the random order of the instances.
    """

    C: float
    tol: float
    max_epochs: int
    squared_hinge: bool
    key: np.uint64


Solver = Sgd | AdaGrad | DualDescent


@njit
def sgd(solver, x, importance, targets, weights, n_siblings, block):
    """Train siblings by two-phase SGD with lazy scaling (plt2016, Appendix B), see `solve`.

    Until the last pass ends, ``weights`` has the scaled weights Pi_t * w_t. An instance of weight v
    multiplies its step, of the size gamma_t of `Sgd`, by v and advances t by v. All siblings share
    t and Pi, because they learn from the same instances. Each pair of non-zero and sibling moves 16
    bytes: two reads and a write of the weight, and a read of the instance.
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
    """Train siblings by AdaGrad (Duchi, Hazan and Singer, JMLR 2011), see `solve`.

    A weight moves by ``step`` * g / sqrt(eps + sum of its squared derivatives so far, g included),
    with the derivative g of the logistic loss. An instance of weight v multiplies both the move and
    the squared derivative by v, so the code multiplies g and ``step`` by the square root of v.

    A row of ``weights`` has the weights of the padded siblings and then their sums of squared
    derivatives, so that both are in the same or adjacent cache lines. Each pair of non-zero and
    sibling moves 24 bytes, 8 more than in `sgd` for a read and a write of the sum.
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
    """Train siblings by dual coordinate descent, see `solve`.

    The weights w of each child, including the bias, minimise

        1/2 |w|^2 + C sum_i v_i loss(side_i w.x_i)

    with the weight v_i of instance i, and side_i = 1 for a positive and -1 for a negative target.
    The loss of a margin m is max(0, 1 - m)^2 (squared hinge) or log(1 + exp(-m)) (logistic). The
    solver works on the dual problem, with one variable alpha_i for each instance, and maintains w =
    sum_i alpha_i side_i x_i. It follows Hsieh et al. ("A dual coordinate descent method for
    large-scale linear SVM", ICML 2008) and Yu, Huang and Lin ("Dual coordinate descent methods for
    logistic regression and maximum entropy models", Machine Learning 2011).

    Each pass visits the instances in a new random order, and moves 12 bytes per non-zero and
    sibling. A sibling stops as soon as all alpha_i move little in a pass (`DualDescent`). Once the
    others fit into three quarters of the registers, the kernel copies their state and continues
    without the stopped ones.
    """
    key = stream_key(solver.key, block)
    cost = np.float32(solver.C)
    enough = np.float32(solver.tol) * cost
    one = np.float32(1.0)
    squares = squared_lengths(x)
    order = np.arange(squares.size)
    alpha = np.zeros(targets.shape, dtype=np.float32)
    every = weights.reshape((-1, targets.shape[1]))
    own = every  # weights of the siblings in training
    columns = np.arange(n_siblings)  # their columns in ``every``
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
    """Train the classifiers of some siblings by the kernel in `SOLVERS` for the solver.

    The solver is selected by its type, so that numba compiles only the one in use.

    Parameters
    ----------
    solver : Sgd, AdaGrad or DualDescent
    x : KernelCSR
        The instances that reach the parent, in the order of a pass, from `gather_rows`.
    importance : float32 (instances,)
        Positive weight of each instance's loss.
    targets : uint8 (instances, padded)
        Targets z_t, 0 in the columns that pad to `padded_size`.
    weights : float32 (features * numbers_per_weight * padded,)
        Zero on entry. On return, the row of each feature begins with the siblings' weights.
    n_siblings : int
        Without padding.
    block : int
        Number of the siblings' block.
    """
    SOLVERS[type(solver)](solver, x, importance, targets, weights, n_siblings, block)


@overload(solve)
def _choose_solver(solver, x, importance, targets, weights, n_siblings, block):
    return SOLVERS[solver.instance_class].py_func


def numbers_per_weight(solver: Solver) -> int:
    """Return the float32 numbers that a solver stores per weight, with AdaGrad's sum of squares."""
    if isinstance(solver, AdaGrad):
        return 2
    return 1


@njit
def squared_lengths(x):
    """Return |x|^2 of each instance, float32, constant feature included."""
    squares = np.zeros(x.indptr.size - 1, dtype=np.float32)
    for i in range(squares.size):
        for value in unchecked_view(x.data, x.indptr[i], x.indptr[i + 1]):
            squares[i] = fma(value, value, squares[i])
    return squares


@njit
def some_columns(table, columns, size):
    """Return some columns of ``table``, padded with columns of zeros to ``size``."""
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

    For the squared hinge loss, the optimal step of a dual variable alpha >= 0 has a closed form.
    For the logistic loss, the step s solves alpha + s = C sigmoid(-(m + s |x|^2)), with margin m
    and 0 <= alpha <= C, by Newton's method. This starts from the largest step that cannot
    overshoot, which follows from the sigmoid's largest slope, 1/4, and bisects if a Newton step
    leaves its bracket. The last iteration takes the bracket end nearer to 0 instead, so that the
    objective does not increase. Three iterations suffice, because the next pass corrects the rest.

    Each loop over the siblings has one division per sibling and no call, so that the compiler
    vectorises it by 16.

    Parameters
    ----------
    scores : float32 (siblings,)
        Linear scores w.x, replaced by the factors f in the changes f x of the weights.
    targets : uint8 (siblings,)
    alpha : float32 (siblings,)
        The instance's dual variables, updated in place.
    going : bool (siblings,)
        Whether each sibling has not stopped.
    largest : float32 (siblings,)
        Largest absolute step so far times ``inverse``, skipped steps included, updated in place.
    work : float32 (4 * siblings,)
        Scratch memory.
    square : float32
        From `squared_lengths`.
    cost : float32
        C times the weight of the instance.
    smallest : float32
        Steps of at most this size are skipped.
    inverse : float32
        1 divided by the instance's weight if that is below 1, else 1.
    squared_hinge : bool

    Returns
    -------
    bool
        Whether any weight changes.
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
        scores[c] = score if targets[c] else -score  # ``scores`` are margins from here on
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
    """Overwrite linear scores with derivatives of the logistic loss."""
    for c in range(scores.size):
        sign = np.float32(-1.0) if targets[c] else np.float32(1.0)
        scores[c] = sign * sigmoid(sign * scores[c])
