"""Sparse matrices are proven before scipy or a kernel reads where their indices say."""

import numpy as np
import pytest
from hostile_cases import broken, good_pair
from scipy import sparse

from xmlc.csr import as_csr, as_features, as_labels, is_proven, kernel_csr
from xmlc.errors import XmlcError
from xmlc.gate.fields import Malformed
from xmlc.gate.matrices import prove_sparse


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_whole_matrices_of_all_formats_pass(kind):
    X, _ = good_pair()
    given = X.asformat(kind)
    prove_sparse(given, "X")
    np.testing.assert_array_equal(as_features(given).toarray(), X.toarray())


@pytest.mark.parametrize(("name", "wrong"), list(broken(good_pair()[0])))
def test_what_leads_out_is_refused_by_name(name, wrong):
    with pytest.raises(Malformed, match=r"^X\.(indptr|indices|col)"):
        as_features(wrong)
    if wrong.format == "csr":
        with pytest.raises(Malformed):
            kernel_csr(wrong)


def test_flags_that_are_false_are_not_believed():
    X = sparse.csr_array((np.array([1, 2, 3], dtype=np.float32), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3))
    X.has_sorted_indices = X.has_canonical_format = True
    assert as_features(X).indices.tolist() == [0, 2]
    assert as_features(X).data.tolist() == [5, 1]


def test_room_behind_the_last_entry_is_not_read():
    X = sparse.csr_array((np.ones(4, dtype=np.float32), np.array([0, 1, 9, 9]), np.array([0, 2])), shape=(1, 3))
    assert as_features(X).indices.tolist() == [0, 1]


def test_a_proof_holds_for_what_was_proven_and_not_for_what_the_user_holds():
    X, _ = good_pair()
    own = as_features(X)
    assert is_proven(own)
    assert not is_proven(X)
    assert np.shares_memory(own.indices, X.indices)
    own.resize((3, 2))
    assert not is_proven(own)


def test_too_many_columns_for_indices_of_32_bits():
    wide = sparse.csr_array((np.ones(1), np.array([2**40]), np.array([0, 1])), shape=(1, 2**41))
    with pytest.raises(XmlcError, match="expected at most 2147483647 rows and columns"):
        as_features(wide)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0, 1], [1, -1]], r"Y holds -1 in row 1, column 1; expected labels of 0 and 1"),
        ([[0.0, np.nan]], "Y holds nan in row 0, column 1"),
        ([[0.5, 1]], r"Y holds 0\.5 in row 0, column 0"),
        ([["0", "1"]], "Y holds values of type <U1; expected 0 and 1"),
        (np.ma.masked_array([[0, 1]], mask=[[True, False]]), "Y is a masked array"),
    ],
)
def test_labels_are_0_or_1(values, message):
    with pytest.raises(XmlcError, match=message):
        as_labels(values)
    if not isinstance(values, np.ma.MaskedArray) and np.asarray(values).dtype.kind != "U":
        for kind in ("csr", "csc", "coo", "lil"):
            with pytest.raises(XmlcError, match=message):
                as_labels(sparse.coo_array(values).asformat(kind))


def test_a_label_that_is_given_twice_counts_once():
    twice = sparse.coo_array((np.ones(2, dtype=int), ([0, 0], [1, 1])), shape=(1, 2))
    assert as_labels(twice).nnz == 1


def test_complex_features_and_texts_are_refused():
    for values in (np.ones((2, 2), dtype=complex), np.array([["1"]]), np.array([[None]])):
        with pytest.raises(
            XmlcError, match=r"X holds values of type .*; expected numbers|X: Complex data not supported"
        ):
            as_csr(values, np.float32, "X")
