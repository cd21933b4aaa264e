"""Metrics of label sets, compared with scikit-learn and with dense arithmetic."""

import warnings

import numpy as np
import pytest
import sklearn.metrics as baseline
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.metrics import (
    classification_metrics,
    hamming_loss,
    instance_f,
    instance_jaccard,
    macro_f,
    macro_jaccard,
    micro_f,
    micro_jaccard,
)
from xmlc.metrics.classification import (
    agreement,
    groups_by_frequency,
    measure_scores,
    scores_by_frequency,
)
from xmlc.metrics.measure import f_beta


def random_label_sets(n, m, seed, density=0.25):
    rng = np.random.default_rng(seed)
    Y, Y_hat = (rng.random((n, m)) < density for _ in range(2))
    Y[:, 0] = Y_hat[:, 0] = False  # Label 0 is in no true and no predicted set.
    return Y, Y_hat


SHAPES = {"n": st.integers(2, 15), "m": st.integers(2, 12), "seed": st.integers(0, 999)}


@settings(max_examples=40)
@given(
    **SHAPES,
    beta=st.sampled_from([0.5, 1.0, 2.0, 3.7]),
    zero_division=st.sampled_from([0.0, 1.0, np.nan]),
)
def test_f_beta_and_jaccard_equal_scikit_learn(n, m, seed, beta, zero_division):
    Y, Y_hat = random_label_sets(n, m, seed)
    averages = ("macro", "micro", "samples")
    options = {"zero_division": zero_division}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = [baseline.fbeta_score(Y, Y_hat, beta=beta, average=how, **options) for how in averages]
        ours = [
            metric(Y, Y_hat, zero_division, beta=beta) for metric in (macro_f, micro_f, instance_f)
        ]
        np.testing.assert_allclose(ours, f, atol=1e-12)  # The comparison accepts equal NaNs.
        if np.isnan(zero_division):  # The function jaccard_score of scikit-learn refuses NaN.
            options["zero_division"] = zero_division = 0.0
        jaccard = [baseline.jaccard_score(Y, Y_hat, average=how, **options) for how in averages]
    np.testing.assert_allclose(hamming_loss(Y, Y_hat), baseline.hamming_loss(Y, Y_hat))
    ours = [
        metric(Y, Y_hat, zero_division)
        for metric in (macro_jaccard, micro_jaccard, instance_jaccard)
    ]
    np.testing.assert_allclose(ours, jaccard, atol=1e-12)


@given(**SHAPES)
def test_measures_of_a_record_equal_metrics(n, m, seed):
    Y, Y_hat = random_label_sets(n, m, seed)
    record = classification_metrics(sparse.csr_array(Y), sparse.csr_array(Y_hat))
    expected = {
        "macro_f": macro_f(Y, Y_hat),
        "macro_f_zero": macro_f(Y, Y_hat, zero_division=0),
        "macro_f2": macro_f(Y, Y_hat, beta=2),
        "macro_jaccard": macro_jaccard(Y, Y_hat),
        "micro_f": micro_f(Y, Y_hat),
        "micro_f2": micro_f(Y, Y_hat, beta=2),
        "micro_jaccard": micro_jaccard(Y, Y_hat),
        "instance_f": instance_f(Y, Y_hat),
        "instance_f2": instance_f(Y, Y_hat, beta=2),
        "instance_jaccard": instance_jaccard(Y, Y_hat),
        "predicted_per_instance": Y_hat.sum() / n,
    }
    assert {name: record[name] for name in expected} == expected
    some = ("micro_f2", "macro_f")
    assert measure_scores(agreement(Y, Y_hat), some) == {k: expected[k] for k in some}


@given(**SHAPES)
def test_counts_of_weighted_instances_equal_dense_counts(n, m, seed):
    Y, Y_hat = random_label_sets(n, m, seed)
    times = np.random.default_rng(seed).integers(0, 4, size=n).astype(np.int32)
    counts = agreement(Y, Y_hat, times)
    for k, sets in enumerate((Y & Y_hat, Y, Y_hat)):
        np.testing.assert_array_equal(counts[k], times @ sets)
        np.testing.assert_array_equal(counts[3 + k], np.repeat(sets.sum(axis=1), times))


@given(**SHAPES)
def test_means_over_labels_present_and_seen_equal_dense_arithmetic(n, m, seed):
    Y, Y_hat = random_label_sets(n, m, seed)
    scores = 2 * (Y & Y_hat).sum(0) / np.maximum(Y.sum(0) + Y_hat.sum(0), 1)
    record = classification_metrics(Y, Y_hat)
    for average, labels in (("present", Y.any(0)), ("seen", Y.any(0) | Y_hat.any(0))):
        expected = scores[labels].mean() if labels.any() else 0
        assert record[f"macro_f_{average}"] == pytest.approx(expected)


def test_invalid_label_sets_and_options_are_refused():
    with raises_with(XmlcError, "Y_hat", "0.3", "row 0"):
        macro_f(np.eye(2), np.full((2, 2), 0.3))
    with raises_with(XmlcError, "(2, 4)", "(2, 3)"):
        macro_f(np.zeros((2, 3)), np.zeros((2, 4)))
    with raises_with(XmlcError, "average='macro'", "'all', 'present', 'seen'"):
        macro_f(np.eye(2), np.eye(2), average="macro")
    for wrong in (0, np.inf, np.nan):
        with raises_with(XmlcError, f"beta={wrong}"):
            f_beta(wrong)
    for metric in (macro_f, micro_f, instance_f):
        for wrong in ("warn", 0.5, np.inf):
            with raises_with(XmlcError, f"zero_division={wrong!r}"):
                metric(np.eye(2), np.eye(2), zero_division=wrong)


def test_zero_division_nan_omits_empty_sets():
    """scikit-learn refuses NaN for Jaccard."""
    for metric in (macro_jaccard, instance_jaccard):
        assert metric([[1, 0, 0], [0, 0, 0]], [[1, 1, 0], [0, 0, 0]], zero_division=np.nan) == 0.5


def test_macro_f_by_frequency_is_macro_f_of_the_labels_in_a_group():
    rng = np.random.default_rng(2)
    groups = groups_by_frequency(
        np.arange(1200)[:, None] < [0, 1, 9, 10, 99, 100, 999, 1000, 1200, 5]
    )
    Y, Y_hat = (rng.random((40, 10)) < 0.3 for _ in range(2))
    Y[:, 9] = False  # Label 9 is absent from the test set, so it does not count.
    names = {"1_to_9": [1, 2], "10_to_99": [3, 4], "100_to_999": [5, 6], "from_1000": [7, 8]}
    expected = {}
    for name, labels in names.items():
        expected[f"macro_f_{name}"] = macro_f(Y[:, labels], Y_hat[:, labels])
    assert scores_by_frequency(agreement(Y, Y_hat), groups) == pytest.approx(expected)
    Y[:, [1, 2]] = False
    assert "macro_f_1_to_9" not in scores_by_frequency(agreement(Y, Y_hat), groups)
