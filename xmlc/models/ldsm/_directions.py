"""Choose the directions of one instance: kernels (ldsm2020, Section 2 and Algorithm 3).

With C labels seen so far at a node (an instance seen twice counts twice), S_j the sum of the clamped predictions h_j
over them, and S_j^i the part of label i, the paper's probabilities are P_j = S_j / C, pi_i = l_i / C and
P_j^i = S_j^i / l_i. The l_i then cancel out of its objective, equation (1):

    C J = sum_(j<l) |S_j - S_l|  -  lambda_1 sum_(j<l) sum_i |S_j^i - S_l^i|  +  lambda_2 |sum_j S_j - C|.

An instance with L labels that is sent in the directions b (a bit each) adds L b_j to S_j and b_j to S_j^i of its own
labels; all other terms stay as they are and do not change which directions are best.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.kernels.counter_random import random_below
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def integrity_gains(first, second):
    """Return sum_i |D_i + 1| - |D_i| and sum_i |D_i - 1| - |D_i| with D = first - second, both float32 (L,).

    Notes
    -----
    Differences are summed, not the sums' difference taken: each is exact to a few units of D's last place, while the
    sums grow with the number of instances seen. 8 bytes read per label, from the cache.
    """
    one, up, down = np.float32(1), np.float32(0), np.float32(0)
    for k in range(first.size):
        difference = first[k] - second[k]
        size = abs(difference)
        up += abs(difference + one) - size
        down += abs(difference - one) - size
    return np.float64(up), np.float64(down)


@njit(cache=True, nogil=True)
def direction_costs(own, n_labels, totals, n_seen, lambda_1, lambda_2, costs):
    """Evaluate C J, up to what all directions have in common, for each of the 2**M - 1 sets of directions.

    Parameters
    ----------
    own : float32 (M, at least L)
        S_j^i of the instance's labels.
    n_labels : int
        L.
    totals : float64 (M,)
        S_j.
    n_seen : float
        C, the instance's own L labels included.
    lambda_1, lambda_2 : float
        Weights of class integrity and of the multi-way penalty.
    costs : float64 (2**M,)
        Overwritten: place s is for the directions whose bits are set in s; place 0 means none and is no choice.

    Notes
    -----
    A pair of directions (j, l) is in one of three states: the same, j only, l only. Its terms are worked out once for
    each state, in one pass over the labels, and then added up for each s: M (M - 1) (L + 2**(M - 1)) steps, where
    working out J for each s would take 2**M M (M - 1) L.
    """
    arity = totals.size
    penalty = -n_seen
    for j in range(arity):
        penalty += totals[j]
    for s in range(costs.size):
        n_set = 0
        for j in range(arity):
            n_set += (s >> j) & 1
        costs[s] = lambda_2 * abs(penalty + n_labels * n_set)
    for j in range(arity):
        for other in range(j + 1, arity):
            gap = totals[j] - totals[other]
            first, second = j * own.shape[1], other * own.shape[1]
            up, down = integrity_gains(borrowed(own, first, first + n_labels), borrowed(own, second, second + n_labels))
            only_first = abs(gap + n_labels) - lambda_1 * up
            only_second = abs(gap - n_labels) - lambda_1 * down
            for s in range(costs.size):
                difference = ((s >> j) & 1) - ((s >> other) & 1)
                costs[s] += abs(gap) if difference == 0 else (only_first if difference > 0 else only_second)


@njit(cache=True, nogil=True)
def best_directions(costs, random_ties, key, counter):
    """Return the s > 0 with the smallest cost.

    Among equal ones the first, or, with ``random_ties``, any with the same probability, all directions at once being
    chosen only if nothing else is as good.
    """
    best, n_ties = 1, 1
    for s in range(2, costs.size):
        if costs[s] < costs[best]:
            best, n_ties = s, 1
        elif costs[s] == costs[best] and s < costs.size - 1:
            n_ties += 1
    if not random_ties or n_ties == 1:
        return best
    skip = random_below(key, counter, n_ties)
    for s in range(best + 1, costs.size):
        if skip == 0:
            break
        if costs[s] == costs[best]:
            skip -= 1
            if skip == 0:
                return s
    return best


@njit(cache=True, nogil=True)
def best_of_two(labels, sums, totals, n_seen, lambda_1, lambda_2, random_ties, key, counter):
    """Return what `best_directions` does after `direction_costs` where M is 2, bit for bit.

    Parameters
    ----------
    labels : uint32 (L,)
        The instance's labels.
    sums : float32 (2 * n_labels,)
        S_1^i and S_2^i of each label, side by side.
    totals, n_seen, lambda_1, lambda_2, random_ties, key, counter
        As for both.

    Notes
    -----
    Three costs need no array and no loop, and the labels' sums are read where they are. Where an instance has as many
    labels as features, its training takes a third less time than with the general form. Which cost is the least can
    hardly be foretold, so that the only branch is the one for ties.
    """
    n, gap = labels.size, totals[0] - totals[1]
    up, down = gains_of_labels(labels, sums)
    penalty = totals[0] - n_seen + totals[1]
    alone = lambda_2 * abs(penalty + n)
    first, second = alone + (abs(gap + n) - lambda_1 * up), alone + (abs(gap - n) - lambda_1 * down)
    both = lambda_2 * abs(penalty + 2 * n) + abs(gap)
    if random_ties and first == second and not both < first:
        return 1 + np.int64(random_below(key, counter, 2))
    single = 1 + np.int64(second < first)
    return 3 if both < min(first, second) else single


@njit(cache=True, nogil=True)
def gains_of_labels(labels, sums):
    """Return `integrity_gains` of some labels, given their sums in two directions as `best_of_two` is."""
    one, up, down = np.float32(1), np.float32(0), np.float32(0)
    for k in range(labels.size):
        place = 2 * np.int64(labels[k])
        difference = sums[place] - sums[place + 1]
        size = abs(difference)
        up += abs(difference + one) - size
        down += abs(difference - one) - size
    return np.float64(up), np.float64(down)


@njit(cache=True, nogil=True)
def objective(sums, totals, n_seen, lambda_1, lambda_2):
    """Return J, equation (1), of a node.

    Parameters
    ----------
    sums : float32 (pairs, n_labels, 2)
        S_j^i, two directions side by side.
    totals : float64 (M,)
        S_j.
    n_seen, lambda_1, lambda_2 : float
        As for `direction_costs`.
    """
    arity = totals.size
    balance, integrity = 0.0, 0.0
    for j in range(arity):
        for other in range(j + 1, arity):
            balance += abs(totals[j] - totals[other])
            for i in range(sums.shape[1]):
                integrity += np.float64(abs(sums[j >> 1, i, j & 1] - sums[other >> 1, i, other & 1]))
    return (balance - lambda_1 * integrity + lambda_2 * abs(totals.sum() - n_seen)) / n_seen
