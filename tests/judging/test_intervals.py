"""Intervals hold what they promise: simulated reproductions, faithful and not."""

import math

import numpy as np
import pytest

from xmlc.judging.intervals import Spread, half_width

RUNS = 5


def covered(deviation, unit, ours, theirs, split_error=None, shift=0.0, trials=4000, seed=0):
    """Share of simulated reproductions that are within their interval of what a paper would have printed."""
    rng = np.random.default_rng(seed)
    inside = 0
    for _ in range(trials):
        level = rng.uniform(10, 90)
        test_sets = level + (split_error or 0) * rng.standard_normal(2)
        runs = test_sets[0] + deviation * rng.standard_normal(RUNS)
        value = runs[0] if ours == 1 else runs.mean()
        printed = test_sets[1] + shift + deviation * rng.standard_normal(theirs).mean()
        printed = round(printed / unit) * unit
        h = half_width(Spread.of(list(runs), split_error), unit, ours, theirs, split_error is not None)
        inside += abs(value - printed) <= h
    return inside / trials


@pytest.mark.parametrize("split_error", [None, 0.8])
@pytest.mark.parametrize("theirs", [1, 5])
@pytest.mark.parametrize("deviation", [0.02, 0.3, 2.0])
def test_of_100_faithful_reproductions_95_are_within(deviation, theirs, split_error):
    share = covered(deviation, 0.01, RUNS, theirs, split_error)
    assert 0.93 < share < 0.97


def test_one_run_of_ours_is_one_of_those_that_the_deviation_is_from():
    """Where our one run is far from the others, the deviation is large too: a little more than 95 of 100."""
    assert 0.94 < covered(0.3, 0.01, 1, 1) < 0.985


@pytest.mark.parametrize("unit", [0.01, 0.1, 1.0])
def test_rounding_alone_never_makes_a_number_another(unit):
    assert covered(1e-6, unit, RUNS, 1) == 1


def test_a_shift_of_two_points_is_seen():
    assert covered(0.3, 0.01, RUNS, 1, shift=2.0) < 0.05


def test_the_formula_by_hand():
    # t with 4 degrees of freedom is 2.776; rounding is nothing beside the deviation.
    assert half_width(Spread(5, 1.0), 1e-9) == pytest.approx(2.776 * math.sqrt(2), abs=1e-2)
    assert half_width(Spread(5, 1.0), 1e-9, 5, 5) == pytest.approx(2.776 * math.sqrt(0.4), abs=1e-2)
    # No deviation: half a unit, or 1.96 standard errors of two test sets.
    assert half_width(Spread(5, 0.0), 0.1) == 0.05
    assert half_width(Spread(5, 0.0, 1.0), 1e-9, other_split=True) == pytest.approx(1.96 * math.sqrt(2), abs=1e-3)
    # A known split needs no standard error, and has none.
    assert half_width(Spread(5, 0.0, 1.0), 0.1) == 0.05
    with pytest.raises(ValueError, match="error of another split"):
        half_width(Spread(5, 0.0), 0.1, other_split=True)


def test_a_spread_is_numpys():
    values = [63.34, 63.14, 63.38, 63.18, 62.58]
    assert Spread.of(values).deviation == pytest.approx(np.std(values, ddof=1))
    assert Spread.of(values).runs == 5
