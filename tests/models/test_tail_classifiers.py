"""Tail classifiers against their twin. Their threads, and files, are in test_averaged_forest.py."""

import numpy as np
import pytest
import tail_twin
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from small_data import random_multilabel

from xmlc.core.errors import XmlcError
from xmlc.models.tail_classifiers import TailClassifiers


def candidates_of(n, m, seed=0, density=0.5):
    """Random positive forest scores, sorted."""
    scores = sparse.random_array((n, m), density=density, rng=np.random.default_rng(seed), format="csr")
    scores.sort_indices()
    scores.data = (scores.data + 1e-3).astype(np.float32)
    return scores


def everything(n, m):
    return sparse.csr_array(np.ones((n, m), dtype=np.float32))


def dense_centroids(model):
    indptr, features, weights = model.centroids_
    shape = (model.n_labels_, model.n_features_in_)
    return sparse.csr_array((weights, features.view(np.int32), indptr), shape=shape).toarray()


def stored(matrix):
    """Where a matrix has stored entries, as a dense boolean array."""
    return sparse.csr_array((np.ones(matrix.nnz, bool), matrix.indices, matrix.indptr), shape=matrix.shape).toarray()


@settings(deadline=None, max_examples=25)
@given(
    n=st.integers(1, 30),
    d=st.integers(1, 12),
    m=st.integers(1, 17),
    gamma=st.sampled_from([0.0, 1.0, 30.0, 60.0]),
    alpha=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    unit_norm=st.booleans(),
    seed=st.integers(0, 99),
)
def test_everything_equals_the_twin(n, d, m, gamma, alpha, unit_norm, seed):
    X, Y = random_multilabel(n, d, m, seed)
    X.data -= 0.4  # of both signs
    model = TailClassifiers(gamma=gamma, unit_norm=unit_norm).fit(X, Y)
    means = tail_twin.centroids(X, Y, unit_norm)
    np.testing.assert_allclose(dense_centroids(model), means, atol=1e-6)
    np.testing.assert_allclose(model.squared_lengths_, (means**2).sum(axis=1), atol=1e-6)
    forest = candidates_of(n, m, seed)
    B = tail_twin.probabilities(X, means, gamma, unit_norm)
    logs, blend = model.log_scores(X, forest), model.rerank(X, forest, alpha)
    for result in (logs, blend):
        assert result.dtype == np.float32
        np.testing.assert_array_equal(stored(result), stored(forest))
    here = stored(forest)
    np.testing.assert_allclose(logs.toarray()[here], np.log(B)[here], rtol=1e-5, atol=1e-4)
    expected = forest.toarray().astype(np.float64) ** alpha * B ** (1 - alpha)
    expected = np.maximum(expected, np.finfo(np.float32).tiny)  # still a candidate
    np.testing.assert_allclose(blend.toarray()[here], expected[here], rtol=2e-4)


def test_rare_label_near_its_centroid_overtakes_a_frequent_one():
    X = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=np.float32)
    Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1]], dtype=bool)
    forest = sparse.csr_array(np.array([[0.6, 0.3]], dtype=np.float32))
    model = TailClassifiers().fit(X, Y)
    scores = model.rerank(X[:1], forest, alpha=0.8).toarray()[0]
    # By hand: centroids (1, 1, 1) / 3 and (1, 0, 0); squared distances 2 / 3 and 0.
    np.testing.assert_allclose(scores, [0.6**0.8 / (1 + np.exp(10)) ** 0.2, 0.3**0.8 * 0.5**0.2], rtol=1e-5)
    assert scores[1] > scores[0]


def test_extreme_distances_stay_finite_and_ranked():
    X = np.array([[1, 0], [-1, 0], [0, 1]], dtype=np.float32)
    Y = np.eye(3, dtype=bool)
    model = TailClassifiers(gamma=2000).fit(X, Y)
    logs = model.log_scores(X[:1], everything(1, 3)).toarray()[0]
    np.testing.assert_allclose(logs, [-np.log(2), -4000, -2000], rtol=1e-6)
    scores = model.rerank(X[:1], everything(1, 3), alpha=0.8)
    assert scores.nnz == 3
    assert (scores.data > 0).all()  # too small for float32, but still candidates
    assert scores.data.argmax() == 0
    far = TailClassifiers(unit_norm=False).fit(X, Y).rerank(1e37 * X[:1], everything(1, 3), alpha=1.0)
    assert far.toarray().tolist() == [[1, 1, 1]]


def test_rerank_leaves_its_input_alone_and_drops_zeros():
    X, Y = random_multilabel(20, 6, 5)
    forest = candidates_of(20, 5, density=1.0)
    forest.data[::3] = 0
    before = forest.copy()
    scores = TailClassifiers().fit(X, Y).rerank(X, forest, 0.8)
    np.testing.assert_array_equal(forest.data, before.data)
    np.testing.assert_array_equal(scores.toarray() > 0, forest.toarray() > 0)
    assert scores.nnz == np.count_nonzero(forest.data)
    assert TailClassifiers().fit(X, Y).rerank(X[:0], forest[:0], 0.8).shape == (0, 5)


def test_errors_say_what_is_wrong():
    X, Y = random_multilabel(10, 6, 4)
    model = TailClassifiers().fit(X, Y)
    for instances, m, alpha in ((X[:, :5], 4, 0.8), (X, 3, 0.8), (X, 4, 1.1), (X, 4, np.nan)):
        with pytest.raises(XmlcError):
            model.rerank(instances, everything(10, m), alpha)
    for wrong in (-0.5, np.nan, np.inf):
        forest = everything(10, 4)
        forest.data[5] = wrong
        with pytest.raises(XmlcError):
            model.rerank(X, forest, 0.8)
