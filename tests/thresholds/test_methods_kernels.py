"""The threshold kernels against twins that do the obvious."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from threshold_cases import BELOW, CASES, naive_cut, random_case

from xmlc.kernels.csr import kernel_csr
from xmlc.thresholds.methods import best_cut, copy_above, count_above, mark_hits


def keys_of(estimates, hits):
    return np.sort(estimates.view(np.uint32) << np.uint32(1) | hits.astype(np.uint32))


def threshold_of(keys, n_positives):
    return np.array([best_cut(keys, n_positives)], dtype=np.uint32).view(np.float32)[0]


@settings(deadline=None, max_examples=100)
@given(
    scores=st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=12),
    hidden=st.integers(0, 3),
)
def test_best_cut_equals_trying_every_cut(scores, hidden):
    estimates = np.array([level / 5 for level, _ in scores], dtype=np.float32)
    hits = np.array([hit for _, hit in scores])
    n_positives = int(hits.sum()) + hidden
    assert threshold_of(keys_of(estimates, hits), n_positives) == naive_cut(estimates, hits.tolist(), n_positives)


def test_best_cut_steps_to_the_next_float_at_the_ends_of_the_range():
    tiny = np.float32(1e-45)  # the smallest positive float32
    for value in (np.float32(1), np.float32(0.5), np.finfo(np.float32).tiny, tiny):
        found = threshold_of(keys_of(np.array([value]), np.array([True])), 1)
        assert found == np.nextafter(value, BELOW)
        assert found < value


@settings(deadline=None, max_examples=60)
@given(**CASES)
def test_rule_kernels_equal_dense_comparison(n, m, seed):
    spe, _ = random_case(n, m, seed)
    thresholds = np.random.default_rng(seed).integers(0, 7, m).astype(np.float32) / np.float32(6)
    rows, counts = kernel_csr(spe), np.empty(n, dtype=np.int64)
    count_above(*rows, thresholds, counts)
    expected = spe.toarray() > thresholds
    np.testing.assert_array_equal(counts, expected.sum(1))
    kept = np.empty(counts.sum(), dtype=np.uint32)
    copy_above(*rows, thresholds, kept)
    np.testing.assert_array_equal(kept, np.nonzero(expected)[1])


@settings(deadline=None, max_examples=40)
@given(a=st.sets(st.integers(0, 12)), b=st.sets(st.integers(0, 12)))
def test_mark_hits_equals_membership(a, b):
    rows, true_rows = (np.array(sorted(part), dtype=np.uint32) for part in (a, b))
    np.testing.assert_array_equal(mark_hits(rows, true_rows), np.isin(rows, true_rows))
