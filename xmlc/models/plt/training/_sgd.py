"""Two-phase stochastic gradient descent for the children of one tree node: kernels (plt2016, Appendix B)."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.sibling_rows import add_to_rows, dense_scores
from xmlc.runtime.kernel_cache import njit


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
