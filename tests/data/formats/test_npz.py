"""Test pairs of scipy matrices: they are read or refused with the file's name, and never
unpickled.
"""

import gzip
import pickle

import numpy as np
import pytest
from facts import raises_with
from scipy import sparse
from small_data import equal_bits

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats.npz import load_npz

X = np.array([[0.5, 0, 2], [0, 1, 0]])
Y = np.array([[1, 1], [0, 0]])


def saved(path, matrix, **options):
    sparse.save_npz(path, matrix, **options)
    return path


@pytest.fixture
def labels(tmp_path):
    return saved(tmp_path / "Y.npz", sparse.csr_array(Y))


@pytest.mark.parametrize("made", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("dtype", [bool, np.float32, np.int64])
def test_matrices_of_any_format_and_type_are_read(tmp_path, made, dtype):
    features = saved(tmp_path / "X.npz", made(X))
    packed = tmp_path / "X.npz.gz"
    packed.write_bytes(gzip.compress(features.read_bytes()))
    second = saved(tmp_path / "Y.npz", made(Y.astype(dtype)), compressed=False)
    for found in (load(features, labels=second), load(packed, "npz", labels=second)):
        assert [part.dtype for part in found] == [np.float32, bool]
        assert [part.toarray().tolist() for part in found] == [X.tolist(), Y.astype(bool).tolist()]


def test_stored_zeros_are_dropped_and_rows_sorted_like_text(tmp_path, labels):
    stored = sparse.csr_matrix(([2, 0, 0.5], [2, 1, 0], [0, 3, 3]), shape=(2, 3))
    (tmp_path / "a.txt").write_text("2 3 2\n0,1 2:2 1:0 0:0.5\n \n")
    found = load(saved(tmp_path / "X.npz", stored), labels=labels)
    assert all(map(equal_bits, found, load(tmp_path / "a.txt")))


def test_other_content_is_refused_with_file_name(tmp_path, labels):
    good = saved(tmp_path / "X.npz", sparse.csr_array(X))
    counts = saved(tmp_path / "counts.npz", sparse.csr_array(3 * Y))
    infinite = saved(tmp_path / "inf.npz", sparse.csr_array(np.where(X, np.inf, 0)))
    long = saved(tmp_path / "long.npz", sparse.csr_array(np.ones((3, 2))))
    np.savez(tmp_path / "dense.npz", X)
    (tmp_path / "cut.npz").write_bytes(good.read_bytes()[:-30])
    for first, second, name in (
        (good, None, "X.npz"),
        (good, tmp_path / "none.npz", "none.npz: found no such file"),
        (good, counts, "counts.npz"),
        (infinite, labels, "inf.npz"),
        (good, long, "long.npz: found 3 instances"),
        (tmp_path / "dense.npz", labels, "dense.npz: found no sparse matrix"),
        (tmp_path / "cut.npz", labels, "cut.npz: found no sparse matrix or a damaged one"),
    ):
        with raises_with(XmlcError, name):
            load(first, "npz", labels=second)


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("unpickled",)

    (tmp_path / "a.npz").write_bytes(pickle.dumps(Trap()))
    np.savez(
        tmp_path / "b.npz",
        format=b"csr",
        shape=(1, 1),
        data=np.array([Trap()]),
        indices=[0],
        indptr=[0, 1],
    )
    for name in "ab":
        with raises_with(XmlcError, f"{name}.npz"):
            load_npz(tmp_path / f"{name}.npz")
