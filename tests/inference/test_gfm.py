"""GFM and GFM-T, compared with a search over all label sets, for all forms of distributions."""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_cases import (
    all_sets,
    by_size,
    counted_by_size,
    empirical_pmfs,
    independent_pmf,
    random_joint,
    random_marginals,
    random_samples,
    value_of,
    values_of_all,
)
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.inference import LabelsBySize, Samples, gfm, gfm_t, marginals_of
from xmlc.inference._compact import NONE, compact_samples, rank_places
from xmlc.inference.gfm import best_set, column_of_f, keep_largest, sum_of_largest
from xmlc.inference.methods import METHODS
from xmlc.inference.meuf import TIE

# The examples are fixed, because rounding decides between values with tiny differences.
FEW = settings(max_examples=30, derandomize=True)
SEEDS = st.integers(0, 2**32 - 1)


def assert_is_best(result, pmfs):
    """Check that values are maximal, and that sets are the smallest with this value, then with the
    lowest ids.
    """
    for predicted, value, pmf in zip(result[0].toarray(), result[1], pmfs):
        values = values_of_all(pmf, predicted.size)
        assert value == pytest.approx(values.max(), abs=1e-12)
        best = [h.nonzero()[0].tolist() for h in all_sets(predicted.size)[values > value - 1e-13]]
        assert predicted.nonzero()[0].tolist() == min(best, key=lambda ids: (len(ids), ids))


def assert_is_first_best(predicted, value, sets, pmf):
    """Check that a value is maximal among these sets, and that the set is the first with it."""
    values = np.array([value_of(each, pmf) for each in sets])
    assert value == pytest.approx(values.max(), abs=1e-12)
    np.testing.assert_array_equal(predicted, sets[np.argmax(values > values.max() - 1e-13)])


@FEW
@given(seed=SEEDS, m=st.integers(1, 8))
def test_gfm_finds_best_set_for_any_joint_distribution(seed, m):
    rng = np.random.default_rng(seed)
    pmfs = [random_joint(rng, m) for _ in range(3)]
    given_by_size = by_size(pmfs, m)
    assert_is_best(gfm(given_by_size), pmfs)
    assert_is_best(gfm(given_by_size.P[0], given_by_size.p_empty[0]), pmfs[:1])


@FEW
@given(seed=SEEDS, m=st.integers(1, 8))
def test_gfm_finds_best_set_for_samples(seed, m):
    samples = random_samples(np.random.default_rng(seed), 3, m, n_samples=20)
    assert_is_best(gfm(samples), empirical_pmfs(samples, m))


@FEW
@given(seed=SEEDS, m=st.integers(1, 9))
def test_gfm_finds_best_set_for_marginals_of_independent_labels(seed, m):
    p = random_marginals(np.random.default_rng(seed), 3, m)
    assert_is_best(gfm(p), [independent_pmf(row) for row in p])
    assert_is_best(gfm_t(p), [independent_pmf(row) for row in p])


@FEW
@given(seed=SEEDS, m=st.integers(1, 8))
def test_gfm_t_finds_best_threshold(seed, m):
    samples = random_samples(np.random.default_rng(seed), 2, m, n_samples=20)
    marginals = marginals_of(samples).toarray()
    Y_hat, expected_f = gfm_t(samples)
    for i, pmf in enumerate(empirical_pmfs(samples, m)):
        order = np.argsort(-marginals[i].round(9), kind="stable")
        sets = [np.isin(np.arange(m), order[:k]) for k in range(m + 1)]
        assert_is_first_best(Y_hat.toarray()[i], expected_f[i], sets, pmf)


@FEW
@given(seed=SEEDS, m=st.integers(1, 8), t=st.integers(1, 6))
def test_gfm_t_with_few_thresholds_finds_best_of_them(seed, m, t):
    rng = np.random.default_rng(seed)
    samples = random_samples(rng, 2, m, n_samples=20)
    p = random_marginals(rng, 2, m)
    cases = (
        (samples, marginals_of(samples).toarray(), empirical_pmfs(samples, m)),
        (p, p, [independent_pmf(row) for row in p]),
    )
    for distribution, marginals, pmfs in cases:
        Y_hat, expected_f = gfm_t(distribution, n_thresholds=t)
        for i, pmf in enumerate(pmfs):
            thresholds = np.append(2.0, np.arange(t, 0, -1) / (2 * t))
            sets = [marginals[i] >= threshold - 1e-9 for threshold in thresholds]
            assert_is_first_best(Y_hat.toarray()[i], expected_f[i], sets, pmf)


@pytest.mark.parametrize("infer", [gfm, gfm_t, METHODS["gfm-t-few"].infer])
def test_samples_and_dense_p_are_bit_identical_on_any_threads(infer):
    samples = random_samples(np.random.default_rng(5), 600, 7, n_samples=13)
    one = infer(samples, None, None, 1)
    assert one[0].has_canonical_format
    assert one[0].dtype == bool
    for other in (infer(samples, None, None, 2), infer(counted_by_size(samples))):
        np.testing.assert_array_equal(one[0].toarray(), other[0].toarray())
        np.testing.assert_array_equal(one[1], other[1])


def test_samples_of_a_million_labels_fit_into_memory():
    """A dense P would take 8 * 10^6 * 3 bytes for each instance."""
    labels = [3, 999_999, 3, 999_999, 3, 500, 3]
    Y = (np.ones(7, dtype=bool), labels, [0, 2, 4, 4, 5, 6, 7])
    Y_hat, expected_f = gfm(Samples(sparse.csr_array(Y, shape=(6, 1_000_000)), 3))
    assert Y_hat.indptr.tolist() == [0, 2, 3]
    assert Y_hat.indices.tolist() == [3, 999_999, 3]
    np.testing.assert_allclose(expected_f, [2 / 3, 2 / 3], atol=1e-15)


