"""Run `xmlc forest`.

The command ranks with the first trees of a forest, and records the shape of the trees and the
objectives of the nodes.
"""

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
from xmlc.suite.results.records.forest import (
    ForestRecord,
    ForestRow,
    LevelObjectives,
    PredictionThreads,
    TreeShapes,
)
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.run import ModelStep, on_trained_model, rank_timed

EXEMPLARY = 2  # Number of trees for which objectives are recorded.


def rank_by_first_trees(
    model: SparseProbabilityEstimator, prepared: Prepared, sizes: Iterable[int]
) -> tuple[ForestRow, ...]:
    """Rank the labels of the test set with parts of a forest, and return the scores of each part.

    A part of the forest consists of the first n trees, with n in ``sizes``. The last part of the
    forest consists of all trees.

    Parameters
    ----------
    model : Forest
        A trained forest.
    prepared : Prepared
    sizes : iterable of int
        Numbers of trees to rank with. A number is ignored if it is not smaller than the number of
        trees.

    Raises
    ------
    XmlcError
        The model is not a forest.
    """
    if not isinstance(model, Forest):
        raise XmlcError(f"found the model {type(model).__name__}, expected a forest")
    rows = []
    Y = prepared.part("test")[1]
    for n in [*sorted(size for size in set(sizes) if size < model.n_trees), model.n_trees]:
        labels, ms = rank_timed(model.trees(n), prepared, max(K))
        metrics = precision_and_ndcg(Y, labels)
        drawn = resampled_ranking(Y, labels, metrics)
        rows.append(
            ForestRow(n_trees=n, metrics=metrics, predict_ms_per_instance=ms, resampled=drawn)
        )
    return tuple(rows)


def shape_of_trees(model: SparseProbabilityEstimator) -> TreeShapes | None:
    """Return the depth and the number of nodes of each tree, or None if the estimator does not
    report these numbers.

    Depths and numbers of nodes are in two learned attributes of an estimator, which are ndarrays of
    int64 with shape (n_trees,). ``tree_depths_`` contains the depth of the deepest leaf of each
    tree, and the root has depth 0. ``n_nodes_`` contains the number of nodes of each tree, and
    leaves count as nodes.
    """
    depths = getattr(model, "tree_depths_", None)
    nodes = getattr(model, "n_nodes_", None)
    if depths is None or nodes is None:
        return None
    return TreeShapes(depths=tuple(depths.tolist()), nodes=tuple(nodes.tolist()))


def objectives_by_level(model: SparseProbabilityEstimator) -> tuple[LevelObjectives, ...]:
    """Return the minimum, mean and maximum objective of the nodes on each level of the first
    `EXEMPLARY` trees.

    Objectives are measured after each epoch. The learned attribute ``objectives_`` of an estimator
    contains the objectives. For each tree, ``objectives_`` contains two arrays about the nodes that
    were split. The first array contains the level of each node (ndarray of int32, shape (nodes,)),
    and the root has level 1. The second array contains each node's objective after each epoch
    (ndarray of float64, shape (nodes, epochs)). The result is empty if an estimator has no
    attribute ``objectives_``.
    """
    rows = []
    for tree, (levels, values) in enumerate(getattr(model, "objectives_", [])[:EXEMPLARY]):
        for level in np.unique(levels).tolist():
            found = values[levels == level]
            # The sum adds the objectives of the nodes one by one, so that the order of additions is
            # fixed.
            rows.append(
                LevelObjectives(
                    tree=tree,
                    level=level,
                    nodes=len(found),
                    minimum=tuple(found.min(axis=0).tolist()),
                    mean=tuple((sum(found) / len(found)).tolist()),
                    maximum=tuple(found.max(axis=0).tolist()),
                )
            )
    return tuple(rows)


@click.command(help="Rank with the first trees of a forest, and record the shapes of the trees.")
@on_trained_model("forest")
@click.option(
    "--trees",
    "sizes",
    type=click.IntRange(min=1),
    multiple=True,
    required=True,
    help="Number of trees to rank with, in addition to the whole forest; repeatable.",
)
@record_option
def command(step: ModelStep, sizes: tuple[int, ...], out: Path) -> None:
    """Rank with parts of the forest and with the whole forest, and write the record."""
    step.write(
        ForestRecord,
        out,
        rows=rank_by_first_trees(step.model, step.data, sizes),
        costs=PredictionThreads(predict_threads=step.threads),
        trees=shape_of_trees(step.model),
        objectives=objectives_by_level(step.model),
    )
