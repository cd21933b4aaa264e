"""Training of weights that are hashed into one table: kernels (plt2016, Section 6: feature hashing)."""

from __future__ import annotations

import numpy as np

from xmlc.csr import KernelCSR
from xmlc.kernels.counter_random import stream_key
from xmlc.kernels.streams import Stream
from xmlc.models.plt.search._hashed_scores import ask_for_slots, slots_estimate
from xmlc.models.plt.training._paths import positive_nodes
from xmlc.models.plt.training._solvers import Sgd
from xmlc.models.plt.weights import HashedWeights
from xmlc.runtime.kernel_cache import njit
from xmlc.trees import LabelTree


@njit(cache=True, nogil=True)
def hashed_step(slots, signed, nodes, steps_done, node, target, gamma, lam):
    """Take one two-phase step (Appendix B) for one node and one instance, laid out by `ask_for_slots`."""
    gamma_t = gamma / (1.0 + lam * gamma * steps_done[node])
    step = np.float32(nodes.scale[node] * gamma_t) * (slots_estimate(slots, signed, nodes, node) - target)
    nodes.bias[node] -= step
    for k in range(slots.size):
        nodes.table[slots[k]] -= signed[k] * step
    nodes.scale[node] *= 1.0 + lam * gamma_t
    steps_done[node] += 1


@njit(cache=True, nogil=True)
def hashed_pass(x, y, order, leaf, parent, nodes, steps_done, gamma, lam, stamp, epoch):
    """Pass once over the training set, instance by instance, root first (Algorithm 3 as an online learner).

    ``stamp`` is int64 (n_nodes,) scratch that starts at -1; ``steps_done`` int64 (n_nodes,) counts steps.
    """
    positives = np.empty(parent.size, dtype=np.int32)
    for position in range(order.size):
        row = order[position]
        ids, values = x.indices[x.indptr[row] : x.indptr[row + 1]], x.data[x.indptr[row] : x.indptr[row + 1]]
        labels = y.indices[y.indptr[row] : y.indptr[row + 1]]
        mark = epoch * order.size + position
        hashed_instance(ids, values, labels, leaf, parent, nodes, steps_done, gamma, lam, stamp, mark, positives)


@njit(cache=True, nogil=True)
def hashed_instance(ids, values, labels, leaf, parent, nodes, steps_done, gamma, lam, stamp, mark, positives):
    """Take a step for every node that one instance reaches; see `hashed_pass` and `positive_nodes`.

    Each slot is a line of memory of its own. Those of the next node are asked for before the step of one, so that they
    are under way meanwhile: with 2**28 slots 1.4 times as fast on one thread of an Intel Xeon, 20 ns for a slot.
    """
    count = positive_nodes(labels, leaf, parent, mark, stamp, positives)
    slots, signed = np.empty((2, ids.size), dtype=np.uint64), np.empty((2, ids.size), dtype=np.float32)
    node, target, now = np.int64(0), np.float32(1.0) if count > 0 else np.float32(0.0), 0
    ask_for_slots(ids, values, nodes, node, slots[now], signed[now])
    for inner in np.sort(positives[:count]):
        for child in range(nodes.children[inner], nodes.children[inner + 1]):
            ask_for_slots(ids, values, nodes, child, slots[1 - now], signed[1 - now])
            hashed_step(slots[now], signed[now], nodes, steps_done, node, target, gamma, lam)
            node, now = child, 1 - now
            target = np.float32(1.0) if stamp[child] == mark else np.float32(0.0)
    hashed_step(slots[now], signed[now], nodes, steps_done, node, target, gamma, lam)


def train_hashed(
    x: KernelCSR,
    y: KernelCSR,
    tree: LabelTree,
    order: np.ndarray,
    solver: Sgd,
    hash_bits: int,
    random_state: int,
) -> HashedWeights:
    """Train all node classifiers on one shared table of weights, on one thread.

    Parameters
    ----------
    x, y : KernelCSR
        Instances and their label sets.
    tree : LabelTree
    order : int64 (n,)
        Rows in the order of each pass.
    solver : Sgd
    hash_bits : int
        The table has ``2**hash_bits`` weights.
    random_state : int
        Seed of the hash function.
    """
    nodes, steps_done, stamp = untrained(tree, hash_bits, random_state)
    leaf = tree.leaf
    for epoch in range(solver.epochs):
        hashed_pass(x, y, order, leaf, tree.parent, nodes, steps_done, solver.step, solver.lam, stamp, epoch)
    return nodes


def untrained(tree: LabelTree, hash_bits: int, random_state: int) -> tuple[HashedWeights, np.ndarray, np.ndarray]:
    """Return weights that are all 0, the steps done by each node, and scratch for `hashed_pass`."""
    n_nodes = tree.n_nodes
    seed = np.uint64(stream_key(np.int64(random_state), np.int64(Stream.PLT_HASH)))
    table = np.zeros(1 << hash_bits, dtype=np.float32)
    scale, bias = np.ones(n_nodes), np.zeros(n_nodes, dtype=np.float32)
    nodes = HashedWeights(tree.children, tree.label, table, scale, bias, seed)
    return nodes, np.zeros(n_nodes, dtype=np.int64), np.full(n_nodes, -1, dtype=np.int64)
