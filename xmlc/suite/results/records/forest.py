"""The record of `xmlc forest`: scores by number of trees, shapes of the trees, and objectives."""

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
    """All metrics of `OF_RANKINGS` on the test set, as fractions."""

    metrics: Fractions

    def __post_init__(self) -> None:
        check_scores("metrics", self.metrics, OF_RANKINGS)


@json_keys
class ForestRow(RankingRow):
    """The scores of the first ``n_trees`` trees."""

    n_trees: Count
    metrics: Fractions
    predict_ms_per_instance: JsonNumber | None
    resampled: Resampled = field(default_factory=dict)


@json_keys
class TreeShapes:
    """The depth and the number of nodes of each tree, with depth 0 for the root and leaves as
    nodes.
    """

    depths: Counts
    nodes: Counts


@json_keys
class LevelObjectives:
    """The objectives of the split nodes on a tree's level, by epoch, with the root on level 1."""

    tree: Count
    level: Count
    nodes: Count
    minimum: Epochs
    mean: Epochs
    maximum: Epochs


@json_keys
class ForestRecord(Record, kind="forest", command="forest"):
    """The record of `xmlc forest`.

    The last of the ``rows`` is for the whole forest, but ``objectives`` cover only the first trees.
    Without shapes or objectives, ``trees`` is None or ``objectives`` is empty. ``costs`` has the
    number of threads of timed predictions, ``predict_threads``.
    """

    rows: Annotated[tuple[ForestRow, ...], Meta(min_length=1)]
    costs: dict[str, int]
    trees: TreeShapes | None
    objectives: tuple[LevelObjectives, ...]
    environment: Environment
    step: StepCosts | None = None

    def resampled_numbers(self) -> dict[str, dict[str, Any]]:
        """Return measures of all trees, and of the first n, on resampled test sets."""
        drawn = {}
        for row in self.rows:
            drawn[f"n_trees={row.n_trees}"] = resampled_columns(
                row.metrics, row.resampled, row.metrics
            )
        return drawn | {"": drawn[f"n_trees={self.rows[-1].n_trees}"]}

    def numbers(self) -> Numbers:
        """Yield scores and shapes of all trees, named "", scores of the first n, such as
        ``n_trees=5``, and the last objectives, such as ``tree 0, level 1, epoch 20``.
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
