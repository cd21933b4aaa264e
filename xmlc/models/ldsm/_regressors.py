"""Training of the regressors of one node (ldsm2020, Algorithms 2 and 3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of, row_of_csr, unchecked_view, unowned
from xmlc.kernels.counter_random import random_below, random_unit
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.sums import dot, in_turn
from xmlc.models.ldsm._node import gather_labels, gather_scaled, gather_standardised
from xmlc.models.ldsm._pairs import SLOT, adaptive_step, no_step, plain_step

# start of the sums of squared gradients, so that none is zero
SMALLEST_SQUARE = np.float32(1e-30)


class TreeSettings(NamedTuple):
    """Hyperparameters of a tree, which stops growing with at least ``max_nodes`` nodes."""

    arity: int
    max_nodes: int
    epochs: int
    learning_rate: float
    lambda_1: float
    lambda_2: float
    adaptive: bool
    random_ties: bool
    uniform_start: bool
    prune: bool
    shuffled: bool


@njit(error_model="numpy")
def train_regressors(x, y, node, settings, key, work):
    """Train a node's M regressors on one instance after the other, in ``epochs`` passes (Algorithm
    2).

    For each instance, the kernel first chooses the best directions. Then each regressor takes one
    step of logistic regression, towards 1 if its direction was chosen and towards 0 if not. Its
    margin after the step, clamped to 0 .. 1, is the probability of the direction.

    ``node``, uint32 (n,), has its instances in the order of training, and ``key``, uint64, its
    random stream.

    Returns
    -------
    features : uint32 (p,), weights : float32 (p, M), biases : float32 (1, M)
        The regressors, for features with a weight other than 0.
    objectives : float64 (1, epochs)
    """
    work = unowned(work)
    arity = settings.arity
    n_labels = gather_labels(y, node, work)
    p = gather_scaled(x, node, work) if settings.adaptive else gather_standardised(x, node, work)
    rows = KernelCSR(work.starts, work.ids, work.values)
    n_pairs = (arity + 1) // 2
    slots = work.slots[: n_pairs * p * SLOT].reshape(n_pairs, p * SLOT)
    largest = 1.0 / work.features.size if settings.uniform_start else 0.0
    start_slots(slots.reshape(n_pairs, p, SLOT), arity, largest, ~key)
    sums = np.zeros((n_pairs, n_labels, 2), dtype=np.float32)
    totals = np.zeros(arity, dtype=np.float64)
    costs = np.empty(1 << arity, dtype=np.float64)
    estimates = np.empty(2 * n_pairs, dtype=np.float32)
    objectives = np.empty((1, settings.epochs), dtype=np.float64)
    lengths = np.empty(node.size, dtype=np.float32)
    zero = np.float32(0)
    one = np.float32(1)
    rate = np.float32(settings.learning_rate)
    norm = 0.0
    n_seen = 0
    step = 0
    for i in range(node.size):
        values = row_of_csr(rows, i)[1]
        lengths[i] = dot(values, values)
    for epoch in range(settings.epochs):
        for i in range(node.size):
            labels = unchecked_view(work.label_ids, work.label_starts[i], work.label_starts[i + 1])
            ids, values = row_of_csr(rows, i)
            n_seen += labels.size
            step += 1
            # with scores first, the processor overlaps both computations
            for pair in range(n_pairs):
                scores = no_step(ids, values, row_of(slots, pair), zero, zero, zero)
                estimates[2 * pair] = sigmoid(scores[0])
                estimates[2 * pair + 1] = sigmoid(scores[1])
            if arity == 2:
                chosen = best_of_two(labels, sums, totals, n_seen, settings, key, step)
            else:
                direction_costs(labels, sums, totals, n_seen, settings, costs)
                chosen = best_directions(costs, settings.random_ties, key, step)
            if settings.adaptive:
                norm += lengths[i]
                rate = np.float32(settings.learning_rate * np.sqrt(step / norm))
            for pair in range(n_pairs):
                first = estimates[2 * pair] - np.float32((chosen >> 2 * pair) & 1)
                second = estimates[2 * pair + 1] - np.float32((chosen >> (2 * pair + 1)) & 1)
                if settings.adaptive:
                    margins = adaptive_step(ids, values, row_of(slots, pair), first, second, rate)
                else:
                    margins = plain_step(ids, values, row_of(slots, pair), first, second, rate)
                first = min(max(margins[0], zero), one)
                second = min(max(margins[1], zero), one)
                for label in labels:
                    sums[pair, label, 0] += first
                    sums[pair, label, 1] += second
                totals[2 * pair] += np.float64(first) * labels.size
                if 2 * pair + 1 < arity:
                    totals[2 * pair + 1] += np.float64(second) * labels.size
        objectives[0, epoch] = objective(sums, totals, max(1, n_seen), settings)
    features, weights, biases = sparse_regressors(slots.reshape(n_pairs, p, SLOT), settings, work)
    return features, weights, biases, objectives


@njit
def start_slots(slots, arity, largest, key):
    """Draw the regressors' weights uniformly from -largest .. largest, and start the sums of
    squared gradients.

    ``slots``, float32 (pairs, p, 4), is described at `SLOT`. If M = ``arity`` is odd, the unused
    last regressor has weights 0.
    """
    slots[:] = SMALLEST_SQUARE
    for j in range(2 * slots.shape[0]):
        for k in range(slots.shape[1]):
            weight = largest * (2.0 * random_unit(key, j * slots.shape[1] + k) - 1.0)
            slots[j // 2, k, j % 2] = weight if j < arity else 0.0


@njit
def sparse_regressors(slots, settings, work):
    """Return the features, weights and biases of a node for unscaled features.

    They follow from w (x - mean) / scale = (w / scale) x - w mean / scale.
    """
    arity = settings.arity
    p = slots.shape[1] - 1
    smallest = np.float32(1.0 / work.features.size if settings.prune else 0.0)
    features = np.empty(p, dtype=np.uint32)
    weights = np.empty((p, arity), dtype=np.float32)
    biases = np.empty((1, arity), dtype=np.float32)
    n_kept = 0
    for j in range(arity):
        biases[0, j] = slots[j // 2, p, j % 2]
    for k in range(p):
        kept = False
        for j in range(arity):
            weight = slots[j // 2, k, j % 2] / work.scales[k]
            if abs(weight) < smallest:
                weight = np.float32(0)
            weights[n_kept, j] = weight
            biases[0, j] -= weight * work.means[k]
            kept |= weight != 0
        features[n_kept] = work.features[k]
        n_kept += kept
    return features[:n_kept].copy(), weights[:n_kept].copy(), biases


# The next kernels choose the directions of one instance (ldsm2020, Section 2 and Algorithm 3).
#
# C is the number of labels seen so far at a node (an instance seen twice counts twice), S_j the sum
# of the clamped predictions h_j over them, and S_j^i its part from label i, which was seen l_i
# times. In the paper's terms, P_j = S_j / C, pi_i = l_i / C and P_j^i = S_j^i / l_i, so the numbers
# l_i cancel out in the objective (equation 1):
#
#     C J = sum_(j<l) |S_j - S_l|
#           - lambda_1 sum_(j<l) sum_i |S_j^i - S_l^i|
#           + lambda_2 |sum_j S_j - C|.
#
# An instance with L labels that is sent in the directions b (b_j = 1 for each chosen j) adds L b_j
# to S_j, and b_j to S_j^i for each of its labels i. Terms of C J without b do not matter for the
# choice.


@njit
def integrity_gains(labels, sums, j, other):
    """Return sum_i |D_i + 1| - |D_i| and sum_i |D_i - 1| - |D_i|, with D_i = S_j^i - S_other^i.

    Each difference is exact to a few units in the last place of D_i, unlike the difference of two
    sums, whose rounding errors grow with the number of instances seen.
    """
    one = np.float32(1)
    up = np.float32(0)
    down = np.float32(0)
    for label in labels:
        difference = sums[j >> 1, label, j & 1] - sums[other >> 1, label, other & 1]
        size = abs(difference)
        up += abs(difference + one) - size
        down += abs(difference - one) - size
    return np.float64(up), np.float64(down)


@njit
def direction_costs(labels, sums, totals, n_seen, settings, costs):
    """Evaluate C J, up to a common constant, for each of the 2**M - 1 sets of directions.

    The terms of a pair (j, l) have only three values: for sets with only j, with only l, and for
    all others. Computed once for all sets, they take M (M - 1) (L + 2**(M - 1)) steps instead of
    2**M M (M - 1) L.

    Parameters
    ----------
    labels : uint32 (L,)
    sums : float32 (pairs, n_labels, 2)
        S_j^i of each label i and direction j, with two directions adjacent.
    totals : float64 (M,)
        S_j.
    n_seen : float
        C, including the L labels of the instance.
    costs : float64 (2**M,)
        Entry s receives the cost of the directions whose bits are set in s. The empty set, entry 0,
        is no valid choice.
    """
    arity = totals.size
    n_labels = labels.size
    penalty = -n_seen
    for j in range(arity):
        penalty += totals[j]
    for s in range(costs.size):
        n_set = 0
        for j in range(arity):
            n_set += (s >> j) & 1
        costs[s] = settings.lambda_2 * abs(penalty + n_labels * n_set)
    for j in range(arity):
        for other in range(j + 1, arity):
            gap = totals[j] - totals[other]
            up, down = integrity_gains(labels, sums, j, other)
            only_first = abs(gap + n_labels) - settings.lambda_1 * up
            only_second = abs(gap - n_labels) - settings.lambda_1 * down
            for s in range(costs.size):
                difference = ((s >> j) & 1) - ((s >> other) & 1)
                costs[s] += (
                    abs(gap) if difference == 0 else (only_first if difference > 0 else only_second)
                )


@njit
def best_directions(costs, random_ties, key, counter):
    """Return the set of directions s > 0 with the smallest cost (Algorithm 3).

    Ties go to the smallest s or, with ``random_ties``, to a random one, but the set of all
    directions wins only if no other set is as good.
    """
    best = 1
    n_ties = 1
    for s in range(2, costs.size):
        if costs[s] < costs[best]:
            best = s
            n_ties = 1
        elif costs[s] == costs[best] and s < costs.size - 1:
            n_ties += 1
    skip = random_below(key, counter, n_ties) if random_ties and n_ties > 1 else 0
    for s in range(best, costs.size):
        if costs[s] == costs[best]:
            if skip == 0:
                return s
            skip -= 1
    return best


@njit
def best_of_two(labels, sums, totals, n_seen, settings, key, counter):
    """Return, for M = 2, exactly the result of `direction_costs` and `best_directions`.

    Without array and loop, it saves a third of the training time if instances have as many labels
    as features. Only equal costs have a branch, because one on the smallest cost would often be
    mispredicted.
    """
    n = labels.size
    gap = totals[0] - totals[1]
    up, down = integrity_gains(labels, sums, 0, 1)
    penalty = totals[0] - n_seen + totals[1]
    alone = settings.lambda_2 * abs(penalty + n)
    first = alone + (abs(gap + n) - settings.lambda_1 * up)
    second = alone + (abs(gap - n) - settings.lambda_1 * down)
    both = settings.lambda_2 * abs(penalty + 2 * n) + abs(gap)
    if settings.random_ties and first == second and not both < first:
        return 1 + np.int64(random_below(key, counter, 2))
    single = 1 + np.int64(second < first)
    return 3 if both < min(first, second) else single


@njit
def objective(sums, totals, n_seen, settings):
    """Return the objective J of a node (ldsm2020, equation (1))."""
    arity = totals.size
    balance = 0.0
    integrity = 0.0
    for j in range(arity):
        for other in range(j + 1, arity):
            balance += abs(totals[j] - totals[other])
            for i in range(sums.shape[1]):
                integrity += np.float64(
                    abs(sums[j >> 1, i, j & 1] - sums[other >> 1, i, other & 1])
                )
    return (
        balance - settings.lambda_1 * integrity + settings.lambda_2 * abs(in_turn(totals) - n_seen)
    ) / n_seen
