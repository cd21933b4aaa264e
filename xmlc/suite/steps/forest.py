"""Run `xmlc forest`: rank with the first trees of a forest, and record the trees' depths and the nodes' objectives."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.metrics.ranking import K, precision_and_ndcg
from xmlc.metrics.resampling import resampled_ranking
from xmlc.models.abilities import Forest
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.suite.options import record_option
from xmlc.suite.results.records.forest import ForestRecord, ForestRow, LevelObjectives, PredictionThreads, TreeShapes
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.run import ModelStep, on_trained_model, rank_timed

EXEMPLARY = 2  # Number of trees for which objectives are recorded.


def rank_by_first_trees(
    model: SparseProbabilityEstimator, prepared: Prepared, sizes: Iterable[int]
) -> tuple[ForestRow, ...]:
    """Rank with the first ``n`` trees for each ``n`` in ``sizes``, and with all trees. Return a row of scores for each.

    Parameters
    ----------
    model : Forest
        A trained forest.
    prepared : Prepared
    sizes : iterable of int
        Numbers of trees to rank with. A number that is not below the forest's number of trees is ignored.

    Raises
    ------
    XmlcError
        The model is not a forest.
    """
    if not isinstance(model, Forest):
        raise XmlcError(f"found the model {type(model).__name__}, expected a forest")
    rows, Y = [], prepared.part("test")[1]
    for n in [*sorted(size for size in set(sizes) if size < model.n_trees), model.n_trees]:
        first = model.trees(n)
        labels, ms = rank_timed(first, prepared, max(K))
        metrics = precision_and_ndcg(Y, labels)
        drawn = resampled_ranking(Y, labels, metrics)
        rows.append(ForestRow(n_trees=n, metrics=metrics, predict_ms_per_instance=ms, resampled=drawn))
    return tuple(rows)


def shape_of_trees(model: SparseProbabilityEstimator) -> TreeShapes | None:
    """Return the depth and the number of nodes of each tree, or None if the estimator does not report these numbers.

    An estimator reports the numbers in two learned attributes, which are ndarrays of int64 with shape (n_trees,).
    ``tree_depths_`` is the depth of the deepest leaf of each tree. The root has depth 0. ``n_nodes_`` is the number of
    nodes of each tree, including leaves.
    """
    depths, nodes = getattr(model, "tree_depths_", None), getattr(model, "n_nodes_", None)
    if depths is None or nodes is None:
        return None
    return TreeShapes(depths=tuple(depths.tolist()), nodes=tuple(nodes.tolist()))


def objectives_by_level(model: SparseProbabilityEstimator) -> tuple[LevelObjectives, ...]:
    """Return the minimum, mean and maximum objective on each level after each epoch, for the first `EXEMPLARY` trees.

    The learned attribute ``objectives_`` of an estimator contains the objectives. For each tree, the attribute has two
    arrays over the nodes that were split. The first array is the level of each node (ndarray of int32, shape (nodes,)).
    The root has level 1. The second array is the node's objective after each epoch (ndarray of float64, shape (nodes,
    epochs)). If an estimator has no attribute ``objectives_``, the result is empty.
    """
    rows = []
    for tree, (levels, values) in enumerate(getattr(model, "objectives_", [])[:EXEMPLARY]):
        for level in np.unique(levels).tolist():
            found = values[levels == level]
            # The sum adds nodes one by one, so that the order of additions is fixed.
            summary = found.min(axis=0), sum(found) / len(found), found.max(axis=0)
            low, mean, high = (tuple(each.tolist()) for each in summary)
            rows.append(LevelObjectives(tree=tree, level=level, nodes=len(found), minimum=low, mean=mean, maximum=high))
    return tuple(rows)


@click.command(help="Rank with the first trees of a forest, and describe its trees.")
@on_trained_model("forest")
@click.option("--trees", "sizes", type=click.IntRange(min=1), multiple=True, required=True,
              help="Number of trees to rank with, next to the whole forest; repeatable.")  # fmt: skip
@record_option
def command(step: ModelStep, sizes: tuple[int, ...], out: Path) -> None:
    """Rank with each number of first trees and with all trees, and write the record."""
    step.write(
        ForestRecord,
        out,
        rows=rank_by_first_trees(step.model, step.data, sizes),
        costs=PredictionThreads(predict_threads=step.threads),
        trees=shape_of_trees(step.model),
        objectives=objectives_by_level(step.model),
    )
