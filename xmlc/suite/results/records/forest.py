"""Define the record of `xmlc forest`: scores for numbers of trees, the shapes of the trees, and objectives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Self

from msgspec import Meta

from xmlc.metrics.resampling import OF_RANKINGS, Resampled, replicate
from xmlc.suite.provenance.environment import Environment, StepCosts
from xmlc.suite.results.records.base import ExperimentRecord, Fractions, JsonNumber, Numbers, Quantities, check_scores

Count = Annotated[int, Meta(ge=0)]
Counts = Annotated[tuple[Count, ...], Meta(min_length=1)]
Epochs = Annotated[tuple[float, ...], Meta(min_length=1)]


class RankingRow:
    """Hold scores of rankings on the test set: all metrics of `OF_RANKINGS`, as fractions (not percentages)."""

    metrics: Fractions

    def __post_init__(self) -> None:
        check_scores("metrics", self.metrics, OF_RANKINGS)


@dataclass(frozen=True, kw_only=True)
class ForestRow(RankingRow):
    """Hold the scores of a forest that consists of the first ``n_trees`` trees.

    ``resampled`` contains the scores on resampled test sets.
    """

    n_trees: Count
    metrics: Fractions
    predict_ms_per_instance: JsonNumber | None
    resampled: Resampled = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TreeShapes:
    """Hold the depth and the number of nodes of each tree. The root has depth 0, and leaves count as nodes."""

    depths: Counts
    nodes: Counts


@dataclass(frozen=True, kw_only=True)
class LevelObjectives:
    """Hold the objectives of the nodes on one level of a tree.

    Attributes
    ----------
    tree, level : int
        Number of the tree, and level in the tree. The level of the root is 1.
    nodes : int
        Number of split nodes on the level.
    minimum, mean, maximum : tuple of float
        Minimum, mean and maximum of the objectives of the nodes on the level. Each tuple has one value per epoch.
    """

    tree: Count
    level: Count
    nodes: Count
    minimum: Epochs
    mean: Epochs
    maximum: Epochs


@dataclass(frozen=True, kw_only=True)
class PredictionThreads:
    """Hold the number of threads with which prediction times were measured."""

    predict_threads: int


@dataclass(frozen=True, kw_only=True)
class ForestRecord(ExperimentRecord, kind="forest", command="forest"):
    """Represent the record of `xmlc forest`.

    The last of the ``rows`` contains the scores of the whole forest. The field ``objectives`` contains the objectives
    of only the first trees. If the estimator has no shapes of trees, ``trees`` is None. If the estimator has no
    objectives, ``objectives`` is empty.
    """

    rows: Annotated[tuple[ForestRow, ...], Meta(min_length=1)]
    costs: PredictionThreads
    trees: TreeShapes | None
    objectives: tuple[LevelObjectives, ...]
    environment: Environment
    step: StepCosts | None = None

    @property
    def resampled(self) -> Resampled:
        """Return the measures of the whole forest on resampled test sets (see `xmlc.metrics.resampling`).

        In records of earlier versions, the dict is empty.
        """
        return self.rows[-1].resampled

    def replicate(self, number: int) -> Self:
        """Return a copy of the record, with the measures of one resampled test set."""
        drawn = (replace(row, metrics=replicate(row.metrics, row.resampled, number)) for row in self.rows)
        return replace(self, rows=tuple(drawn))

    def numbers(self) -> Numbers:
        """Yield the shapes of the trees, if there are any, and then the scores of the first n trees for each n.

        The name of a yielded part contains n, such as ``n_trees=5``.
        """
        from xmlc.kernels.float64 import log

        if trees := self.trees:
            arity, depth = self.setting("arity"), max(trees.depths)
            balanced = log(float(self.dataset.m)) / log(float(arity))
            shapes = {"depth": depth, "arity": arity, "log_m": balanced, "depth_ratio": depth / balanced}
            sizes = {"nodes": sum(trees.nodes) / len(trees.nodes), "n_trees": len(trees.nodes)}
            yield "", self.dataset_sizes | shapes | sizes
        for row in self.rows:
            scores: Quantities = {name: 100 * value for name, value in row.metrics.items()}
            yield f"n_trees={row.n_trees}", scores | {"predict_ms": row.predict_ms_per_instance}
