"""Solve logistic regressions with NumPy, one label at a time.

Terms are added in the same order as in the kernels.
"""

import numpy as np

from xmlc.kernels.elementwise import exp
from xmlc.kernels.float64 import log, log1p

TOLERANCE = 1e-20


def solve_naively(Z, y, v, held_out, y_held_out, v_held_out, width, variances, grid):
    """Return the weights, the constant, the loss on held-out rows for each C, and the largest
    relative decrement.

    Z and held_out are dense. y and y_held_out are bool. v and v_held_out are the weights of
    instances.
    """
    d = Z.shape[1]
    used = np.arange(d) < width
    w = np.zeros(d)
    b = log(int(y.sum()) / int((~y).sum()))
    z = np.full(len(Z), b)
    square = 0.0
    losses = []
    largest = 0.0
    loss, r, c, slope, total = losses_at(z, y, v)
    for C in grid:
        f = 0.5 * square + C * loss
        for _ in range(100):
            means = sums_of(Z, c) / total
            g = np.where(used, -(w + C * (sums_of(Z, r) - means * slope)), 0.0)
            inverse = np.where(used, 1.0 / (1.0 + C * total * variances), 0.0)
            bound = in_order(g * g) + C * slope * slope / total
            decrement = bound / f
            if bound <= TOLERANCE * f:
                break
            step, moves, gain, found = conjugate_gradients(Z, C, c, means, g, inverse, f)
            shift = -slope / total
            decrement = gain + C * slope * slope / total
            solved = found and decrement <= TOLERANCE * f
            length = 1.0
            while True:
                at = z + length * (moves + shift)
                loss, r, c, next_slope, next_total = losses_at(at, y, v)
                moved = w + length * step
                square = in_order(moved * moved)
                reached = 0.5 * square + C * loss
                if decrement <= 1e-11 * f or reached <= f - 1e-4 * length * decrement:
                    break
                length *= 0.5
            b += length * in_order(np.append(shift, -means * step))
            z = at
            w = moved
            decrement = decrement / f
            f = reached
            slope = next_slope
            total = next_total
            if solved:
                break
        largest = max(largest, decrement)
        losses.append(loss_of(held_out, y_held_out, v_held_out, w, b))
    return w.tolist(), b, losses, largest


def conjugate_gradients(Z, C, c, means, g, inverse, f):
    """Return the step, its effect on the scores, its gain, and whether the residual is as small as
    required.
    """
    step = np.zeros_like(g)
    moves = np.zeros(len(Z))
    gain = 0.0
    r = g
    p = inverse * g
    remaining = in_order(r * p)
    target = max(min(0.01, remaining / f) * remaining, 0.01 * TOLERANCE * f)
    for _ in range(2000):
        if remaining <= target:
            break
        products = np.array([row_product(row, p) for row in Z]) - in_order(means * p)
        bent = p + C * sums_of(Z, c * products)
        length = remaining / in_order(p * bent)
        step = step + length * p
        moves = moves + length * products
        r = r - length * bent
        gain += length * remaining
        left = in_order(r * r * inverse)
        p = inverse * r + left / remaining * p
        remaining = left
    return step, moves, gain, remaining <= target


def row_product(row, p):
    """Return the sum of two sums.

    One sum is over the non-zeros in even places, the other over the non-zeros in odd places.
    """
    terms = (row * p)[row != 0]
    return in_order(terms[::2]) + in_order(terms[1::2])


def losses_at(z, y, v):
    """Return the loss, and its first and second derivatives with their sums."""
    margins = np.where(y, z, -z)
    e = exp(-abs(margins))
    share = 1.0 / (1.0 + e)
    wrong = np.where(margins >= 0, e * share, share)
    r = v * np.where(y, -wrong, wrong)
    c = v * (e * share * share)
    return in_order(losses_of(margins, v)), r, c, in_order(r), in_order(c)


def losses_of(margins, v):
    """Return the loss of each instance."""
    logarithms = np.array([log1p(e) for e in exp(-abs(margins))])
    return v * (logarithms - np.minimum(margins, 0.0))


def loss_of(Z, y, v, w, b):
    scores = np.array([in_order(np.append(b, row * w)) for row in Z])
    return in_order(losses_of(np.where(y, scores, -scores), v)) / in_order(v)


def sums_of(Z, multiples):
    """Return the sum of each column's products, added in the order of rows."""
    return np.cumsum(Z * multiples[:, None], axis=0)[-1]


def in_order(numbers):
    """Return the sum of numbers that are added in order."""
    return float(np.cumsum(np.append(0.0, numbers))[-1])
