"""Test statistics of a dataset by hand and against plain Python, their file, and their numbers."""

from dataclasses import asdict
from statistics import fmean, quantiles

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from record_cases import statistics
from record_files import RecordFile

from xmlc.kernels.csr import as_features, as_labels
from xmlc.suite.results.records.statistics import COUNTED, Statistics, five_numbers, part_statistics


class TestFile(RecordFile):
    kind = Statistics
    content = statistics()
    nan_at = ("train", "labels_per_instance", "mean")
    broken = (
        (["train", "labels_never_seen"], ...),
        (["test", "labels_per_instance", "mean"], -1),
        (["d"], 1.5),
    )


def test_numbers_are_sizes_averages_and_a_variant_per_summary():
    sizes, *summaries = msgspec.convert(statistics(), Statistics).numbers()
    averages = dict.fromkeys(("labels_per_instance", "instances_per_label"), 2.125)
    never_seen = {"labels_never_seen": 0, "features_never_seen": 0}
    assert sizes == (
        "",
        {"d": 103, "m": 14, "n_train": 1500, "n_test": 917} | averages | never_seen,
    )
    assert [variant for variant, _ in summaries] == list(COUNTED)
    assert summaries[1][1]["mean"] == 2.125


def test_statistics_equal_values_computed_by_hand():
    X = np.array([[1, 0, 2], [0, 0, 0], [3, 0, 0]])
    Y = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], dtype=bool)
    found = part_statistics(as_features(X), as_labels(Y))
    assert found.instances == 3
    assert asdict(found.labels_per_instance) == {
        "min": 0, "lower_quartile": 0.5, "median": 1, "upper_quartile": 1.5, "max": 2, "mean": 1
    }  # fmt: skip
    assert asdict(found.instances_per_label) == {
        "min": 0, "lower_quartile": 0, "median": 0.5, "upper_quartile": 1.25, "max": 2, "mean": 0.75
    }  # fmt: skip
    assert asdict(found.instances_per_label_seen) == {
        "min": 1, "lower_quartile": 1.25, "median": 1.5, "upper_quartile": 1.75, "max": 2,
        "mean": 1.5
    }  # fmt: skip
    assert found.activations_per_instance.mean == 1
    assert found.occurrences_per_feature_seen.mean == 1.5
    assert (found.labels_never_seen, found.features_never_seen) == (2, 1)


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=40))
def test_five_numbers_equal_the_standard_library(counts):
    found = five_numbers(np.array(counts))
    lower, median, upper = quantiles(counts, n=4, method="inclusive")
    expected = [min(counts), lower, median, upper, max(counts), fmean(counts)]
    np.testing.assert_allclose(list(asdict(found).values()), expected, rtol=1e-12)


def test_empty_counts_are_summarized_as_zeros():
    assert set(asdict(five_numbers(np.array([]))).values()) == {0.0}
    empty = part_statistics(as_features(np.zeros((0, 3))), as_labels(np.zeros((0, 2), dtype=bool)))
    assert (empty.labels_never_seen, empty.features_never_seen, empty.instances) == (2, 3, 0)
