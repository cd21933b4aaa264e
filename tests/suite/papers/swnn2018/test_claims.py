"""Test the claims of swnn2018 on handmade records.

Each claim holds on some records and fails on other records.
"""

from itertools import product
from pathlib import Path

import pytest
from claim_cases import claims_by_name, decided, numbers_of
from record_cases import search, statistics
from report_cases import ranking

from xmlc.suite.results.records.statistics import Statistics

claims = claims_by_name("swnn2018")

OF_P1 = (1 + 1 / 3 + 1 / 5) / 3  # the mean of P@1, P@3 and P@5 of these records, as a share of P@1
NARROW = 1e-6  # a paired error


def ranked(swnn=60, br=60):
    """Return rankings of SWNN and one-versus-rest classifiers from P@1 in percent."""
    scores = {"swnn-searched": swnn, "br": br}
    return [
        ranking(model=name, seed=seed, p1=p1 / 100)
        for (name, p1), seed in product(scores.items(), (0, 1, 2))
    ]


def labelled(records):
    """Return the records with more labels than training instances."""
    return [
        one | {"dataset": one["dataset"] | {"m": one["dataset"]["n_train"] + 1}} for one in records
    ]


def searched(scores, error=NARROW, name="wiki10-31k"):
    """Return a search from precisions in percent by (S, alpha, beta).

    The first of equally good trials is the best.
    """
    trials = [
        {
            "hyperparameters": dict(zip(("S", "alpha", "beta"), setting)),
            **dict.fromkeys(("p@1", "p@3", "p@5"), score / 100),
            "train_seconds": 1.0,
            "paired_errors": [error] * i,
        }
        for i, (setting, score) in enumerate(scores.items())
    ]
    best = max(trials, key=lambda trial: trial["p@1"])
    return [search(name, trials=trials, best=best)]


def test_rankings_are_compared_with_one_versus_rest():
    claim = claims.as_good_as_one_versus_rest
    opposite = claims.worse_with_many_instances
    near = ranked(br=61)
    far = ranked(br=62)
    assert decided(claim, labelled(near)) == (-OF_P1, "holds")
    assert decided(claim, labelled(far)) == (-2 * OF_P1, "does not hold")
    assert decided(claim, labelled(ranked()[:3]))[1] == "not run"
    assert decided(opposite, near) == (OF_P1, "does not hold")
    assert decided(opposite, far) == (2 * OF_P1, "holds")
    # Each claim names datasets that the other excludes.
    assert decided(claim, far)[1] == decided(opposite, labelled(far))[1] == "not run"


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
    # Without alpha 0.5, the best precision with beta 0 is 52.
    assert decided(claims.jaccard_helps, searched(FIRST | SECOND)) == (3, "holds")
    worse = FIRST | {(4, 1.0, 1): 48, (4, 2.0, 1): 49}
    assert decided(claims.jaccard_helps, searched(worse)) == (-3, "does not hold")
    assert decided(claims.jaccard_helps, searched(FIRST, error=0.02))[1] == "undecided"
    # all have equal ranks
    assert decided(claims.jaccard_helps, searched(FIRST, error=0))[1] == "not run"
    assert decided(claims.jaccard_helps, searched({(4, 1.0, 0): 50}))[1] == "not run"
    # the exception of the paper, and a dataset outside it
    for name in ("delicious-200k", "bibtex"):
        assert decided(claims.jaccard_helps, searched(worse, name=name))[1] == "not run"


def test_vote_weights_are_compared_without_common_features():
    assert decided(claims.weighted_votes_help, searched(FIRST | SECOND)) == (2, "holds")
    assert decided(claims.weighted_votes_help, searched(FIRST | {(4, 0.0, 0): 58})) == (
        -6,
        "does not hold",
    )
    assert decided(claims.weighted_votes_help, searched(SECOND))[1] == "not run"


def test_neighbourhood_sizes_are_compared_at_best_weights():
    claim = claims.size_of_neighbourhood_hardly_matters
    assert decided(claim, searched(FIRST | SECOND)) == (-2, "holds")
    assert decided(claim, searched(FIRST | SECOND | {(75, 1.0, 1): 50})) == (-10, "does not hold")
    # its weights differ
    assert decided(claim, searched(FIRST | {(25, 1.0, 0): 99, **SECOND}))[1] == "not run"
    for name in ("delicious-200k", "bibtex"):
        assert decided(claim, searched(FIRST | SECOND, name=name))[1] == "not run"
    alone = {setting: score for setting, score in SECOND.items() if setting[0] == 25}
    assert decided(claim, searched(FIRST | alone))[1] == "not run"


def test_standard_error_is_of_two_trials_in_any_order():
    for setting in ((4, 0.0, 0), (4, 1.0, 0)):
        scores = {setting: 50, (4, 0.0, 0): 50, (4, 1.0, 0): 60} | {setting: 55}
        (effect,) = claims.weighted_votes_help.measured_by(numbers_of(searched(scores, error=0.02)))
        assert (effect.error, effect.trials, effect.dataset) == (
            pytest.approx(2),
            300,
            "wiki10-31k",
        )


def counted(median=9.0, mean=50.0, name="wiki10-31k"):
    """Return statistics of a training set of 1000 instances with some median and mean."""
    content = statistics() | {"name": name}
    content["train"] |= {"instances": 1000}
    content["train"]["instances_per_label_seen"] |= {"median": median}
    content["train"]["occurrences_per_feature_seen"] |= {"mean": mean}
    return [Statistics.of(Path("statistics.json"), content)]


def test_claims_compare_counts_of_the_training_set():
    assert decided(claims.most_labels_are_rare, counted(median=3.5)) == (8, "holds")
    assert decided(claims.most_labels_are_rare, counted(median=56.0)) == (0.5, "does not hold")
    assert decided(claims.short_index_lists, counted(mean=50.0)) == (20, "holds")
    assert decided(claims.short_index_lists, counted(mean=200.0)) == (5, "does not hold")
    for claim in (claims.most_labels_are_rare, claims.short_index_lists):
        assert decided(claim, counted(name="bibtex"))[1] == "not run"  # not a dataset of the paper
