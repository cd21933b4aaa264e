"""Thresholds for micro- and instance-averaged measures, and STO for other measures than F.

The reference tries every attainable set.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threshold_cases import CASES, candidate_sets, random_case

from xmlc.metrics.classification import TUNABLE, agreement, measure_scores
from xmlc.metrics.measure import F1, JACCARD, f_beta
from xmlc.thresholds import STO, CommonThreshold
from xmlc.thresholds.pooled import best_sum

THOROUGH = settings(max_examples=60)


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


@THOROUGH
@given(**CASES, name=st.sampled_from(sorted(COMMON)), levels=st.sampled_from([2, 6, 40]))
def test_common_threshold_is_best_attainable(n, m, seed, name, levels):
    spe, Y = random_case(n, m, seed, levels)
    sets = candidate_sets(spe.toarray())
    scores = [exact_score(COMMON[name], Y.toarray(), chosen) for chosen in sets]
    method = CommonThreshold(*COMMON[name]).fit(spe, Y)
    found = method.predict(spe).toarray()
    np.testing.assert_array_equal(found, sets[scores.index(max(scores))])
    score = measure_scores(agreement(Y, found), [name])[name]
    assert score == pytest.approx(float(max(scores)), abs=1e-12)
    assert method.thresholds_.dtype == np.float32
    assert (method.thresholds_ == method.thresholds_[0]).all()


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
        sets = candidate_sets(estimates[:, j])
        scores = [exact_value(overlap, truth, chosen) for chosen in sets]
        np.testing.assert_array_equal(predicted[:, j], sets[scores.index(max(scores))])


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


def test_one_of_many_instances_decides():
    """The set of all is better by the only instance with a label, and the sum of all values is
    2**23.
    """
    n = 1 << 23
    indptr = np.append(0, np.ones(n, dtype=np.int32))
    spe = sparse.csr_array((np.float32([0.6]), np.int32([0]), indptr), shape=(n, 1))
    assert CommonThreshold("instance").fit(spe, spe > 0).thresholds_[0] < np.float32(0.6)
