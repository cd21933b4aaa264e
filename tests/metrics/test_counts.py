"""The counting kernels against dense arithmetic and plain loops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.kernels.csr import kernel_csr
from xmlc.metrics._counts import count_agreement, match_ranking

SHAPES = {"n": st.integers(0, 9), "m": st.integers(1, 9), "seed": st.integers(0, 999)}


@settings(deadline=None, max_examples=40)
@given(**SHAPES)
def test_agreement_equals_dense_counts(n, m, seed):
    rng = np.random.default_rng(seed)
    Y, Y_hat = (rng.random((n, m)) < rng.random((n, 1)) for _ in range(2))
    true, predicted = (kernel_csr(sparse.csr_array(labels)) for labels in (Y, Y_hat))
    counts = count_agreement(true.indptr, true.indices, predicted.indptr, predicted.indices, m)
    for found, expected in zip(counts, ((Y & Y_hat).sum(0), Y.sum(0), Y_hat.sum(0), (Y & Y_hat).sum(1))):
        np.testing.assert_array_equal(found, expected)


@settings(deadline=None, max_examples=40)
@given(**SHAPES)
def test_matching_equals_plain_loops(n, m, seed):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, m)) < 0.4
    labels = rng.integers(-1, m + 2, size=(n, 4)).astype(np.int32)  # labels beyond m match nothing
    truth = kernel_csr(sparse.csr_array(Y))
    found = match_ranking(truth.indptr, truth.indices, labels)
    for i in range(n):
        for r in range(4):
            assert found[i, r] == (0 <= labels[i, r] < m and Y[i, labels[i, r]])
