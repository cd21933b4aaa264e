"""Label-wise thresholds for micro-averaged measures against all combinations of label-wise cuts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threshold_cases import CASES, all_threshold_vectors, random_case

from xmlc.metrics import micro_f, micro_jaccard
from xmlc.metrics.overlap import F1, JACCARD, f_beta
from xmlc.thresholds import CommonThreshold, MicroLabelWise, apply_thresholds
from xmlc.thresholds._micro import priced_cuts, sort_keys
from xmlc.thresholds.columns import columns

SCORES = {F1: micro_f, f_beta(2): lambda Y, Y_hat: micro_f(Y, Y_hat, beta=2), JACCARD: micro_jaccard}


@settings(deadline=None, max_examples=12)
@given(n=CASES["n"], seed=CASES["seed"], overlap=st.sampled_from(sorted(SCORES)))
def test_no_combination_of_thresholds_is_better(n, seed, overlap):
    spe, Y = random_case(n, 3, seed, levels=3)
    score = SCORES[overlap]
    best = max(score(Y, apply_thresholds(spe, tau)) for tau in all_threshold_vectors(spe))
    assert score(Y, MicroLabelWise(overlap).fit(spe, Y).predict(spe)) == pytest.approx(best, abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(**CASES)
def test_never_worse_than_a_common_threshold_where_it_was_tuned(n, m, seed):
    spe, Y = random_case(n, m, seed)
    one, many = (method.fit(spe, Y).predict(spe) for method in (CommonThreshold(), MicroLabelWise()))
    assert micro_f(Y, many) >= micro_f(Y, one) - 1e-12


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


def test_labels_whose_estimates_are_too_low_get_a_lower_threshold():
    """Label 1 is label 0 with a tenth of the estimates: no common threshold separates both."""
    column = np.float32([0.9, 0.8, 0.7, 0.3, 0.2, 0.1])
    Y = np.repeat([[True], [False]], 3, axis=0).repeat(2, axis=1)
    spe = sparse.csr_array(np.stack([column, column / 10], axis=1))
    assert micro_f(Y, MicroLabelWise().fit(spe, Y).predict(spe)) == 1
    assert micro_f(Y, CommonThreshold().fit(spe, Y).predict(spe)) < 1


def test_without_estimates_or_positives_and_on_two_threads():
    spe, Y = random_case(300, 40, 7, levels=1000)
    one, two = (MicroLabelWise(n_jobs=jobs).fit(spe, Y).thresholds_ for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    nothing = sparse.csr_array(Y.shape, dtype=bool)
    assert MicroLabelWise().fit(spe, nothing).predict(spe).nnz == 0
    assert not MicroLabelWise().fit(sparse.csr_array(Y.shape, dtype=np.float32), Y).thresholds_.any()
