"""Solve logistic regressions in plain Python, one label at a time.

Terms are added in the same order as in the kernels.
"""

import numpy as np

from xmlc.kernels.float64 import exp, log, log1p

TOLERANCE = 1e-20


def solve_naively(Z, y, v, held_out, y_held_out, v_held_out, width, variances, grid):
    """Return the weights, the constant, the loss on held-out rows for each C, and the largest
    relative decrement.

    Z and held_out are dense. y and y_held_out are bool. v and v_held_out are the weights of
    instances.
    """
    n, d = Z.shape
    w = [0.0] * d
    b = log(int(y.sum()) / (n - int(y.sum())))
    z = [b] * n
    square = 0.0
    losses = []
    largest = 0.0
    loss, r, c, slope, total = losses_at(z, y, v)
    for C in grid:
        f = 0.5 * square + C * loss
        for _ in range(100):
            g = sums_of(Z, r)
            means = [s / total for s in sums_of(Z, c)]
            g = [-(w[k] + C * (g[k] - means[k] * slope)) if k < width else 0.0 for k in range(d)]
            inverse = [
                1.0 / (1.0 + C * total * variances[k]) if k < width else 0.0 for k in range(d)
            ]
            bound = in_order(v * v for v in g) + C * slope * slope / total
            decrement = bound / f
            if bound <= TOLERANCE * f:
                break
            step, moves, gain, found = conjugate_gradients(Z, C, c, means, g, inverse, f)
            shift = -slope / total
            decrement = gain + C * slope * slope / total
            solved = found and decrement <= TOLERANCE * f
            length = 1.0
            while True:
                at = [z[i] + length * (moves[i] + shift) for i in range(n)]
                loss, r, c, next_slope, next_total = losses_at(at, y, v)
                moved = [w[k] + length * step[k] for k in range(d)]
                square = in_order(v * v for v in moved)
                reached = 0.5 * square + C * loss
                if decrement <= 1e-11 * f or reached <= f - 1e-4 * length * decrement:
                    break
                length *= 0.5
            turn = shift
            for k in range(d):
                turn -= means[k] * step[k]
            z = at
            w = moved
            b = b + length * turn
            decrement = decrement / f
            f = reached
            slope = next_slope
            total = next_total
            if solved:
                break
        largest = max(largest, decrement)
        losses.append(loss_of(held_out, y_held_out, v_held_out, w, b))
    return w, b, losses, largest


def conjugate_gradients(Z, C, c, means, g, inverse, f):
    """Return the step, its effect on the scores, its gain, and whether the residual is as small as
    required.
    """
    n, d = Z.shape
    step = [0.0] * d
    moves = [0.0] * n
    gain = 0.0
    r = list(g)
    p = [inverse[k] * g[k] for k in range(d)]
    remaining = in_order(r[k] * p[k] for k in range(d))
    target = max(min(0.01, remaining / f) * remaining, 0.01 * TOLERANCE * f)
    for _ in range(2000):
        if remaining <= target:
            break
        centre = in_order(means[k] * p[k] for k in range(d))
        products = [row_product(Z[i], p) - centre for i in range(n)]
        sums = sums_of(Z, [c[i] * products[i] for i in range(n)])
        bent = [p[k] + C * sums[k] for k in range(d)]
        length = remaining / in_order(p[k] * bent[k] for k in range(d))
        step = [step[k] + length * p[k] for k in range(d)]
        moves = [moves[i] + length * products[i] for i in range(n)]
        r = [r[k] - length * bent[k] for k in range(d)]
        gain += length * remaining
        left = in_order(r[k] * r[k] * inverse[k] for k in range(d))
        p = [inverse[k] * r[k] + left / remaining * p[k] for k in range(d)]
        remaining = left
    return step, moves, gain, remaining <= target


def row_product(row, p):
    """Return the sum of two sums.

    One sum is over the non-zeros in even places, the other over the non-zeros in odd places.
    """
    terms = [row[k] * p[k] for k in np.flatnonzero(row)]
    return in_order(terms[::2]) + in_order(terms[1::2])


def losses_at(z, y, v):
    loss = 0.0
    r = []
    c = []
    for score, positive, weight in zip(z, y, v, strict=True):
        margin = score if positive else -score
        e = exp(-abs(margin))
        wrong = e * (1.0 / (1.0 + e)) if margin >= 0 else 1.0 / (1.0 + e)
        loss += weight * (log1p(e) - min(margin, 0.0))
        r.append(weight * (-wrong if positive else wrong))
        share = 1.0 / (1.0 + e)
        c.append(weight * (e * share * share))
    return loss, r, c, in_order(r), in_order(c)


def loss_of(Z, y, v, w, b):
    total = 0.0
    for row, positive, weight in zip(Z, y, v, strict=True):
        score = b
        for k in np.flatnonzero(row):
            score += row[k] * w[k]
        margin = score if positive else -score
        total += weight * (log1p(exp(-abs(margin))) - min(margin, 0.0))
    return total / in_order(v)


def sums_of(Z, multiples):
    sums = [0.0] * Z.shape[1]
    for i, row in enumerate(Z):
        for k in np.flatnonzero(row):
            sums[k] += row[k] * multiples[i]
    return sums


def in_order(numbers):
    """Return the sum of numbers that are added in order.

    Python's `sum` may compensate for rounding.
    """
    total = 0.0
    for number in numbers:
        total += number
    return total
