"""The canonical form of matrices, in memory and on disk."""

import numpy as np
import pandas as pd
import pytest
from facts import raises_with
from hostile_cases import broken, good_pair
from scipy import sparse

from xmlc.core.checksums import list_files
from xmlc.core.errors import InvalidDataError, XmlcError
from xmlc.core.files import read_json, write_json
from xmlc.data.matrices import CSRWriter, load_csr, save_csr
from xmlc.inference import gfm, meuf
from xmlc.kernels import csr, indices
from xmlc.kernels.csr import (
    as_csr,
    as_features,
    as_labels,
    is_validated,
    kernel_csr,
    per_label,
)
from xmlc.kernels.frames import column_names
from xmlc.kernels.indices import Malformed, prove_sparse
from xmlc.thresholds import FTA, OFO, STO, CommonThreshold, apply_thresholds
from xmlc.thresholds.sweeps import tune

THIN = sparse.random_array(
    (13, 7), density=0.4, rng=np.random.default_rng(1), dtype=np.float32, format="csr"
)


@pytest.mark.parametrize("dtype", [np.float32, bool])
@pytest.mark.parametrize("mmap", [False, True])
def test_matrix_survives_save_and_load(tmp_path, dtype, mmap):
    for name, shape in (("whole", (13, 7)), ("no-row", (0, 7)), ("no-column", (13, 0))):
        matrix = THIN[: shape[0], : shape[1]].astype(dtype)
        save_csr(tmp_path, name, matrix)
        list_files(tmp_path)
        loaded = load_csr(tmp_path, name, mmap=mmap)
        assert loaded.shape == shape
        assert loaded.dtype == dtype
        np.testing.assert_array_equal(loaded.toarray(), matrix.toarray())


@pytest.mark.parametrize("rows", [1, 4, 50])
def test_matrix_written_in_parts_equals_saved_matrix(tmp_path, rows):
    writer = CSRWriter(tmp_path, "a")
    for start in range(0, 13, rows):
        writer.append(THIN[start : start + rows])
    np.testing.assert_array_equal(writer.finished().toarray(), THIN.toarray())
    save_csr(tmp_path, "b", THIN)
    for part in ("data.npy", "indices.npy", "indptr.npy", "json"):
        assert (tmp_path / f"a.{part}").read_bytes() == (tmp_path / f"b.{part}").read_bytes()


def test_blocks_of_rows_share_memory_and_survive_release(tmp_path, monkeypatch):
    monkeypatch.setattr(csr, "ENTRIES_PER_BLOCK", 5)
    save_csr(tmp_path, "X", THIN)
    list_files(tmp_path)
    mapped = csr.released(load_csr(tmp_path, "X"))
    blocks = csr.blocks_of_rows(mapped, mapped)
    assert len(blocks) > 3
    for part, same in blocks:
        assert np.shares_memory(part.data, mapped.data)
        assert np.shares_memory(part.indices, mapped.indices)
        csr.release(part)
        np.testing.assert_array_equal(part.toarray(), same.toarray())
    np.testing.assert_array_equal(np.vstack([part.toarray() for part, _ in blocks]), THIN.toarray())
    mine = load_csr(tmp_path, "X")  # Users may write to a memory map that they opened themselves.
    mine.data[0] = 0.25
    STO().fit(mine, THIN > 0.5)
    assert mine.data[0] == np.float32(0.25)


def test_missing_matrix_and_unknown_version_are_refused(tmp_path):
    with raises_with(XmlcError, "Y.json"):
        load_csr(tmp_path, "Y")
    save_csr(tmp_path, "Y", sparse.csr_array((2, 3), dtype=np.float32))
    write_json(tmp_path / "Y.json", read_json(tmp_path / "Y.json") | {"version": 99})
    list_files(tmp_path)
    with raises_with(XmlcError, "99", "1"):
        load_csr(tmp_path, "Y")


def test_kernel_form_has_sorted_unsigned_indices():
    unsorted = sparse.csr_array((np.array([1.0, 2.0]), [2, 0], [0, 2]), shape=(1, 3))
    form = kernel_csr(unsorted)
    assert [part.dtype for part in form] == [np.int64, np.uint32, np.float32]
    assert form.indices.tolist() == [0, 2]
    assert form.data.tolist() == [2.0, 1.0]


