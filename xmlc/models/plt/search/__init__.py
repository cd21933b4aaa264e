"""How a PLT predicts: descents through the label tree, for one instance or for many at once.

What is named here the benchmarks take, to see what a search visits.
"""

from xmlc.models.plt.search._beam import CHILDREN_AT_ONCE, empty_beams, labels_of, rank_by_beam
from xmlc.models.plt.search._best_first import empty_queues
from xmlc.models.plt.search._block_scores import block_features, block_weights, sparse_rows
from xmlc.models.plt.search._certified import MayWin, those_that_may_win
from xmlc.models.plt.search._lookup import match_features
from xmlc.models.plt.search._walk import (
    Frontier,
    children_of,
    empty_frontier,
    next_level,
    root_frontier,
    sorted_by_node,
    take_estimates,
    walk_levels,
)
from xmlc.models.plt.search.queries import Queries

__all__ = [
    "CHILDREN_AT_ONCE",
    "Frontier",
    "MayWin",
    "Queries",
    "block_features",
    "block_weights",
    "children_of",
    "empty_beams",
    "empty_frontier",
    "empty_queues",
    "labels_of",
    "match_features",
    "next_level",
    "rank_by_beam",
    "root_frontier",
    "sorted_by_node",
    "sparse_rows",
    "take_estimates",
    "those_that_may_win",
    "walk_levels",
]
