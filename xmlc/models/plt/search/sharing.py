"""Rankings by threads that walk a label tree together, each level's blocks shared out among them.

Where blocks have many features, a thread that takes half of the instances opens nearly as many blocks as one that takes
all: on tib-core-26k two threads by rows compute 1.2 times as long in all as one. Here each thread has its part of the
instances, and a level has two steps. Pieces of the level, ranges of nodes, are estimated for all parts, whichever
thread is free. Then each part takes its estimates in the order of the nodes, so that its collector sees what it would
see in a walk of its own (`walk_levels`), to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from xmlc.models.plt.search._beam import empty_beams, ranked_by_beam
from xmlc.models.plt.search._certified import ranked_winners, what_beams_missed
from xmlc.models.plt.search._sharing import (
    Entries,
    empty_scratch,
    estimate_entries,
    level_after,
    places_of,
    take_entries,
)
from xmlc.models.plt.search._walk import Frontier, root_frontier
from xmlc.models.plt.search.queries import Queries
from xmlc.runtime.parallel import Team, row_blocks
from xmlc.runtime.progress import Progress

Found = tuple[np.ndarray, ...]

FEWEST_FEATURES, MOST_FEATURES = 8, 128  # of all blocks, for each non-zero of a batch: between them sharing pays
LEAST_NONZEROS = 1 << 17  # of a batch: to hand out the pieces of a level takes about a millisecond
MOST_SIBLINGS = 1024  # of a block that is shared: estimates of all its instances are held at once
PIECES_PER_LEVEL = 64
PIECES_PER_PART = 4  # with fewer nodes the instances of each are shared out
ESTIMATES_AT_ONCE = 1 << 22  # of all parts: 16 MB, unless one node has more


class Part(NamedTuple):
    """A range of instances with the state of its search.

    Attributes
    ----------
    start : int
        The first instance.
    frontier : Frontier
        The nodes to expand next, rows counted from ``start``.
    places : int64 (n + 1,)
        See `places_of`.
    collector : NamedTuple
        See `take_estimates`.
    inner_products : int64 (rows,)
        Node classifiers evaluated so far.
    """

    start: int
    frontier: Frontier
    places: np.ndarray
    collector: Any
    inner_products: np.ndarray


class Level:
    """The entries that all parts have on one level, cut into pieces.

    Attributes
    ----------
    entries : Entries
    starts : int64 (parts + 1,)
        Where those of each part start.
    cuts : int64 (pieces + 1, parts)
        Where each range of nodes starts among the entries of each part, counted from its first.
    sizes : int64 (pieces + 1, parts)
        How many estimates stand before.
    """

    def __init__(self, parts: Sequence[Part]):
        frontiers = [part.frontier for part in parts]
        self.entries = Entries(
            np.concatenate([own.rows + np.int32(part.start) for own, part in zip(frontiers, parts, strict=True)]),
            np.concatenate([own.nodes for own in frontiers]),
            np.concatenate([part.places[:-1] for part in parts]),
        )
        self.starts = np.cumsum([0] + [own.nodes.size for own in frontiers])
        low, high = int(self.entries.nodes.min()), int(self.entries.nodes.max()) + 1
        nodes = np.unique(np.linspace(low, high, PIECES_PER_LEVEL + 1).astype(np.int32))
        self.cuts = np.stack([np.searchsorted(own.nodes, nodes) for own in frontiers], axis=1)
        self.sizes = np.stack([part.places[cut] for part, cut in zip(parts, self.cuts.T, strict=True)], axis=1)

    def portions(self) -> Iterator[tuple[int, int]]:
        """Yield the first piece and the last plus one of each portion whose estimates are held at once."""
        first, totals = 0, self.sizes.sum(axis=1)
        while first + 1 < totals.size:
            fitting = int(np.searchsorted(totals, totals[first] + ESTIMATES_AT_ONCE, side="right")) - 1
            last = max(fitting, first + 1)
            yield first, last
            first = last

    def offsets(self, first: int, last: int) -> tuple[np.ndarray, int]:
        """Return the offset of each part's estimates in those of a portion, and how many the portion has."""
        own = self.sizes[last] - self.sizes[first]
        return np.cumsum(own) - own - self.sizes[first], int(own.sum())

    def pieces(self, first: int, last: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return of each piece of a portion, the largest first, the first entry of each part and the last plus one."""
        lows, highs = self.cuts[first:last], self.cuts[first + 1 : last + 1]
        sizes = self.sizes[first + 1 : last + 1] - self.sizes[first:last]
        n_parts = lows.shape[1]
        if last - first < PIECES_PER_PART * n_parts:
            lows = np.repeat(lows, n_parts, axis=0)
            own = np.tile(np.eye(n_parts, dtype=bool), (last - first, 1))
            highs, sizes = np.where(own, np.repeat(highs, n_parts, axis=0), lows), sizes.reshape(-1, 1)
        order = np.argsort(-sizes.sum(axis=1), kind="stable")
        return list(zip(self.starts[:-1] + lows[order], self.starts[:-1] + highs[order], strict=True))


class SharedWalk:
    """Threads that walk a tree together, and the memory that they need.

    Parameters
    ----------
    queries : Queries
    nodes : NodeWeights or CompactNodeWeights
    team : Team
        As many threads as the queries have.
    """

    def __init__(self, queries: Queries, nodes: Any, team: Team):
        self._queries, self.nodes, self.run = queries, nodes, team.run
        self._free = [empty_scratch(queries.shape) for _ in range(queries.n_threads)]
        self._estimates = np.empty(0, dtype=np.float32)

    def part(self, start: int, frontier: Frontier, collector: Any, inner_products: np.ndarray) -> Part:
        """Return the part of some instances that begins a walk with a frontier."""
        return Part(start, frontier, places_of(frontier, self.nodes), collector, inner_products)

    def walk(self, parts: Sequence[Part]) -> list[Part]:
        """Estimate nodes level by level until no part has a node to expand."""
        while any(part.frontier.rows.size for part in parts):
            level = Level(parts)
            for first, last in level.portions():
                offsets, size = level.offsets(first, last)
                if size > self._estimates.size:
                    self._estimates = np.empty(size, dtype=np.float32)
                self.run(self._estimate, [(level.entries, *piece, offsets) for piece in level.pieces(first, last)])
                spans = zip(parts, level.cuts[first], level.cuts[last], offsets, strict=True)
                is_last = last + 1 == len(level.cuts)
                parts = self.run(self._take, [(part, *map(int, span), is_last) for part, *span in spans])
        return list(parts)

    def _estimate(self, entries: Entries, lows: np.ndarray, highs: np.ndarray, offsets: np.ndarray) -> None:
        """Write the estimates of one piece, with a scratch that no other thread uses now."""
        x, link, scratch = self._queries.x, self._queries.link, self._free.pop()
        estimate_entries(x, entries, lows, highs, offsets, self.nodes, link, scratch, self._estimates)
        self._free.append(scratch)

    def _take(self, part: Part, low: int, high: int, offset: int, is_last: bool) -> Part:
        """Hand a part its estimates of a portion; after the last one bring it to the next level."""
        start, frontier, places, collector, inner_products = part
        span = low, high, places, offset
        collector = take_entries(collector, inner_products, frontier, *span, self.nodes, self._estimates)
        if is_last:
            frontier, places, collector = level_after(collector, self.nodes)
        return Part(start, frontier, places, collector, inner_products)


def sharing_pays(queries: Queries, nodes: Any) -> bool:
    """Tell whether threads rank in less time if they share out blocks rather than instances.

    Sharing writes all estimates of a level and reads them again, 3 to 7 % of the time on one thread. Opening a block
    marks its features and reads rows that no cache holds. Where many instances meet in each block that hardly counts;
    where few meet, threads open different blocks anyway. Each level is handed out by itself, which a short ranking is
    not worth: OPLT's deep trees of two children a node took twice as long on delicious.
    """
    nonzeros, features = queries.x.indices.size / max(len(queries.batches()), 1), nodes.features.size
    pays = nonzeros >= LEAST_NONZEROS and FEWEST_FEATURES * nonzeros < features < MOST_FEATURES * nonzeros
    return pays and queries.n_threads > 1 and queries.shape[2] <= MOST_SIBLINGS


def rank_shared(queries: Queries, nodes: Any, k: int, beam: int, certifies: bool) -> Found:
    """Rank labels as `rank_certified`, or, unless ``certifies``, as `rank_by_beam`, for all instances.

    Parameters
    ----------
    queries : Queries
    nodes : NodeWeights or CompactNodeWeights
    k, beam : int
    certifies : bool

    Returns
    -------
    tuple of ndarray
        What that kernel returns.
    """
    rank, blocks = ranked_certified if certifies else ranked_in_beam, queries.batches()
    shown, found = Progress(float(queries.n_rows), queries.title, "instances", shown=bool(queries.title)), list[Found]()
    with shown as progress, Team(queries.n_threads) as team:
        walk = SharedWalk(queries, nodes, team)
        for first, _ in row_blocks(len(blocks), queries.n_threads):
            together = blocks[first : first + queries.n_threads]
            found += rank(walk, together, k, beam)
            progress.update(float(together[-1][1] - together[0][0]))
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


def ranked_in_beam(walk: SharedWalk, blocks: Sequence[tuple[int, int]], k: int, beam: int) -> list[Found]:
    """Return what `rank_by_beam` does for some blocks of instances, one after the other."""
    parts = walk.walk(beginnings(walk, blocks, k, beam, False))
    ranked = walk.run(ranked_by_beam, [(part.collector, walk.nodes.label) for part in parts])
    return [(*own, part.inner_products) for own, part in zip(ranked, parts, strict=True)]


def ranked_certified(walk: SharedWalk, blocks: Sequence[tuple[int, int]], k: int, beam: int) -> list[Found]:
    """Return what `rank_certified` does for some blocks of instances, one after the other."""
    parts = walk.walk(beginnings(walk, blocks, k, beam, True))
    missed = walk.run(what_beams_missed, [(part.collector,) for part in parts])
    parts = walk.walk(
        [
            walk.part(part.start, frontier, collector, part.inner_products)
            for part, (frontier, collector, _) in zip(parts, missed, strict=True)
        ]
    )
    ranked = walk.run(ranked_winners, [(part.collector, walk.nodes.label) for part in parts])
    whole = zip(ranked, missed, parts, strict=True)
    return [(*own, by_beam, part.inner_products) for own, (*_, by_beam), part in whole]


def beginnings(walk: SharedWalk, blocks: Sequence[tuple[int, int]], k: int, beam: int, lists: bool) -> list[Part]:
    """Return a part of each block of instances before the root is estimated."""
    return [
        walk.part(start, root_frontier(n), empty_beams(n, k, beam, lists), np.zeros(n, dtype=np.int64))
        for start, n in ((start, end - start) for start, end in blocks)
    ]
