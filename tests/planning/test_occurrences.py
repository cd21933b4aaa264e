"""How often features occur, beside a count in a matrix drawn at random."""

from types import SimpleNamespace

import numpy as np
import pytest

from xmlc.planning.occurrences import Occurrences


def summary_of(counts):
    low, *quartiles, high = np.quantile(counts, [0, 0.25, 0.5, 0.75, 1])
    names = ("min", "lower_quartile", "median", "upper_quartile", "max", "mean")
    return SimpleNamespace(**dict(zip(names, (low, *quartiles, high, counts.mean()))))


def drawn(n=2000, d=3000, seed=0):
    """Draw which instances have each feature, the r-th with probability 1 / r or a little more."""
    rng = np.random.default_rng(seed)
    return rng.random((n, d)) < np.minimum(1, 2 / np.arange(1, d + 1) + 2e-3)


@pytest.mark.parametrize("instances", [20, 200, 1000])
def test_features_of_a_part_are_those_that_occur_in_it(instances):
    X = drawn()
    counts = X.sum(axis=0)
    seen = counts > 0
    found = Occurrences.of_summary(seen.sum(), summary_of(counts[seen]))
    assert found.counts.mean() == pytest.approx(counts[seen].mean(), rel=0.01)
    assert float(found.within(instances / 2000)) == pytest.approx(X[:instances].any(axis=0).sum(), rel=0.15)


def test_the_whole_has_all_and_nothing_has_none():
    found = Occurrences.zipf(1000.0, 50_000.0, 5000.0)
    assert found.counts.mean() == pytest.approx(50, rel=0.01)
    assert float(found.within(1.0)) == pytest.approx(1000)
    assert float(found.within(0.0)) == 0
    parts = found.within(np.array([0.01, 0.1, 0.5]))
    assert (np.diff(parts) > 0).all()


def test_a_part_of_a_part_is_smaller():
    found = Occurrences.zipf(1000.0, 50_000.0, 5000.0)
    assert found.thinned(0.5).kinds < found.kinds
    assert found.thinned(0.5).counts.sum() < found.counts.sum()
