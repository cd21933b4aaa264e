"""Progressive validation, compared with sums instance by instance."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from small_data import random_multilabel

from xmlc.metrics.progressive import (
    POINTS_PER_DECADE,
    checkpoints,
    constant_accuracy,
    entropy_reduction,
    progressive_accuracy,
)


@settings(max_examples=30)
@given(n=st.integers(1, 10**7))
def test_checkpoints_are_evenly_spaced_from_1_to_n(n):
    points = checkpoints(n)
    assert points[0] == 1
    assert points[-1] == n
    assert (np.diff(points) > 0).all()
    assert np.diff(np.log10(points[points > 100])).max(initial=0) < 1.1 / POINTS_PER_DECADE


def test_progressive_accuracy_is_share_of_hits_so_far():
    _, Y = random_multilabel(200, 5, 9, seed=3)
    labels = np.random.default_rng(0).integers(-1, 9, size=(200, 2)).astype(np.int32)
    best = labels[:, 0]
    hits = (best >= 0) & Y.toarray()[np.arange(200), best]
    points = checkpoints(200)
    expected = [hits[:n].mean() for n in points]
    assert 0 < expected[-1] < 1
    assert progressive_accuracy(Y, labels, points).tolist() == expected


def test_constant_accuracy_uses_most_frequent_label_of_stream():
    Y = sparse.csr_array(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=bool))
    assert constant_accuracy(Y) == 0.5
    assert constant_accuracy(Y[:2]) == 0.5
    assert constant_accuracy(Y[3:]) == 0


def test_entropy_reduction_is_in_bits_and_nan_without_hits():
    bits = entropy_reduction(np.array([0.0, 0.25, 0.5, 1.0]), 0.25)
    assert math.isnan(bits[0])
    assert bits[1:].tolist() == [0, 1, 2]
    assert np.isnan(entropy_reduction(np.array([0.0, 0.5]), 0.0)).all()
