"""Means and deviations over seeds."""

import math

import numpy as np
import pytest
from record_files import as_record
from report_cases import every_method, ranking, thresholds

from xmlc.records import ranking as rankings
from xmlc.records import thresholds as evaluations
from xmlc.tables.seeds import average_seeds


def ranking_frame(contents):
    return rankings.frame([as_record(content) for content in contents])


def threshold_frame(contents):
    return evaluations.frame([as_record(content) for content in contents])


def test_one_seed_has_no_deviation():
    averaged = average_seeds(ranking_frame([ranking()]), ("dataset", "model"))
    assert averaged["seeds"].tolist() == [1]
    assert not [name for name in averaged if name.endswith("_std")]


def test_seeds_are_averaged_whatever_their_order():
    scores = [0.2, 0.4, 0.9]
    records = [ranking(seed=seed, p1=score) for seed, score in enumerate(scores)]
    averaged = average_seeds(ranking_frame(records), ("dataset", "model")).iloc[0]
    assert averaged["p@1"] == pytest.approx(np.mean(scores) * 100)
    assert averaged["p@1_std"] == pytest.approx(np.std(scores, ddof=1) * 100)
    assert averaged["seeds"] == 3
    assert averaged["m"] == 14
    backwards = average_seeds(ranking_frame(records[::-1]), ("dataset", "model")).iloc[0]
    assert backwards["p@1"] == averaged["p@1"]
    assert backwards["p@1_std"] == averaged["p@1_std"]


def test_a_value_missing_for_one_seed_has_no_mean():
    records = [ranking(seed=0), ranking(seed=1, inner_products=None)]
    averaged = average_seeds(ranking_frame(records), ("dataset", "model")).iloc[0]
    assert math.isnan(averaged["inner_products"])
    assert averaged["p@3"] == 25


def test_different_choices_are_listed_and_never_averaged():
    records = [thresholds(method="ofo", seed=1, chosen=100), thresholds(method="ofo", seed=0, chosen=10)]
    averaged = average_seeds(threshold_frame(records), ("dataset", "model", "method")).iloc[0]
    assert averaged["b"] == "10/100"
    assert averaged["a"] == 1
    records = [record for seed in (0, 1) for record in every_method(seed=seed)]
    averaged = average_seeds(threshold_frame(records), ("dataset", "model", "method"))
    assert averaged["b"].dtype == "Int64"
    assert averaged["b"].fillna(-1).tolist() == [-1, -1, 10, 10, -1]
