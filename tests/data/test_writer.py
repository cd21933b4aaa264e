"""The repository format, written and read back."""

import gzip

import format_twin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.data import load
from xmlc.data.writer import save_repository
from xmlc.errors import XmlcError

VALUES = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(0, 20000).map(lambda k: k / 10000)
)


@settings(deadline=None, max_examples=80)
@given(
    rows=st.lists(
        st.tuples(st.dictionaries(st.integers(0, 9), VALUES, max_size=5), st.sets(st.integers(0, 6), max_size=3)),
        max_size=8,
    )
)
def test_round_trip_and_plain_reader(tmp_path_factory, rows):
    X, Y = np.zeros((len(rows), 10), dtype=np.float32), np.zeros((len(rows), 7), dtype=bool)
    for i, (pairs, labels) in enumerate(rows):
        X[i, list(pairs)] = np.array(list(pairs.values()), dtype=np.float32)
        Y[i, list(labels)] = True
    path = tmp_path_factory.mktemp("writer") / "train.txt"
    save_repository(path, sparse.csr_array(X), sparse.csr_array(Y))
    header, _, text = path.read_text().partition("\n")
    assert header == f"{len(rows)} 10 7"
    for readers in (load(path), format_twin.read_rows(text, shape=(10, 7))):
        np.testing.assert_array_equal(readers[0].toarray(), X)
        np.testing.assert_array_equal(readers[1].toarray(), Y)


def test_values_are_written_short(tmp_path):
    X = np.array([[0.1, 1, 0.25, 12.3456, 0.0001]], dtype=np.float32)
    save_repository(tmp_path / "a.txt", X, np.array([[True, False]]))
    assert (tmp_path / "a.txt").read_text() == "1 5 2\n0 0:0.1 1:1 2:0.25 3:12.3456 4:0.0001\n"
    save_repository(tmp_path / "b.txt.gz", np.array([[-1.5, 1e-20]], dtype=np.float32), np.array([[False]]))
    with gzip.open(tmp_path / "b.txt.gz", "rt") as file:
        assert file.read() == "1 2 1\n 0:-1.5 1:1e-20\n"


def test_explicit_zeros_stay_with_the_caller(tmp_path):
    X = sparse.csr_array((np.array([0, 2], dtype=np.float32), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    save_repository(tmp_path / "a.txt", X, np.array([[True]]))
    assert (tmp_path / "a.txt").read_text() == "1 2 1\n0 1:2\n"
    assert X.nnz == 2


def test_mismatch_leaves_nothing(tmp_path):
    with pytest.raises(XmlcError, match="2 instances but Y has 3"):
        save_repository(tmp_path / "a.txt", np.zeros((2, 2)), np.zeros((3, 2)))
    assert list(tmp_path.iterdir()) == []
