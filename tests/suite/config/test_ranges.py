"""Test ranges of hyperparameters, and random trials within them."""

import pandas as pd
import pytest
import yaml
from facts import raises_with

from xmlc.core.errors import XmlcError
from xmlc.suite.config.ranges import Interval, parse_space
from xmlc.suite.steps.tune import random_trials

SPACE = yaml.safe_load("""
gamma: {low: 0.001, high: 10, log: true}
epochs: {low: 5, high: 30, integer: true}
arity: [2, 16, 64]
""")


def test_trials_stay_in_range_and_cover_it():
    trials = pd.DataFrame(random_trials(parse_space(SPACE), 400, seed=1))
    assert trials["gamma"].between(1e-3, 10).all()
    # 0.1 is in the middle of the logarithmic range.
    assert 0.4 < (trials["gamma"] < 0.1).mean() < 0.6
    assert trials["epochs"].dtype == int
    assert trials["epochs"].between(5, 30).all()
    assert {*trials["arity"]} == {2, 16, 64}


@pytest.mark.parametrize(
    "content", [[], {"low": 1}, {"low": 2, "high": 1}, {"low": 0, "high": 1, "log": True}, "x"]
)
def test_invalid_ranges_are_refused(content):
    with raises_with(XmlcError, "gamma"):
        parse_space({"gamma": content})


def test_values_have_three_digits_and_stay_within_the_range():
    values = Interval(low=0.12345, high=0.98765)
    assert values.typed(0.456789) == 0.457
    assert values.typed(0.123451) == 0.12345
    assert values.typed(0.987649) == 0.98765
    assert isinstance(Interval(low=1, high=10).typed(9.9999), float)


# The range, values inside it, and values outside it
CONTAINED = """
- [{low: 1, high: 3}, [1, 1.5, 3], [0.99, 3.01, '2', true, null]]
- [{low: 1, high: 3, integer: true}, [1, 2.0, 3], [1.5, 4]]
- [[2, null, sgd], [2, null, sgd], [3, adagrad]]
"""


@pytest.mark.parametrize(("content", "inside", "outside"), yaml.safe_load(CONTAINED))
def test_range_contains_its_ends_and_refuses_other_values(content, inside, outside):
    values = parse_space({"x": content})["x"]
    assert all(value in values for value in inside)
    assert not any(value in values for value in outside)


def test_search_space_is_sorted_and_not_empty():
    assert list(parse_space({"lam": [1], "arity": [2]})) == ["arity", "lam"]
    with raises_with(XmlcError):
        parse_space({})
