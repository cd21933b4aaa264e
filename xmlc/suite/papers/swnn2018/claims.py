"""Test the statements of swnn2018, by section or table because the paper has no page numbers.

All trials of the search of Section 4.3 are scored on the same splits. Their paired differences on
instances give the standard error of the difference between two trials, but equal rankings give no
effect.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from xmlc.suite.config.planned import Where
from xmlc.suite.papers.effects import fact, lead
from xmlc.suite.papers.outcome import Effect

OURS = "swnn-searched"
ONE_VERSUS_REST = "br"
# One-versus-rest is trained only on small datasets, because only claims need it.
BESIDE_BR = Where("ranking", "full", beside=(ONE_VERSUS_REST, 500))
METRICS = ("p@1", "p@3", "p@5")
SIZES = (25, 50, 75)  # S in the second stage of the search.
MEDIAN = 28


def has_more_labels_than_instances(numbers: pd.DataFrame) -> pd.Series:
    """Return whether a number's dataset has more labels than training instances."""
    return fact(numbers, "m") > fact(numbers, "n_train")


def has_at_most_as_many_labels(numbers: pd.DataFrame) -> pd.Series:
    """Negate `has_more_labels_than_instances`."""
    return fact(numbers, "m") <= fact(numbers, "n_train")


def precision_above_one_versus_rest(numbers: pd.DataFrame, sign: int = 1) -> pd.DataFrame:
    """Compare the precision of SWNN and one-versus-rest.

    With few labels, the claim contradicts Section 5, by which SWNN suits fewer labels best.
    """
    return sign * lead(numbers, METRICS, OURS, ONE_VERSUS_REST)


def _searches(numbers: pd.DataFrame) -> Iterator[tuple[pd.Series, pd.DataFrame]]:
    index = ["dataset", "seed", "variant"]
    for _, search in numbers.groupby("record", sort=False):
        table = search.pivot(index=index, columns="quantity", values="value")
        # A search may leave out hyperparameters.
        table = table.reindex(columns=table.columns.union(["S", "alpha", "beta"]))
        trials = table.dropna(subset="trial").set_index("trial").sort_index()
        yield table.xs("", level="variant").iloc[0], trials.astype(float)


def _effect(result: pd.Series, trials: pd.DataFrame, one: int, other: int) -> Iterator[Effect]:
    """Yield the difference in mean precision between two trials, unless rankings are equal."""
    if one == other:
        return
    error = trials.loc[max(one, other), f"error_{min(one, other)}"]
    if error:
        dataset, seed = result.name
        apart = trials["mean_precision"][one] - trials["mean_precision"][other]
        yield Effect(dataset, "", seed, apart, error, result["instances"])


def _first_stage(trials: pd.DataFrame) -> pd.DataFrame:
    return trials[trials["S"] == trials["S"].iloc[0]]


def jaccard_helps(numbers: pd.DataFrame) -> Iterator[Effect]:
    """Compare the best trials with beta = 1 and beta = 0, for values of alpha tried with both."""
    for result, trials in _searches(numbers):
        tried = _first_stage(trials)
        tried = tried[tried["beta"].isin([0, 1])]
        tried = tried[tried.groupby("alpha")["beta"].transform("nunique") == 2]
        if len(tried):
            best = tried.groupby("beta")["mean_precision"].idxmax()
            yield from _effect(result, trials, best[1], best[0])


def weighted_votes_help(numbers: pd.DataFrame) -> Iterator[Effect]:
    """Compare weighted votes (alpha = 1) with unweighted ones (alpha = 0), both with beta = 0."""
    for result, trials in _searches(numbers):
        tried = _first_stage(trials)
        places = tried[tried["beta"] == 0].reset_index().set_index("alpha")["trial"]
        if {0.0, 1.0} <= {*places.index}:
            yield from _effect(result, trials, places[1.0], places[0.0])


def size_of_neighbourhood_hardly_matters(numbers: pd.DataFrame) -> Iterator[Effect]:
    """Compare the worst and the best S in `SIZES`, with the best alpha and beta."""
    for result, trials in _searches(numbers):
        is_best = (trials["alpha"] == result["alpha"]) & (trials["beta"] == result["beta"])
        precision = trials["mean_precision"][is_best & trials["S"].isin(SIZES)]
        if len(precision):
            yield from _effect(result, trials, precision.idxmin(), precision.idxmax())


def _statistic(numbers: pd.DataFrame, quantity: str, counted: str = "") -> pd.Series:
    rows = numbers[(numbers["variant"] == counted) & (numbers["quantity"] == quantity)]
    return rows.set_index("dataset")["value"]


def _exact(values: pd.Series) -> list[Effect]:
    return [Effect(dataset, "", 0, value, 0) for dataset, value in values.items()]


def most_labels_are_rare(numbers: pd.DataFrame) -> list[Effect]:
    """Divide `MEDIAN`, the largest median in Table 2 (AmazonCat), by the median number of
    occurrences of a label that occurs.
    """
    return _exact(MEDIAN / _statistic(numbers, "median", "instances_per_label_seen"))


def short_index_lists(numbers: pd.DataFrame) -> list[Effect]:
    """Divide the number of instances by the mean occurrences of a feature that occurs."""
    length = _statistic(numbers, "mean", "occurrences_per_feature_seen")
    return _exact(_statistic(numbers, "n_train") / length)
