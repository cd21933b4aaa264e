"""Train a PLT whose nodes share one table of hashed weights (plt2016, Appendix C)."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of_csr, sort
from xmlc.kernels.counter_random import Stream, stream_key
from xmlc.kernels.csr import KernelCSR
from xmlc.models.plt.solvers import Sgd
from xmlc.models.plt.training import positive_nodes
from xmlc.models.plt.weights import HashedWeights, ask_for_slots, slots_estimate
from xmlc.models.trees import LabelTree


def train_hashed(
    x: KernelCSR,
    y: KernelCSR,
    tree: LabelTree,
    order: np.ndarray,
    solver: Sgd,
    hash_bits: int,
    random_state: int,
    importance: np.ndarray,
) -> HashedWeights:
    """Train all node classifiers on one shared table of weights, on one thread.

    Parameters
    ----------
    x, y : KernelCSR
        Instances and their label sets.
    tree : LabelTree
        Tree whose node classifiers are trained.
    order : int64 (n,)
        Numbers of the instances, in the order of each pass.
    solver : Sgd
        Settings of two-phase SGD.
    hash_bits : int
        The table has ``2**hash_bits`` weights.
    random_state : int
        Seed of the hash function.
    importance : float32 (n,)
        See `train_nodes`.
    """
    n_nodes = tree.n_nodes
    seed = np.uint64(stream_key(np.int64(random_state), np.int64(Stream.PLT_HASH)))
    nodes = HashedWeights(
        children=tree.children,
        label=tree.label,
        table=np.zeros(1 << hash_bits, dtype=np.float32),
        scale=np.ones(n_nodes),
        bias=np.zeros(n_nodes, dtype=np.float32),
        seed=seed,
    )
    steps_done = np.zeros(n_nodes)
    stamp = np.full(n_nodes, -1, dtype=np.int64)
    leaf = tree.leaf
    for epoch in range(solver.epochs):
        hashed_pass(
            x, y, importance, order, leaf, tree.parent, nodes, solver, steps_done, stamp, epoch
        )
    return nodes


@njit
def hashed_pass(x, y, importance, order, leaf, parent, nodes, solver, steps_done, stamp, epoch):
    """Make one pass over the training set, instance by instance, from the root down.

    The pass is Algorithm 3 of plt2016, run as an online learner. The table slots for a node and an
    instance are in different cache lines. The kernel therefore prefetches the slots for the next
    node before the step for the current node. With 2**28 slots, prefetching makes a pass 1.4 times
    as fast on one thread of an Intel Xeon. A pass with prefetching takes 20 ns per slot.

    Parameters
    ----------
    x, y : KernelCSR
        Instances and their label sets.
    importance : float32 (order.size,)
        See `train_nodes`.
    order : int64 (n,)
        Numbers of the instances, in the order of the pass.
    leaf : int32 (m,)
        Leaf of each label.
    parent : int32 (n_nodes,)
        Parent of each node.
    nodes : HashedWeights
        The tree and its weights, updated in place.
    solver : Sgd
        Settings of two-phase SGD.
    steps_done : float64 (n_nodes,)
        For each node, the sum of the weights of the instances that have updated the node so far.
        The pass adds the weight of each instance to the sums.
    stamp : int64 (n_nodes,)
        Scratch array, filled with -1 at the start of training.
    epoch : int
        Number of earlier passes.
    """
    positives = np.empty(parent.size, dtype=np.int32)
    for position in range(order.size):
        row = order[position]
        mark = epoch * order.size + position
        (ids, values) = row_of_csr(x, row)
        (labels, _) = row_of_csr(y, row)
        count = positive_nodes(labels, leaf, parent, mark, stamp, positives)
        slots = np.empty((2, ids.size), dtype=np.uint64)
        signed = np.empty((2, ids.size), dtype=np.float32)
        node = np.int64(0)
        target = np.float32(count > 0)
        now = 0
        ask_for_slots(ids, values, nodes, node, slots[now], signed[now])
        sort(positives[:count])
        for inner in positives[:count]:
            for child in range(nodes.children[inner], nodes.children[inner + 1]):
                ask_for_slots(ids, values, nodes, child, slots[1 - now], signed[1 - now])
                hashed_step(
                    slots[now],
                    signed[now],
                    nodes,
                    solver,
                    importance[position],
                    steps_done,
                    node,
                    target,
                )
                node = child
                now = 1 - now
                target = np.float32(stamp[child] == mark)
        hashed_step(
            slots[now], signed[now], nodes, solver, importance[position], steps_done, node, target
        )


@njit
def hashed_step(slots, signed, nodes, solver, weight, steps_done, node, target):
    """Take one step of two-phase SGD (plt2016, Appendix B) for one node and one instance.

    Parameters
    ----------
    slots, signed
        Results of `ask_for_slots`.
    nodes : HashedWeights
        The tree and its weights, updated in place.
    solver : Sgd
        Settings of two-phase SGD.
    weight : float32
        Weight of the instance's loss.
    steps_done : float64 (n_nodes,)
        As for `hashed_pass`.
    node : int
        The number of the node in the tree.
    target : float32
        Target z_t of the instance for the node, 0 or 1.
    """
    (gamma, lam, _) = solver
    weight = np.float64(weight)
    gamma_t = gamma / (1.0 + lam * gamma * steps_done[node])
    step = np.float32(nodes.scale[node] * gamma_t * weight) * (
        slots_estimate(slots, signed, nodes, node) - target
    )
    nodes.bias[node] -= step
    for k in range(slots.size):
        nodes.table[slots[k]] -= signed[k] * step
    nodes.scale[node] *= 1.0 + lam * gamma_t * weight
    steps_done[node] += weight
