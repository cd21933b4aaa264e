"""The approximate search: who meets in the tables, and what is found among them."""

import nearest_twin
import numpy as np
import pytest
from nearest_cases import data
from scipy import sparse

from xmlc.csr import kernel_csr, unit_rows
from xmlc.models import SparseWeightedNearestNeighbors
from xmlc.models.nearest._hashing import buckets_of, fill_table


def near(S=5, **parameters):
    return SparseWeightedNearestNeighbors(S=S, n_tables=32, bucket_bits=10, **parameters)


def supports(*sets, d=200):
    X = np.zeros((len(sets), d), dtype=np.float32)
    for row, features in zip(X, sets, strict=True):
        row[list(features)] = 1
    return kernel_csr(unit_rows(sparse.csr_array(X)))


@pytest.mark.parametrize("shared", [0, 5, 40, 60])
def test_supports_meet_as_often_as_they_are_similar(shared):
    """The estimate of the Jaccard similarity is unbiased, and its error that of as many independent hashes, or less."""
    n_tables, size = 512, 60
    x = supports(range(size), range(size - shared, 2 * size - shared))
    buckets = buckets_of(x, n_tables, 30, 1)
    jaccard = shared / (2 * size - shared)
    # Far fewer features than tables: most are borrowed, so that there are no more than 60 independent choices.
    assert abs((buckets[:, 0] == buckets[:, 1]).mean() - jaccard) <= 4 * np.sqrt(jaccard * (1 - jaccard) / size)


def test_who_has_no_features_meets_nobody():
    assert (buckets_of(supports([], [1]), 8, 4, 0)[:, 0] == -1).all()


def test_a_reservoir_is_a_uniform_sample():
    drawn = np.zeros(40)
    for table in range(600):
        starts, members = fill_table(np.zeros(40, dtype=np.int64), 4, 10, 3, table)
        np.testing.assert_array_equal(starts, [0, 10, 10, 10, 10])
        assert np.unique(members).size == 10
        drawn[members] += 1
    assert np.abs(drawn / 600 - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 600)


@pytest.mark.parametrize("beta", [0.0, 1.0, 0.7])
def test_what_is_found_has_its_exact_similarity(beta):
    X, Y, Q = data(150, 60, 3)
    numbers, similarities = near(beta=beta, n_candidates=2).fit(X, Y).neighbours(Q)
    dense_X, dense_Q = unit_rows(X).toarray(), unit_rows(Q).toarray()
    rank = nearest_twin.ranks(dense_X)
    assert (numbers >= 0).any()
    for query, these, found in zip(dense_Q, numbers, similarities, strict=True):
        pairs = [(-value, i) for value, i in zip(found, these, strict=True) if i >= 0]
        assert pairs == sorted(pairs)
        for value, i in pairs:
            assert -value == nearest_twin.similarity(dense_X[i], query, beta, rank)


def test_with_all_as_candidates_it_loses_only_whom_it_never_meets():
    X, Y, Q = data(150, 60, 4)
    exact = SparseWeightedNearestNeighbors(S=5).fit(X, Y).neighbours(Q)
    numbers, similarities = near(n_candidates=1000, reservoir=1000).fit(X, Y).neighbours(Q)
    assert (similarities <= exact[1]).all()
    assert (numbers == exact[0]).mean() > 0.9


def test_an_instance_finds_itself_with_few_candidates():
    X, Y, _ = data(150, 60, 5)
    X = X[np.diff(X.indptr) > 2]
    model = near(n_candidates=1).fit(X, Y[: X.shape[0]])
    _, similarities = model.neighbours(X)
    np.testing.assert_allclose(similarities[:, 0], 1, rtol=1e-6)
    assert (model.inner_products_ <= 5).all()


def test_threads_do_not_show_but_the_seed_does(tmp_path):
    X, Y, Q = data(300, 60, 6)
    one = near(n_jobs=1, reservoir=2, n_candidates=1).fit(X, Y)
    expected = one.neighbours(Q)
    one.save(tmp_path / "model")
    loaded = SparseWeightedNearestNeighbors.load(tmp_path / "model")
    assert loaded.index_bytes_ == one.index_bytes_
    for model in (near(n_jobs=3, reservoir=2, n_candidates=1).fit(X, Y), loaded):
        for a, b in zip(model.neighbours(Q), expected, strict=True):
            np.testing.assert_array_equal(a, b)
    other = near(reservoir=2, n_candidates=1, random_state=1).fit(X, Y)
    assert (other.neighbours(Q)[0] != expected[0]).any()


def test_nothing_meets_nobody():
    X, Y, Q = data(20, 10, 0)
    model = near().fit(X, Y)
    assert (model.neighbours(Q[:1] * 0)[0] == -1).all()
    assert model.predict_proba(Q[:0]).shape == (0, 6)
