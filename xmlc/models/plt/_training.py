"""Training of exact node weights: the tree is cut into pieces, and the pieces run on threads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.csr import KernelCSR
from xmlc.models.plt._adagrad import train_children_adagrad
from xmlc.models.plt._nodes import NodeWeights
from xmlc.models.plt._paths import count_node_rows, fill_node_rows
from xmlc.models.plt._sgd import count_features, fill_features, gather_rows, sibling_targets, train_children
from xmlc.parallel import run_pieces
from xmlc.trees import LabelTree

NONZEROS_PER_GROUP = 1 << 18  # small blocks are handed out in groups of about this much work
SPLIT_SHARE = 32  # a block with more than 1 / 32 of the work is split between its siblings
MIN_SIBLINGS = 8  # but not into fewer siblings than fill a vector register

SGD, ADAGRAD = 0, 1
SOLVERS = {"sgd": SGD, "adagrad": ADAGRAD}


class Reach(NamedTuple):
    """Which instances reach which node: those with z_t = 1 for their parent.

    Attributes
    ----------
    order : int64 (n,)
        Rows in the order of the pass.
    node_starts, node_positions : int64 (n_nodes + 1,), uint32
        Positions in ``order`` of the instances with z_t = 1, node after node.
    block_starts, block_positions : int64 (n_nodes + 2,), uint32
        The same for the instances that reach each block: all of them for block 0 (the root alone), those of
        node t for block t + 1 (its children).
    """

    order: np.ndarray
    node_starts: np.ndarray
    node_positions: np.ndarray
    block_starts: np.ndarray
    block_positions: np.ndarray


@njit(cache=True, nogil=True)
def train_siblings(
    x, reach, blocks, firsts, bases, widths, degrees, features, feature_starts, weights, weight_starts, bias,
    solver, gamma, penalty, epochs, n_features,
):  # fmt: skip
    """Train groups of siblings: piece i is the siblings ``bases[i] .. bases[i] + widths[i] - 1`` of a block.

    Parameters
    ----------
    x : KernelCSR
    reach : Reach
    blocks, firsts, bases, widths, degrees : int64, one per piece
        The block, the node number of its first node, the first sibling trained here, how many, and the
        number of all siblings.
    features, feature_starts, weights, weight_starts, bias
        As in `NodeWeights`; weights and bias are zero on entry and trained on return.
    solver : int
        A value of `SOLVERS`; ``penalty`` is its lam or eps.
    """
    local = np.empty(n_features, dtype=np.uint32)
    for i in range(blocks.size):
        block, first = blocks[i], firsts[i] + bases[i]
        mine = features[feature_starts[block] : feature_starts[block + 1]]
        for number in range(mine.size):
            local[mine[number]] = number
        positions = reach.block_positions[reach.block_starts[block] : reach.block_starts[block + 1]]
        ends, ids, values = gather_rows(x.indptr, x.indices, x.data, reach.order[positions], local)
        targets = np.zeros((positions.size, widths[i]), dtype=np.uint8)
        sibling_targets(reach.node_starts, reach.node_positions, positions, first, targets)
        own = weights[weight_starts[block] : weight_starts[block + 1]]
        own_bias = bias[first : first + widths[i]]
        step = (gamma, penalty, epochs)
        if solver == SGD:
            train_children(ends, ids, values, targets, own, own_bias, bases[i], degrees[i], *step)
        else:
            train_children_adagrad(ends, ids, values, targets, own, own_bias, bases[i], degrees[i], *step)


def reach_of(y: KernelCSR, tree: LabelTree, order: np.ndarray) -> Reach:
    """Find the instances that reach each node of the tree."""
    leaf = tree.leaf
    starts = count_node_rows(y.indptr, y.indices, order, leaf, tree.parent)
    positions = fill_node_rows(y.indptr, y.indices, order, leaf, tree.parent, starts)
    n = order.size
    block_starts = np.concatenate(([0], starts + n))
    block_positions = np.concatenate((np.arange(n, dtype=np.uint32), positions))
    return Reach(order, starts, positions, block_starts, block_positions)


def train_nodes(
    x: KernelCSR,
    y: KernelCSR,
    n_features: int,
    tree: LabelTree,
    order: np.ndarray,
    solver: str,
    gamma: float,
    penalty: float,
    epochs: int,
    n_jobs: int | None,
) -> NodeWeights:
    """Train all node classifiers of a tree (plt2016, Algorithm 3) and return their weights.

    A block (the children of one node) keeps weights for the features of the instances that reach it and for
    no others; any other weight would stay zero. Peak memory: the weights, once, and the instances of the
    largest blocks in training, one for each thread.
    """
    reach = reach_of(y, tree, order)
    degrees = np.concatenate(([1], np.diff(tree.children)))
    firsts = np.concatenate(([0], tree.children[:-1]))
    blocks = np.flatnonzero((degrees > 0) & (np.diff(reach.block_starts) > 0)).astype(np.int64)
    rows = (x.indptr, x.indices, order, reach.block_starts, reach.block_positions)
    groups = _groups(blocks, np.diff(reach.block_starts)[blocks] * (1 + x.indices.size // order.size))
    counted = run_pieces(count_features, [(*rows, group, n_features) for group in groups], n_jobs)
    distinct = np.zeros(degrees.size, dtype=np.int64)
    nonzeros = np.zeros(degrees.size, dtype=np.int64)
    for group, (group_distinct, group_nonzeros) in zip(groups, counted):
        distinct[group], nonzeros[group] = group_distinct, group_nonzeros
    feature_starts = np.concatenate(([0], np.cumsum(distinct)))
    weight_starts = np.concatenate(([0], np.cumsum(distinct * degrees)))
    features = np.empty(feature_starts[-1], dtype=np.uint32)
    run_pieces(fill_features, [(*rows, group, n_features, feature_starts, features) for group in groups], n_jobs)
    weights = np.zeros(weight_starts[-1], dtype=np.float32)
    bias = np.zeros(tree.n_nodes, dtype=np.float32)
    pieces, costs = [], []
    for (chosen, bases, widths), cost in _pieces(blocks, degrees, nonzeros):
        sizes = (chosen, firsts[chosen], bases, widths, degrees[chosen])
        arrays = (features, feature_starts, weights, weight_starts, bias)
        pieces.append((x, reach, *sizes, *arrays, SOLVERS[solver], gamma, penalty, epochs, n_features))
        costs.append(cost)
    run_pieces(train_siblings, pieces, n_jobs, costs, title="training PLT nodes", unit="nnz")
    return NodeWeights(tree.children, tree.label, feature_starts, features, weight_starts, weights, bias)


def _groups(blocks: np.ndarray, cost: np.ndarray) -> list[np.ndarray]:
    """Cut blocks into groups of about equal cost, without looking at the number of threads."""
    group = np.cumsum(cost) // NONZEROS_PER_GROUP
    return np.split(blocks, np.flatnonzero(np.diff(group)) + 1)


def _pieces(
    blocks: np.ndarray, degrees: np.ndarray, nonzeros: np.ndarray
) -> list[tuple[tuple[np.ndarray, np.ndarray, np.ndarray], float]]:
    """Cut the work into pieces (blocks, first siblings, numbers of siblings), the largest first."""
    work = nonzeros * degrees
    limit = max(work[blocks].sum() // SPLIT_SHARE, NONZEROS_PER_GROUP)
    chosen, bases, widths = [], [], []
    for block in blocks[np.argsort(-work[blocks], kind="stable")]:
        degree = int(degrees[block])
        width = degree if work[block] <= limit else max(MIN_SIBLINGS, int(degree * limit // work[block]))
        for base in range(0, degree, width):
            chosen.append(block)
            bases.append(base)
            widths.append(min(width, degree - base))
    columns = [np.array(column, dtype=np.int64) for column in (chosen, bases, widths)]
    cost = nonzeros[columns[0]] * columns[2]
    groups = _groups(np.arange(cost.size), cost)
    return [(tuple(column[group] for column in columns), float(cost[group].sum())) for group in groups]
