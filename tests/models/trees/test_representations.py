"""Representations of labels: equal to dense sums and the sparse product, on any number of
threads.
"""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from small_data import random_data

from xmlc.core.errors import XmlcError
from xmlc.kernels.csr import as_features, as_labels
from xmlc.kernels.unit_length import unit_rows
from xmlc.models.trees import representations
from xmlc.models.trees.representations import label_representations


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 25), st.integers(1, 12), st.integers(1, 20), st.integers(0, 99))
def test_representations_are_unit_sums_of_unit_instances(n, d, m, seed):
    X, Y = random_data(n, d, m, seed)
    X.data *= 7
    lengths = np.linalg.norm(X.toarray().astype(np.float64), axis=1, keepdims=True)
    sums = Y.toarray().T.astype(np.float64) @ (X.toarray() / np.where(lengths > 0, lengths, 1))
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    result = label_representations(X, Y)
    assert result.dtype == np.float32
    np.testing.assert_allclose(
        result.toarray(), sums / np.where(lengths > 0, lengths, 1), atol=1e-6
    )
    assert (np.diff(result.indptr) > 0).tolist() == (lengths[:, 0] > 0).tolist()


@pytest.mark.parametrize("d", [1, 64, 65, 4096, 9000])
def test_representations_equal_sparse_product(d, monkeypatch):
    rng = np.random.default_rng(d)
    X = sparse.csr_array(
        sparse.random_array((300, d), density=min(1, 30 / d), rng=rng, dtype=np.float32)
    )
    X.data -= 0.5  # sums may cancel
    Y = sparse.csr_array(rng.random((300, 80)) < rng.random(80) ** 4)
    expected = sparse.csr_array(
        sparse.csr_array(Y.T, dtype=np.float64) @ unit_rows(X).astype(np.float64)
    )
    expected = unit_rows(expected)
    expected.sort_indices()
    monkeypatch.setattr(representations, "NONZEROS_PER_TASK", 500)
    one, two = (label_representations(X, Y, n_jobs) for n_jobs in (1, 2))
    monkeypatch.undo()
    whole = label_representations(X, Y)
    np.testing.assert_array_equal(one.indptr, expected.indptr)
    np.testing.assert_array_equal(one.indices, expected.indices)
    np.testing.assert_allclose(one.data, expected.data, rtol=1e-6, atol=1e-7)
    for other in (two, whole):
        assert all(
            getattr(one, part).tobytes() == getattr(other, part).tobytes()
            for part in ("indptr", "indices", "data")
        )


def test_representations_omit_zero_sums():
    X = np.array([[1, 0, 2], [-1, 0, 2]], dtype=np.float32)
    result = label_representations(X, np.ones((2, 1), dtype=bool))
    assert (result.indices.tolist(), result.data.tolist()) == ([2], [1.0])
    X[:, 2] = 1e-40  # scaling of tiny sums must not overflow float32
    assert (abs(label_representations(X, np.ones((2, 1), dtype=bool)).data) < 1e-39).all()


def test_instances_and_label_sets_must_match():
    with raises_with(XmlcError, "4 instances", "5"):
        label_representations(np.ones((4, 2)), np.ones((5, 3), dtype=bool))


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 25),
    st.integers(1, 12),
    st.integers(1, 20),
    st.integers(1, 13),
    st.integers(0, 99),
)
def test_most_features_keeps_heaviest_features(n, d, m, most, seed):
    X, Y = random_data(n, d, m, seed)
    whole = label_representations(X, Y)
    kept = label_representations(X, Y, most_features=most)
    assert kept.has_sorted_indices
    for row in range(m):
        features, sums = (
            part[whole.indptr[row] : whole.indptr[row + 1]] for part in (whole.indices, whole.data)
        )
        found, values = (
            part[kept.indptr[row] : kept.indptr[row + 1]] for part in (kept.indices, kept.data)
        )
        # the smaller feature wins ties
        heaviest = np.sort(np.lexsort((features, -np.abs(sums)))[:most])
        assert found.tolist() == features[heaviest].tolist()
        if most >= features.size:
            assert values.tobytes() == sums.tobytes()
        else:
            np.testing.assert_allclose(
                values, sums[heaviest] / np.linalg.norm(sums[heaviest]), rtol=1e-6
            )


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 25),
    st.integers(1, 12),
    st.integers(1, 20),
    st.integers(1, 300),
    st.integers(0, 99),
)
def test_vectors_have_as_many_features_as_fit(n, d, m, most_values, seed):
    X, Y = random_data(n, d, m, seed)
    nonzeros = np.diff(as_features(X).indptr)
    dense = as_labels(Y).toarray()
    lengths = [min(d, int(nonzeros[dense[:, label]].sum())) for label in range(m)]
    fitting = []
    for most in range(1, d + 1):
        if sum(min(length, most) for length in lengths) <= most_values:
            fitting.append(most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(representations, "MOST_VALUES", most_values)
        found = label_representations(X, Y)
    expected = label_representations(X, Y, most_features=max(fitting, default=1))
    assert found.data.tobytes() == expected.data.tobytes()
    assert found.indices.tolist() == expected.indices.tolist()
