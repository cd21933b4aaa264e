"""Provide kernels that train the regressors of one node (ldsm2020, Algorithm 2)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import unchecked_view
from xmlc.kernels.counter_random import random_below, random_unit
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.sums import dot, in_turn
from xmlc.kernels.vectors import Vectors, index_at

SMALLEST_SQUARE = np.float32(1e-30)  # Sums of squared gradients start from 1e-30, so that no sum is zero.


class NodeSettings(NamedTuple):
    """Hold the hyperparameters for training a node, see `LdSM`."""

    arity: int
    epochs: int
    learning_rate: float
    lambda_1: float
    lambda_2: float
    adaptive: bool
    random_ties: bool
    uniform_start: bool
    prune: bool


@njit
def start_slots(slots, arity, n_all, key):
    """Set all weights to random numbers, and all sums of squared gradients to `SMALLEST_SQUARE`.

    The weights are drawn uniformly from -1/n_all .. 1/n_all. If ``n_all`` is 0, the weights are 0.

    Parameters
    ----------
    slots : float32 (pairs, p, 4)
        Overwritten with two weights and two sums of squared gradients per pair of regressors and feature, see `SLOT`.
        If M is odd, the last pair has an unused second regressor, whose weights are 0.
    arity, n_all : int
        ``arity`` is M. ``n_all`` is the reciprocal of the largest initial weight, or 0 for initial weights of 0.
    key : uint64
        Stream of random numbers.
    """
    for j in range(2 * slots.shape[0]):
        largest = 1.0 / n_all if n_all > 0 and j < arity else 0.0
        for k in range(slots.shape[1]):
            slots[j // 2, k, j % 2] = largest * (2.0 * random_unit(key, j * slots.shape[1] + k) - 1.0)
            slots[j // 2, k, 2 + j % 2] = SMALLEST_SQUARE


@njit(error_model="numpy")
def train_regressors(data, n, n_labels, settings, key, slots, objectives):
    """Train a node's M regressors on one instance after the other, in ``epochs`` passes (Algorithm 2).

    For each instance, the kernel first chooses the best directions. Each regressor then takes one step of logistic
    regression. The target of the step is 1 if the regressor's direction was chosen, and 0 otherwise. The margin of a
    regressor after the step, clamped to 0 .. 1, is the probability of the regressor's direction.

    Parameters
    ----------
    data : NodeData
        Instances and label sets of the node.
    n, n_labels : int
        Numbers of instances and labels of the node.
    settings : NodeSettings
        Hyperparameters.
    key : uint64
        Stream of random numbers for ties.
    slots : float32 (pairs, p, 4)
        Result of `start_slots`, overwritten with the trained weights and the sums of squared gradients.
    objectives : float64 (epochs,)
        Overwritten with J after each epoch.

    Notes
    -----
    In each epoch, the kernel reads 8 bytes sequentially for each non-zero and each pair of regressors. For each
    non-zero and each pair of regressors, the kernel also reads a slot of 16 bytes twice and writes it once. For each
    label of an instance, the kernel reads 16 bytes.
    """
    arity = settings.arity
    n_pairs = slots.shape[0]
    size = slots.shape[1] * SLOT
    sums = np.zeros((n_pairs, n_labels, 2), dtype=np.float32)
    totals = np.zeros(arity, dtype=np.float64)
    costs = np.empty(1 << arity, dtype=np.float64)
    estimates = np.empty(2 * n_pairs, dtype=np.float32)
    flat = slots.reshape(-1)
    starts = data.starts
    all_ids = data.ids
    all_values = data.values
    label_starts = data.label_starts
    label_ids = data.label_ids
    lengths = np.empty(n, dtype=np.float32)
    adaptive = settings.adaptive
    random_ties = settings.random_ties
    learning_rate = settings.learning_rate
    lambda_1 = settings.lambda_1
    lambda_2 = settings.lambda_2
    rate = np.float32(learning_rate)
    norm = 0.0
    n_seen = 0
    step = 0
    zero = np.float32(0)
    one = np.float32(1)
    for i in range(n):
        values = unchecked_view(all_values, starts[i], starts[i + 1])
        lengths[i] = dot(values, values)
    for epoch in range(settings.epochs):
        for i in range(n):
            labels = unchecked_view(label_ids, label_starts[i], label_starts[i + 1])
            ids = unchecked_view(all_ids, starts[i], starts[i + 1])
            values = unchecked_view(all_values, starts[i], starts[i + 1])
            n_seen = n_seen + labels.size
            step = step + 1
            # The scores of an instance do not depend on the choice of its directions. If scores are computed before
            # directions, the processor overlaps both computations.
            for pair in range(n_pairs):
                scores = pair_margins(ids, values, unchecked_view(flat, pair * size, (pair + 1) * size))
                estimates[2 * pair] = sigmoid(scores[0])
                estimates[2 * pair + 1] = sigmoid(scores[1])
            if arity == 2:
                chosen = best_of_two(labels, sums, totals, n_seen, lambda_1, lambda_2, random_ties, key, step)
            else:
                direction_costs(labels, sums, totals, n_seen, lambda_1, lambda_2, costs)
                chosen = best_directions(costs, random_ties, key, step)
            if adaptive:
                norm += lengths[i]
                rate = np.float32(learning_rate * np.sqrt(step / norm))
            for pair in range(n_pairs):
                own = unchecked_view(flat, pair * size, (pair + 1) * size)
                first = estimates[2 * pair] - np.float32((chosen >> 2 * pair) & 1)
                second = estimates[2 * pair + 1] - np.float32((chosen >> (2 * pair + 1)) & 1)
                if adaptive:
                    margins = adaptive_step(ids, values, own, first, second, rate)
                else:
                    margins = plain_step(ids, values, own, first, second, rate)
                first = min(max(margins[0], zero), one)
                second = min(max(margins[1], zero), one)
                for label in labels:
                    sums[pair, label, 0] += first
                    sums[pair, label, 1] += second
                totals[2 * pair] += np.float64(first) * labels.size
                if 2 * pair + 1 < arity:
                    totals[2 * pair + 1] += np.float64(second) * labels.size
        objectives[epoch] = objective(sums, totals, max(1, n_seen), lambda_1, lambda_2)


# The next kernels choose the directions of one instance (ldsm2020, Section 2 and Algorithm 3).
#
# C is the number of labels seen so far at a node (an instance seen twice counts twice). S_j is the sum of the clamped
# predictions h_j over these C labels. S_j^i is the part of S_j that comes from label i, which was seen l_i times. The
# probabilities of the paper are P_j = S_j / C, pi_i = l_i / C and P_j^i = S_j^i / l_i. In the paper's objective
# (equation 1), the numbers l_i cancel out:
#
#     C J = sum_(j<l) |S_j - S_l|  -  lambda_1 sum_(j<l) sum_i |S_j^i - S_l^i|  +  lambda_2 |sum_j S_j - C|.
#
# Suppose that an instance has L labels and is sent in the directions b, with b_j = 1 for each chosen direction j. The
# instance then adds L b_j to S_j, and b_j to S_j^i for each of its labels i. Terms of C J without b do not affect which
# directions are best.


@njit
def integrity_gains(labels, sums, j, other):
    """Return sum_i |D_i + 1| - |D_i| and sum_i |D_i - 1| - |D_i| over the labels i, with D_i = S_j^i - S_other^i.

    Notes
    -----
    The kernel adds differences, because subtracting one sum from another would be less accurate. Each difference is
    exact to a few units in the last place of D_i. A sum that is not a difference, and its rounding error, would grow
    with the number of instances seen. For each label, the kernel reads 8 bytes from the cache.
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
def direction_costs(labels, sums, totals, n_seen, lambda_1, lambda_2, costs):
    """Evaluate C J, up to a common constant, for each of the 2**M - 1 sets of directions.

    Parameters
    ----------
    labels : uint32 (L,)
        Labels of the instance.
    sums : float32 (pairs, n_labels, 2)
        S_j^i of each label i and direction j. In ``sums``, the numbers of two directions are adjacent.
    totals : float64 (M,)
        The sum S_j of each direction j.
    n_seen : float
        C, the number of labels seen so far, including the L labels of the instance.
    lambda_1, lambda_2 : float
        Weights of class integrity and of the multi-way penalty.
    costs : float64 (2**M,)
        Overwritten with the cost of each set of directions. Entry s is the cost of the set of directions whose bits are
        set in s. Entry 0 belongs to the empty set, which is not a valid choice.

    Notes
    -----
    For a pair of directions (j, l), there are three kinds of direction sets: sets with only j, sets with only l, and
    all others. For each kind of set, the terms of the pair are computed only once, in one pass over the labels. The
    cost of a set s is the sum of the terms of all pairs, plus the multi-way penalty. The costs of all sets take M (M -
    1) (L + 2**(M - 1)) steps. Computing J separately for each s would take 2**M M (M - 1) L steps.
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
        costs[s] = lambda_2 * abs(penalty + n_labels * n_set)
    for j in range(arity):
        for other in range(j + 1, arity):
            gap = totals[j] - totals[other]
            up, down = integrity_gains(labels, sums, j, other)
            only_first = abs(gap + n_labels) - lambda_1 * up
            only_second = abs(gap - n_labels) - lambda_1 * down
            for s in range(costs.size):
                difference = ((s >> j) & 1) - ((s >> other) & 1)
                costs[s] += abs(gap) if difference == 0 else (only_first if difference > 0 else only_second)


@njit
def best_directions(costs, random_ties, key, counter):
    """Return the set of directions s > 0 with the smallest cost, which is the result of Algorithm 3.

    If several sets have the smallest cost, the result is the set with the smallest number s. With ``random_ties``, the
    result is drawn at random from the sets with the smallest cost. The set of all directions is chosen only if no other
    set is as good.
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
def best_of_two(labels, sums, totals, n_seen, lambda_1, lambda_2, random_ties, key, counter):
    """For M = 2, return exactly the same set of directions as `direction_costs` and `best_directions`.

    Parameters
    ----------
    labels, sums, totals, n_seen, lambda_1, lambda_2, random_ties, key, counter
        As in `direction_costs` and `best_directions`.

    Notes
    -----
    With M = 2, there are only three sets of directions, whose costs need no array and no loop. If instances have as
    many labels as features, training takes a third less time than with `direction_costs` and `best_directions`. A
    branch on the smallest cost would often be mispredicted, so that the function has a branch only for equal costs.
    """
    n = labels.size
    gap = totals[0] - totals[1]
    up, down = integrity_gains(labels, sums, 0, 1)
    penalty = totals[0] - n_seen + totals[1]
    alone = lambda_2 * abs(penalty + n)
    first = alone + (abs(gap + n) - lambda_1 * up)
    second = alone + (abs(gap - n) - lambda_1 * down)
    both = lambda_2 * abs(penalty + 2 * n) + abs(gap)
    if random_ties and first == second and not both < first:
        return 1 + np.int64(random_below(key, counter, 2))
    single = 1 + np.int64(second < first)
    return 3 if both < min(first, second) else single


