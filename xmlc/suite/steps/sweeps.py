"""One estimator trained with each value of a hyperparameter or on fewer instances, and forests by their first trees."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.metrics.ranking import K, precision_and_ndcg
from xmlc.metrics.resampling import resampled_ranking
from xmlc.models.abilities import Forest
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import make_estimator
from xmlc.suite.results.records.forest import ForestRow, LevelObjectives, TreeShapes
from xmlc.suite.results.records.sweep import SweepRow
from xmlc.suite.results.records.training import TrainingRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.timed import rank_timed, trained_beside


def sweep_rows(
    prepared: Prepared, base: TrainingRecord, swept: str, values: Iterable[object], threads: int, out: Path
) -> tuple[SweepRow, ...]:
    """Train on the whole training set with each value of a hyperparameter, and rank the labels of the test set.

    Parameters
    ----------
    prepared : Prepared
    base : TrainingRecord
        Its estimator, hyperparameters and seed are those of all rows; the swept one is put over them.
    swept : str
        Name of the hyperparameter.
    values : iterable
    threads : int
    out : Path
        The path of the record. Models are written one at a time to a temporary folder next to it.
    """
    rows = []
    for value in values:
        model = make_estimator(base.estimator, base.hyperparameters | {swept: value}, base.seed, threads)
        rows.append(_train_and_rank(model, value, prepared, out))
    return tuple(rows)


def _train_and_rank(model: SparseProbabilityEstimator, value: object, prepared: Prepared, out: Path) -> SweepRow:
    with trained_beside(out, model, *prepared.part("train")) as (seconds, _):
        labels, ms = rank_timed(model, prepared, max(K))
    trees = shape_of_trees(model)
    return SweepRow(
        value=value,
        metrics=precision_and_ndcg(prepared.part("test")[1], labels),
        depth=max(trees.depths) if trees else None,
        nodes=sum(trees.nodes) / len(trees.nodes) if trees else None,
        train_seconds=seconds,
        predict_ms_per_instance=ms,
    )


EXEMPLARY = 2  # trees whose objectives are recorded


def rank_by_first_trees(
    model: SparseProbabilityEstimator, prepared: Prepared, sizes: Iterable[int]
) -> tuple[ForestRow, ...]:
    """Rank with so many of the first trees alone, if there are more, and then with all.

    Parameters
    ----------
    model : Forest
        Trained.
    prepared : Prepared
    sizes : iterable of int

    Raises
    ------
    XmlcError
        The model is no forest.
    """
    if not isinstance(model, Forest):
        raise XmlcError(f"{type(model).__name__} is no forest: it cannot predict with its first trees alone")
    rows, Y = [], prepared.part("test")[1]
    for n in [*sorted(size for size in set(sizes) if size < model.n_trees), model.n_trees]:
        first = model.trees(n)
        labels, ms = rank_timed(first, prepared, max(K))
        metrics = precision_and_ndcg(Y, labels)
        drawn = resampled_ranking(Y, labels, metrics)
        rows.append(ForestRow(n_trees=n, metrics=metrics, predict_ms_per_instance=ms, resampled=drawn))
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
        mean=tuple((sum(values) / values.shape[0]).tolist()),  # node after node
        maximum=tuple(values.max(axis=0).tolist()),
    )
