"""Test that the repository format is written and read back."""

import bz2
import gzip
import lzma

import format_twin
import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.writer import ROWS_PER_BLOCK, save_repository

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
PAIRS = st.dictionaries(
    st.integers(0, 9), FLOATS | st.integers(0, 20000).map(lambda k: k / 10000), max_size=5
)
ROWS = st.lists(st.tuples(PAIRS, st.sets(st.integers(0, 6), max_size=3)), max_size=8)


@settings(max_examples=80)
@given(ROWS)
def test_written_file_survives_round_trip_and_plain_reader(tmp_path_factory, rows):
    X = np.zeros((len(rows), 10), dtype=np.float32)
    Y = np.zeros((len(rows), 7), dtype=bool)
    for i, (pairs, labels) in enumerate(rows):
        X[i, list(pairs)] = list(pairs.values())
        Y[i, list(labels)] = True
    path = tmp_path_factory.mktemp("writer") / "train.txt"
    save_repository(path, sparse.csr_array(X), sparse.csr_array(Y))
    header, _, text = path.read_text().partition("\n")
    assert header == f"{len(rows)} 10 7"
    for found in (load(path), format_twin.read_rows(text, 10, 7)):
        np.testing.assert_array_equal(found[0].toarray(), X)
        np.testing.assert_array_equal(found[1].toarray(), Y)


def test_values_are_written_in_shortest_form(tmp_path):
    X = np.float32([[0.1, 1, 0.25, 12.3456, 0.0001]])
    save_repository(tmp_path / "a.txt", X, np.array([[True, False]]))
    assert (tmp_path / "a.txt").read_text() == "1 5 2\n0 0:0.1 1:1 2:0.25 3:12.3456 4:0.0001\n"
    save_repository(tmp_path / "b.txt", np.float32([[-1.5, 1e-20]]), np.array([[False]]))
    assert (tmp_path / "b.txt").read_text() == "1 2 1\n 0:-1.5 1:1e-20\n"


LIMITS = np.finfo(np.float32)
EDGES = [1024, 1500.123, 2**24, LIMITS.max, LIMITS.min, LIMITS.tiny, LIMITS.smallest_subnormal]


@pytest.mark.parametrize(
    "values", [np.arange(1, 10001) / 10000, [838.8607, 1023.9999, 1000, 10], [1023.9999, *EDGES]]
)
def test_short_decimals_and_extremes_are_exact(tmp_path, values):
    """All k / 10000, limits of the fast method and extremes of float32 are exact, and not longer
    than by `str`.
    """
    X = np.array([values], dtype=np.float32)
    save_repository(tmp_path / "a.txt", X, np.zeros((1, 3), dtype=bool))
    _, line = (tmp_path / "a.txt").read_text().splitlines()
    texts = [pair.partition(":")[2] for pair in line.split()]
    np.testing.assert_array_equal(np.array(texts, dtype=np.float64).astype(np.float32), X[0])
    for text, value in zip(texts, X[0]):
        if 1e-3 < value < 1e4:
            assert len(text) <= len(str(value))


def test_one_long_value_does_not_change_its_neighbours(tmp_path):
    X = np.full((2 * ROWS_PER_BLOCK, 1), 0.5, dtype=np.float32)
    X[-1] = np.float32(1 / 3)
    save_repository(tmp_path / "a.txt", X, np.ones(X.shape, dtype=bool))
    _, *lines, last = (tmp_path / "a.txt").read_text().splitlines()
    assert lines == ["0 0:0.5"] * (2 * ROWS_PER_BLOCK - 1)
    assert last == "0 0:0.33333334"


@pytest.mark.parametrize(
    ("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open), (".bz2", bz2.open)]
)
def test_compressed_bytes_are_reproducible(tmp_path, multilabel, suffix, opener, monkeypatch):
    files = [tmp_path / name for name in ("plain.txt", f"a{suffix}", f"b{suffix}")]
    for time, file in enumerate(files):
        monkeypatch.setattr("time.time", lambda time=time: 1e9 + time)
        save_repository(file, *multilabel(40, 6, 5))
    plain, one, other = files
    assert one.read_bytes() == other.read_bytes()
    with opener(one, "rb") as file:
        assert file.read() == plain.read_bytes()


def test_explicit_zeros_are_omitted_without_changing_input(tmp_path):
    X = sparse.csr_array((np.float32([0, 2]), [0, 1], [0, 2]), shape=(1, 2))
    save_repository(tmp_path / "a.txt", X, np.array([[True]]))
    assert (tmp_path / "a.txt").read_text() == "1 2 1\n0 1:2\n"
    assert X.nnz == 2


def test_mismatched_rows_write_no_file(tmp_path):
    with raises_with(XmlcError, "2 instances", "3"):
        save_repository(tmp_path / "a.txt", np.zeros((2, 2)), np.zeros((3, 2)))
    assert list(tmp_path.iterdir()) == []
