"""Each threshold method against a plain search for the best thresholds, and in one pass without stored estimates."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from threshold_cases import CASES, all_threshold_vectors, candidate_sets, f_of, random_case, row_wise_ofo

from xmlc.core.errors import XmlcError
from xmlc.kernels.csr import kernel_csr
from xmlc.metrics import macro_f, micro_f, micro_jaccard
from xmlc.metrics.classification import TUNABLE, measure_scores
from xmlc.metrics.measure import F1, JACCARD, f_beta
from xmlc.models import PLT
from xmlc.thresholds import FTA, OFO, STO, CommonThreshold, MicroLabelWise, apply_thresholds, fit_in_one_pass
from xmlc.thresholds._kernels import (
    best_instance_cut,
    count_fixed,
    follow_online_f,
    mark_column_hits,
    overlap_units,
    priced_cuts,
    sort_keys,
)
from xmlc.thresholds.apply import columns
from xmlc.thresholds.bounds import GRID, kappa, lower_bounds

# STO against all sets of predictions.


THOROUGH = settings(deadline=None, max_examples=60)


@THOROUGH
@given(**CASES)
def test_sto_without_floor_is_the_exact_maximiser(n, m, seed):
    spe, Y = random_case(n, m, seed)
    predicted = STO(kappa=0.0).fit(spe, Y).predict(spe).toarray()
    estimates, truth = spe.toarray(), Y.toarray()
    for j in range(m):
        best = max(f_of(truth[:, j], chosen) for chosen in candidate_sets(estimates[:, j]))
        assert f_of(truth[:, j], predicted[:, j]) == pytest.approx(best, abs=1e-12)


@THOROUGH
@given(**CASES)
def test_sto_takes_the_highest_of_equal_thresholds(n, m, seed):
    spe, Y = random_case(n, m, seed)
    predicted = STO().fit(spe, Y).predict(spe).toarray()
    estimates, truth = spe.toarray(), Y.toarray()
    for j in range(m):
        mine = f_of(truth[:, j], predicted[:, j])
        for chosen in candidate_sets(estimates[:, j]):
            if f_of(truth[:, j], chosen) == mine:
                assert chosen.sum() >= predicted[:, j].sum()


@THOROUGH
@given(**CASES)
def test_sto_looks_only_above_its_floor(n, m, seed):
    spe, Y = random_case(n, m, seed)
    floors = np.random.default_rng(seed).uniform(0, 0.6, m).astype(np.float32)
    estimates, truth = spe.toarray(), Y.toarray()
    above = estimates > floors
    method = STO(kappa=floors).fit(spe, Y)
    assert (method.thresholds_ >= floors).all()
    for j in range(m):
        candidates = candidate_sets(np.where(above[:, j], estimates[:, j], 0))
        if above[:, j].any():
            best = max(f_of(truth[:, j], chosen) for chosen in candidates)
            assert f_of(truth[:, j], method.predict(spe).toarray()[:, j]) == pytest.approx(best)
        else:
            assert method.thresholds_[j] == floors[j]


def test_positives_below_the_floor_count():
    """One hidden positive makes two hits in four worth more than one in one: 4/7 > 2/4, but 4/6 = 2/3 without it."""
    spe = sparse.csr_array(np.array([[0.9], [0.5], [0.5], [0.4], [0.1]], dtype=np.float32))
    Y = sparse.csr_array(np.array([[True], [False], [False], [True], [True]]))
    assert STO(kappa=0.2).fit(spe, Y).predict(spe).nnz == 4


def test_sto_threshold_is_just_below_the_chosen_estimate():
    """The paper's `>=` on a candidate is our `>` on the threshold, on unseen estimates too."""
    spe = sparse.csr_array(np.array([[0.9], [0.6], [0.3]], dtype=np.float32))
    Y = sparse.csr_array(np.array([[True], [True], [False]]))
    tau = STO().fit(spe, Y).thresholds_[0]
    assert tau == np.nextafter(np.float32(0.6), np.float32(0))
    unseen = sparse.csr_array(np.array([[0.6], [0.59]], dtype=np.float32))
    assert apply_thresholds(unseen, np.array([tau])).toarray().tolist() == [[True], [False]]


# FTA, common and label-wise, against macro-F at each threshold of its grid.


@THOROUGH
@given(**CASES)
def test_fta_scores_are_macro_f_at_each_threshold(n, m, seed):
    spe, Y = random_case(n, m, seed)
    method = FTA().fit(spe, Y)
    vectors = [np.full(m, 1 / c, dtype=np.float32) for c in GRID]
    expected = [macro_f(Y, apply_thresholds(spe, tau)) for tau in vectors]
    np.testing.assert_allclose(method.scores_, expected)
    best = max(expected)
    assert method.thresholds_[0] == max(tau[0] for tau, score in zip(vectors, expected) if score >= best - 1e-15)


