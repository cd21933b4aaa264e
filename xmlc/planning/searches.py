"""How long predicting takes: the nodes of label trees that a search opens, trees of a forest, lists of neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from xmlc.planning.label_trees import Blocks
from xmlc.planning.shape import Shape

BEST = 5  # labels of a ranking
# Nodes of a level whose estimate is above t, for each true one: ABOVE / t**SPREAD, and no more than there are.
ABOVE, SPREAD = 10.0, 0.14
# How far a ranking is from the nodes of its own labels' paths (0) towards all nodes (1), in the logarithm.
OPENED = {"certified": 0.5, "exact": 0.45}
FURTHEST = {"certified": 8.0, "exact": 4.0}  # times as many nodes as on these paths, however many there are
# Seconds; the first four are in the docstrings of the kernels.
LOOKED_UP = 1.4e-9  # of a non-zero in an opened node
MULTIPLIED = 1e-10  # of a non-zero and a child
MARKED = 1.3e-9  # of a feature of a node that a batch of instances opens
TOUCHED, FAR = 9e-10, 1.6e-9  # of a training instance that each query bounds, in the cache and in memory
BOUNDED, CACHED = 22.0, 4e6  # bytes of it, and of the cache
JUMPED = 7.5e-10  # of a non-zero and a child, where few instances are at a node at a time, best node first
SCATTERED = 4.6e-9  # of a non-zero in an opened node, where rows are sparse
ESTIMATED = 2e-9  # of a child: its estimate, and where it is kept
HASHED = 3.2e-9  # of a non-zero and a child whose weights are slots of a table
ADDED = 2.6e-10  # of a posting of a list of neighbours: a third of them is touched, at 0.75
COMPARED = 4e-7  # of a neighbour: so many, and a third more, are compared
ROWS_PER_BATCH = 8192.0


class Visits(NamedTuple):
    """Nodes of a label tree that one instance's search opens, and their children, which it estimates."""

    opened: float
    children: float


def all_nodes(blocks: Iterable[Blocks]) -> Visits:
    """Return what a search without any bound visits."""
    parts = [(block.number, block.number * block.siblings) for block in blocks]
    return Visits(sum(opened for opened, _ in parts), sum(children for _, children in parts))


def above_floor(shape: Shape, blocks: Iterable[Blocks], floor: float) -> Visits:
    """Return what a search opens for all labels above a threshold (plt2016, Algorithm 4): the nodes above it.

    The estimates of a level sum up to the nodes that have a true label below them, mostly; few are large and many
    small. How many exceed a threshold depends on how sure the model is, which is not known before it is trained.
    """
    opened = children = 0.0
    below = floor**-SPREAD if floor > 0 else math.inf
    for block in blocks:
        true = block.number * float(shape.instances_of(block.labels)) / shape.n_train
        above = min(block.number, max(1.0, ABOVE * true * below))
        opened, children = opened + above, children + above * block.siblings
    return Visits(opened, children)


def in_beam(blocks: Iterable[Blocks], beam: float) -> Visits:
    """Return what a search visits that opens the ``beam`` best nodes of each level."""
    return all_nodes(block._replace(number=min(block.number, beam)) for block in blocks)


def ranked(blocks: Iterable[Blocks], search: str) -> Visits:
    """Return what an exact ranking visits: between the paths to its own labels and all nodes, not far from these paths.

    Parameters
    ----------
    blocks : iterable of Blocks
    search : {"certified", "exact"}
        As in `xmlc.models.plt.PLT`.
    """
    blocks = list(blocks)
    least, most = in_beam(blocks, BEST), all_nodes(blocks)
    share = min(OPENED[search], math.log(FURTHEST[search]) / math.log(max(most.opened / least.opened, 2)))
    opened, children = (few ** (1 - share) * many**share for few, many in zip(least, most))
    return Visits(opened, children)


def label_tree_seconds(shape: Shape, instances: float, visits: Visits, stored: float, is_sparse: bool) -> float:
    """Return the seconds of searching a label tree level by level.

    Parameters
    ----------
    shape : Shape
    instances : float
    visits : Visits
        Of one of them.
    stored : float
        Features of all nodes together, which each batch of instances marks.
    is_sparse : bool
        Whether a weight cut has made rows sparse.
    """
    found = LOOKED_UP + (SCATTERED if is_sparse else 0.0)
    each = visits.opened * shape.nonzeros * found + visits.children * (shape.nonzeros * MULTIPLIED + ESTIMATED)
    batches = max(1.0, instances / ROWS_PER_BATCH)
    return instances * each + MARKED * batches * stored


def best_first_seconds(shape: Shape, instances: float, visits: Visits) -> float:
    """Return the seconds of best-first search: few instances are at a node at a time, so that most read it again."""
    return JUMPED * instances * shape.nonzeros * visits.children


def hashed_tree_seconds(shape: Shape, instances: float, visits: Visits, missed: float) -> float:
    """Return the seconds of searching a label tree whose weights are slots of one table; see `times_in_cache`."""
    return HASHED * missed * instances * shape.nonzeros * visits.children


def neighbours_seconds(shape: Shape, instances: float, neighbours: float) -> float:
    """Return the seconds of finding each instance's nearest neighbours (kernels of `xmlc.models.nearest`)."""
    counts = shape.features.counts
    postings = shape.nonzeros * float((counts**2).mean() / counts.mean())
    touched = TOUCHED if BOUNDED * shape.n_train <= CACHED else FAR
    return instances * (ADDED * postings + touched * shape.n_train + COMPARED * neighbours)
