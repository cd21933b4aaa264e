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
from xmlc.kernels.csr import kernel_csr
from xmlc.metrics.classification import TUNABLE, agreement, measure_scores
from xmlc.metrics.measure import F1, JACCARD, f_beta
from xmlc.thresholds import STO, CommonThreshold
from xmlc.thresholds.methods import checked_pair
from xmlc.thresholds.pooled import UNIT, add_gains, best_sum, overlap_units
from xmlc.thresholds.sto import candidates_of

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
    sets = list(zip(truth.T, predicted.T) if measure.average == "macro" else zip(truth, predicted))
    return sum(exact_value(measure.overlap, *pair) for pair in sets) / len(sets)


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
    estimates = spe.toarray()
    truth = Y.toarray()
    scores = [exact_score(COMMON[name], truth, chosen) for chosen in attainable_sets(estimates)]
    method = CommonThreshold(*COMMON[name]).fit(spe, Y)
    found = method.predict(spe).toarray()
    np.testing.assert_array_equal(found, attainable_sets(estimates)[scores.index(max(scores))])
    assert measure_scores(agreement(Y, found), [name])[name] == pytest.approx(
        float(max(scores)), abs=1e-12
    )
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
@given(**CASES, beta=st.sampled_from([0.5, 1.0, 2.0]))
def test_sto_maximises_f_beta_of_each_label(n, m, seed, beta):
    spe, Y = random_case(n, m, seed)
    estimates = spe.toarray()
    truth = Y.toarray()
    predicted = STO(overlap=f_beta(beta)).fit(spe, Y).predict(spe).toarray()
    for j in range(m):
        sets = attainable_sets(estimates[:, j])
        scores = [exact_value(f_beta(beta), truth[:, j], chosen) for chosen in sets]
        np.testing.assert_array_equal(predicted[:, j], sets[scores.index(max(scores))])


@THOROUGH
@given(**CASES)
def test_jaccard_and_f_have_the_same_thresholds(n, m, seed):
    """J = F / (2 - F) increases with F, for each label and for pooled counts."""
    spe, Y = random_case(n, m, seed)
    for of_f, of_jaccard in (
        (STO(), STO(overlap=JACCARD)),
        (CommonThreshold(), CommonThreshold(overlap=JACCARD)),
    ):
        np.testing.assert_array_equal(
            of_f.fit(spe, Y).thresholds_, of_jaccard.fit(spe, Y).thresholds_
        )
    estimates = spe.toarray()
    truth = Y.toarray()
    predicted = STO(overlap=JACCARD).fit(spe, Y).predict(spe).toarray()
    for j in range(m):
        best = max(
            exact_value(JACCARD, truth[:, j], chosen) for chosen in attainable_sets(estimates[:, j])
        )
        assert exact_value(JACCARD, truth[:, j], predicted[:, j]) == best


def test_instance_jaccard_and_instance_f_have_different_thresholds():
    """If only the top label is predicted, both measures are (1 + 0) / 2.

    All labels have F (2/3 + 2/4) / 2 and Jaccard (1/2 + 1/3) / 2.
    """
    estimates = np.float32([[0.5, 0.9, 0.0], [0.3, 0.3, 0.3]])
    Y = np.array([[False, True, False], [False, True, False]])
    predicted = [
        CommonThreshold("instance", overlap).fit(estimates, Y).predict(estimates)
        for overlap in (F1, JACCARD)
    ]
    assert [sets.nnz for sets in predicted] == [5, 1]


@given(
    hits=st.integers(0, 5),
    missed=st.integers(0, 5),
    wrong=st.integers(0, 5),
    measure=st.sampled_from(sorted(COMMON)),
)
def test_overlap_in_units_equals_overlap(hits, missed, wrong, measure):
    overlap = COMMON[measure].overlap
    counts = hits, hits + missed, hits + wrong
    value = overlap_units(UNIT, *overlap, *counts) * UNIT
    assert value == pytest.approx(float(overlap.of(*map(np.array, counts))), abs=2.0**-41)


def test_sum_of_gains_has_no_rounding_drift():
    """Only the last threshold gives each instance the value 1, and rounding must not hide it."""
    n = 300
    m = 40
    estimates = np.random.default_rng(0).uniform(0.1, 1, (n, m)).astype(np.float32)
    Y = np.ones((n, m), dtype=bool)
    threshold = CommonThreshold("instance", f_beta(2)).fit(estimates, Y).thresholds_[0]
    assert threshold == np.nextafter(estimates.min(), np.float32(0))


@THOROUGH
@given(**CASES, entries=st.integers(1, 30))
def test_gains_are_differences_between_successive_thresholds(n, m, seed, entries):
    spe, Y = checked_pair(*random_case(n, m, seed))
    candidates = candidates_of(spe, Y, common=True)
    gains = np.zeros(candidates.lowest.size, dtype=np.int64)
    add_gains(kernel_csr(spe), kernel_csr(Y), candidates.lowest, UNIT, *F1, gains)
    values = []
    for lowest in [*candidates.lowest.view(np.float32), 2]:
        values.append(
            sum(
                overlap_units(UNIT, *F1, *map(sum, (t & p, t, p)))
                for t, p in zip(Y.toarray(), spe.toarray() >= lowest)
            )
        )
    assert gains.tolist() == (-np.diff(values)).tolist()


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
        one, two = (
            CommonThreshold(average, n_jobs=jobs).fit(spe, Y).thresholds_ for jobs in (1, 2)
        )
        np.testing.assert_array_equal(one, two)
        assert clone(CommonThreshold(average, JACCARD)).overlap == JACCARD
    with raises_with(XmlcError, "average='macro'", "STO"):
        CommonThreshold("macro").fit(spe, Y)
