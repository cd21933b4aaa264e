"""Pairs of matrices of scipy: read as what they are, or refused with the file's name; nothing is unpickled."""

import contextlib
import gzip
import io
import pickle

import fuzzing
import numpy as np
import pytest
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats.npz import load_npz

X = np.array([[0.5, 0, 2], [0, 1, 0]])
Y = np.array([[1, 1], [0, 0]])


def saved(path, matrix, **options):
    sparse.save_npz(path, matrix, **options)
    return path


def refused(*files):
    with pytest.raises(XmlcError) as error:
        load(files[0], labels=files[-1] if len(files) > 1 else None)
    return str(error.value)


@pytest.mark.parametrize("made", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.bsr_array])
def test_matrices_of_any_format_and_type_are_read(tmp_path, made):
    features = saved(tmp_path / "X.npz", made(X))
    for dtype in (bool, np.float32, np.int64):
        found = load(features, labels=saved(tmp_path / "Y.npz", made(Y.astype(dtype)), compressed=False))
        assert [part.dtype for part in found] == [np.float32, bool]
        assert {type(part) for part in found} == {sparse.csr_array}
        assert [part.toarray().tolist() for part in found] == [X.tolist(), Y.astype(bool).tolist()]


def test_stored_zeros_go_and_rows_are_sorted_as_of_text(tmp_path):
    stored = sparse.csr_matrix(([2, 0, 0.5], [2, 1, 0], [0, 3, 3]), shape=(2, 3))
    (tmp_path / "a.txt").write_text("2 3 2\n0,1 2:2 1:0 0:0.5\n \n")
    found = load(saved(tmp_path / "X.npz", stored), labels=saved(tmp_path / "Y.npz", sparse.csr_array(Y)))
    for ours, of_text in zip(found, load(tmp_path / "a.txt")):
        for array in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(ours, array), getattr(of_text, array))


def test_a_compressed_file_is_read_too(tmp_path):
    features, labels = saved(tmp_path / "X.npz", sparse.csr_array(X)), saved(tmp_path / "Y.npz", sparse.csr_array(Y))
    packed = tmp_path / "X.npz.gz"
    packed.write_bytes(gzip.compress(features.read_bytes()))
    assert load(packed, "npz", labels=labels)[0].toarray().tolist() == X.tolist()


def test_other_content_is_refused_with_the_file(tmp_path):
    good, labels = saved(tmp_path / "X.npz", sparse.csr_array(X)), saved(tmp_path / "Y.npz", sparse.csr_array(Y))
    assert "needs a second file that gives the labels; name it with labels=" in refused(good)
    assert "no such file" in refused(good, tmp_path / "none.npz")
    counts = saved(tmp_path / "counts.npz", sparse.csr_array(3 * Y))
    assert "counts.npz: Unknown label type: Y holds 3 in row 0, column 0" in refused(good, counts)
    infinite = saved(tmp_path / "inf.npz", sparse.csr_array(np.where(X, np.inf, 0)))
    assert "inf.npz: X holds NaN or inf, first in row 0" in refused(infinite, labels)
    long = saved(tmp_path / "long.npz", sparse.csr_array(np.ones((3, 2))))
    assert "X.npz has 2 instances" in refused(good, long)
    dense = tmp_path / "dense.npz"
    np.savez(dense, X)
    assert "dense.npz: found no sparse matrix" in refused(dense, labels)
    wrong = saved(tmp_path / "wrong.npz", sparse.csr_array(X))
    np.savez(wrong, format=b"csr", shape=X.shape, data=np.ones(1), indices=np.array([9]), indptr=np.array([0, 1, 1]))
    assert "wrong.npz: " in refused(wrong, labels)


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("unpickled",)

    content = pickle.dumps(Trap())
    (tmp_path / "a.npz").write_bytes(content)
    np.savez(tmp_path / "b.npz", format=b"csr", shape=(1, 1), data=np.array([Trap()]), indices=[0], indptr=[0, 1])
    for name in "ab":
        with pytest.raises(XmlcError, match=rf"{name}\.npz: found no sparse matrix .* scipy\.sparse\.save_npz wrote"):
            load_npz(tmp_path / f"{name}.npz")


def test_damaged_files_are_refused_in_words(tmp_path):
    files = []
    for compressed in (True, False):
        file = io.BytesIO()
        sparse.save_npz(file, sparse.csr_array(X), compressed=compressed)
        files.append((file.getvalue(),))
    labels, damaged = saved(tmp_path / "Y.npz", sparse.csr_array(Y)), tmp_path / "damaged.npz"
    n_refused = 0
    for (content,) in fuzzing.mutations(files, 300):
        damaged.write_bytes(content)
        with contextlib.suppress(XmlcError):  # and nothing else
            load(damaged, "npz", labels=labels)
            continue
        n_refused += 1
    assert n_refused > 200
