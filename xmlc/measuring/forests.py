"""Ranking by the first trees of a forest, depths of its trees, and objectives of their nodes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.measuring.prediction import predict_timed
from xmlc.metrics.ranking import K, precision_and_ndcg
from xmlc.models.base import Forest, SparseProbabilityEstimator
from xmlc.records.forest import ForestRow, LevelObjectives, TreeShapes

EXEMPLARY = 2  # trees whose objectives are recorded


def rank_by_first_trees(
    model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array, sizes: Iterable[int]
) -> tuple[ForestRow, ...]:
    """Rank with so many of the first trees alone, if there are more, and then with all.

    Parameters
    ----------
    model : Forest
        Trained.
    X : csr_array, shape (n, d)
    Y : boolean csr_array, shape (n, m)
        The truth.
    sizes : iterable of int

    Raises
    ------
    XmlcError
        The model is no forest.
    """
    if not isinstance(model, Forest):
        raise XmlcError(f"{type(model).__name__} is no forest: it cannot predict with its first trees alone")
    rows = []
    for n in [*sorted(size for size in set(sizes) if size < model.n_trees), model.n_trees]:
        first = model.trees(n)
        (labels, _), ms = predict_timed(first, X, partial(first.predict_top_k, k=max(K)))
        rows.append(ForestRow(n_trees=n, metrics=precision_and_ndcg(Y, labels), predict_ms_per_instance=ms))
    return tuple(rows)


def shape_of_trees(model: SparseProbabilityEstimator) -> TreeShapes | None:
    """Return depths and numbers of nodes tree by tree; None where a fitted estimator does not report them.

    It reports them by two learned attributes, ndarrays of int64, shape (n_trees,): ``tree_depths_``, depth of the
    deepest leaf, a root's being 0; ``n_nodes_``, number of nodes, leaves included.
    """
    depths, nodes = getattr(model, "tree_depths_", None), getattr(model, "n_nodes_", None)
    if depths is None or nodes is None:
        return None
    return TreeShapes(depths=tuple(depths.tolist()), nodes=tuple(nodes.tolist()))


def objectives_by_level(model: SparseProbabilityEstimator) -> tuple[LevelObjectives, ...]:
    """Summarise the objectives that the nodes of the first trees reached, level by level, after each epoch.

    A fitted estimator has them as a learned attribute: ``objectives_``, for each tree the level of each node that was
    split (ndarray of int32, shape (nodes,), the root's being 1) and its objective after each epoch (ndarray of float64,
    shape (nodes, epochs)). Nothing for one without it.
    """
    trees = getattr(model, "objectives_", [])[:EXEMPLARY]
    return tuple(
        _summary(tree, int(level), values[levels == level])
        for tree, (levels, values) in enumerate(trees)
        for level in np.unique(levels)
    )


def _summary(tree: int, level: int, values: np.ndarray) -> LevelObjectives:
    return LevelObjectives(
        tree=tree,
        level=level,
        nodes=values.shape[0],
        minimum=tuple(values.min(axis=0).tolist()),
        mean=tuple(values.mean(axis=0).tolist()),
        maximum=tuple(values.max(axis=0).tolist()),
    )
