"""Test the claims of swnn2018 on handmade records.

A claim with a published margin holds on some records and fails on other records.
"""

from pathlib import Path

import pytest
from claim_cases import claims_by_name, decided, numbers_of, ranked
from record_cases import search, statistics

from xmlc.suite.results.records.statistics import Statistics

claims = claims_by_name("swnn2018")

OF_P1 = (1 + 1 / 3 + 1 / 5) / 3  # the mean of P@1, P@3 and P@5 of these records, as a share of P@1


def searched(scores, error=1e-6, name="wiki10-31k"):
    """Return a search from precisions in percent by (S, alpha, beta), with a paired error.

    The first of equally good trials is the best.
    """
    trials = []
    for setting, score in scores.items():
        trial = {
            "hyperparameters": dict(zip(("S", "alpha", "beta"), setting)),
            "train_seconds": 1.0,
            "paired_errors": [error] * len(trials),
        }
        trials.append(trial | dict.fromkeys(("p@1", "p@3", "p@5"), score / 100))
    best = max(trials, key=lambda trial: trial["p@1"])
    return [search(name, trials=trials, best=best)]


def test_rankings_are_compared_with_one_versus_rest():
    # There are 1500 training instances. Each claim names datasets that the other excludes.
    few = claims.as_good_as_one_versus_rest
    many = claims.worse_with_many_instances
    for m, claim, other, sign, words in (
        (1501, few, many, -1, ("holds", "does not hold")),
        (1500, many, few, 1, ("does not hold", "holds")),
    ):
        for lead, word in zip((1, 2), words):
            records = ranked("yeast", {"m": m}, swnn_searched=60, br=60 + lead)
            assert decided(claim, records) == (sign * lead * OF_P1, word)
            assert decided(other, records)[1] == decided(claim, records[:3])[1] == "not run"


FIRST = {
    (4, 0.0, 0): 50,
    (4, 0.5, 0): 54,
    (4, 1.0, 0): 52,
    (4, 1.0, 1): 55,
    (4, 2.0, 0): 51,
    (4, 2.0, 1): 53,
}
SECOND = {(25, 1.0, 1): 60, (50, 1.0, 1): 59, (75, 1.0, 1): 58}


def test_values_of_beta_are_compared_at_the_same_alpha():
    claim = claims.jaccard_helps
    # Without alpha 0.5, the best precision with beta 0 is 52.
    assert decided(claim, searched(FIRST | SECOND)) == (3, "holds")
    assert decided(claim, searched(FIRST, error=0.02))[1] == "undecided"
    # all have equal ranks
    assert decided(claim, searched(FIRST, error=0))[1] == "not run"
    assert decided(claim, searched({(4, 1.0, 0): 50}))[1] == "not run"


def test_vote_weights_are_compared_without_common_features():
    assert decided(claims.weighted_votes_help, searched(FIRST | SECOND)) == (2, "holds")
    assert decided(claims.weighted_votes_help, searched(SECOND))[1] == "not run"


def test_neighbourhood_sizes_are_compared_at_best_weights():
    claim = claims.size_of_neighbourhood_hardly_matters
    assert decided(claim, searched(FIRST | SECOND)) == (-2, "holds")
    assert decided(claim, searched(FIRST | SECOND | {(75, 1.0, 1): 50})) == (-10, "does not hold")
    excluded = searched(FIRST | SECOND, name="delicious-200k")
    assert decided(claim, excluded)[1] == "not run"
    # its weights differ
    assert decided(claim, searched(FIRST | {(25, 1.0, 0): 99, **SECOND}))[1] == "not run"
    assert decided(claim, searched(FIRST | {(25, 1.0, 1): 60}))[1] == "not run"


@pytest.mark.parametrize("first", [(4, 0.0, 0), (4, 1.0, 0)])
def test_standard_error_is_of_two_trials_in_any_order(first):
    scores = {first: 50, (4, 0.0, 0): 50, (4, 1.0, 0): 60}
    (effect,) = claims.weighted_votes_help.measured_by(numbers_of(searched(scores, error=0.02)))
    assert effect.error == pytest.approx(2)
    assert (effect.trials, effect.dataset) == (300, "wiki10-31k")


def counted(median=9.0, mean=50.0):
    """Return statistics of a training set of 1000 instances with some median and mean."""
    content = statistics() | {"name": "wiki10-31k"}
    content["train"]["instances"] = 1000
    content["train"]["instances_per_label_seen"]["median"] = median
    content["train"]["occurrences_per_feature_seen"]["mean"] = mean
    return [Statistics.of(Path("statistics.json"), content)]


def test_claims_compare_counts_of_the_training_set():
    rare = claims.most_labels_are_rare
    assert decided(rare, counted(median=56.0)) == (0.5, "does not hold")
    short = claims.short_index_lists
    assert decided(short, counted(mean=50.0)) == (20, "holds")
    assert decided(short, counted(mean=200.0)) == (5, "does not hold")
