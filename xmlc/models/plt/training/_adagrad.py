"""AdaGrad for the children of one tree node: kernel (oplt2021, Section 6: learning rate 1, eps 0.01)."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed, row_of
from xmlc.kernels.sibling_rows import adagrad_to_rows, dense_scores
from xmlc.models.plt.training._steps import adagrad_steps
from xmlc.runtime.kernel_cache import njit


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
