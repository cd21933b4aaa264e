"""Test statistics of a dataset by hand and against plain Python."""

from dataclasses import astuple
from statistics import fmean, quantiles

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xmlc.kernels.csr import as_features, as_labels
from xmlc.suite.results.records.statistics import five_numbers, part_statistics


def test_statistics_equal_values_computed_by_hand():
    X = np.array([[1, 0, 2], [0, 0, 0], [3, 0, 0]])
    Y = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], dtype=bool)
    found = part_statistics(as_features(X), as_labels(Y))
    # minimum, lower quartile, median, upper quartile, maximum, mean
    assert astuple(found.labels_per_instance) == (0, 0.5, 1, 1.5, 2, 1)
    assert astuple(found.instances_per_label) == (0, 0, 0.5, 1.25, 2, 0.75)
    assert astuple(found.instances_per_label_seen) == (1, 1.25, 1.5, 1.75, 2, 1.5)
    assert found.activations_per_instance.mean == 1
    assert found.occurrences_per_feature_seen.mean == 1.5
    assert (found.instances, found.labels_never_seen, found.features_never_seen) == (3, 2, 1)


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=40))
def test_five_numbers_equal_the_standard_library(counts):
    expected = [
        min(counts),
        *quantiles(counts, n=4, method="inclusive"),
        max(counts),
        fmean(counts),
    ]
    np.testing.assert_allclose(astuple(five_numbers(np.array(counts))), expected, rtol=1e-12)


def test_empty_counts_are_summarized_as_zeros():
    empty = part_statistics(as_features(np.zeros((0, 3))), as_labels(np.zeros((0, 2), dtype=bool)))
    assert astuple(empty.labels_per_instance) == (0, 0, 0, 0, 0, 0)
    assert (empty.labels_never_seen, empty.features_never_seen, empty.instances) == (2, 3, 0)
