"""Tail classifiers, compared with a plain implementation.

See test_averaged_forest.py for threads and files.
"""

import numpy as np
import tail_twin
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from small_data import random_multilabel

from xmlc.kernels.csr import as_features, as_labels
from xmlc.models import FastXML
from xmlc.models.tail_classifiers import fit_tail_classifiers


def fitted(X, Y, unit_norm=True):
    return fit_tail_classifiers(as_features(X), as_labels(Y), unit_norm, n_jobs=1)


def blend(tail, X, forest, alpha, gamma=30.0):
    """Re-rank as PfastreXML does, with equal label weights."""
    model = FastXML(alpha=alpha, gamma=gamma)
    model.tail_ = tail
    model.label_weights_ = np.ones(forest.shape[1], dtype=np.float32)
    return model._rerank(as_features(X), forest.copy())


def random_candidates(n, m, seed):
    """Return random positive forest scores, sorted by label."""
    rng = np.random.default_rng(seed)
    scores = sparse.random_array((n, m), density=0.5, rng=rng, format="csr")
    scores.sort_indices()
    scores.data = (scores.data + 1e-3).astype(np.float32)
    return scores


def dense_centroids(tail, shape):
    indptr, features, weights, _ = tail
    return sparse.csr_array((weights, features.view(np.int32), indptr), shape=shape).toarray()


def stored(matrix):
    """Return a dense boolean array that marks the stored entries of a matrix."""
    marks = matrix.astype(bool)
    marks.data[:] = True
    return marks.toarray()


@settings(max_examples=25)
@given(
    n=st.integers(1, 30),
    d=st.integers(1, 12),
    m=st.integers(1, 17),
    gamma=st.sampled_from([0.0, 1.0, 30.0, 60.0]),
    unit_norm=st.booleans(),
    seed=st.integers(0, 99),
)
def test_centroids_and_scores_equal_plain_implementation(n, d, m, gamma, unit_norm, seed):
    X, Y = random_multilabel(n, d, m, seed)
    X.data -= 0.4  # positive and negative values
    tail = fitted(X, Y, unit_norm)
    means = tail_twin.centroids(X, Y, unit_norm)
    np.testing.assert_allclose(dense_centroids(tail, (m, d)), means, atol=1e-6)
    np.testing.assert_allclose(tail.tail_squared_lengths, (means**2).sum(axis=1), atol=1e-6)
    forest = random_candidates(n, m, seed)
    here = stored(forest)
    B = tail_twin.probabilities(X, means, gamma, unit_norm)
    logs = tail.log_scores(as_features(X), forest, gamma, unit_norm, 1)
    assert logs.dtype == np.float32
    np.testing.assert_array_equal(stored(logs), here)
    np.testing.assert_allclose(logs.toarray()[here], np.log(B)[here], rtol=1e-5, atol=1e-4)


def test_extreme_distances_stay_finite_and_ranked():
    X = np.array([[1, 0], [-1, 0], [0, 1]], dtype=np.float32)
    Y = np.eye(3, dtype=bool)
    tail = fitted(X, Y)
    every = sparse.csr_array(np.ones((1, 3), dtype=np.float32))
    logs = tail.log_scores(as_features(X[:1]), every, 2000, True, 1).toarray()[0]
    np.testing.assert_allclose(logs, [-np.log(2), -4000, -2000], rtol=1e-6)
    scores = blend(tail, X[:1], every, alpha=0.8, gamma=2000)
    # These scores are too small for float32, but their labels are still candidates.
    assert scores.nnz == 3
    assert (scores.data > 0).all()
    assert scores.data.argmax() == 0
    assert blend(tail, X[:0], every[:0], alpha=0.8).shape == (0, 3)
    far = as_features(1e37 * X[:1])
    logs = fitted(X, Y, unit_norm=False).log_scores(far, every, 30.0, False, 1)
    assert np.isfinite(logs.data).all()
