"""The canonical form of matrices, in memory and on disk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.core.checksums import list_files
from xmlc.core.errors import InvalidDataError, XmlcError
from xmlc.core.files import read_json, write_json
from xmlc.data.matrices import load_csr, save_csr
from xmlc.kernels.csr import as_features, as_labels, kernel_csr


@settings(deadline=None, max_examples=25)
@given(n=st.integers(0, 9), m=st.integers(0, 9), seed=st.integers(0, 99), boolean=st.booleans(), mmap=st.booleans())
def test_round_trip_on_disk(tmp_path_factory, n, m, seed, boolean, mmap):
    folder = tmp_path_factory.mktemp("csr")
    matrix = sparse.random_array((n, m), density=0.4, rng=np.random.default_rng(seed), dtype=np.float32, format="csr")
    matrix = as_labels(matrix.astype(bool)) if boolean else matrix
    save_csr(folder, "X", matrix)
    list_files(folder)
    loaded = load_csr(folder, "X", mmap=mmap)
    assert loaded.shape == matrix.shape
    assert loaded.dtype == matrix.dtype
    np.testing.assert_array_equal(loaded.toarray(), matrix.toarray())


def test_missing_and_foreign_matrices_are_named(tmp_path):
    with pytest.raises(XmlcError, match=r"Y\.json is missing"):
        load_csr(tmp_path, "Y")
    save_csr(tmp_path, "Y", sparse.csr_array((2, 3), dtype=np.float32))
    write_json(tmp_path / "Y.json", read_json(tmp_path / "Y.json") | {"version": 99})
    list_files(tmp_path)
    with pytest.raises(XmlcError, match="format version 99, expected 1"):
        load_csr(tmp_path, "Y")


def test_kernel_form_is_sorted_and_unsigned():
    unsorted = sparse.csr_array((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    form = kernel_csr(unsorted)
    assert (form.indptr.dtype, form.indices.dtype, form.data.dtype) == (np.int64, np.uint32, np.float32)
    assert form.indices.tolist() == [0, 2]
    assert form.data.tolist() == [2.0, 1.0]


def test_features_must_be_finite_and_labels_are_their_non_zeros():
    with pytest.raises(XmlcError, match="first in row 1"):
        as_features(np.array([[0.0, 1.0], [np.inf, 0.0]]))
    with pytest.raises(XmlcError, match="1 dimensions, expected 2"):
        as_features(np.zeros(3))
    explicit_zero = sparse.csr_array((np.array([0, 1]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert as_labels(explicit_zero).indices.tolist() == [1]


@pytest.mark.parametrize("lists", [[[1, 2], [3]], [["a", "b"], ["c"]], [["a"], ["b"]], [[1, 2], [3, 4]], [{1, 2}, {3}]])
def test_lists_of_labels_are_refused_with_the_way_to_a_matrix(lists):
    with pytest.raises(InvalidDataError, match=r"MultiLabelBinarizer\(sparse_output=True\)"):
        as_labels(lists)


def test_rows_of_different_lengths_are_no_matrix():
    with pytest.raises(InvalidDataError, match="X has rows of different lengths"):
        as_features([[1.0, 2.0], [3.0]])
