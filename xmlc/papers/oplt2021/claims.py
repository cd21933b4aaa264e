"""Statements of oplt2021, tested on our records; pages are counted from the paper's first.

Models are compared at equal numbers of passes, dataset by dataset, seed by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xmlc.papers.common.claims import Effect, by_model, claim, claims_table
from xmlc.papers.tables.titles import model_title, without_passes
from xmlc.records.base import Record
from xmlc.records.progressive import ProgressiveRecord
from xmlc.records.ranking import RankingRecord
from xmlc.records.sweep import SweepRecord, SweepRow
from xmlc.suites.needs import FEW_SHOT_STREAMS, RANKINGS, sweeps_of

WIKI10 = 30_938  # labels; the paper calls its datasets with more of them the larger ones
SINGLE = 1.0  # label of an instance, in few-shot data
ONLINE = ("oplt-r", "oplt-b")
PROGRAM, PRINTED = "ratio", "printed"  # scores of best-greedy, by their names in OPLT
POINTS = "points of P@1"
BALANCES = sweeps_of("balance")


@claim(
    RANKINGS,
    unit=f"{POINTS}, OPLT − IPLT",
    margin=(
        -0.53,
        "the most by which the paper's Table 2 has a policy behind (OPLT-R on Wiki10) where it calls both as good",
    ),
)
def as_good_as_offline(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """Up to Wiki10's number of labels, both online policies are as good as a tree made before (IPLT).

    Compare the P@1 of both policies with IPLT's on datasets up to Wiki10's size.

    Source: Section 5.1, page 7; Table 2
    """
    few = [record for record in records if record.dataset.m <= WIKI10]
    return _differences(few, ONLINE, "iplt")


@claim(RANKINGS, unit=f"{POINTS}, IPLT − OPLT-B")
def behind_offline_on_large(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """With more labels, best-greedy trees are worse than a tree made before (IPLT).

    Compare P@1 on datasets with more labels than Wiki10.

    Source: Section 5.1, page 7; Table 2
    """
    many = [record for record in records if record.dataset.m > WIKI10]
    return _differences(many, ("iplt",), "oplt-b")


@claim(RANKINGS, unit=f"{POINTS}, OPLT-B − OPLT-R")
def greedy_over_random(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """On multi-label data the best-greedy policy has a higher P@1 than the random one.

    Compare the P@1 of the two policies.

    Source: Section 5.1, page 7 (of the larger datasets); Table 2 (of all)
    """
    return _differences(records, ("oplt-b",), "oplt-r")


@claim(
    RANKINGS,
    unit=f"{POINTS}, OPLT-W − IPLT",
    margin=(
        -1.57,
        "the most by which the paper's Table 2 has it behind (on WikiLSHTC), which the paper calls almost as good",
    ),
)
def warm_start_as_good_as_offline(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """A warm start on 10 % of the instances makes OPLT almost as good as IPLT.

    Compare the P@1 of OPLT-W and IPLT.

    Source: Section 5.1, page 7; Table 2
    """
    return _differences(records, ("oplt-w",), "iplt")


@claim(RANKINGS, unit=f"{POINTS}, OPLT-W − OPLT-B")
def warm_start_helps(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """A warm start on 10 % of the instances raises the P@1 of the best-greedy policy.

    Compare the P@1 of OPLT-W and OPLT-B.

    Source: Section 5.1, page 7; Table 2
    """
    return _differences(records, ("oplt-w",), "oplt-b")


@claim(RANKINGS, unit="processor seconds, OPLT / IPLT", scale="ratio", cost=True)
def trains_slower_than_offline(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """Both online policies take more processor time to train than IPLT.

    Compare the processor seconds of training.

    Source: Section 5.1, page 8; Table 2
    """

    def ratio(online: RankingRecord, offline: RankingRecord) -> float | None:
        ours, others = online.costs.train_cpu_seconds, offline.costs.train_cpu_seconds
        return ours / others if ours and others else None

    return _pairs(_multi_label(records), ONLINE, "iplt", ratio)


@claim(RANKINGS, unit="points of accuracy, OPLT − CMT")
def dominates_memory_tree(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """On texts with few examples of each class (WikiPara) OPLT is more accurate than CMT.

    Compare the accuracy of both policies with CMT's on the test set.

    Source: Section 5.2, page 8; Table 3
    """
    return _pairs(_texts(records), ONLINE, "cmt", _difference)


@claim(FEW_SHOT_STREAMS, unit="points of accuracy, OPLT − CMT")
def dominates_memory_tree_online(records: Sequence[ProgressiveRecord]) -> Iterator[Effect]:
    """On a stream of such texts, each predicted before it is learned, OPLT is more accurate than CMT.

    Compare the accuracy over the whole stream.

    Source: Section 5.2, page 8; Figure 2
    """
    for (dataset, seed), models in by_model(record for record in records if "wikipara" in record.dataset.name).items():
        rival = models.get("cmt-1-pass")
        for name in (f"{base}-1-pass" for base in ONLINE):
            if rival and name in models:
                accuracies = (models[name].rows[-1].accuracy, rival.rows[-1].accuracy)
                yield Effect(dataset, name, seed, 100 * (accuracies[0] - accuracies[1]))


@claim(
    BALANCES,
    unit="depth, least possible / as built",
    margin=(0.5, "a tree of more than twice the least depth is not called close to balanced"),
    scale="ratio",
)
def printed_score_keeps_balance(records: Sequence[SweepRecord]) -> Iterator[Effect]:
    """With the score as the paper prints it, best-greedy builds trees close to balanced.

    Compare the depth of trees of the printed score with the least depth that has room for all labels.

    Source: Section 4.3, page 6; Algorithm 8
    """
    for record, rows in _by_score(records):
        if depth := rows[PRINTED].depth:
            yield Effect(record.dataset.name, "", record.seed, least_depth(record) / depth)


@claim(BALANCES, unit=f"{POINTS}, the less deep tree − the deeper one")
def balance_helps(records: Sequence[SweepRecord]) -> Iterator[Effect]:
    """More balanced trees have a higher P@1: here those of the authors' program, against the printed score's.

    Compare the P@1 of trees of the two scores, where one is deeper.

    Source: Section 5, page 7; Appendix F
    """
    for record, rows in _by_score(records):
        program, printed = (rows[score] for score in (PROGRAM, PRINTED))
        if program.depth and printed.depth and program.depth < printed.depth:
            yield Effect(record.dataset.name, "", record.seed, 100 * (program.metrics["p@1"] - printed.metrics["p@1"]))


def _differences(records: Sequence[RankingRecord], models: Sequence[str], rival: str) -> Iterator[Effect]:
    """Yield the differences of models and a rival in P@1, on multi-label data."""
    return _pairs(_multi_label(records), models, rival, _difference)


def _pairs(
    records: Sequence[RankingRecord],
    models: Sequence[str],
    rival: str,
    compare: Callable[[RankingRecord, RankingRecord], float | None],
) -> Iterator[Effect]:
    """Yield comparisons of models with a rival of as many passes, where both have numbers."""
    for (dataset, seed), found in by_model(records).items():
        runs = {without_passes(name): record for name, record in found.items()}
        for (base, passes), record in runs.items():
            other = runs.get((rival, passes))
            effect = compare(record, other) if other and base in models else None
            if effect is not None:
                yield Effect(dataset, model_title(record.model), seed, effect)


def _difference(one: RankingRecord, other: RankingRecord) -> float:
    return 100 * (one.metrics["p@1"] - other.metrics["p@1"])  # which is the accuracy, where instances have one label


def _multi_label(records: Sequence[RankingRecord]) -> list[RankingRecord]:
    """Return the records of multi-label data whose labels do not all fit below one node, where no policy decides."""
    return [record for record in records if record.dataset.labels_per_instance != SINGLE and _has_levels(record)]


def _has_levels(record: Record) -> bool:
    largest = record.hyperparameters.get("max_leaf")
    return not isinstance(largest, int) or record.dataset.m > largest


def _by_score(records: Sequence[SweepRecord]) -> Iterator[tuple[SweepRecord, dict[object, SweepRow]]]:
    """Yield sweeps over both scores of best-greedy, where a tree has levels at all, with their rows by score."""
    for record in records:
        rows = {row.value: row for row in record.rows}
        if record.hyperparameter == "balance" and {PROGRAM, PRINTED} <= {*rows} and _has_levels(record):
            yield record, rows


def least_depth(record: SweepRecord) -> int:
    """Return the depth of the least deep tree with room for all labels: `max_leaf` below a node, `arity` above."""
    depth, room = 1, record.setting("max_leaf")
    while room < record.dataset.m:
        depth, room = depth + 1, room * record.setting("arity")
    return depth


def _texts(records: Sequence[RankingRecord]) -> list[RankingRecord]:
    return [record for record in records if "wikipara" in record.dataset.name]


CLAIMS = (
    as_good_as_offline,
    behind_offline_on_large,
    greedy_over_random,
    warm_start_as_good_as_offline,
    warm_start_helps,
    trains_slower_than_offline,
    dominates_memory_tree,
    dominates_memory_tree_online,
    printed_score_keeps_balance,
    balance_helps,
)
claims = claims_table(CLAIMS)
