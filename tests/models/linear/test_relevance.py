"""Estimates above thresholds against plain loops."""

import itertools

import numpy as np

from xmlc.kernels.float64 import sigmoid
from xmlc.models.linear._relevance import estimates_above


def test_estimates_above_are_those_of_plain_loops():
    rng = np.random.default_rng(3)
    scores, thresholds = rng.normal(0, 4, (7, 5)), rng.random(5).astype(np.float32)
    scores[2, 1] = scores[3, 1] = 0.25
    thresholds[1] = np.float32(sigmoid(0.25))  # equal is not above
    counts, labels, estimates = estimates_above(scores, thresholds)
    expected = [[(j, np.float32(sigmoid(s))) for j, s in enumerate(row)] for row in scores]
    expected = [[(j, p) for j, p in row if p > thresholds[j]] for row in expected]
    assert counts.tolist() == [len(row) for row in expected]
    assert list(zip(labels.tolist(), estimates, strict=True)) == list(itertools.chain.from_iterable(expected))
    assert estimates.dtype == np.float32
