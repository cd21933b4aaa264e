"""The threshold kernels against twins that do the obvious."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threshold_cases import CASES, random_case

from xmlc.kernels.csr import kernel_csr
from xmlc.thresholds.methods import best_cut, columns, copy_above, count_above, mark_hits, sto_thresholds
from xmlc.thresholds.one_pass import fixed_counts

BELOW = np.float32(0)


def exact_f(hits, n_positives, chosen):
    total = n_positives + len(chosen)
    return Fraction(2 * sum(hits[i] for i in chosen), total) if total else Fraction(1)


def naive_cut(estimates, hits, n_positives):
    """Try every cut, from none to all, in exact fractions; of equal ones keep the first."""
    best, threshold = exact_f(hits, n_positives, []), max(estimates)
    for v in sorted(set(estimates), reverse=True):
        f = exact_f(hits, n_positives, [i for i, e in enumerate(estimates) if e >= v])
        if f > best:
            best, threshold = f, np.nextafter(v, BELOW)
    return threshold


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
def test_sto_kernel_equals_the_naive_cut_above_the_floor(n, m, seed):
    spe, Y = random_case(n, m, seed)
    floors = np.random.default_rng(seed).choice(np.float32([0, 1 / 6, 0.3, 0.9]), m).astype(np.float32)
    found = np.full(m, -1, dtype=np.float32)
    sto_thresholds(columns(spe, Y), 0, m, floors, 1.0, found)
    estimates, truth = spe.toarray(), Y.toarray()
    for j in range(m):
        above = estimates[:, j] > floors[j]
        positives = int(truth[:, j].sum())
        naive = naive_cut(estimates[above, j], truth[above, j].tolist(), positives) if above.any() else None
        assert found[j] == (floors[j] if naive is None else naive)


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


@settings(deadline=None, max_examples=60)
@given(**CASES)
def test_fixed_counts_equal_dense_counts(n, m, seed):
    spe, Y = random_case(n, m, seed)
    fixed = np.float32([0.1, 1 / 6, 0.5, 0.9])
    lower = np.random.default_rng(seed).choice(np.float32([0, 1 / 6, 0.6]), m).astype(np.float32)
    hits, predicted = (np.zeros((m, 4), dtype=np.int32) for _ in range(2))
    fixed_counts(columns(spe, Y), 0, m, fixed, lower, hits, predicted)
    for g in range(4):
        chosen = spe.toarray() > np.maximum(fixed[g], lower)
        np.testing.assert_array_equal(predicted[:, g], chosen.sum(0))
        np.testing.assert_array_equal(hits[:, g], (chosen & Y.toarray()).sum(0))


@settings(deadline=None, max_examples=40)
@given(a=st.sets(st.integers(0, 12)), b=st.sets(st.integers(0, 12)))
def test_mark_hits_equals_membership(a, b):
    rows, true_rows = (np.array(sorted(part), dtype=np.uint32) for part in (a, b))
    np.testing.assert_array_equal(mark_hits(rows, true_rows), np.isin(rows, true_rows))


def test_a_kernel_writes_its_own_labels_only():
    spe, Y = random_case(12, 6, 1)
    spe, found = sparse.csr_array(spe), np.full(6, -1, dtype=np.float32)
    sto_thresholds(columns(spe, Y), 2, 4, np.zeros(6, np.float32), 1.0, found)
    assert (found[[0, 1, 4, 5]] == -1).all()
    assert (found[2:4] >= 0).all()
