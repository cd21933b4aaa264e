"""Representations of labels: equal to dense sums and the sparse product, on any number of
threads.
"""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from small_data import equal_bits, random_data

from xmlc.core.errors import XmlcError
from xmlc.kernels.csr import as_features, as_labels
from xmlc.models.trees import representations
from xmlc.models.trees.representations import label_representations

SIZES = st.tuples(st.integers(1, 25), st.integers(1, 12), st.integers(1, 20), st.integers(0, 99))


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


@settings(max_examples=20)
@given(SIZES)
def test_representations_are_unit_sums_of_unit_instances(sizes):
    X, Y = random_data(*sizes)
    X.data *= 7
    expected = unit(Y.toarray().T.astype(np.float64) @ unit(X.toarray().astype(np.float64)))
    result = label_representations(X, Y)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.toarray(), expected, atol=1e-6)
    np.testing.assert_array_equal(np.diff(result.indptr) > 0, expected.any(axis=1))


@pytest.mark.parametrize("d", [1, 65, 9000])
def test_representations_are_bit_identical_for_any_tasks_and_threads(d, monkeypatch):
    rng = np.random.default_rng(d)
    X = sparse.random_array((300, d), density=min(1, 30 / d), rng=rng, format="csr")
    X.data -= 0.5  # sums may cancel
    Y = rng.random((300, 80)) < rng.random(80) ** 4
    whole = label_representations(X, Y)
    monkeypatch.setattr(representations, "NONZEROS_PER_TASK", 500)
    assert equal_bits(label_representations(X, Y, 1), whole)
    assert equal_bits(label_representations(X, Y, 2), whole)


def test_representations_omit_zero_sums():
    X = np.array([[1, 0, 2], [-1, 0, 2]], dtype=np.float32)
    result = label_representations(X, [[True], [True]])
    assert (result.indices.tolist(), result.data.tolist()) == ([2], [1.0])
    X[:, 2] = 1e-40  # scaling of tiny sums must not overflow float32
    assert (abs(label_representations(X, [[True], [True]]).data) < 1e-39).all()


def test_instances_and_label_sets_must_match():
    with raises_with(XmlcError, "4 instances", "5"):
        label_representations(np.ones((4, 2)), np.ones((5, 3), dtype=bool))


@settings(max_examples=30)
@given(SIZES, st.integers(1, 13))
def test_most_features_keeps_heaviest_features(sizes, most):
    X, Y = random_data(*sizes)
    whole = label_representations(X, Y).toarray()
    kept = label_representations(X, Y, most_features=most)
    assert kept.has_sorted_indices
    expected = np.zeros_like(whole)
    for row, sums in enumerate(whole):
        heaviest = np.argsort(-np.abs(sums), kind="stable")[:most]  # the smaller feature wins ties
        length = np.linalg.norm(sums[heaviest])
        if length > 0:
            expected[row, heaviest] = sums[heaviest] / length
    np.testing.assert_array_equal(kept.toarray() != 0, expected != 0)
    np.testing.assert_allclose(kept.toarray(), expected, rtol=1e-6)
    if most >= X.shape[1]:
        assert equal_bits(kept, label_representations(X, Y))


@settings(max_examples=30)
@given(SIZES, st.integers(1, 300))
def test_vectors_have_as_many_features_as_fit(sizes, most_values):
    X, Y = random_data(*sizes)
    d = X.shape[1]
    nonzeros = np.diff(as_features(X).indptr)
    lengths = np.minimum(nonzeros @ as_labels(Y).toarray(), d)
    most = 1
    while most < d and np.minimum(lengths, most + 1).sum() <= most_values:
        most += 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(representations, "MOST_VALUES", most_values)
        found = label_representations(X, Y)
    assert equal_bits(found, label_representations(X, Y, most_features=most))
