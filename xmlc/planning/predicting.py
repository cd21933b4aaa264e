"""How long a model of each estimator takes to predict some instances."""

from __future__ import annotations

from xmlc.estimator import Hyperparameters
from xmlc.planning import searches
from xmlc.planning.estimators import LABEL_TREES, blocks_of, kind_of, number, times_in_cache
from xmlc.planning.forests import fastxml_search, ldsm_search
from xmlc.planning.shape import Shape

ENTRY_OF_SPARSE = 16.0  # bytes of a weight that a cut has left, its sibling, feature and place


def predicting_seconds(
    estimator: str,
    given: Hyperparameters,
    shape: Shape,
    instances: float,
    floor: float | None = None,
    model_bytes: float = 0.0,
) -> float:
    """Return the seconds of predicting some instances.

    Parameters
    ----------
    estimator : str
    given : dict
        Hyperparameters, defaults included.
    shape : Shape
        Of the data that it was trained on.
    instances : float
    floor : float or None
        Labels whose estimates exceed it; None ranks.
    model_bytes : float
    """
    kind = kind_of(estimator)
    if kind == "fastxml":
        n_trees, max_leaf = number(given, "n_trees", 1.0), int(number(given, "max_leaf"))
        return instances * n_trees * fastxml_search(shape, max_leaf, int(number(given, "labels_per_leaf")))
    if kind == "ldsm":
        max_nodes, arity = int(number(given, "max_nodes")), int(number(given, "arity"))
        return (
            instances * number(given, "n_trees", 1.0) * ldsm_search(shape, max_nodes, arity, bool(given.get("prune")))
        )
    if kind == "swnn":
        neighbours = number(given, "S", 75.0)
        return searches.neighbours_seconds(shape, instances, neighbours)
    if kind in LABEL_TREES:
        return _in_label_trees(given, shape, instances, floor, model_bytes)
    if kind in ("br", "pcc"):
        return searches.MULTIPLIED * instances * shape.nonzeros * shape.m
    return 0.0


def _search(given: Hyperparameters) -> str:
    """Return how label trees are ranked; hashed weights best first, and Parabel, which names no search, by beam."""
    if given.get("hash_bits") is not None:
        return "exact"
    if "search" in given:
        return str(given["search"])
    return "beam" if given.get("beam") is not None else "exact"


def _in_label_trees(
    given: Hyperparameters, shape: Shape, instances: float, floor: float | None, model_bytes: float
) -> float:
    blocks = list(blocks_of(given, shape))
    every, search = searches.all_nodes(blocks), _search(given)
    if floor is not None:
        visits = searches.above_floor(shape, blocks, floor)
    elif search == "beam":
        visits = searches.in_beam(blocks, number(given, "beam", 10.0))
    else:
        visits = searches.ranked(blocks, search)
    n_trees = number(given, "n_trees", 1.0)
    if given.get("hash_bits") is not None:
        return n_trees * searches.hashed_tree_seconds(shape, instances, visits, times_in_cache(given))
    if floor is None and search == "exact":
        return n_trees * searches.best_first_seconds(shape, instances, visits)
    is_sparse = given.get("weight_cut") is not None
    entry = ENTRY_OF_SPARSE if is_sparse else 4.0 * (every.children / every.opened + 1)
    stored = model_bytes / entry / n_trees
    return n_trees * searches.label_tree_seconds(shape, instances, visits, stored, is_sparse)
