"""The stream goes through the kernels; where they stop because there is no room, their arrays grow."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR
from xmlc.models.oplt._pending import Pending, empty_pending, settle_blocks, sort_by_block
from xmlc.models.oplt.learning._queue import TREE_FULL, rank_and_learn_rows, take_up_rows
from xmlc.models.oplt.learning.thresholds import learn_rows_with_thresholds
from xmlc.models.oplt.tree import OnlineTree, Settings, grown
from xmlc.runtime.parallel import run_pieces
from xmlc.runtime.progress import Progress

INSTANCES_PER_CALL = 8192  # between two signs of progress
WINDOW_SLOTS = 1 << 22  # rows that a window reads and writes: 16 MB of their numbers
WINDOW_UPDATES = 1 << 18
PAIRS_PER_PIECE = 1 << 22  # of a non-zero and a column: what one thread takes at a time


class _Stream:
    """A tree that learns, what waits, and room for both."""

    def __init__(self, tree: OnlineTree, x: KernelCSR, settings: Settings, n_jobs: int | None = 1):
        self.tree, self.x, self.settings, self.n_jobs = tree, x, settings, n_jobs
        self.longest = int(np.diff(x.indptr).max(initial=0))
        self.n_updates, self.n_slots = WINDOW_UPDATES, WINDOW_SLOTS
        self.pending = self._no_pending()

    def _no_pending(self) -> Pending:
        return empty_pending(self.tree.nodes.size, self.n_updates, self.n_slots, self.x.data)

    def settle(self) -> None:
        """Do all that waits, block by block."""
        starts, pairs = sort_by_block(self.tree, self.pending)
        piece = np.cumsum(pairs) // PAIRS_PER_PIECE
        firsts = np.flatnonzero(np.diff(piece, prepend=-1)).tolist()
        pieces = [
            (self.tree, self.pending, starts, first, end, self.settings, self.longest)
            for first, end in zip(firsts, [*firsts[1:], pairs.size])
        ]
        run_pieces(settle_blocks, pieces, self.n_jobs)
        self.pending.counters[:] = 0

    def make_room(self, state: int) -> int:
        """Make room for an instance that was not taken up, when nothing waits; return how many nodes it marked."""
        if state == TREE_FULL:
            self.tree = grown(self.tree)
        marked = max(state, 0)
        more = marked > self.n_updates or marked * (self.longest + 1) > self.n_slots
        if more:
            self.n_updates, self.n_slots = max(marked, self.n_updates), max(marked * (self.longest + 1), self.n_slots)
        if more or self.tree.nodes.size > self.pending.blocks.size:
            reached = self.pending.reached
            self.pending = self._no_pending()
            self.pending.reached[: reached.size] = reached
        return marked


def learn(
    tree: OnlineTree,
    x: KernelCSR,
    y: KernelCSR,
    order: np.ndarray,
    settings: Settings,
    k: int,
    title: str,
    n_jobs: int | None,
) -> tuple[OnlineTree, np.ndarray, np.ndarray]:
    """Learn rows one by one, in the given order, and rank the k best labels of each before it is learned.

    Unless labels are ranked, blocks learn on ``n_jobs`` threads, a window of the stream after the other.

    Returns
    -------
    tree : OnlineTree
        Changed, and longer where it had to be.
    ranking : ndarray of int32, shape (order.size, k)
    estimates : ndarray of float32, shape (order.size, k)
    """
    ranking, estimates = np.empty((order.size, k), dtype=np.int32), np.empty((order.size, k), dtype=np.float32)
    stream = _Stream(tree, x, settings, n_jobs)
    with Progress(float(order.size), title, "instances") as progress:
        for first in range(0, order.size, INSTANCES_PER_CALL):
            part = slice(first, first + INSTANCES_PER_CALL)
            rows, start, ranked, marked = order[part], 0, 0, 0
            while start < rows.size:
                to = (stream.tree, stream.pending, settings, stream.longest)
                if k > 0:
                    found = (ranking[part], estimates[part])
                    start, ranked, state = rank_and_learn_rows(x, y, rows, start, ranked, marked, *to, *found)
                else:
                    start, state = take_up_rows(x, y, rows, start, marked, *to)
                    stream.settle()
                marked = stream.make_room(state)
            progress.update(rows.size)
    return stream.tree, ranking, estimates


def learn_with_thresholds(
    tree: OnlineTree, x: KernelCSR, y: KernelCSR, settings: Settings, hits: np.ndarray, sizes: np.ndarray
) -> tuple[OnlineTree, sparse.csr_array]:
    """Learn rows one by one and predict each one's label set before; OFO's sums ``hits`` and ``sizes`` learn too.

    Returns
    -------
    tree : OnlineTree
        Changed, and longer where it had to be.
    sets : csr_array of bool, shape (rows, hits.size)
    """
    order = np.arange(x.indptr.size - 1)
    counts, found = np.zeros(order.size, dtype=np.int64), [np.zeros(0, dtype=np.int32)]
    stream, start, predicted, marked = _Stream(tree, x, settings), 0, 0, 0
    while start < order.size:
        to = (stream.tree, stream.pending, settings, stream.longest)
        start, predicted, state, sets = learn_rows_with_thresholds(
            x, y, order, start, predicted, marked, *to, hits, sizes, counts
        )
        found.append(sets)
        marked = stream.make_room(state)
    labels, indptr = np.concatenate(found), np.concatenate(([0], np.cumsum(counts)))
    result = sparse.csr_array((np.ones(labels.size, dtype=bool), labels, indptr), shape=(order.size, hits.size))
    result.sort_indices()
    return stream.tree, result
