"""The counting kernels, compared with dense arithmetic and plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.kernels.csr import kernel_csr
from xmlc.metrics._counts import DRAWS, count_agreement, count_draws


@given(n=st.integers(0, 9), m=st.integers(1, 9), seed=st.integers(0, 999))
def test_agreement_equals_dense_counts(n, m, seed):
    rng = np.random.default_rng(seed)
    Y, Y_hat = (rng.random((n, m)) < rng.random((n, 1)) for _ in range(2))
    true, predicted = (kernel_csr(sparse.csr_array(labels)) for labels in (Y, Y_hat))
    times = rng.integers(0, 4, size=n).astype(np.int32)
    counts = count_agreement(
        true.indptr, true.indices, predicted.indptr, predicted.indices, times, m
    )
    of_labels = [times @ labels for labels in (Y & Y_hat, Y, Y_hat)]
    for found, expected in zip(counts, (*of_labels, (Y & Y_hat).sum(1)), strict=True):
        np.testing.assert_array_equal(found, expected)


@given(n=st.integers(0, 9), replicate=st.integers(0, 49))
def test_draws_equal_plain_loop(n, replicate):
    times = np.zeros(n, dtype=np.int32)
    expected = np.zeros(n, dtype=np.int32)
    count_draws(replicate, times)
    key = np.uint64(stream_key(DRAWS, replicate))
    for i in range(n):
        expected[random_below(key, i, n)] += 1
    assert times.tolist() == expected.tolist()
