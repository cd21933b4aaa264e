"""Training of node weights: the tree is cut into pieces, and the pieces run on threads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xmlc.csr import KernelCSR
from xmlc.models.plt.training._gather import count_features, fill_features
from xmlc.models.plt.training._paths import count_node_rows, fill_node_rows
from xmlc.models.plt.training._siblings import Reach, train_siblings
from xmlc.models.plt.training._solvers import Solver
from xmlc.models.plt.weights import CompactNodeWeights, NodeWeights
from xmlc.models.plt.weights._compact import compact_blocks, join_compact
from xmlc.runtime.parallel import row_blocks, run_pieces
from xmlc.runtime.progress import Progress
from xmlc.trees import LabelTree

NONZEROS_PER_GROUP = 1 << 18  # small blocks are handed out in groups of about this much work
SPLIT_SHARE = 32  # a block with more than 1 / 32 of the work is split between its siblings
MIN_SIBLINGS = 8  # but not into fewer siblings than fill a vector register,
MANY_SIBLINGS = 64  # nor into more that fill not as many registers as are taken at a time
INSTANCES_PER_PIECE, MOST_REACH_PIECES = 2048, 8  # whose nodes are listed together
WEIGHTS_PER_WAVE = 1 << 26  # weights to be dropped from are dense this many at a time: 256 MB


def reach_of(y: KernelCSR, tree: LabelTree, order: np.ndarray, n_jobs: int | None = 1) -> Reach:
    """Find the instances that reach each node of the tree.

    Needs 8 bytes for each node and piece beside the result, of which there are at most `MOST_REACH_PIECES`.
    """
    n = order.size
    paths = (y.indptr, y.indices, order, tree.leaf, tree.parent)
    pieces = row_blocks(n, max(INSTANCES_PER_PIECE, -(-n // MOST_REACH_PIECES)))
    counts = np.zeros((len(pieces) + 1, tree.n_nodes), dtype=np.int64)
    run_pieces(count_node_rows, [(*paths, *piece, counts[i + 1]) for i, piece in enumerate(pieces)], n_jobs)
    starts = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
    places = starts[:-1] + np.cumsum(counts, axis=0)[:-1]
    block_starts = np.concatenate(([0], starts + n))
    block_positions = np.empty(n + starts[-1], dtype=np.uint32)
    block_positions[:n] = np.arange(n, dtype=np.uint32)
    positions = block_positions[n:]  # of the nodes' own instances, which reach their children: in memory once
    run_pieces(fill_node_rows, [(*paths, *piece, own, positions) for piece, own in zip(pieces, places)], n_jobs)
    return Reach(order, starts, positions, block_starts, block_positions)


def train_nodes(
    x: KernelCSR,
    y: KernelCSR,
    n_features: int,
    tree: LabelTree,
    order: np.ndarray,
    solver: Solver,
    cut: float | None,
    n_jobs: int | None,
) -> tuple[NodeWeights | CompactNodeWeights, float]:
    """Train all node classifiers of a tree (plt2016, Algorithm 3); return their weights and how many passes it took.

    A block (the children of one node) keeps weights for the features of the instances that reach it and for
    no others; any other weight would stay zero. With a cut, weights w with abs(w) <= cut are dropped as soon as
    a wave of blocks is trained, and the rest is stored sparse. Passes are a mean over pairs of a non-zero and a node.

    Peak memory: what is returned, once (with a cut, its largest array twice), a wave, and the instances of the
    largest blocks in training, one for each thread.
    """
    reach = reach_of(y, tree, order, n_jobs)
    degrees = np.concatenate(([1], np.diff(tree.children)))
    rows = (x.indptr, x.indices, order, reach.block_starts, reach.block_positions)
    blocks = np.flatnonzero((degrees > 0) & (np.diff(reach.block_starts) > 0)).astype(np.int64)
    groups = _groups(blocks, np.diff(reach.block_starts)[blocks] * (1 + x.indices.size // order.size))
    counted = run_pieces(count_features, [(*rows, group, n_features) for group in groups], n_jobs)
    distinct, nonzeros = np.zeros(degrees.size, dtype=np.int64), np.zeros(degrees.size, dtype=np.int64)
    for group, (group_distinct, group_nonzeros) in zip(groups, counted):
        distinct[group], nonzeros[group] = group_distinct, group_nonzeros
    bias = np.zeros(tree.n_nodes, dtype=np.float32)
    waves = _waves(distinct * degrees, cut)
    room = np.empty(max((distinct * degrees)[begin:end].sum() for begin, end in waves), dtype=np.float32)
    limit = max((nonzeros * degrees).sum() // SPLIT_SHARE, NONZEROS_PER_GROUP)
    firsts = np.concatenate(([0], tree.children[:-1]))
    parts, visited, pairs = [], 0, max(int((nonzeros * degrees).sum()), 1)
    with Progress(float(pairs), "training PLT nodes", "nnz") as progress:
        for begin, end in waves:
            feature_starts = np.concatenate(([0], np.cumsum(distinct[begin:end])))
            weight_starts = np.concatenate(([0], np.cumsum(distinct[begin:end] * degrees[begin:end])))
            features = np.empty(feature_starts[-1], dtype=np.uint32)
            weights = room[: weight_starts[-1]]  # of every wave all are written
            dense = (features, feature_starts, weights, weight_starts)
            inside = [group[(group >= begin) & (group < end)] for group in groups]
            fills = [(*rows, group, n_features, feature_starts, features, begin) for group in inside if group.size]
            run_pieces(fill_features, fills, n_jobs)
            pieces, costs = [], []
            wave = blocks[(blocks >= begin) & (blocks < end)]
            for (chosen, bases, widths), cost in _pieces(wave, degrees, nonzeros, limit):
                sizes = (chosen, firsts[chosen], bases, widths, degrees[chosen])
                pieces.append((x, reach, *sizes, *dense, bias, solver, n_features, begin))
                costs.append(cost)
            visited += sum(run_pieces(train_siblings, pieces, n_jobs, costs, progress=progress))
            if cut is None:
                starts = (feature_starts, features, weight_starts)
                return NodeWeights(tree.children, tree.label, *starts, weights, bias), visited / pairs
            parts.append(compact_blocks(*dense, degrees[begin:end], cut, n_jobs))
    return join_compact(tree.children, tree.label, bias, parts), visited / pairs


def _waves(sizes: np.ndarray, cut: float | None) -> list[tuple[int, int]]:
    """Cut the blocks into ranges that are dense at the same time: all of them if they stay dense."""
    if cut is None:
        return [(0, sizes.size)]
    wave = np.cumsum(sizes) // WEIGHTS_PER_WAVE
    starts = np.flatnonzero(np.diff(wave, prepend=-1))
    return list(zip(starts.tolist(), [*starts[1:].tolist(), sizes.size]))


def _groups(blocks: np.ndarray, cost: np.ndarray) -> list[np.ndarray]:
    """Cut blocks into groups of about equal cost, without looking at the number of threads."""
    group = np.cumsum(cost) // NONZEROS_PER_GROUP
    return np.split(blocks, np.flatnonzero(np.diff(group)) + 1)


def _pieces(
    blocks: np.ndarray, degrees: np.ndarray, nonzeros: np.ndarray, limit: int
) -> Iterator[tuple[tuple[np.ndarray, np.ndarray, np.ndarray], float]]:
    """Cut the work into pieces (blocks, first siblings, numbers of siblings), the largest first.

    A block with more work than ``limit`` is split between its siblings.
    """
    work = nonzeros * degrees
    chosen, bases, widths = [], [], []
    for block in blocks[np.argsort(-work[blocks], kind="stable")]:
        degree = int(degrees[block])
        width = degree if work[block] <= limit else max(MIN_SIBLINGS, int(degree * limit // work[block]))
        width = -(-width // MANY_SIBLINGS) * MANY_SIBLINGS if width > MIN_SIBLINGS else width
        for base in range(0, degree, width):
            chosen.append(block)
            bases.append(base)
            widths.append(min(width, degree - base))
    columns = [np.array(column, dtype=np.int64) for column in (chosen, bases, widths)]
    cost = nonzeros[columns[0]] * columns[2]
    for group in _groups(np.arange(cost.size), cost):
        yield tuple(column[group] for column in columns), float(cost[group].sum())