def test_ties_are_resolved_to_smaller_sets_and_lower_labels():
    P = np.zeros((4, 3, 1))
    p_empty = np.array([0.5, 1.0, 0.0, 0.4])
    P[0, 1, 0] = 0.5  # {1} equals the empty set
    # E[F] is 1/3 for one label, 4/9 for two labels, and 1/2 for all three labels.
    P[2, :, 0] = 1 / 3
    P[3, 1:, 0] = 0.3  # The best sets of sizes 0 and 2 both have E[F] = 0.4.
    Y_hat, expected_f = gfm(P, p_empty)
    assert Y_hat.toarray().tolist() == [[False] * 3, [False] * 3, [True] * 3, [False] * 3]
    np.testing.assert_allclose(expected_f, [0.5, 1, 0.5, 0.4], atol=1e-15)


def test_gfm_accepts_no_instances_no_labels_and_no_mass():
    empty = gfm(LabelsBySize(np.zeros((2, 3, 0)), np.ones(2), np.zeros(0, dtype=int)))
    assert empty[0].shape == (2, 3)
    assert empty[0].nnz == 0
    assert empty[1].tolist() == [1, 1]
    assert gfm(np.zeros((0, 3)))[0].shape == (0, 3)
    assert gfm(Samples(sparse.csr_array((4, 0), dtype=bool), 2))[1].tolist() == [1, 1]


NO_MASS = np.zeros((1, 2, 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((NO_MASS - 0.1, [0.0]), ["P", "-0.1"]),
        ((NO_MASS, [1.5]), ["p_empty", "1.5"]),
        ((NO_MASS, [0.0], [1]), ["sizes", "(1,)", "(2,)"]),
        ((NO_MASS, [0.0], [2, 1]), ["sizes", "1 to 2"]),
        ((np.full((1, 2, 1), 0.6), [0.0]), ["instance 0", "p_empty", "1.2"]),
        ((Samples(sparse.csr_array((5, 2), dtype=bool), 2),), ["5 rows", "2"]),
        ((np.zeros(3),), ["marginals", "(3,)", "2 dimensions"]),
    ],
)
def test_invalid_distributions_are_refused(arguments, message):
    with raises_with(XmlcError, message):
        gfm(*arguments)


@FEW
@given(seed=SEEDS, m=st.integers(1, 60))
def test_bounds_skip_only_columns_that_do_not_matter(seed, m):
    """The reference computes every column of F.

    Labels are rare or frequent, and label sets have many sizes.
    """
    rng = np.random.default_rng(seed)
    Y = sparse.csr_array(rng.random((40, m)) < rng.random(m) ** rng.integers(1, 8))
    labels = Y.indices.astype(np.uint32)
    P, sizes, p_empty, ids = compact_samples(Y.indptr.astype(np.int64), labels, np.full(m, NONE))
    best_k = 0
    best = p_empty
    for k in range(1, P.shape[1] + 1):
        column = np.zeros(P.shape[1])
        for row, size in zip(P, sizes, strict=True):
            column += 1.0 / (size + k) * row
        fast = np.empty(column.size)
        column_of_f(P, sizes, k, fast)
        np.testing.assert_array_equal(fast, column)
        value = 2.0 * sum_of_largest(column, k)
        if value > best + TIE:
            best_k = k
            best = value
    assert best_set(P, sizes, p_empty, ids, np.empty_like(ids)) == (best_k, best)


@FEW
@given(values=st.lists(st.sampled_from([0.1, 0.2, 0.1 + 1e-16, 0.3]), min_size=1, max_size=20))
def test_ranking_treats_rounding_differences_as_ties(values):
    n = len(values)
    ids = np.random.default_rng(n).permutation(n).astype(np.uint32)
    order = np.empty(n, dtype=np.int64)
    rank_places(np.array(values), ids, order)
    expected = sorted(range(n), key=lambda i: (-round(values[i], 9), ids[i]))
    assert order.tolist() == expected
    k = (n + 1) // 2
    kept = np.empty(k, dtype=np.uint32)
    keep_largest(np.array(values), ids, k, kept)
    assert sorted(kept) == sorted(ids[expected[:k]])


# Sums of the largest entries of a column of F, compared with plain implementations.


MANY = settings(max_examples=100, derandomize=True)
NEARLY_SORTED = st.lists(st.floats(0, 1), min_size=1, max_size=70).map(
    lambda values: sorted(values[:-4], reverse=True) + values[-4:]
)
WITH_TIES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.3, 1.0, 2.0]), min_size=1, max_size=30)


def first(values, place, high, condition):
    """Swap the values that fulfil a condition to ``place`` and behind, and return their end."""
    for i in range(place, high):
        values[i], values[place] = values[place], values[i]
        place += condition(values[place])
    return place


def sum_by_swaps(values, k):
    """Partition by swaps around the k-th value until the k largest come first.

    Return the sum of these k values in this order.
    """
    low = 0
    high = len(values)
    while k < high:
        pivot = values[k - 1]
        greater = first(values, low, high, pivot.__lt__)
        if k <= greater:
            high = greater
            continue
        low = first(values, greater, high, pivot.__eq__)
        if k <= low:
            break
    return np.cumsum(values[:k])[-1]


@MANY
@given(values=NEARLY_SORTED | WITH_TIES, data=st.data())
def test_sum_of_largest_is_bit_identical_to_partition_by_swaps(values, data):
    """The order matters, because the sum's last bit affects the expected F-measure."""
    k = data.draw(st.integers(1, len(values)))
    found = sum_of_largest(np.array(values), k)
    assert found == pytest.approx(sum(sorted(values)[::-1][:k]))
    assert found == sum_by_swaps(values, k)