@THOROUGH
@given(**CASES)
def test_label_wise_fta_is_the_best_of_its_set_for_each_label(n, m, seed):
    spe, Y = random_case(n, m, seed)
    nu = lower_bounds(np.random.default_rng(seed).uniform(0, 0.9, m))
    method = FTA(label_wise=True, lower_bounds=nu).fit(spe, Y)
    estimates, truth = spe.toarray(), Y.toarray()
    for j in range(m):
        allowed = [max(np.float32(1 / c), np.float32(nu[j])) for c in GRID]
        scores = [f_of(truth[:, j], estimates[:, j] > tau) for tau in allowed]
        assert method.thresholds_[j] in allowed
        assert f_of(truth[:, j], estimates[:, j] > method.thresholds_[j]) == pytest.approx(max(scores))


def test_fta_ties_go_to_the_highest_threshold_in_any_order_of_the_grid():
    spe = sparse.csr_array(np.array([[0.9], [0.01]], dtype=np.float32))
    Y = sparse.csr_array(np.array([[True], [False]]))
    for grid in ((2, 5, 10), (10, 2, 5), (5, 10, 2, 2)):
        method = FTA(grid=grid).fit(spe, Y)
        assert method.thresholds_.tolist() == [0.5]
        assert method.scores_.tolist() == [1.0] * len(grid)


def test_fta_scores_equal_macro_f_to_the_last_bit():
    rng = np.random.default_rng(3)
    spe = sparse.random_array((40, 30_000), density=0.05, rng=rng, dtype=np.float32, format="csr")
    Y = sparse.csr_array(sparse.random_array((40, 30_000), density=0.05, rng=rng, format="csr") > 0.3)
    method = FTA().fit(spe, Y)
    assert method.scores_.tolist() == [macro_f(Y, apply_thresholds(spe, 1 / c)) for c in GRID]


# OFO against Algorithm 2 as printed.


@THOROUGH
@given(**CASES)
def test_ofo_equals_the_row_wise_algorithm(n, m, seed):
    spe, Y = random_case(n, m, seed)
    lower = np.random.default_rng(seed).uniform(0, 0.3, m).astype(np.float32)
    for a, b in ((1, 2), (1, 20), (100, 500)):
        method = OFO(a=a, b=b, lower_bounds=lower).fit(spe, Y)
        np.testing.assert_array_equal(method.thresholds_, row_wise_ofo(spe, Y, a, b, lower))
    np.testing.assert_array_equal(
        OFO(a=1, b=3).fit(spe, Y).thresholds_, row_wise_ofo(spe, Y, 1, 3, np.zeros(m, np.float32))
    )


def test_ofo_converges_to_half_the_optimal_f():
    """Equation (4) and the consistency of OFO: with true posteriors, tau approaches F* / 2."""
    rng = np.random.default_rng(1)
    eta = rng.beta(0.6, 2.0, 200_000).astype(np.float32)
    Y = rng.random(eta.size) < eta
    spe, truth = sparse.csr_array(eta[:, None]), sparse.csr_array(Y[:, None])
    tau = OFO(a=1, b=10).fit(spe, truth).thresholds_[0]
    optimum = STO().fit(spe, truth)
    best_f = macro_f(truth, optimum.predict(spe))
    assert tau == pytest.approx(best_f / 2, abs=0.01)
    assert macro_f(truth, apply_thresholds(spe, np.array([tau]))) == pytest.approx(best_f, abs=0.005)


def test_ofo_takes_a_and_b_per_label():
    spe, Y = random_case(14, 5, 8)
    a, b = np.arange(1, 6), np.arange(10, 15)
    found = OFO(a=a, b=b).fit(spe, Y).thresholds_
    for j in range(5):
        assert found[j] == OFO(a=a[j], b=b[j]).fit(spe, Y).thresholds_[j]


# Label-wise thresholds for micro-averaged measures against all combinations of label-wise cuts.


SCORES = {F1: micro_f, f_beta(2): lambda Y, Y_hat: micro_f(Y, Y_hat, beta=2), JACCARD: micro_jaccard}


