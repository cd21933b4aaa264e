"""Define the record of `xmlc forest`: scores for numbers of trees, the shapes of the trees, and
objectives.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any

from msgspec import Meta

from xmlc.metrics.resampling import OF_RANKINGS, Resampled
from xmlc.suite.provenance.environment import Environment, StepCosts
from xmlc.suite.results.records.base import (
    Count,
    Fractions,
    JsonNumber,
    Numbers,
    Quantities,
    Record,
    check_scores,
    json_keys,
)
from xmlc.suite.results.records.ranking import resampled_columns

Counts = Annotated[tuple[Count, ...], Meta(min_length=1)]
Epochs = Annotated[tuple[float, ...], Meta(min_length=1)]


class RankingRow:
    """Hold scores of rankings on the test set: all metrics of `OF_RANKINGS`, as fractions (not
    percentages).
    """

    metrics: Fractions

    def __post_init__(self) -> None:
        check_scores("metrics", self.metrics, OF_RANKINGS)


@json_keys
class ForestRow(RankingRow):
    """Hold the scores of a forest that consists of the first ``n_trees`` trees.

    ``resampled`` contains the scores on resampled test sets.
    """

    n_trees: Count
    metrics: Fractions
    predict_ms_per_instance: JsonNumber | None
    resampled: Resampled = field(default_factory=dict)


@json_keys
class TreeShapes:
    """Hold the depth and the number of nodes of each tree.

    The root has depth 0, and leaves count as nodes.
    """

    depths: Counts
    nodes: Counts


@json_keys
class LevelObjectives:
    """Hold the objectives of the nodes on one level of a tree.

    Attributes
    ----------
    tree, level : int
        Number of the tree, and level in the tree. The level of the root is 1.
    nodes : int
        Number of split nodes on the level.
    minimum, mean, maximum : tuple of float
        Minimum, mean and maximum of the objectives of the nodes on the level. Each tuple has one
        value per epoch.
    """

    tree: Count
    level: Count
    nodes: Count
    minimum: Epochs
    mean: Epochs
    maximum: Epochs


@json_keys
class PredictionThreads:
    """Hold the number of threads with which prediction times were measured."""

    predict_threads: int


@json_keys
class ForestRecord(Record, kind="forest", command="forest"):
    """Represent the record of `xmlc forest`.

    The last of the ``rows`` contains the scores of the whole forest. The field ``objectives``
    contains the objectives of only the first trees. If the estimator has no shapes of trees,
    ``trees`` is None. If the estimator has no objectives, ``objectives`` is empty.
    """

    rows: Annotated[tuple[ForestRow, ...], Meta(min_length=1)]
    costs: PredictionThreads
    trees: TreeShapes | None
    objectives: tuple[LevelObjectives, ...]
    environment: Environment
    step: StepCosts | None = None

    def resampled_numbers(self) -> dict[str, dict[str, Any]]:
        """Return the measures of all trees, and of the first n trees for each n, on resampled test
        sets.
        """
        drawn = {}
        for row in self.rows:
            drawn[f"n_trees={row.n_trees}"] = resampled_columns(
                row.metrics, row.resampled, row.metrics
            )
        return drawn | {"": drawn[f"n_trees={self.rows[-1].n_trees}"]}

    def numbers(self) -> Numbers:
        """Yield the scores and the shapes of all trees, the scores of the first n trees, and the
        last objectives.

        The names of the parts are "", such as ``n_trees=5``, and such as ``tree 0, level 1, epoch
        20``.
        """
        yield "", self.dataset_sizes | self._shapes() | _scores(self.rows[-1])
        for row in self.rows:
            yield f"n_trees={row.n_trees}", _scores(row)
        for part in self.objectives:
            yield _of_epoch(part, len(part.mean))

    def details(self) -> Numbers:
        """Yield the objectives of the epochs before the last."""
        for part in self.objectives:
            for epoch in range(1, len(part.mean)):
                yield _of_epoch(part, epoch)

    def _shapes(self) -> Quantities:
        """Return the depth of the deepest tree, next to that of a balanced tree, and the mean
        number of nodes.
        """
        from xmlc.kernels.float64 import log

        if self.trees is None:
            return {}
        arity = self.setting("arity")
        depth = max(self.trees.depths)
        nodes = self.trees.nodes
        balanced = log(float(self.dataset.m)) / log(float(arity))
        shapes = {
            "depth": depth,
            "arity": arity,
            "log_m": balanced,
            "depth_ratio": depth / balanced,
        }
        return shapes | {"nodes": sum(nodes) / len(nodes)}


def _scores(row: ForestRow) -> Quantities:
    scores = {name: 100 * value for name, value in row.metrics.items()}
    return scores | {"n_trees": row.n_trees, "predict_ms": row.predict_ms_per_instance}


def _of_epoch(part: LevelObjectives, epoch: int) -> tuple[str, Quantities]:
    place = epoch - 1
    about: Quantities = {
        "tree": part.tree,
        "level": part.level,
        "level_nodes": part.nodes,
        "epoch": epoch,
    }
    scores = {
        "minimum": part.minimum[place],
        "mean": part.mean[place],
        "maximum": part.maximum[place],
    }
    return f"tree {part.tree}, level {part.level}, epoch {epoch}", about | scores
