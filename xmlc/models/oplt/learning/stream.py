"""The stream goes through the kernels; where they stop because there is no room, their arrays grow."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR
from xmlc.models.oplt._extend import PENDING_FULL, TREE_FULL
from xmlc.models.oplt._pending import MOVED_WANTED, Pending, empty_pending, with_nodes
from xmlc.models.oplt._policy import reads_rows
from xmlc.models.oplt.learning._queue import DONE, QUIET, rank_and_learn_rows, take_up_rows
from xmlc.models.oplt.learning._windows import changed_and_sorted, settle_blocks
from xmlc.models.oplt.learning.thresholds import learn_rows_with_thresholds
from xmlc.models.oplt.tree import ENTRIES_USED, SLOT, SLOTS_USED, OnlineTree, Settings, grown
from xmlc.runtime.growing import provide_memory
from xmlc.runtime.parallel import Team
from xmlc.runtime.progress import Progress
from xmlc.runtime.threads import resolve_threads

INSTANCES_PER_CALL = 8192  # between two signs of progress
WINDOW_SLOTS = 1 << 22  # rows that a window reads and writes: 16 MB of their numbers
WINDOW_UPDATES = 1 << 18
ROWS_GROWING = 512  # instances taken up at a time while the tree grows
ROWS_QUIET = 2048  # and while it does not
BYTES_PER_PIECE = 1 << 23  # of memory that one thread has provided at a time
SHARES = 32  # of a window's blocks at the most, each of which one thread takes at a time
PAIRS_PER_SHARE = 1 << 18  # of a non-zero and a column, at the least


class _Window:
    """A window of the stream that is taken up and waits: its changes are made, then its blocks learn.

    Shares of the blocks may be asked for at once, on several threads; each waits until the changes are made.
    """

    def __init__(self, pending: Pending, settings: Settings, longest: int):
        self.pending, self.settings, self.longest, self.is_changed = pending, settings, longest, Event()
        self.shares: list[tuple[int, int]] = []  # none if the changes fail: their error is to be raised

    def change(self, tree: OnlineTree) -> None:
        """Make the changes, and cut the blocks that wait into shares of about as many pairs."""
        try:
            self.starts, pairs = changed_and_sorted(tree, self.pending, self.settings, self.longest)
            size = max(PAIRS_PER_SHARE, int(pairs.sum()) // SHARES + 1)
            firsts = np.flatnonzero(np.diff(np.cumsum(pairs) // size, prepend=-1)).tolist()
            self.shares = list(zip(firsts, [*firsts[1:], pairs.size]))
        finally:
            self.is_changed.set()

    def learn(self, tree: OnlineTree, share: int) -> None:
        """Do the updates of a share of the blocks, which are at most `SHARES`."""
        self.is_changed.wait()
        if share < len(self.shares):
            settle_blocks(tree, self.pending, self.starts, *self.shares[share], self.settings, self.longest)


class _Stream:
    """A tree that learns, what waits, and room for both.

    While one window changes rows, the next is taken up; as long as it brings no new labels, where the tree's policy
    reads rows.
    """

    def __init__(self, tree: OnlineTree, x: KernelCSR, settings: Settings, n_threads: int = 1):
        self.tree, self.x, self.settings, self.n_threads, self.team = tree, x, settings, n_threads, Team(n_threads)
        self.longest = int(np.diff(x.indptr).max(initial=0))
        self.n_updates, self.n_slots, self.n_moved = WINDOW_UPDATES, WINDOW_SLOTS, WINDOW_SLOTS
        self.pending, self.other = self._nothing_pending()
        self.unsettled: list[_Window] = []  # the window before, which is in ``other``
        self.reads = reads_rows(settings)
        self.used = (0, 0)  # bytes of rows and of tables, a part of the stream before

    def _nothing_pending(self) -> tuple[Pending, Pending]:
        """Return room for two windows."""
        n_nodes, values = self.tree.nodes.size, self.x.data
        pending, other = (empty_pending(n_nodes, self.n_updates, self.n_slots, self.n_moved, values) for _ in range(2))
        return pending, other._replace(reached=pending.reached)

    def settle(self) -> None:
        """Have all that waits done: while the next window is taken up, or by `finish`."""
        self.finish()
        self.unsettled = [_Window(self.pending, self.settings, self.longest)]
        self.pending, self.other = self.other, self.pending

    def finish(self) -> None:
        """Do what is left of the window before."""
        if self.unsettled:
            self.team.run(_called, self._unsettled_pieces())
            self.unsettled = []

    def _unsettled_pieces(self) -> list[tuple[Any, ...]]:
        """Return what is left of the window before, in the tree as it is now."""
        changes = [(window.change, self.tree) for window in self.unsettled]
        return changes + [(window.learn, self.tree, i) for window in self.unsettled for i in range(SHARES)]

    def make_room(self, state: int) -> int:
        """Make room for an instance that was not taken up; return how many nodes it marked."""
        if state == TREE_FULL:
            self.tree = grown(self.tree)
        marked, n_nodes = max(state, 0), self.tree.nodes.size
        moved = int(self.pending.counters[MOVED_WANTED]) if state == PENDING_FULL else 0
        more = marked > self.n_updates or marked * (self.longest + 1) > self.n_slots or moved > self.n_moved
        if state == PENDING_FULL or state > 0:
            self.settle()
        if more or n_nodes > self.pending.blocks.size:
            self.settle()
            self.finish()
            reached = self.pending.reached
            if more:
                self.n_updates = max(marked, self.n_updates)
                self.n_slots = max(marked * (self.longest + 1), self.n_slots)
                self.n_moved = max(moved, self.n_moved)
                self.pending, self.other = self._nothing_pending()
                self.pending.reached[: reached.size] = reached
            else:
                self.pending = with_nodes(self.pending, n_nodes)
                self.other = with_nodes(self.other, n_nodes)._replace(reached=self.pending.reached)
        return marked

    def learn_rows(self, y: KernelCSR, rows: np.ndarray) -> None:
        """Learn rows one by one, in the given order; some of the last may wait until `finish`."""
        start, marked = 0, 0
        while start < rows.size:
            may_grow = not self.reads or not self.unsettled
            end = start + (ROWS_GROWING if may_grow else ROWS_QUIET)
            to = (self.tree, self.pending, self.settings, self.longest, may_grow, may_grow and self.reads)
            pieces = [(take_up_rows, self.x, y, rows[:end], start, marked, *to), *self._unsettled_pieces()]
            if self.n_threads > 1:
                pieces[2:2] = self._memory_to_provide()
            ((start, state), *_), self.unsettled = self.team.run(_called, pieces), []
            if state == QUIET or (state in (DONE, TREE_FULL) and not (self.reads and may_grow)):
                self.settle()
            marked = self.make_room(state)

    def _memory_to_provide(self) -> list[tuple[Any, ...]]:
        """Return pieces that have memory provided: as much as the last part of the stream took, for the next one.

        The system takes about as long to clear it as the instances take to learn, and would do so on one thread.
        """
        rows, entries, counters = self.tree.rows, self.tree.entries, self.tree.counters
        used = (int(counters[SLOTS_USED]) * SLOT * rows.itemsize, int(counters[ENTRIES_USED]) * entries.itemsize)
        pieces = list[tuple[Any, ...]]()
        for array, now, before in zip((rows, entries), used, self.used):
            end = min(now + 2 * (now - before), array.nbytes)
            pieces += [
                (provide_memory, array, first, min(first + BYTES_PER_PIECE, end))
                for first in range(now, end, BYTES_PER_PIECE)
            ]
        self.used = used
        return pieces


def _called(kernel: Callable[..., Any], *arguments: Any) -> Any:
    return kernel(*arguments)


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
    stream = _Stream(tree, x, settings, resolve_threads(n_jobs))
    with Progress(float(order.size), title, "instances") as progress, stream.team:
        for first in range(0, order.size, INSTANCES_PER_CALL):
            part = slice(first, first + INSTANCES_PER_CALL)
            rows, start, ranked, marked = order[part], 0, 0, 0
            if k == 0:
                stream.learn_rows(y, rows)
            while k > 0 and start < rows.size:
                to = (stream.tree, stream.pending, settings, stream.longest, ranking[part], estimates[part])
                start, ranked, state = rank_and_learn_rows(x, y, rows, start, ranked, marked, *to)
                marked = stream.make_room(state)
            progress.update(rows.size)
        stream.settle()
        stream.finish()
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
