"""Random search: ranges, and trials that do not depend on how many there are."""

import numpy as np
import pytest

from xmlc.errors import XmlcError
from xmlc.tuning.ranges import Range
from xmlc.tuning.search import random_trials

SPACE = {
    "gamma": Range.parse("gamma", {"low": 1e-3, "high": 10, "log": True}),
    "epochs": Range.parse("epochs", {"low": 5, "high": 30, "integer": True}),
    "arity": Range.parse("arity", [2, 16, 64]),
}


def test_trials_stay_in_range_and_cover_it():
    trials = list(random_trials(SPACE, 400, seed=1))
    gamma = np.array([trial["gamma"] for trial in trials])
    assert gamma.min() >= 1e-3
    assert gamma.max() <= 10
    assert 0.4 < (gamma < 0.1).mean() < 0.6  # half of the logarithmic range
    epochs = [trial["epochs"] for trial in trials]
    assert all(isinstance(value, int) and 5 <= value <= 30 for value in epochs)
    assert {trial["arity"] for trial in trials} == {2, 16, 64}


def test_a_longer_search_extends_a_shorter_one():
    assert list(random_trials(SPACE, 30, seed=1))[:10] == list(random_trials(SPACE, 10, seed=1))
    assert list(random_trials(SPACE, 10, seed=1)) != list(random_trials(SPACE, 10, seed=2))


@pytest.mark.parametrize("content", [[], {"low": 1}, {"low": 2, "high": 1}, {"low": 0, "high": 1, "log": True}, "x"])
def test_bad_ranges_are_named(content):
    with pytest.raises(XmlcError, match="range of gamma"):
        Range.parse("gamma", content)