@njit
def objective(sums, totals, n_seen, lambda_1, lambda_2):
    """Return the objective J of a node (ldsm2020, equation (1)).

    Parameters
    ----------
    sums, totals, n_seen, lambda_1, lambda_2
        As in `direction_costs`.
    """
    arity = totals.size
    balance = 0.0
    integrity = 0.0
    for j in range(arity):
        for other in range(j + 1, arity):
            balance += abs(totals[j] - totals[other])
            for i in range(sums.shape[1]):
                integrity += np.float64(abs(sums[j >> 1, i, j & 1] - sums[other >> 1, i, other & 1]))
    return (balance - lambda_1 * integrity + lambda_2 * abs(in_turn(totals) - n_seen)) / n_seen


# The next kernels process two regressors at a time, in whole vector registers.
#
# For two regressors, the four numbers of a feature are adjacent in memory: two weights, then two sums of squared
# gradients. These 16 bytes form a slot, which costs one load and one store per non-zero. Four separate arrays would
# cost four loads and four stores per non-zero. The slots of four features fill a vector register of 16 lanes. The
# register contains the four lanes of `xmlc.kernels.sums` for both regressors. The results of the kernels are therefore
# bit-identical to `sparse_dot` and `dot`.


SLOT = 4  # the number of float32 values in a slot
SUM_LANES = 4