def test_features_must_be_a_finite_table_of_numbers():
    with raises_with(XmlcError, "X", "row 1"):
        as_features(np.array([[0.0, 1.0], [np.inf, 0.0]]))
    with raises_with(XmlcError, "(3,)", "2 dimensions"):
        as_features(np.zeros(3))
    for values in (
        np.ones((2, 2), dtype=complex),
        np.array([["1"]]),
        np.array([[None]]),
        [[1.0, 2.0], [3.0]],
    ):
        with raises_with(InvalidDataError, "X"):
            as_features(values)


def test_label_zeros_are_dropped_and_duplicates_count_once():
    assert as_labels(sparse.csr_array(([0, 1], [0, 1], [0, 2]), shape=(1, 2))).indices.tolist() == [
        1
    ]
    assert as_labels(sparse.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(1, 2))).nnz == 1


@pytest.mark.parametrize("lists", [[[1, 2], [3]], [["a"], ["b"]], [[1, 2], [3, 4]], [{1, 2}, {3}]])
def test_lists_of_labels_are_refused_with_advice(lists):
    with raises_with(InvalidDataError, "Y", "MultiLabelBinarizer(sparse_output=True)"):
        as_labels(lists)


# Indices of sparse matrices are checked before scipy or a kernel uses them.


def test_lil_matrix_with_column_out_of_range_is_refused():
    lists = sparse.lil_array(np.eye(2, 3))
    lists.rows[0] = [7]
    with raises_with(Malformed, "X.indices", 7):
        as_csr(lists, np.float32, "X")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_valid_matrices_of_all_formats_are_accepted(kind):
    X, _ = good_pair()
    given = X.asformat(kind)
    prove_sparse(given, "X")
    np.testing.assert_array_equal(as_features(given).toarray(), X.toarray())


@pytest.mark.parametrize(("name", "wrong"), list(broken(good_pair()[0])))
def test_broken_matrices_are_refused_and_error_names_the_array(name, wrong):
    with raises_with(Malformed, "X."):
        as_features(wrong)
    if wrong.format == "csr":
        with pytest.raises(Malformed):
            kernel_csr(wrong)


@pytest.mark.parametrize(("place", "value"), [(0, -1), (4, 9), (7, 5)])
def test_numbers_out_of_range_are_found_in_any_piece(monkeypatch, place, value):
    monkeypatch.setattr(indices, "VALUES_PER_TASK", 3)
    numbers = np.arange(8).reshape(4, 2) % 5
    indices.check_within(numbers, "numbers", 0, 4)
    numbers.flat[place] = value
    with raises_with(Malformed, "numbers", f"entry {place}", value):
        indices.check_within(numbers, "numbers", 0, 4)


def test_wrong_sorted_flag_and_entries_beyond_indptr_are_ignored():
    X = sparse.csr_array((np.float32([1, 2, 3, 9]), [2, 0, 0, 9], [0, 3]), shape=(1, 3))
    X.has_sorted_indices = X.has_canonical_format = True
    assert as_features(X).indices.tolist() == [0, 2]
    assert as_features(X).data.tolist() == [5, 1]


def test_proof_holds_for_checked_copy_until_it_is_resized():
    X, _ = good_pair()
    own = as_features(X)
    assert is_validated(own)
    assert not is_validated(X)
    assert np.shares_memory(own.indices, X.indices)
    own.resize((3, 2))
    assert not is_validated(own)


def test_columns_beyond_32_bit_indices_are_refused():
    wide = sparse.csr_array(([1.0], [2**40], [0, 1]), shape=(1, 2**41))
    with raises_with(XmlcError, "X", "2147483647"):
        as_features(wide)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0, 1], [1, -1]], ["Y", "-1", "row 1, column 1"]),
        ([[0.0, np.nan]], ["Y", "nan", "row 0, column 1"]),
        ([[0.5, 1]], ["Y", "0.5", "row 0, column 0"]),
    ],
)
def test_label_values_other_than_0_and_1_are_refused(values, message):
    matrix = sparse.coo_array(values)
    for form in (values, *(matrix.asformat(kind) for kind in ("csr", "csc", "coo", "lil"))):
        with raises_with(XmlcError, message):
            as_labels(form)


def test_masked_and_text_labels_are_refused():
    with raises_with(XmlcError, "Y", "texts", "'0'"):
        as_labels([["0", "1"]])
    with raises_with(XmlcError, "Y"):
        as_labels(np.ma.masked_array([[0, 1]], mask=[[True, False]]))


