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

from xmlc.kernels.arrays import borrowed, row_of
from xmlc.kernels.counter_random import shuffle, stream_key
from xmlc.kernels.float32 import fma
from xmlc.kernels.sibling_rows import add_to_rows, dense_scores, padded_size
from xmlc.models.plt.training._steps import dual_steps
from xmlc.runtime.kernel_cache import njit

SMALL_CHANGE = np.float32(0.01)  # of the tolerance: a smaller change is not worth touching the weights


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


@njit(cache=True, nogil=True)
def train_children_dual(ends, ids, values, targets, weights, bias, n_real, squared_hinge, cost, tolerance, passes, key):
    """Train the node classifiers of some siblings by dual coordinate descent.

    Siblings see the same instances in the same order, drawn anew for each pass, so that a non-zero touches one run of
    their weights; each is a problem of its own, which nothing of its siblings changes. One stops when no alpha moved
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
