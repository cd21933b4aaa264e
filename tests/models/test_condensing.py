"""Instances that stand for their near-duplicates: by hand, against plain loops, and what is promised of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.kernels.csr import as_features, as_labels
from xmlc.models.condensing import kept_instances


def plain(X, Y, similarity):
    kept = []
    for i in range(len(X)):
        near = False
        for j in kept:
            lengths = np.linalg.norm(X[i]) * np.linalg.norm(X[j])
            cosine = X[i] @ X[j] / lengths if lengths > 0 else 0.0
            near = near or ((Y[i] == Y[j]).all() and cosine >= similarity)
        if not near:
            kept.append(i)
    return kept


def case(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 4)) * (rng.random((n, 4)) < 0.7)
    return X.astype(np.float64), rng.random((n, 2)) < 0.4


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 40), st.integers(0, 9999), st.sampled_from([0.33, 0.61, 0.83, 0.97]))
def test_plain_loops(n, seed, similarity):
    X, Y = case(n, seed)
    assert kept_instances(as_features(X), as_labels(Y), similarity).tolist() == plain(X, Y, similarity)


def test_copies_go_at_similarity_1_and_other_labels_and_empty_instances_stay():
    X = np.array([[1, 2, 3], [2, 4, 6], [1, 2, 3], [0, 0, 0], [0, 0, 0], [1, 2, 3.1]], dtype=float)
    Y = np.array([[1, 0], [1, 0], [0, 1], [1, 0], [1, 0], [1, 0]], dtype=bool)
    assert kept_instances(as_features(X), as_labels(Y), 1).tolist() == [0, 2, 3, 4, 5]
    assert kept_instances(as_features(X), as_labels(Y), 0.999).tolist() == [0, 2, 3, 4]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 9999), st.sampled_from([0.4, 0.7, 0.9]))
def test_every_label_set_stays_and_similarities_change_no_more_than_the_bound_says(seed, similarity):
    X, Y = case(40, seed)
    X += 1e-3  # nobody is empty
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    kept = kept_instances(as_features(X), as_labels(Y), similarity)
    assert {tuple(row) for row in Y[kept]} == {tuple(row) for row in Y}
    query = np.random.default_rng(seed).random(4)
    query /= np.linalg.norm(query)
    for i in set(range(40)) - set(kept.tolist()):
        same = kept[(Y[kept] == Y[i]).all(axis=1)]
        assert np.abs(unit[same] @ query - unit[i] @ query).min() <= np.sqrt(2 - 2 * similarity) + 1e-5


@pytest.mark.parametrize("similarity", [0, -0.5, 1.01, float("nan")])
def test_a_similarity_out_of_range_is_refused(similarity):
    X, Y = case(3, 0)
    with pytest.raises(XmlcError, match="expected a cosine"):
        kept_instances(as_features(X), as_labels(Y), similarity)
