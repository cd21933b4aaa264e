"""`xmlc forest`: rankings by the first trees of a forest, shapes of trees, and objectives of
nodes.
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
    TreeShapes,
)
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.run import TrainedStep, on_trained_model, rank_timed

EXEMPLARY = 2  # trees for which objectives are recorded


def rank_by_first_trees(
    model: SparseProbabilityEstimator, prepared: Prepared, sizes: Iterable[int]
) -> tuple[ForestRow, ...]:
    """Rank the labels of the test set with parts of a forest, and return the scores of each part.

    The parts are the first n trees, for those ``sizes`` below the number of trees, and then the
    whole forest.
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
    """Return the depth and the number of nodes of each tree, or None if the estimator lacks them.

    ``tree_depths_`` has the depth of the deepest leaf, with 0 for the root, and ``n_nodes_`` counts
    leaves, too. Both are int64 of shape (n_trees,).
    """
    depths = getattr(model, "tree_depths_", None)
    nodes = getattr(model, "n_nodes_", None)
    if depths is None or nodes is None:
        return None
    return TreeShapes(depths=tuple(depths.tolist()), nodes=tuple(nodes.tolist()))


def objectives_by_level(model: SparseProbabilityEstimator) -> tuple[LevelObjectives, ...]:
    """Return the minimum, mean and maximum objective on each level of the first `EXEMPLARY` trees.

    The learned attribute ``objectives_``, if any, has two arrays for each tree, about the nodes
    that were split: the level of each node (int32, shape (nodes,)), with 1 for the root, and its
    objective after each epoch (float64, shape (nodes, epochs)).
    """
    rows = []
    for tree, (levels, values) in enumerate(getattr(model, "objectives_", [])[:EXEMPLARY]):
        for level in np.unique(levels).tolist():
            found = values[levels == level]
            # `sum` fixes the order of additions.
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
def command(step: TrainedStep, sizes: tuple[int, ...], out: Path) -> None:
    """Write the record."""
    step.write(
        ForestRecord,
        out,
        rows=rank_by_first_trees(step.model, step.data, sizes),
        costs={"predict_threads": step.threads},
        trees=shape_of_trees(step.model),
        objectives=objectives_by_level(step.model),
    )
