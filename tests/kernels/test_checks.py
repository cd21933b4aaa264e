"""Single arrays are proven, or named with their first wrong entry."""

import numpy as np
import pytest
from hostile_cases import broken, good_pair
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.kernels.checks import Malformed, ascend, check_array, check_below, check_starts, prove_sparse
from xmlc.kernels.csr import as_csr, as_features, as_labels, is_proven, kernel_csr


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3, dtype=np.int64), r"a: found int64 of shape \(3,\), expected int32 of shape \(any\)"),
        (np.zeros((3, 1), dtype=np.int32), "expected int32"),
        (np.zeros(6, dtype=np.int32)[::2], "do not lie one after the other"),
    ],
)
def test_type_and_shape(array, message):
    with pytest.raises(Malformed, match=message):
        check_array(array, "a", np.int32, (None,))


def test_an_array_of_a_file_is_given_as_numpys_own_class(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3, dtype=np.int32))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="c")
    assert type(check_array(mapped, "a", np.int32, (3,))) is np.ndarray


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        ([], "begins with"),
        ([1, 4], "begins with"),
        ([0, 3, 2, 4], "entry 2 is 2, less than the one before it, 3"),
        ([0, 3], "ends with 3, expected 4, the size of b"),
    ],
)
def test_starts(starts, message):
    with pytest.raises(Malformed, match=message):
        check_starts(np.array(starts, dtype=np.int64), "a", 4, "b")
    check_starts(np.array([0, 0, 4, 4]), "a", 4, "b")


def test_numbers_below_a_limit():
    check_below(np.array([[0, 4]]), "a", 5)
    check_below(np.empty(0, dtype=np.int32), "a", 0)
    with pytest.raises(Malformed, match=r"a: entry 1 is 5, expected 0 .. 4"):
        check_below(np.array([[0, 5]]), "a", 5)
    with pytest.raises(Malformed, match=r"entry 0 is -4, expected -3 .. 4"):
        check_below(np.array([-4]), "a", 5, least=-3)


def test_indices_ascend_within_their_parts_only():
    starts = np.array([0, 2, 2, 3])
    assert ascend(np.array([1, 4, 0], dtype=np.int32), starts)
    assert not ascend(np.array([1, 1, 0], dtype=np.int32), starts)
    assert not ascend(np.array([4, 1, 0], dtype=np.int32), starts)


# Sparse matrices are proven before scipy or a kernel reads where their indices say.


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
