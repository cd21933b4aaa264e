"""Thresholds for micro- and instance-averaged measures, and STO for other measures than F.

The reference tries every attainable set.
"""

from fractions import Fraction

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from threshold_cases import CASES, random_case

from xmlc.core.errors import XmlcError
from xmlc.metrics.classification import TUNABLE, agreement, measure_scores
from xmlc.metrics.measure import F1, JACCARD, f_beta
from xmlc.thresholds import STO, CommonThreshold
from xmlc.thresholds.pooled import best_sum

THOROUGH = settings(deadline=None, max_examples=60)


# One threshold for all labels, and STO for other measures. The reference uses exact fractions.


COMMON = {name: measure for name, measure in TUNABLE.items() if measure.average != "macro"}


def exact_value(overlap, truth, predicted):
    """Return the overlap of two masks as a fraction."""
    gain, recall, shared = map(Fraction, overlap)
    hits, positives, k = (int(part.sum()) for part in (truth & predicted, truth, predicted))
    total = recall * positives + k - shared * hits
    return gain * hits / total if total else Fraction(1)


def exact_score(measure, truth, predicted):
    """Return a measure of dense label sets as a fraction, by its definition."""
    if measure.average == "micro":
        return exact_value(measure.overlap, truth, predicted)
    values = [exact_value(measure.overlap, *pair) for pair in zip(truth, predicted)]
    return sum(values) / len(values)


def attainable_sets(estimates):
    """Return the sets that `>` can predict with a common threshold, from the empty set on, ties
    together.
    """
    return [
        estimates > np.inf,
        *(estimates >= v for v in np.unique(estimates[estimates > 0])[::-1]),
    ]


@THOROUGH
@given(**CASES, name=st.sampled_from(sorted(COMMON)), levels=st.sampled_from([2, 6, 40]))
def test_common_threshold_is_best_attainable(n, m, seed, name, levels):
    spe, Y = random_case(n, m, seed, levels)
    sets = attainable_sets(spe.toarray())
    scores = [exact_score(COMMON[name], Y.toarray(), chosen) for chosen in sets]
    method = CommonThreshold(*COMMON[name]).fit(spe, Y)
    found = method.predict(spe).toarray()
    np.testing.assert_array_equal(found, sets[scores.index(max(scores))])
    score = measure_scores(agreement(Y, found), [name])[name]
    assert score == pytest.approx(float(max(scores)), abs=1e-12)
    assert method.thresholds_.dtype == np.float32
    assert (method.thresholds_ == method.thresholds_[0]).all()


def test_empty_sets_are_predicted_if_they_are_best():
    spe = sparse.csr_array(np.float32([[0.5, 0.25], [0.75, 0.0]]))
    Y = sparse.csr_array((2, 2), dtype=bool)
    for average in ("micro", "instance"):
        method = CommonThreshold(average).fit(spe, Y)
        assert (method.thresholds_ == np.float32(0.75)).all()
        assert method.predict(spe).nnz == 0
        empty = CommonThreshold(average).fit(sparse.csr_array((2, 2), dtype=np.float32), Y)
        assert empty.thresholds_.tolist() == [0, 0]


@THOROUGH
@given(
    **CASES,
    overlap=st.sampled_from([f_beta(0.5), F1, f_beta(2.0), JACCARD]),
    kappas=st.sampled_from([[0], [0, 1 / 6, 0.3, 0.9]]),
)
def test_sto_maximises_overlap_of_each_label(n, m, seed, overlap, kappas):
    """If several sets above the minimum threshold are best, STO predicts the smallest."""
    spe, Y = random_case(n, m, seed)
    minima = np.random.default_rng(seed).choice(np.float32(kappas), m)
    method = STO(kappa=minima, overlap=overlap).fit(spe, Y)
    predicted = method.predict(spe).toarray()
    assert (method.thresholds_ >= minima).all()
    estimates = np.where(spe.toarray() > minima, spe.toarray(), 0)
    for j, truth in enumerate(Y.toarray().T):
        sets = attainable_sets(estimates[:, j])
        scores = [exact_value(overlap, truth, chosen) for chosen in sets]
        np.testing.assert_array_equal(predicted[:, j], sets[scores.index(max(scores))])


def test_instance_jaccard_and_instance_f_have_different_thresholds():
    """If only the top label is predicted, both measures are (1 + 0) / 2.

    All labels have F (2/3 + 2/4) / 2 and Jaccard (1/2 + 1/3) / 2.
    """
    estimates = np.float32([[0.5, 0.9, 0.0], [0.3, 0.3, 0.3]])
    Y = np.array([[False, True, False], [False, True, False]])
    for overlap, n_predicted in ((F1, 5), (JACCARD, 1)):
        method = CommonThreshold("instance", overlap).fit(estimates, Y)
        assert method.predict(estimates).nnz == n_predicted


def test_sum_of_gains_has_no_rounding_drift():
    """Only the last threshold gives each instance the value 1, and rounding must not hide it."""
    n = 300
    m = 40
    estimates = np.random.default_rng(0).uniform(0.1, 1, (n, m)).astype(np.float32)
    Y = np.ones((n, m), dtype=bool)
    threshold = CommonThreshold("instance", f_beta(2)).fit(estimates, Y).thresholds_[0]
    assert threshold == np.nextafter(estimates.min(), np.float32(0))


def test_best_sum_must_exceed_rounding_errors():
    lowest = np.uint32([10, 20, 30])
    gains = np.array([2, 3, 2])
    for n, expected in ((1, 9), (2, 19), (5, 9), (6, 9), (7, 99)):
        threshold = np.uint32([99])
        best_sum(lowest, gains, 1, n, threshold)
        assert threshold == expected


def test_instances_without_labels_score_1_for_the_empty_set():
    spe = sparse.csr_array(np.float32([[0.6], [0.2]]))
    Y = np.array([[False], [True]])
    # Empty set: (1 + 0) / 2. Above 0.6: (0 + 0) / 2. All: (0 + 1) / 2, equal to the empty set.
    assert CommonThreshold("instance").fit(spe, Y).thresholds_.tolist() == [np.float32(0.6)]
    # The set of all is better by the only instance with a label, and the sum of all values is
    # 2**23.
    n = 1 << 23
    indptr = np.append(0, np.ones(n, dtype=np.int32))
    spe = sparse.csr_array((np.float32([0.6]), np.int32([0]), indptr), shape=(n, 1))
    assert CommonThreshold("instance").fit(spe, spe > 0).thresholds_[0] < np.float32(0.6)


def test_common_threshold_is_bit_identical_on_threads_and_refuses_macro():
    spe, Y = random_case(300, 40, 7, levels=1000)
    for average in ("micro", "instance"):
        one = CommonThreshold(average, n_jobs=1).fit(spe, Y)
        two = CommonThreshold(average, n_jobs=2).fit(spe, Y)
        np.testing.assert_array_equal(one.thresholds_, two.thresholds_)
    assert clone(CommonThreshold("micro", JACCARD)).overlap == JACCARD
    with raises_with(XmlcError, "average='macro'", "STO"):
        CommonThreshold("macro").fit(spe, Y)
