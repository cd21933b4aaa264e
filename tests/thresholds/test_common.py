"""One threshold for all labels, and STO for other measures, against trying every attainable cut in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from threshold_cases import CASES, random_case

from xmlc.errors import XmlcError
from xmlc.metrics.classification import TUNABLE, measure_scores
from xmlc.metrics.overlap import F1, JACCARD, f_beta
from xmlc.thresholds import STO, CommonThreshold, apply_thresholds
from xmlc.thresholds._common import best_instance_cut, mark_column_hits, overlap_units
from xmlc.thresholds.bounds import lower_bounds
from xmlc.thresholds.columns import columns

COMMON = {name: measure for name, measure in TUNABLE.items() if measure.average != "macro"}
THOROUGH = settings(deadline=None, max_examples=60)


def exact_value(overlap, truth, predicted):
    """Overlap of two masks as a fraction."""
    gain, recall, shared = map(Fraction, overlap)
    hits, positives, k = (int(part.sum()) for part in (truth & predicted, truth, predicted))
    total = recall * positives + k - shared * hits
    return gain * hits / total if total else Fraction(1)


def exact_score(measure, truth, predicted):
    """A measure of dense label sets as a fraction, by its definition."""
    if measure.average == "micro":
        return exact_value(measure.overlap, truth, predicted)
    sets = list(zip(truth.T, predicted.T) if measure.average == "macro" else zip(truth, predicted))
    return sum(exact_value(measure.overlap, *pair) for pair in sets) / len(sets)


def attainable_sets(estimates):
    """What `>` on a common threshold can predict: the empty set first, then ties together."""
    return [estimates > np.inf, *(estimates >= v for v in np.unique(estimates[estimates > 0])[::-1])]


@THOROUGH
@given(**CASES, name=st.sampled_from(sorted(COMMON)), levels=st.sampled_from([2, 6, 40]))
def test_a_common_threshold_is_the_best_attainable_one(n, m, seed, name, levels):
    spe, Y = random_case(n, m, seed, levels)
    estimates, truth = spe.toarray(), Y.toarray()
    scores = [exact_score(COMMON[name], truth, chosen) for chosen in attainable_sets(estimates)]
    method = CommonThreshold(*COMMON[name]).fit(spe, Y)
    found = method.predict(spe).toarray()
    np.testing.assert_array_equal(found, attainable_sets(estimates)[scores.index(max(scores))])
    assert measure_scores(Y, found, [name])[name] == pytest.approx(float(max(scores)), abs=1e-12)
    assert method.thresholds_.dtype == np.float32
    assert (method.thresholds_ == method.thresholds_[0]).all()


def test_ties_enter_together():
    """Of a tie of three, the two hits alone would be best; what counts is the tie as a whole."""
    estimates = np.float32([[0.5, 0.25, 0.25], [0.25, 0, 0]])
    Y = sparse.csr_array(np.array([[True, True, False], [True, False, False]]))
    for average in ("micro", "instance"):
        method = CommonThreshold(average).fit(estimates, Y)
        assert method.thresholds_[0] == np.nextafter(np.float32(0.25), np.float32(0))
        assert method.predict(estimates).nnz == 4
    wrong = sparse.csr_array(np.array([[True, False, False], [False, False, False]]))
    for average in ("micro", "instance"):
        assert CommonThreshold(average).fit(estimates, wrong).predict(estimates).nnz == 1


def test_the_threshold_is_just_below_the_chosen_estimate_and_not_below_the_floor():
    floor = np.float32(0.1)
    smallest = np.nextafter(floor, np.float32(1))
    spe = sparse.csr_array(np.full((3, 2), smallest))
    Y = sparse.csr_array(np.ones((3, 2), dtype=bool))
    for average in ("micro", "instance"):
        assert (CommonThreshold(average).fit(spe, Y).thresholds_ == floor).all()


def test_nothing_is_predicted_where_nothing_is_best():
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
def test_sto_maximises_f_beta_label_by_label(n, m, seed, beta):
    spe, Y = random_case(n, m, seed)
    estimates, truth = spe.toarray(), Y.toarray()
    predicted = STO(overlap=f_beta(beta)).fit(spe, Y).predict(spe).toarray()
    for j in range(m):
        sets = attainable_sets(estimates[:, j])
        scores = [exact_value(f_beta(beta), truth[:, j], chosen) for chosen in sets]
        np.testing.assert_array_equal(predicted[:, j], sets[scores.index(max(scores))])


@THOROUGH
@given(**CASES)
def test_jaccard_has_the_thresholds_of_f(n, m, seed):
    """J = F / (2 - F) grows with F: so do a label's cuts and, one threshold on pooled counts, micro-Jaccard's."""
    spe, Y = random_case(n, m, seed)
    for of_f, of_jaccard in ((STO(), STO(overlap=JACCARD)), (CommonThreshold(), CommonThreshold(overlap=JACCARD))):
        np.testing.assert_array_equal(of_f.fit(spe, Y).thresholds_, of_jaccard.fit(spe, Y).thresholds_)
    estimates, truth = spe.toarray(), Y.toarray()
    predicted = STO(overlap=JACCARD).fit(spe, Y).predict(spe).toarray()
    for j in range(m):
        best = max(exact_value(JACCARD, truth[:, j], chosen) for chosen in attainable_sets(estimates[:, j]))
        assert exact_value(JACCARD, truth[:, j], predicted[:, j]) == best


def test_instance_jaccard_has_thresholds_of_its_own():
    """By head: the top label alone gives (1 + 0) / 2 for both, all labels (2/3 + 2/4) / 2 for F but (1/2 + 1/3) / 2."""
    estimates = np.float32([[0.5, 0.9, 0.0], [0.3, 0.3, 0.3]])
    Y = np.array([[False, True, False], [False, True, False]])
    predicted = [CommonThreshold("instance", overlap).fit(estimates, Y).predict(estimates) for overlap in (F1, JACCARD)]
    assert [sets.nnz for sets in predicted] == [5, 1]


@given(
    hits=st.integers(0, 5), missed=st.integers(0, 5), wrong=st.integers(0, 5), measure=st.sampled_from(sorted(COMMON))
)
def test_units_are_the_overlap(hits, missed, wrong, measure):
    overlap = COMMON[measure].overlap
    counts = hits, hits + missed, hits + wrong
    value = overlap_units(*overlap, *counts) * 2.0**-40
    assert value == pytest.approx(float(overlap.of(*map(np.array, counts))), abs=2.0**-41)


def test_the_sum_does_not_drift():
    """Every instance ends where it would start: 1. The best is the last cut, and no rounding hides it."""
    n, m = 300, 40
    estimates = np.random.default_rng(0).uniform(0.1, 1, (n, m)).astype(np.float32)
    Y = np.ones((n, m), dtype=bool)
    threshold = CommonThreshold("instance", f_beta(2)).fit(estimates, Y).thresholds_[0]
    assert threshold == np.nextafter(estimates.min(), np.float32(0))


@THOROUGH
@given(**CASES)
def test_hits_in_column_order_equal_dense_comparison(n, m, seed):
    spe, Y = random_case(n, m, seed)
    data, cut = columns(spe, Y), m // 2
    hits = np.zeros(data.estimates.size, dtype=bool)
    mark_column_hits(data, 0, cut, hits)
    assert not hits[data.starts[cut] :].any()
    mark_column_hits(data, cut, m, hits)
    labels = np.repeat(np.arange(m), np.diff(data.starts))
    np.testing.assert_array_equal(hits, Y.toarray()[data.rows, labels])


def test_the_kernel_equals_its_twin_on_instances_without_labels():
    keys = np.array(
        [(np.float32(v).view(np.uint32).item() << 32) | i << 1 | h for v, i, h in [(0.2, 1, 1), (0.6, 0, 0)]]
    )
    found = best_instance_cut(np.sort(keys.astype(np.uint64)), np.int32([0, 1]), *F1)
    # Empty: (1 + 0) / 2; above 0.6: (0 + 0) / 2; all: (0 + 1) / 2, which is no better than the empty set.
    assert np.array([found], dtype=np.uint32).view(np.float32)[0] == np.float32(0.6)


def test_threads_change_nothing_and_parameters_are_checked():
    spe, Y = random_case(300, 40, 7, levels=1000)
    for average in ("micro", "instance"):
        one, two = (CommonThreshold(average, n_jobs=jobs).fit(spe, Y).thresholds_ for jobs in (1, 2))
        np.testing.assert_array_equal(one, two)
        assert clone(CommonThreshold(average, JACCARD)).overlap == JACCARD
    with pytest.raises(XmlcError, match="average='macro': expected 'micro' or 'instance'; STO"):
        CommonThreshold("macro").fit(spe, Y)


@given(prior=st.floats(0, 1), beta=st.floats(0.2, 4))
def test_the_lower_bound_is_the_threshold_of_predicting_everything(prior, beta):
    """F_beta of predicting everything, divided by 1 + beta^2; for beta = 1 the paper's pi / (1 + pi)."""
    n = 1000.0
    everything = f_beta(beta).of(np.array(prior * n), np.array(prior * n), np.array(n))
    assert lower_bounds(np.array([prior]), beta**2)[0] == pytest.approx(float(everything) / (1 + beta**2))
    assert lower_bounds(np.array([prior]))[0] == prior / (1 + prior)


def test_apply_predicts_at_the_chosen_estimate_of_another_set():
    spe = sparse.csr_array(np.float32([[0.9, 0.6], [0.3, 0.1]]))
    Y = sparse.csr_array(np.array([[True, True], [False, False]]))
    tau = CommonThreshold().fit(spe, Y).thresholds_
    assert apply_thresholds(np.float32([[0.6, 0.59]]), tau).toarray().tolist() == [[True, False]]