class _Rows:
    """Generate code for a pair of regressors from ids (uint32), values (float32) and slots (float32, flat)."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any):
        self.builder, self.slots_wide = builder, Vectors(builder, SLOT)
        self.ids, self.values, self.slots = (
            context.make_array(signature.args[i])(context, builder, arguments[i]) for i in range(3)
        )
        self.size = self.ids.nitems

    def place(self, k: Any, offset: int) -> Any:
        """Return the address of the slot that belongs to the feature of non-zero number ``k + offset``."""
        feature = index_at(self.builder, self.ids.data, self.builder.add(k, ir.Constant(k.type, offset)), k.type)
        return self.slots_wide.at(self.slots.data, self.builder.shl(feature, ir.Constant(k.type, 2)))

    def value(self, k: Any, offset: int) -> Any:
        """Load the value of non-zero number ``k + offset`` into four lanes."""
        return self.slots_wide.entry(self.values.data, self.builder.add(k, ir.Constant(k.type, offset)))

    def joined(self, parts: list[Any]) -> Any:
        """Concatenate two or four vectors of four lanes."""
        while len(parts) > 1:
            width = parts[0].type.count
            mask = ir.Constant(ir.VectorType(ir.IntType(32), 2 * width), list(range(2 * width)))
            parts = [self.builder.shuffle_vector(a, b, mask) for a, b in zip(parts[::2], parts[1::2])]
        return parts[0]

    def quarter(self, vector: Any, number: int) -> Any:
        """Return one slot of a vector of four slots."""
        mask = ir.Constant(ir.VectorType(ir.IntType(32), SLOT), [SLOT * number + lane for lane in range(SLOT)])
        return self.builder.shuffle_vector(vector, vector, mask)

    def within_slots(self, first: Any, second: Any, lanes: list[int]) -> Any:
        """Apply the same permutation to the lanes of each slot.

        In ``lanes``, the numbers 0 to 3 are lanes of a slot in ``first``, and 4 to 7 are lanes of a slot in ``second``.
        """
        width = first.type.count
        numbers = [lane if lane < SLOT else width + lane - SLOT for lane in lanes]
        mask = [slot + number for slot in range(0, width, SLOT) for number in numbers]
        return self.builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(ir.IntType(32), width), mask))

    def in_steps(self, start: Any, end: Any, step: int) -> Any:
        """Generate a loop over the numbers start, start + step, ... below end."""
        return cgutils.for_range_slice(self.builder, start, end, ir.Constant(start.type, step), start.type)

    def result(self, sums: list[Any], signature: Any, context: Any) -> Any:
        """Add four lanes of sums as (0 + 2) + (1 + 3), and return the sums of both regressors as a tuple."""
        builder = self.builder
        a, b, c, d = sums
        total = builder.fadd(builder.fadd(a, c), builder.fadd(b, d))
        pair = [builder.extract_element(total, ir.Constant(ir.IntType(32), lane)) for lane in range(2)]
        return context.make_tuple(builder, signature.return_type, pair)


@intrinsic
def pair_margins(typing_context, ids, values, slots):
    """Return the margins of both regressors, which are `sparse_dot` of the values and the weights.

    Parameters
    ----------
    ids : uint32, values : float32
        Non-zeros of one instance.
    slots : float32, flat
        Four numbers per feature, see `SLOT`.

    Notes
    -----
    For each non-zero, the kernel reads 8 bytes sequentially, and a slot of 16 bytes at a random address.
    """

    def generate(context, builder, signature, arguments):
        rows = _Rows(context, builder, signature, arguments)
        zero = rows.slots_wide.constant(0.0)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(SUM_LANES)]

        def add(k: Any, offset: int, total: Any) -> None:
            product = builder.fmul(rows.value(k, offset), rows.slots_wide.load(rows.place(k, offset)))
            builder.store(builder.fadd(builder.load(total), product), total)

        start = ir.Constant(rows.size.type, 0)
        whole = builder.and_(rows.size, ir.Constant(rows.size.type, ~3))
        with rows.in_steps(start, whole, SUM_LANES) as (k, _):
            for lane, total in enumerate(sums):
                add(k, lane, total)
        with rows.in_steps(whole, rows.size, 1) as (k, _):
            add(k, 0, sums[0])
        return rows.result([builder.load(total) for total in sums], signature, context)

    return types.UniTuple(types.float32, 2)(ids, values, slots), generate


def _updater(adaptive: bool) -> Any:
    """Return a kernel that updates both regressors by one step and returns their new margins."""

    @intrinsic
    def update(typing_context, ids, values, slots, first, second, rate):
        def generate(context, builder, signature, arguments):
            rows = _Rows(context, builder, signature, arguments)
            sums = cgutils.alloca_once_value(builder, Vectors(builder, SLOT * SUM_LANES).constant(0.0))

            def step(k: Any, n_slots: int, total: Any) -> None:
                """Update the weights of non-zeros k .. k + n_slots - 1, and add weight times value to the margins."""
                wide = Vectors(builder, SLOT * n_slots)
                places = [rows.place(k, offset) for offset in range(n_slots)]
                old = rows.joined([rows.slots_wide.load(place) for place in places])
                value = rows.joined([rows.value(k, offset) for offset in range(n_slots)])
                first, second, rate = (wide.broadcast(number) for number in arguments[3:])
                slopes = rows.within_slots(first, second, [0, 5, 2, 7])
                if adaptive:
                    gradient = builder.fmul(slopes, value)
                    squares = builder.fadd(old, builder.fmul(gradient, gradient))
                    inverse = wide.inverse_sqrt(rows.within_slots(squares, squares, [2, 3, 2, 3]))
                    change = builder.fmul(builder.fmul(rate, gradient), inverse)
                else:
                    squares = old
                    change = builder.fmul(builder.fmul(rate, slopes), value)
                new = rows.within_slots(builder.fsub(old, change), squares, [0, 1, 6, 7])
                for number, place in enumerate(places):
                    rows.slots_wide.store(rows.quarter(new, number) if n_slots > 1 else new, place)
                builder.store(builder.fadd(builder.load(total), builder.fmul(new, value)), total)

            start = ir.Constant(rows.size.type, 0)
            whole = builder.and_(rows.size, ir.Constant(rows.size.type, ~3))
            with rows.in_steps(start, whole, SUM_LANES) as (k, _):
                step(k, SUM_LANES, sums)
            lanes = [rows.quarter(builder.load(sums), number) for number in range(SUM_LANES)]
            lane_0 = cgutils.alloca_once_value(builder, lanes[0])
            with rows.in_steps(whole, rows.size, 1) as (k, _):
                step(k, 1, lane_0)
            return rows.result([builder.load(lane_0), *lanes[1:]], signature, context)

        return types.UniTuple(types.float32, 2)(ids, values, slots, first, second, rate), generate

    return update


#: Take a step of normalised adaptive gradient (``adaptive_step``) or of stochastic gradient descent (``plain_step``)
#: with both regressors. ``first`` and ``second`` (float32) are the slopes of the loss with respect to the margins of
#: the two regressors. Both regressors have the same learning rate ``rate`` (float32). The kernels return `dot` of the
#: values and the new weights. A slope of 0 leaves a regressor unchanged. An adaptive step subtracts rate * g_i /
#: sqrt(sum of g_i ** 2 over all steps) from weight i, with g_i = slope * x_i and x scaled to -1 .. 1 (Ross, Mineiro and
#: Langford, 2013, Algorithm 2). A plain step subtracts rate * slope * x_i from weight i. No feature may occur twice in
#: ``ids``. For each non-zero, the kernels read 8 bytes sequentially, and read and write a slot of 16 bytes.
adaptive_step = _updater(adaptive=True)
plain_step = _updater(adaptive=False)
