"""Ranking by the first trees of a forest, depths of its trees, and objectives of their nodes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.measuring.prediction import predict_timed
from xmlc.metrics.ranking import K, precision_and_ndcg
from xmlc.models.base import Forest, SparseProbabilityEstimator, TellsObjectives, TellsShape
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
    """Return depths and numbers of nodes tree by tree; None where an estimator does not report them."""
    if not isinstance(model, TellsShape):
        return None
    return TreeShapes(depths=tuple(model.tree_depths_.tolist()), nodes=tuple(model.n_nodes_.tolist()))


def objectives_by_level(model: SparseProbabilityEstimator) -> tuple[LevelObjectives, ...]:
    """Summarise the objectives that the nodes of the first trees reached, level by level, after each epoch.

    Nothing for an estimator that has no objectives.
    """
    trees = model.objectives_[:EXEMPLARY] if isinstance(model, TellsObjectives) else []
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
