"""Training of node weights: the tree is cut into pieces, and the pieces run on threads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xmlc.csr import KernelCSR
from xmlc.kernels.sibling_rows import NUMBERS_PER_LINE
from xmlc.models.plt.training._gather import count_nonzeros, list_features
from xmlc.models.plt.training._paths import count_node_rows, fill_node_rows
from xmlc.models.plt.training._siblings import Pieces, Reach, train_siblings, train_siblings_above
from xmlc.models.plt.training._solvers import Solver
from xmlc.models.plt.weights import CompactNodeWeights, NodeWeights
from xmlc.models.plt.weights._compact import CompactBlocks, check_cut, join_compact, sibling_type
from xmlc.models.plt.weights._joined import join_pieces
from xmlc.runtime.parallel import row_blocks, run_pieces
from xmlc.runtime.progress import Progress
from xmlc.trees import LabelTree

NONZEROS_PER_GROUP = 1 << 18  # small blocks are handed out in groups of about this much work
SPLIT_SHARE = 32  # a block with more than 1 / 32 of the work is split between its siblings
MIN_SIBLINGS = 8  # but not into fewer siblings than fill a vector register,
MANY_SIBLINGS = 64  # nor into more that fill not as many registers as are taken at a time
INSTANCES_PER_PIECE, MOST_REACH_PIECES = 2048, 8  # whose nodes are listed together
PAIRS_PER_WAVE = 1 << 31  # pairs of a non-zero and a sibling, after which what their pieces keep is put together
LEAST_SIBLINGS = 64  # a block with fewer counts like one with so many: its features take memory until then


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
    they are trained, and the rest is stored sparse. Passes are a mean over pairs of a non-zero and a node.

    Peak memory: what is returned, once (with a cut, what a wave of blocks keeps or the largest array twice), and the
    instances and weights of the largest blocks in training, one for each thread.
    """
    training = _Training(x, reach_of(y, tree, order, n_jobs), n_features, tree, solver, n_jobs)
    return training.dense() if cut is None else training.above(cut)


class _Training:
    """The training of all node classifiers, and what its steps have in common."""

    def __init__(
        self, x: KernelCSR, reach: Reach, n_features: int, tree: LabelTree, solver: Solver, n_jobs: int | None
    ):
        self.x, self.reach, self.n_features = x, reach, n_features
        self.tree, self.solver, self.n_jobs = tree, solver, n_jobs
        self.degrees = np.concatenate(([1], np.diff(tree.children)))
        self.firsts = np.concatenate(([0], tree.children[:-1]))
        self.bias = np.zeros(tree.n_nodes, dtype=np.float32)
        reached = np.diff(reach.block_starts)
        self.blocks = np.flatnonzero((self.degrees > 0) & (reached > 0)).astype(np.int64)
        nonzeros = 1 + x.indices.size // reach.order.size  # of an instance
        self.groups = _groups(self.blocks, reached[self.blocks] * nonzeros)

    def dense(self) -> tuple[NodeWeights, float]:
        """Train and keep all weights."""
        x, reach, degrees = self.x, self.reach, self.degrees
        features, distinct, nonzeros = self._features(0, degrees.size)
        feature_starts, weight_starts = _starts(distinct), _starts(distinct * degrees)
        weights = np.empty(weight_starts[-1], dtype=np.float32)
        arrays = (features, feature_starts, weights, weight_starts, self.bias, self.solver, self.n_features)
        pairs = max(int((nonzeros * degrees).sum()), 1)
        with self._progress(pairs) as progress:
            pieces, costs = self._pieces(self.blocks, nonzeros)
            calls = [(x, reach, piece, *arrays) for piece in pieces]
            visited = sum(run_pieces(train_siblings, calls, self.n_jobs, costs, progress=progress))
        starts = (feature_starts, features, weight_starts)
        return NodeWeights(self.tree.children, self.tree.label, *starts, weights, self.bias), visited / pairs

    def above(self, cut: float) -> tuple[CompactNodeWeights, float]:
        """Train and keep the weights above the cut, wave by wave of blocks."""
        check_cut(cut)
        x, reach, degrees = self.x, self.reach, self.degrees
        rows = (x.indptr, reach.order, reach.block_starts, reach.block_positions)
        counted = run_pieces(count_nonzeros, [(*rows, group) for group in self.groups], self.n_jobs)
        nonzeros = np.zeros(degrees.size, dtype=np.int64)
        nonzeros[self.blocks] = np.concatenate(counted)
        largest = int(degrees.max())
        numbers: np.ndarray = np.empty(0, dtype=sibling_type(largest))
        arrays = (self.bias, self.solver, self.n_features, np.float32(cut), numbers)
        kept, visited, pairs = [], 0, max(int((nonzeros * degrees).sum()), 1)
        with self._progress(pairs) as progress:
            for begin, end in _waves(nonzeros * np.maximum(degrees, LEAST_SIBLINGS)):
                wave = self.blocks[(self.blocks >= begin) & (self.blocks < end)]
                pieces, costs = self._pieces(wave, nonzeros)
                features, distinct, _ = self._features(begin, end)
                listed = (features, _starts(distinct), begin)
                calls = [(x, reach, piece, *listed, *arrays) for piece in pieces]
                found = run_pieces(train_siblings_above, calls, self.n_jobs, costs, progress=progress)
                visited += sum(visits for visits, *_ in found)
                parts = [
                    (piece.blocks, piece.bases, CompactBlocks(*rows, *entries))
                    for piece, (_, rows, *entries) in zip(pieces, found)
                ]
                kept.append(join_pieces(parts, begin, end, largest, self.n_features, self.n_jobs))
        return join_compact(self.tree.children, self.tree.label, self.bias, kept), visited / pairs

    def _features(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """List the features of the blocks ``begin .. end - 1``, and count them and the non-zeros of each block."""
        x, reach = self.x, self.reach
        rows = (x.indptr, x.indices, reach.order, reach.block_starts, reach.block_positions)
        inside = [group[(group >= begin) & (group < end)] for group in self.groups]
        inside = [group for group in inside if group.size]
        listed = run_pieces(list_features, [(*rows, group, self.n_features) for group in inside], self.n_jobs)
        blocks, ends = np.concatenate(inside) - begin, np.cumsum([own.size for *_, own in listed])
        distinct, nonzeros = np.zeros(end - begin, dtype=np.int64), np.zeros(end - begin, dtype=np.int64)
        distinct[blocks] = np.concatenate([own for own, _, _ in listed])
        nonzeros[blocks] = np.concatenate([own for _, own, _ in listed])
        features = np.empty(ends[-1], dtype=np.uint32)
        places = [features[last - own.size : last] for last, (*_, own) in zip(ends, listed)]
        run_pieces(np.copyto, [(place, own) for place, (*_, own) in zip(places, listed)], self.n_jobs)
        return features, distinct, nonzeros

    def _pieces(self, blocks: np.ndarray, nonzeros: np.ndarray) -> tuple[list[Pieces], list[float]]:
        """Cut blocks into pieces, groups of them that are run together, and return the cost of each group."""
        limit = max(int((nonzeros * self.degrees).sum()) // SPLIT_SHARE, NONZEROS_PER_GROUP)
        cut = list(_pieces(blocks, self.degrees, nonzeros, limit))
        pieces = [
            Pieces(chosen, self.firsts[chosen], bases, widths, self.degrees[chosen])
            for (chosen, bases, widths), _ in cut
        ]
        return pieces, [cost for _, cost in cut]

    @staticmethod
    def _progress(pairs: int) -> Progress:
        return Progress(float(pairs), "training PLT nodes", "nnz")


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(counts)))


