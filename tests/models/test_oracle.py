"""The oracle hands out posteriors under the estimators' interface."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.models.oracle import Oracle


@pytest.fixture
def posteriors():
    return sparse.random_array((20, 9), density=0.4, rng=np.random.default_rng(0), dtype=np.float32, format="csr")


def test_threshold_and_ranking_equal_dense_ones(posteriors, multilabel):
    X, Y = multilabel(20, 4, 9)
    oracle = Oracle().fit(X, Y)
    oracle.use_posteriors(posteriors)
    dense = posteriors.toarray()
    limits = np.linspace(0, 1, 9, dtype=np.float32)
    for threshold in (0.0, 0.5, limits):
        expected = np.where(dense > np.asarray(threshold, np.float32), dense, 0)
        np.testing.assert_array_equal(oracle.predict_proba(X, threshold).toarray(), expected)
    labels, scores = oracle.predict_top_k(X, 6)
    np.testing.assert_array_equal(scores, -np.sort(-dense, axis=1)[:, :6])
    for i in range(20):
        known = labels[i] >= 0
        assert known.sum() == min(6, (dense[i] > 0).sum())
        np.testing.assert_array_equal(dense[i, labels[i, known]], scores[i, known])
    assert (oracle.inner_products_ == 0).all()


def test_without_posteriors_it_says_so(posteriors, multilabel):
    X, Y = multilabel(20, 4, 9)
    oracle = Oracle().fit(X, Y)
    with pytest.raises(XmlcError, match="only a synthetic dataset"):
        oracle.use_posteriors(None)
    with pytest.raises(XmlcError, match="no posteriors for these 20"):
        oracle.predict_proba(X)
    oracle.use_posteriors(posteriors[:5])
    with pytest.raises(XmlcError, match="no posteriors for these 20"):
        oracle.predict_top_k(X, 3)
