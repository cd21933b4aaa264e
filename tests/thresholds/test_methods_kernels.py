"""The threshold kernels, compared with plain implementations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from threshold_cases import BELOW, CASES, naive_candidate, random_case

from xmlc.kernels.csr import kernel_csr
from xmlc.thresholds.methods import checked_pair, copy_above
from xmlc.thresholds.sto import candidates_of


def threshold_of(estimates, hits, hidden):
    """Return the threshold of one label with ``hidden`` additional positive instances without an
    estimate.
    """
    spe = sparse.csr_array(np.append(estimates, np.zeros(hidden, np.float32))[:, None])
    Y = sparse.csr_array(np.append(hits, np.ones(hidden, bool))[:, None])
    return candidates_of(*checked_pair(spe, Y)).best(np.zeros(1, dtype=np.float32), 1.0)[0]


@given(
    scores=st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=12),
    hidden=st.integers(0, 3),
)
def test_best_cut_equals_exhaustive_search(scores, hidden):
    estimates = np.array([level / 5 for level, _ in scores], dtype=np.float32)
    hits = np.array([hit for _, hit in scores])
    n_positives = int(hits.sum()) + hidden
    assert threshold_of(estimates, hits, hidden) == naive_candidate(
        estimates, hits.tolist(), n_positives
    )


def test_best_cut_is_next_float_below_smallest_and_largest_values():
    tiny = np.float32(1e-45)  # the smallest positive float32
    for value in (np.float32(1), np.float32(0.5), np.finfo(np.float32).tiny, tiny):
        found = threshold_of(np.array([value]), np.array([True]), 0)
        assert found == np.nextafter(value, BELOW)
        assert found < value


@given(**CASES)
def test_rule_kernels_equal_dense_comparison(n, m, seed):
    spe, _ = random_case(n, m, seed)
    thresholds = np.random.default_rng(seed).integers(0, 7, m).astype(np.float32) / np.float32(6)
    counts = np.empty(n, dtype=np.int64)
    kept = np.empty(spe.nnz, dtype=np.uint32)
    n_kept = copy_above(*kernel_csr(spe), thresholds, counts, kept)
    expected = spe.toarray() > thresholds
    np.testing.assert_array_equal(counts, expected.sum(1))
    np.testing.assert_array_equal(kept[:n_kept], np.nonzero(expected)[1])


@given(**CASES, entries=st.integers(1, 30), common=st.booleans())
def test_cuts_are_estimates_of_positives_with_counts_above_them(n, m, seed, entries, common):
    spe, Y = checked_pair(*random_case(n, m, seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xmlc.kernels.csr.ENTRIES_PER_BLOCK", entries)
        candidates = candidates_of(spe, Y, 2, common)
    estimates = spe.toarray()
    truth = Y.toarray()
    if common:
        estimates = estimates.reshape(-1, 1)
        truth = truth.reshape(-1, 1)
    lowest = candidates.lowest.view(np.float32)
    for j in range(estimates.shape[1]):
        own = estimates[:, j]
        true = truth[:, j]
        part = slice(candidates.starts[j], candidates.starts[j + 1])
        np.testing.assert_array_equal(lowest[part], np.unique(own[true & (own > 0)]))
        assert candidates.hits[part].tolist() == [
            np.count_nonzero(true & (own >= v)) for v in lowest[part]
        ]
        assert candidates.predicted[part].tolist() == [
            np.count_nonzero(own >= v) for v in lowest[part]
        ]
        assert candidates.largest.view(np.float32)[j] == own.max(initial=0)
        assert candidates.positives[j] == true.sum()
