"""Test the statements of swnn2018 on our records.

The paper has no page numbers, so the sources of statements are sections and tables.

All trials of the search of Section 4.3 are scored on the same splits. Paired differences of instances give the standard
error of the difference between two trials. Two trials with equal rankings give no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xmlc.suite.config.planned import SEARCHES, STATISTICS, Where
from xmlc.suite.papers.claims import Claims, Scope, datasets, pairs, ranked_apart
from xmlc.suite.papers.claims_table import claims_table
from xmlc.suite.papers.outcome import Effect
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.records.search import SearchRecord, Trial, mean_precision
from xmlc.suite.results.records.statistics import Statistics

statements = Claims.of("swnn2018")

OURS, ONE_VERSUS_REST = "swnn-searched", "br"
# One-versus-rest is trained only on small datasets, because only claims need this model.
BESIDE_BR = Where("ranking", "full", beside=(ONE_VERSUS_REST, 500))
METRICS = ("p@1", "p@3", "p@5")
SIZES = (25, 50, 75)  # Values of S in the second stage of the search.

Setting = tuple[object, object, object]  # The hyperparameters S, alpha and beta of a trial.

MEDIAN = 28
FIVE = ("amazoncat-13k", "wiki10-31k", "wikilshtc-325k", "amazon-670k", "amazon-3m")
THE_SIX = datasets("the paper's six datasets", *FIVE, "delicious-200k")
BUT_ONE = datasets("the paper's datasets except Delicious-200K, on which the best beta is 0", *FIVE)


MORE_LABELS: Scope = (
    "datasets with more labels than training instances",
    lambda record: record.dataset.m > record.dataset.n_train,
)
FEWER_LABELS: Scope = (
    "datasets with at most as many labels as training instances",
    lambda record: record.dataset.m <= record.dataset.n_train,
)


@statements.claim("as-good-as-one-versus-rest", BESIDE_BR, about=MORE_LABELS)
def as_good_as_one_versus_rest(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """Compare SWNN and one-versus-rest by the precision of their rankings."""
    for ours, other in pairs(records, (OURS,), (ONE_VERSUS_REST,)):
        yield ranked_apart("", ours, other, *METRICS)


@statements.claim("worse-with-many-instances", BESIDE_BR, about=FEWER_LABELS)
def worse_with_many_instances(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """Compare one-versus-rest and SWNN by the precision of their rankings.

    The claim contradicts Section 5, according to which SWNN suits datasets with fewer labels best.
    """
    for other, ours in pairs(records, (ONE_VERSUS_REST,), (OURS,)):
        yield ranked_apart("", other, ours, *METRICS)


@statements.claim("jaccard-helps", SEARCHES, about=BUT_ONE)
def jaccard_helps(searches: Sequence[SearchRecord]) -> Iterator[Effect]:
    """Compare the best trial with beta = 1 and the best trial with beta = 0.

    Values of alpha that were not tried with both values of beta are left out.
    """
    for search in searches:
        first, tried = _tried(search)
        common = [alpha for S, alpha, beta in tried if (S, beta) == (first, 1) and (S, alpha, 0) in tried]
        if common:
            one, other = (max((tried[first, alpha, beta] for alpha in common), key=mean_precision) for beta in (1, 0))
            yield from _effect(search, one, other)


@statements.claim("weighted-votes-help", SEARCHES)
def weighted_votes_help(searches: Sequence[SearchRecord]) -> Iterator[Effect]:
    """Compare the trials with weighted votes (alpha = 1) and unweighted votes (alpha = 0), both with beta = 0."""
    for search in searches:
        first, tried = _tried(search)
        if {(first, 1, 0), (first, 0, 0)} <= {*tried}:
            yield from _effect(search, tried[first, 1, 0], tried[first, 0, 0])


@statements.claim("size-of-neighbourhood-hardly-matters", SEARCHES, about=BUT_ONE)
def size_of_neighbourhood_hardly_matters(searches: Sequence[SearchRecord]) -> Iterator[Effect]:
    """Compare the worst and the best trial with S in `SIZES`, among the trials with the best alpha and beta."""
    for search in searches:
        _, *best = _setting(search.best)
        sizes = [trial for (S, *weights), trial in _tried(search)[1].items() if S in SIZES and weights == best]
        if sizes:
            yield from _effect(search, min(sizes, key=mean_precision), max(sizes, key=mean_precision))


def _tried(search: SearchRecord) -> tuple[object, dict[Setting, Trial]]:
    """Return the value of S in the first stage of a search, and a dict from (S, alpha, beta) to trial."""
    tried = {_setting(trial): trial for trial in search.trials}
    return next(iter(tried))[0], tried


def _setting(trial: Trial) -> Setting:
    S, alpha, beta = (trial["hyperparameters"].get(name) for name in ("S", "alpha", "beta"))
    return S, alpha, beta


def _effect(search: SearchRecord, one: Trial, other: Trial) -> Iterator[Effect]:
    """Yield the difference in mean precision between two trials in percentage points, with its standard error.

    Nothing is yielded if the rankings of the trials are equal.
    """
    earlier, later = sorted(map(search.trials.index, (one, other)))
    if earlier < later and (error := search.trials[later]["paired_errors"][earlier]):
        difference = 100 * (mean_precision(one) - mean_precision(other))
        yield Effect(search.dataset.name, "", search.seed, difference, 100 * error, search.instances)


@statements.claim("most-labels-are-rare", STATISTICS, about=THE_SIX)
def most_labels_are_rare(records: Sequence[Statistics]) -> Iterator[Effect]:
    """Divide `MEDIAN` by the median number of occurrences of a label in each dataset.

    `MEDIAN` is the largest median in Table 2, which belongs to AmazonCat. Labels that never occur are left out.
    """
    for record in records:
        yield Effect(record.name, "", 0, MEDIAN / record.train.instances_per_label_seen.median, 0)


@statements.claim("short-index-lists", STATISTICS, about=THE_SIX)
def short_index_lists(records: Sequence[Statistics]) -> Iterator[Effect]:
    """Divide the number of instances by the mean number of occurrences of a feature.

    Features that never occur are left out.
    """
    for record in records:
        length = record.train.occurrences_per_feature_seen.mean
        yield Effect(record.name, "", 0, record.train.instances / length, 0)


claims = claims_table(statements.all())
