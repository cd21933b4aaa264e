"""Test means with confidence intervals."""

import math

import pytest

from xmlc.suite.results.intervals import Estimate, estimate_of, student_quantile


def test_interval_equals_value_computed_by_hand():
    found = estimate_of([1.0, 2.0, 3.0])
    assert found.mean == 2
    half = 4.302653 / math.sqrt(3)  # t with 2 degrees of freedom, and a standard deviation of 1
    assert (found.lower, found.upper) == (
        pytest.approx(2 - half, abs=1e-6),
        pytest.approx(2 + half, abs=1e-6),
    )


def test_quantiles_have_nine_digits_with_every_version_of_scipy():
    known = {1: 12.706204736, 2: 4.302652730, 5: 2.570581836, 6: 2.446911851, 11: 2.200985160}
    assert {freedom: round(student_quantile(freedom), 9) for freedom in known} == known
    assert round(student_quantile(math.inf), 9) == 1.959963985


def test_too_few_values_have_no_interval_and_no_side():
    alone = estimate_of([5.0])
    two = estimate_of([5.0, 6.0], fewest=3)
    assert (alone.mean, alone.has_interval, two.mean, two.has_interval) == (5, False, 5.5, False)
    assert alone.side_of(0) == 0
    assert math.isnan(two.mapped(math.exp).upper)


def test_equal_values_have_an_interval_of_width_0():
    # although 0.1 + 0.1 + 0.1 is not exactly 0.3
    assert estimate_of([0.1] * 3) == Estimate(0.1, 0.1, 0.1)
    assert [estimate_of([0.1, 0.1]).side_of(margin) for margin in (0, 0.1, 0.2)] == [1, 0, -1]
