"""Statements of ldsm2020, tested on our records; its text has sections, figures and tables, and no numbers of pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from xmlc.papers.common.claims import Effect, by_model, claim, claims_table, multiples
from xmlc.records.base import Record
from xmlc.records.forest import ForestRecord
from xmlc.records.ranking import RankingRecord
from xmlc.records.sweep import SweepRecord
from xmlc.suites.needs import ENSEMBLES, RANKINGS, sweeps_of

LDSM = ("ldsm", "ldsm-mean")  # both optimise J


def lemma_1_holds(arity: float, lambda_1: float, lambda_2: float) -> bool:
    """Return whether Lemma 1 says of these settings which splits are best: M - 3 < lambda_2 / lambda_1."""
    return lambda_2 > (arity - 3) * lambda_1


@claim(ENSEMBLES, unit="J of the root − mean J of the nodes below, after the last pass")
def root_is_hardest(records: Sequence[ForestRecord]) -> Iterator[Effect]:
    """The objective J ends at a higher value in the root than in the nodes below it.

    Compare the root with all nodes below it, in the trees whose objectives a record tells.

    Source: Section 6, with Figure 3; Section 10, with Figure 7
    """
    for record in _told(records):
        roots = [part.mean[-1] for part in record.objectives if part.level == 1]
        below = [part for part in record.objectives if part.level > 1]
        if roots and below:
            deeper = math.fsum(part.nodes * part.mean[-1] for part in below) / sum(part.nodes for part in below)
            yield Effect(record.dataset.name, record.model, record.seed, math.fsum(roots) / len(roots) - deeper)


@claim(
    ENSEMBLES,
    unit="J, distance of the nodes to the nearer bound, negative outside",
    margin=(-0.001, "a perfect split is at the bound, but for roundings"),
)
def bounds_of_the_objective(records: Sequence[ForestRecord]) -> Iterator[Effect]:
    """Lemma 1: where lambda_2 > (M - 3) lambda_1, J lies between -lambda_1 (M - 1) and lambda_2 (M - 1).

    Take the node, and the pass, that comes nearest to a bound.

    Source: Section 3.1, Lemma 1
    """
    for record in _told(records):
        lambda_1, lambda_2, splits = _weights(record)
        if lemma_1_holds(splits + 1, lambda_1, lambda_2):
            lowest = min(min(part.minimum) for part in record.objectives)
            highest = max(max(part.maximum) for part in record.objectives)
            room = min(lowest + lambda_1 * splits, lambda_2 * splits - highest)
            yield Effect(record.dataset.name, record.model, record.seed, room)


@claim(ENSEMBLES, unit="J, lowest of all nodes after the last pass + lambda_2")
def bound_of_the_purity(records: Sequence[ForestRecord]) -> Iterator[Effect]:
    """Lemma 3, multiplied out: where lambda_1 (M - 1) / 2 <= lambda_2 <= lambda_1 (M - 1), the purity factor times a
    number is at most J - B + lambda_2. Factor, number and the balancing term B are at least 0, so no node has J below
    -lambda_2.

    Take the node whose J is lowest; docs/models.md says which step of the proof is wrong.

    Source: Section 3.1, Lemma 3, inequality 4
    """
    for record in _told(records):
        lambda_1, lambda_2, splits = _weights(record)
        if lambda_1 * splits / 2 <= lambda_2 <= lambda_1 * splits:
            lowest = min(part.minimum[-1] for part in record.objectives)
            yield Effect(record.dataset.name, record.model, record.seed, lowest + lambda_2)


def _told(records: Sequence[ForestRecord]) -> list[ForestRecord]:
    """Leave out other models, and records that tell no objectives."""
    return [record for record in records if record.model in LDSM and record.objectives]


def _weights(record: ForestRecord) -> tuple[float, float, float]:
    """Return lambda_1, lambda_2 and M - 1."""
    return record.setting("lambda_1"), record.setting("lambda_2"), record.setting("arity") - 1


R = TypeVar("R", bound=Record)

OURS, FASTXML = "ldsm", "fastxml"
OTHER_TREES = ("fastxml", "pfastrexml", "plt")
METRICS = ("p@1", "p@3", "p@5")
PRECISION = "mean of P@1, P@3, P@5"
FEW = 10  # trees, after which the paper sees little growth
FEW_ON = {("bibtex", 2): 20}  # by dataset and M (Section 5)
FEWER = 16  # times fewer nodes
SIZES = sweeps_of("max-nodes")
# By how much the deepest tree may exceed a balanced one (Section 5).
DEPTH_FACTOR = 3.0
DEPTH_FACTOR_ON = dict.fromkeys(("delicious", "amazoncat-13k", "wiki10-31k", "wikilshtc-325k", "amazon-670k"), 2.0)


def precision(metrics: Mapping[str, float]) -> float:
    """Return the mean of P@1, P@3 and P@5 in percent."""
    return 100 * math.fsum(metrics[name] for name in METRICS) / len(METRICS)


@claim(
    RANKINGS,
    unit=f"points, {PRECISION}, LdSM − the other method",
    margin=(-1.0, "the paper says matches or outperforms; up to a point below is a match here"),
)
def as_good_as_other_trees(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """LdSM ranks at least as well as other methods that are purely trees.

    Compare LdSM with each method that the suite runs.

    Source: Section 5; Table 1
    """
    for (dataset, seed), models in by_model(records).items():
        for other in OTHER_TREES:
            if {OURS, other} <= {*models}:
                difference = precision(models[OURS].metrics) - precision(models[other].metrics)
                yield Effect(dataset, other, seed, difference)


@claim(ENSEMBLES, RANKINGS, unit=f"points, {PRECISION}, LdSM − FastXML")
def better_single_tree(forests: Sequence[ForestRecord], rankings: Sequence[RankingRecord]) -> Iterator[Effect]:
    """A single tree of LdSM ranks better than a single tree of FastXML.

    Compare the first trees of the ensembles, and the single trees that a search found.

    Source: Section 5; Figures 1 and 6
    """
    for (dataset, seed), models in by_model(forests).items():
        first = {name: _score_of(record, 1) for name, record in models.items()}
        ours, other = first.get(OURS), first.get(FASTXML)
        if ours is not None and other is not None:
            yield Effect(dataset, "first of the ensemble", seed, ours - other)
    for (dataset, seed), ranked in by_model(rankings).items():
        best = [ranked.get(f"{name}-single") for name in (OURS, FASTXML)]
        ours, other = (precision(record.metrics) if record else None for record in best)
        if ours is not None and other is not None:
            yield Effect(dataset, "best of a search", seed, ours - other)


@claim(ENSEMBLES, unit=f"points, {PRECISION}, LdSM − FastXML")
def better_ensemble(records: Sequence[ForestRecord]) -> Iterator[Effect]:
    """An ensemble of LdSM's trees ranks better than one of as many of FastXML's.

    Compare the ensembles, where they have equally many trees.

    Source: Section 5; Figures 1 and 6
    """
    for (dataset, seed), models in by_model(records).items():
        if {OURS, FASTXML} <= {*models}:
            ours, other = (models[name].rows[-1] for name in (OURS, FASTXML))
            if ours.n_trees == other.n_trees:
                yield Effect(dataset, "", seed, precision(ours.metrics) - precision(other.metrics))


@claim(ENSEMBLES, unit=f"points, {PRECISION}, gain from 1 tree to 10 − gain from 10 to all")
def first_ten_trees_gain_most(records: Sequence[ForestRecord]) -> Iterator[Effect]:
    """The first ten trees of an ensemble gain more than all that follow.

    Compare the gains.

    Source: Section 5; Figures 1 and 4
    """
    for record in of_ours(records):
        one, few = _score_of(record, 1), _score_of(record, FEW)
        if one is not None and few is not None and record.rows[-1].n_trees > FEW:
            yield Effect(record.dataset.name, "", record.seed, 2 * few - one - precision(record.rows[-1].metrics))


@claim(
    ENSEMBLES,
    unit="points, − the largest gain of P@1, P@3, P@5, nDCG@3, nDCG@5",
    margin=(-2.0, '"less than 2%" in the paper'),
)
def more_trees_gain_little(records: Sequence[ForestRecord]) -> Iterator[Effect]:
    """From ten trees to all 50 (on Bibtex with M = 2 from 20) no measure gains 2 points.

    Take the largest gain of any measure.

    Source: Section 5; Figures 1 and 4
    """
    for record in of_ours(records):
        few = FEW_ON.get((record.dataset.name, int(record.setting("arity"))), FEW)
        last = record.rows[-1]
        for row in record.rows:
            if row.n_trees == few < last.n_trees:
                gain = max(last.metrics[name] - row.metrics[name] for name in row.metrics)
                yield Effect(record.dataset.name, f"from {few} trees", record.seed, -100 * gain)


@claim(ENSEMBLES, unit="times log_M K, the paper's bound − the depth")
def logarithmic_depth(records: Sequence[ForestRecord]) -> Iterator[Effect]:
    """The deepest tree of an ensemble is no deeper than 3 log_M K, for K labels and arity M; on Delicious, AmazonCat,
    Wiki10, WikiLSHTC and Amazon-670K than 2 log_M K.

    Compare the depth with the paper's bound for the dataset.

    Source: Section 5; Figure 2; Table 4
    """
    for record in of_ours(records):
        if record.trees:
            balanced = _log(record.dataset.m, record.setting("arity"))
            bound = DEPTH_FACTOR_ON.get(record.dataset.name, DEPTH_FACTOR)
            yield Effect(record.dataset.name, "", record.seed, bound - max(record.trees.depths) / balanced)


@claim(SIZES, unit="levels, 2 log_M phi − those that are added from the fewest nodes tried to the most")
def depth_grows_with_log_of_nodes(records: Sequence[SweepRecord]) -> Iterator[Effect]:
    """With phi times as many nodes a tree is less than 2 log_M phi deeper.

    Compare the depths at both ends of the sweep.

    Source: Section 5; Figures 1 and 5
    """
    for record in of_ours(records):
        first, last = record.rows[0], record.rows[-1]
        if record.hyperparameter == "max_nodes" and first.depth is not None and last.depth is not None:
            factor = float(str(last.value)) / float(str(first.value))
            allowed = 2 * _log(factor, record.setting("arity"))
            yield Effect(record.dataset.name, "", record.seed, allowed - (last.depth - first.depth))


@claim(SIZES, unit=f"points, − the gain in {PRECISION}", margin=(-3.0, '"less than 3%" in the paper'))
def shallow_trees_suffice(records: Sequence[SweepRecord]) -> Iterator[Effect]:
    """More nodes than a sixteenth of the most that were tried gain less than 3 points.

    Compare the largest trees of a sweep with those of a sixteenth of their nodes.

    Source: Section 5; Figures 1 and 5, whose numbers of nodes stand in the picture only
    """
    for record in of_ours(records):
        scores = {float(str(row.value)): precision(row.metrics) for row in record.rows}
        most = max(scores)
        if record.hyperparameter == "max_nodes" and most / FEWER in scores:
            yield Effect(record.dataset.name, "", record.seed, scores[most / FEWER] - scores[most])


@claim(RANKINGS, unit="inner products per instance, FastXML / LdSM", scale="ratio")
def fewer_inner_products(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """LdSM ranks the labels of an instance with fewer inner products than FastXML.

    Compare the counted inner products, which do not depend on a machine.

    Source: Section 5; Table 2, which has times
    """
    return multiples(records, OURS, FASTXML, lambda record: record.costs.inner_products_per_instance)


@claim(RANKINGS, unit="milliseconds per instance, FastXML / LdSM", scale="ratio", cost=True)
def faster_prediction(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """LdSM ranks the labels of an instance faster than FastXML.

    Compare the times of ranking.

    Source: Section 5; Table 2, in which it does on four of seven datasets
    """
    return multiples(records, OURS, FASTXML, lambda record: record.costs.predict_ms_per_instance)


def of_ours(records: Sequence[R]) -> list[R]:
    """Leave out the records of other models."""
    return [record for record in records if record.model == OURS]


def _log(value: float, base: float) -> float:
    from xmlc.kernels.float64 import log

    return log(float(value)) / log(float(base))


def _score_of(record: ForestRecord, n_trees: int) -> float | None:
    """Return the precision of so many of the first trees, if it was measured."""
    scores = {row.n_trees: precision(row.metrics) for row in record.rows}
    return scores.get(n_trees)


CLAIMS = (
    as_good_as_other_trees,
    better_single_tree,
    better_ensemble,
    first_ten_trees_gain_most,
    more_trees_gain_little,
    logarithmic_depth,
    depth_grows_with_log_of_nodes,
    shallow_trees_suffice,
    fewer_inner_products,
    faster_prediction,
    root_is_hardest,
    bounds_of_the_objective,
    bound_of_the_purity,
)
claims = claims_table(CLAIMS)