def _waves(pairs: np.ndarray) -> list[tuple[int, int]]:
    """Cut the blocks into ranges of about `PAIRS_PER_WAVE`."""
    wave = np.cumsum(pairs) // PAIRS_PER_WAVE
    starts = np.flatnonzero(np.diff(wave, prepend=-1))
    return list(zip(starts.tolist(), [*starts[1:].tolist(), pairs.size]))


def _groups(blocks: np.ndarray, cost: np.ndarray) -> list[np.ndarray]:
    """Cut blocks into groups of about equal cost, without looking at the number of threads."""
    group = np.cumsum(cost) // NONZEROS_PER_GROUP
    return np.split(blocks, np.flatnonzero(np.diff(group)) + 1)


def _pieces(
    blocks: np.ndarray, degrees: np.ndarray, nonzeros: np.ndarray, limit: int
) -> Iterator[tuple[tuple[np.ndarray, np.ndarray, np.ndarray], float]]:
    """Cut the work into pieces (blocks, first siblings, numbers of siblings), the largest first.

    A block with more work than ``limit`` is split between its siblings. A few siblings take as long as fill a register.
    """
    work = nonzeros * degrees
    chosen, bases, widths = [], [], []
    for block in blocks:
        degree = int(degrees[block])
        width = degree if work[block] <= limit else max(MIN_SIBLINGS, int(degree * limit // work[block]))
        width = -(-width // MANY_SIBLINGS) * MANY_SIBLINGS if width > MIN_SIBLINGS else width
        for base in range(0, degree, width):
            chosen.append(block)
            bases.append(base)
            widths.append(min(width, degree - base))
    columns = [np.array(column, dtype=np.int64) for column in (chosen, bases, widths)]
    time = nonzeros[columns[0]] * -(-columns[2] // NUMBERS_PER_LINE)
    costly_first = np.argsort(-time, kind="stable")
    columns = [column[costly_first] for column in columns]
    cost = nonzeros[columns[0]] * columns[2]
    for group in _groups(np.arange(cost.size), NUMBERS_PER_LINE * time[costly_first]):
        yield tuple(column[group] for column in columns), float(cost[group].sum())