@settings(deadline=None, max_examples=12)
@given(n=CASES["n"], seed=CASES["seed"], overlap=st.sampled_from(sorted(SCORES)))
def test_no_combination_of_thresholds_is_better(n, seed, overlap):
    spe, Y = random_case(n, 3, seed, levels=3)
    score = SCORES[overlap]
    best = max(score(Y, apply_thresholds(spe, tau)) for tau in all_threshold_vectors(spe))
    assert score(Y, MicroLabelWise(overlap).fit(spe, Y).predict(spe)) == pytest.approx(best, abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(**CASES, price=st.sampled_from([0.0, 0.25, 0.4, 1.0]))
def test_priced_cuts_equal_trying_every_cut(n, m, seed, price):
    spe, Y = random_case(n, m, seed)
    data = columns(spe, Y)
    keys, chosen = np.zeros(spe.nnz, dtype=np.uint32), np.full((m, 2), -1)
    thresholds = np.full(m, -1, dtype=np.float32)
    for start, end in ((0, m // 2), (m // 2, m)):
        sort_keys(data, start, end, keys)
        priced_cuts(data, start, end, keys, price, chosen, thresholds.view(np.uint32))
    estimates, truth = spe.toarray(), Y.toarray()
    for j in range(m):
        levels = [np.float32(2), *np.unique(estimates[estimates[:, j] > 0, j])[::-1]]
        counts = [(int(truth[estimates[:, j] >= v, j].sum()), int((estimates[:, j] >= v).sum())) for v in levels]
        gains = [h - price * k for h, k in counts]
        best = gains.index(max(gains))
        assert tuple(chosen[j]) == counts[best]
        if len(levels) > 1:
            assert thresholds[j] == (levels[1] if best == 0 else np.nextafter(levels[best], np.float32(0)))
        else:
            assert thresholds[j] == -1


def test_without_estimates_or_positives_and_on_two_threads():
    spe, Y = random_case(300, 40, 7, levels=1000)
    one, two = (MicroLabelWise(n_jobs=jobs).fit(spe, Y).thresholds_ for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    nothing = sparse.csr_array(Y.shape, dtype=bool)
    assert MicroLabelWise().fit(spe, nothing).predict(spe).nnz == 0
    assert not MicroLabelWise().fit(sparse.csr_array(Y.shape, dtype=np.float32), Y).thresholds_.any()


# One threshold for all labels, and STO for other measures, against trying every attainable cut in exact fractions.


COMMON = {name: measure for name, measure in TUNABLE.items() if measure.average != "macro"}


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


# FTA and OFO in one pass without stored estimates, against twins that store everything; kappa_j = max(1/c, nu_j).


BLOCKS = st.lists(st.integers(0, 14), max_size=4)
FIXED = np.array([0.1, 0.3, 0.5], dtype=np.float32)


def nu_of(m, seed):
    return lower_bounds(np.random.default_rng(seed).uniform(0, 0.9, m))


def blocks(spe, Y, cuts):
    """Cut the rows at the given places, some of which are none: blocks may be empty."""
    ends = [0, *sorted(cuts), spe.shape[0]]
    return [(spe[start:end], Y[start:end]) for start, end in pairwise(ends)]


@THOROUGH
@given(**CASES)
def test_counters_equal_those_of_stored_dense_estimates(n, m, seed):
    spe, Y = random_case(n, m, seed)
    lower = nu_of(m, seed).astype(np.float32)
    positives, hits, predicted = (np.zeros(shape, dtype=np.int32) for shape in (m, (m, 3), (m, 3)))
    count_fixed(kernel_csr(spe), kernel_csr(Y), FIXED, lower, positives, hits, predicted)
    estimates, truth = spe.toarray(), Y.toarray()
    np.testing.assert_array_equal(positives, truth.sum(axis=0))
    for g, fixed in enumerate(FIXED):
        sets = estimates > np.maximum(fixed, lower)
        np.testing.assert_array_equal(predicted[:, g], sets.sum(axis=0))
        np.testing.assert_array_equal(hits[:, g], (sets & truth).sum(axis=0))


@THOROUGH
@given(**CASES)
def test_the_online_thresholds_equal_algorithm_2(n, m, seed):
    spe, Y = random_case(n, m, seed)
    lower = nu_of(m, seed).astype(np.float32)
    a, b = np.full(m, 1.0), np.full(m, 4.0)
    thresholds = np.maximum(np.float32(0.25), lower)
    follow_online_f(kernel_csr(spe), kernel_csr(Y), a, b, lower, thresholds)
    np.testing.assert_array_equal(thresholds, row_wise_ofo(spe, Y, 1, 4, lower))


@THOROUGH
@given(**CASES, cuts=BLOCKS, label_wise=st.booleans(), bounded=st.booleans())
def test_one_pass_of_fta_gives_the_bits_of_stored_estimates(n, m, seed, cuts, label_wise, bounded):
    spe, Y = random_case(n, m, seed)
    method = FTA(label_wise=label_wise, lower_bounds=nu_of(m, seed) if bounded else None)
    stored, streamed = method.unfitted().fit(spe, Y), method.unfitted()
    for block in blocks(spe, Y, [min(cut, n) for cut in cuts]):
        streamed.partial_fit(*block)
    np.testing.assert_array_equal(streamed.thresholds_, stored.thresholds_)
    np.testing.assert_array_equal(streamed.scores_, stored.scores_)


@THOROUGH
@given(**CASES, cuts=BLOCKS)
def test_one_pass_of_ofo_gives_the_bits_of_stored_estimates(n, m, seed, cuts):
    spe, Y = random_case(n, m, seed)
    method = OFO(b=5, lower_bounds=nu_of(m, seed))
    stored, streamed = method.unfitted().fit(spe, Y), method.unfitted()
    for block in blocks(spe, Y, [min(cut, n) for cut in cuts]):
        streamed.partial_fit(*block)
    np.testing.assert_array_equal(streamed.thresholds_, stored.thresholds_)


@pytest.mark.parametrize("method", [FTA(), FTA(label_wise=True), OFO(b=3)])
def test_fit_forgets_and_partial_fit_goes_on(method):
    spe, Y = random_case(14, 5, 3)
    whole = method.unfitted().fit(spe, Y).thresholds_
    method.fit(spe[9:], Y[9:]).fit(spe[:6], Y[:6]).partial_fit(spe[6:], Y[6:])
    np.testing.assert_array_equal(method.thresholds_, whole)


@THOROUGH
@given(**CASES)
def test_bounded_fta_is_the_best_kappa_of_section_6_2(n, m, seed):
    spe, Y = random_case(n, m, seed)
    nu = nu_of(m, seed)
    method = FTA(lower_bounds=nu).fit(spe, Y)
    vectors = [kappa(c, nu) for c in GRID]
    np.testing.assert_allclose(method.scores_, [macro_f(Y, apply_thresholds(spe, tau)) for tau in vectors])
    np.testing.assert_array_equal(method.thresholds_, vectors[int(method.scores_.argmax())])
    np.testing.assert_array_equal(method.floors(m), vectors[-1])


@pytest.fixture(scope="module")
def tree():
    rng = np.random.default_rng(7)
    X = sparse.random_array((300, 40), density=0.2, rng=rng, format="csr")
    Y = sparse.csr_array(X @ rng.normal(size=(40, 12)) > 1.0)
    return PLT(tree="random", arity=3, epochs=3).fit(X[:200], Y[:200]), X[200:], Y[200:], nu_of(12, 7)


@pytest.mark.parametrize("instances", [1, 33, 1000])
def test_a_model_is_asked_for_no_estimate_that_does_not_matter(tree, instances):
    """Estimates end at the lowest kappa_j, and the thresholds are those that all estimates give."""
    model, X, Y, nu = tree
    all_estimates = model.predict_proba(X)
    for method in (FTA(lower_bounds=nu), FTA(grid=(2, 5), label_wise=True), OFO(lower_bounds=nu), OFO()):
        found = fit_in_one_pass(method.unfitted(), model, X, Y, instances=instances).thresholds_
        np.testing.assert_array_equal(found, method.fit(all_estimates, Y).thresholds_)
    asked = model.predict_proba(X, FTA(lower_bounds=nu).floors(12))
    assert asked.nnz < all_estimates.nnz


def test_a_floor_leaves_estimates_out(tree):
    model, X, Y, _ = tree
    found = fit_in_one_pass(OFO(), model, X, Y, floor=0.2).thresholds_
    np.testing.assert_array_equal(found, OFO().fit(model.predict_proba(X, 0.2), Y).thresholds_)


def test_malformed_streams_are_refused(tree):
    model, X, Y, _ = tree
    with pytest.raises(XmlcError, match="X has 99 instances but Y has 100"):
        fit_in_one_pass(FTA(), model, X[:-1], Y)
    with pytest.raises(XmlcError, match="instances=0: expected at least one at a time"):
        fit_in_one_pass(FTA(), model, X, Y, instances=0)
    spe = model.predict_proba(X)
    with pytest.raises(XmlcError, match="11 labels and 12 thresholds, but 12 and 12 were counted before"):
        FTA().fit(spe, Y).partial_fit(spe[:, :11], Y[:, :11])
    with pytest.raises(XmlcError, match="11 labels, but there were 12 before"):
        OFO().fit(spe, Y).partial_fit(spe[:, :11], Y[:, :11])