Y = sparse.csr_array(np.array([[1, 0, 0, 1], [0, 1, 0, 0]], dtype=bool))
PRIORS = np.full(4, 0.25)
FUNCTIONS = {
    "fta": lambda spe: FTA().fit(spe, Y).thresholds_,
    "sto": lambda spe: STO().fit(spe, Y).thresholds_,
    "ofo": lambda spe: OFO().partial_fit(spe, Y).thresholds_,
    "common": lambda spe: CommonThreshold().fit(spe, Y).thresholds_,
    "apply": lambda spe: apply_thresholds(spe, 0.5).toarray(),
    "tune": lambda spe: tune("fta", spe, Y, PRIORS).thresholds,
    "meuf": lambda spe: meuf(spe)[0].toarray(),
    "gfm": lambda spe: gfm(spe)[0].toarray(),
}


def store_all(values):
    """Return a CSR array that stores its zeros, too."""
    values = np.asarray(values, dtype=np.float32)
    every = np.ones(values.shape, dtype=bool)
    return sparse.csr_array((values[every], np.nonzero(every)), shape=values.shape)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_estimates_are_sorted_zeros_dropped_and_just_above_1_counts_as_1(function):
    above = np.nextafter(np.float32(1), np.float32(2))
    rough = store_all([[above, 0.0, 0.2, 0.6], [0.0, 0.9, 0.3, 0.0]])
    expected = function(sparse.csr_array(np.minimum(rough.toarray(), 1)))
    backwards = (rough.data.reshape(2, 4)[:, ::-1], rough.indices.reshape(2, 4)[:, ::-1])
    data, indices = (part.ravel() for part in backwards)
    rough = sparse.csr_array((data.copy(), indices.copy(), rough.indptr), shape=rough.shape)
    assert not rough.has_sorted_indices
    np.testing.assert_array_equal(function(rough), expected)
    # the caller's arrays are unchanged
    np.testing.assert_array_equal(rough.data, data)
    np.testing.assert_array_equal(rough.indices, indices)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_logits_and_nan_are_refused_as_estimates(function):
    for wrong in (1.5, -0.5, np.nan, np.inf):
        with raises_with(InvalidDataError, wrong):
            function(store_all([[wrong, 0.0, 0.2, 0.6], [0.0, 0.9, 0.3, 0.0]]))


def test_frames_of_any_column_types_are_read():
    numbers = pd.DataFrame({"a": [0.5, 0.0, 2.0], "b": [1.0, 0.0, 1.0], "c": [3.0, 0.0, 4.0]})
    mixed = numbers.astype({"b": bool, "c": int})
    nullable = numbers.astype({"a": "Float64", "b": "boolean", "c": "Int64"})
    thin = numbers.astype(pd.SparseDtype(float, 0.0))
    for frame in (mixed, nullable, thin, thin.assign(b=mixed["b"])):
        np.testing.assert_array_equal(as_features(frame).toarray(), numbers.to_numpy())
    labels = numbers > 0
    for kind in (bool, "boolean", pd.SparseDtype(bool, False), int):
        np.testing.assert_array_equal(as_labels(labels.astype(kind)).toarray(), labels.to_numpy())
    nullable.loc[1, "b"] = pd.NA
    with raises_with(XmlcError, "X", "row 1"):
        as_features(nullable)
    with raises_with(XmlcError, "Y", "nan", "row 1, column 1"):
        as_labels(nullable.assign(a=1.0, c=0.0))
    for column in (pd.Categorical([1, 2, 1]), ["u", "v", "w"], pd.to_datetime(["2020-01-01"] * 3)):
        with raises_with(XmlcError, "X", "'d'"):
            as_features(mixed.assign(d=column))


def test_column_names_are_text_or_absent():
    for unnamed in (np.eye(2), pd.DataFrame(np.eye(2))):
        assert column_names(unnamed) is None
    assert column_names(pd.DataFrame(columns=["a", "b"])).tolist() == ["a", "b"]
    with raises_with(TypeError, "int, str", "X.columns.astype(str)"):
        column_names(pd.DataFrame(columns=["a", 1]))


def test_per_label_returns_arrays_and_refuses_invalid_numbers():
    for form in ((0.1, 0.2), pd.Series([0.1, 0.2])):
        found = per_label(form, 2, np.float32, "priors", "share")
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, np.float32([0.1, 0.2]))
    assert per_label(37.0, 2, np.float64, "a").tolist() == [37, 37]
    for wrong, message in (
        ([37.0, 0.5], "priors"),
        ([-0.5, 0.5], "priors"),
        (None, "priors=None"),
        ("a", "priors='a'"),
        ([np.nan, 0], "NaN"),
        ([0], "(1,)"),
    ):
        with raises_with(XmlcError, message):
            per_label(wrong, 2, np.float64, "priors", "share")
