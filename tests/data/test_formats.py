"""Readers against plain-Python ones and scikit-learn; malformed input by file and line."""

import bz2
import gzip
import lzma

import format_twin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from xmlc.data import load
from xmlc.data.formats import rows, stream
from xmlc.errors import XmlcError


def assert_same(ours, theirs):
    for mine, other in zip(ours, theirs):
        assert mine.shape == other.shape
        np.testing.assert_array_equal(mine.toarray(), other.toarray())


def write(path, text):
    path.write_bytes(text.encode())
    return path


NUMBERS = st.one_of(
    st.floats(-1e6, 1e6, width=32).map(repr),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-1000, max_value=1000, places=6).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.sampled_from(["1", "-0", "+.5", "5.", "1e3", "1E-40", "00012.50", "0.1000000000000000055511151231257827"]),
)
ROWS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 8), max_size=4), st.dictionaries(st.integers(0, 11), NUMBERS, max_size=6), st.randoms()
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=120)
@given(rows=ROWS, ending=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
def test_repository_format_equals_the_plain_reader(tmp_path_factory, rows, ending, last):
    lines = []
    for labels, pairs, random in rows:
        tokens = [f"{feature}:{value}" for feature, value in pairs.items()]
        random.shuffle(tokens)  # features need not be sorted
        lines.append(",".join(map(str, labels)) + " " + " ".join(tokens))
    text = "".join(line + ending for line in lines)
    header = f"{len(rows)} 12 9\n"
    content = header + (text if last or not text else text[: -len(ending)])
    path = write(tmp_path_factory.mktemp("rows") / "train.txt", content)
    assert_same(load(path), format_twin.read_rows(text, shape=(12, 9)))


@settings(deadline=None, max_examples=150)
@given(NUMBERS)
def test_numbers_are_rounded_as_python_rounds_them(tmp_path_factory, number):
    path = write(tmp_path_factory.mktemp("numbers") / "train.txt", f"1 1 1\n0 0:{number}\n")
    X, _ = load(path)
    assert X.toarray()[0, 0] == np.float32(float(number))


def test_rows_across_blocks_are_joined(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.integers(9)},{rng.integers(9)} "
        + " ".join(f"{j}:{rng.random():.4f}" for j in range(rng.integers(1, 12)))
        for _ in range(300)
    ]
    text = "\n".join(lines) + "\n"
    path = write(tmp_path / "train.txt", f"300 12 9\n{text}")
    monkeypatch.setattr(stream, "BLOCK_BYTES", 128)
    monkeypatch.setattr(rows, "line_blocks", lambda path: stream.line_blocks(path, 128))
    assert_same(load(path), format_twin.read_rows(text, shape=(12, 9)))


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open), (".bz2", bz2.open), ("", open)])
def test_compression_is_told_by_content(tmp_path, suffix, opener):
    path = tmp_path / f"odd-name{suffix[::-1]}"
    with opener(path, "wb") as file:
        file.write(b"2 3 2\n1 0:1 2:0.5\n 1:2\n")
    X, Y = load(path)
    assert X.toarray().tolist() == [[1, 0, 0.5], [0, 2, 0]]
    assert Y.toarray().tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("opener", [gzip.open, lzma.open, bz2.open])
def test_cut_off_archives_are_errors(tmp_path, opener):
    whole = tmp_path / "whole"
    with opener(whole, "wb") as file:
        file.write(b"100 3 2\n" + b"1 0:1 2:0.5\n" * 100)
    cut = tmp_path / "cut"
    cut.write_bytes(whole.read_bytes()[:-9])
    with pytest.raises(XmlcError, match="cut: the compressed data is damaged or cut off"):
        load(cut)


def test_labels_and_zeros_are_tidied(tmp_path):
    X, Y = load(write(tmp_path / "a", "3 4 5\n4,1,4 3:0 0:1\n\t2:7\n \n"))
    assert X.toarray().tolist() == [[1, 0, 0, 0], [0, 0, 7, 0], [0, 0, 0, 0]]
    assert X.nnz == 2
    assert Y.indices.tolist() == [1, 4]
    assert (X.dtype, Y.dtype) == (np.float32, bool)


@pytest.mark.parametrize("base", [0, 1])
def test_svmlight_equals_scikit_learn(tmp_path, base):
    rng = np.random.default_rng(base)
    lines = []
    for _ in range(40):
        features = sorted(rng.choice(20, size=5, replace=False) + base)
        labels = ",".join(str(label + base) for label in sorted(rng.choice(6, size=rng.integers(0, 3), replace=False)))
        lines.append(f"{labels} " + " ".join(f"{feature}:{rng.normal():.5f}" for feature in features) + " # comment")
    path = write(tmp_path / "a.svm", "\n".join(lines) + "\n")
    X, Y = load(path, "svmlight", zero_based=base == 0, n_features=20, n_labels=6)
    peer_X, peer_Y = load_svmlight_file(
        str(path), multilabel=True, zero_based=base == 0, n_features=20, dtype=np.float32
    )
    np.testing.assert_array_equal(X.toarray(), peer_X.toarray())
    assert [set((np.flatnonzero(row) + base).tolist()) for row in Y.toarray()] == [set(map(int, y)) for y in peer_Y]


def test_two_files(tmp_path):
    features = write(tmp_path / "trn_X_Xf.txt", "3 4\n0:1 3:0.5\n\n2:2\n")
    labels = write(tmp_path / "trn_X_Y.txt", "3 5\n4:1 0:1\n1:1\n\n")
    X, Y = load(features, "repository-two-files", labels=labels)
    assert X.toarray().tolist() == [[1, 0, 0, 0.5], [0, 0, 0, 0], [0, 0, 2, 0]]
    assert [np.flatnonzero(row).tolist() for row in Y.toarray()] == [[0, 4], [1], []]
    with pytest.raises(XmlcError, match="needs a second file"):
        load(features, "repository-two-files")
    short = write(tmp_path / "short", "2 5\n4:1\n1:1\n")
    with pytest.raises(XmlcError, match="must belong together"):
        load(features, "repository-two-files", labels=short)


MALFORMED = [
    ("1,2 0:1 3", 2, "'3', expected feature:value; is the line cut off?"),
    ("1,2 0:1 3:", 2, "'3:', expected feature:value; is the line cut off?"),
    ("1,5 0:1", 2, "'5', expected a label of 0 .. 4"),
    ("1 4:1", 2, "'4:1', expected a feature of 0 .. 3"),
    ("1 -1:1", 2, "'-1:1', expected feature:value with a whole number"),
    ("1 0:nan", 2, "'0:nan', expected a finite decimal number"),
    ("1 0:inf", 2, "'0:inf', expected a finite decimal number"),
    ("1 0:1e39", 2, "'1e39', expected a value that fits single precision"),
    ("1 0:99999999999999999999e30", 2, "expected a value that fits single precision"),
    ("1 0:1.5x", 2, "'0:1.5x', expected a finite decimal number"),
    ("1 0:1e", 2, "'0:1e', expected a finite decimal number"),
    ("1 word", 2, "'word', expected feature:value with a whole number"),
    ("x,1 0:1", 2, "'x,1', expected labels as whole numbers"),
    ("1;2 0:1", 2, "expected labels as whole numbers"),
    ("1 2:1 0:2 2:1", 2, "'feature 2 twice', expected each feature once"),
]


@pytest.mark.parametrize(("line", "number", "message"), MALFORMED)
def test_malformed_lines_are_named(tmp_path, line, number, message):
    path = write(tmp_path / "train.txt", f"1 4 5\n{line}\n")
    with pytest.raises(XmlcError) as error:
        load(path)
    assert f"train.txt:{number}: found" in str(error.value)
    assert message in str(error.value)


def test_every_malformed_line_is_counted_and_twenty_are_listed(tmp_path):
    lines = ["1 0:1" if i % 2 else f"9 {i % 4}:1" for i in range(100)]
    path = write(tmp_path / "train.txt", "100 4 5\n" + "\n".join(lines) + "\n")
    with pytest.raises(XmlcError) as error:
        load(path)
    text = str(error.value)
    assert "50 malformed lines; nothing was read" in text
    assert text.count(": found") == 20
    assert f"{path}:2: found '9'" in text
    assert f"{path}:40: found '9'" in text
    assert "... and 30 more malformed lines" in text


def test_blank_lines_would_shift_rows_unless_they_end_the_file(tmp_path, monkeypatch):
    assert load(write(tmp_path / "a", "1 4 5\n1 0:1\n\n\n"))[0].shape == (1, 4)
    for block in (8, 1 << 20):
        monkeypatch.setattr(rows, "line_blocks", lambda path, block=block: stream.line_blocks(path, block))
        with pytest.raises(XmlcError, match=r"b:3: found '', expected an instance; a blank line"):
            load(write(tmp_path / "b", "3 4 5\n1 0:1\n\n1 0:1\n1 1:1\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 4 5\n1 0:1\n", "found 1 instances, expected 3 as the header says"),
        ("1 4 5\n1 0:1\n2 1:1\n", "found 2 instances, expected 1"),
        ("", "which does not tell the format"),
        ("4 5\n1 0:1\n", "which does not tell the format"),
        ("<!DOCTYPE html><html>quota</html>", "found an HTML page, expected data"),
    ],
)
def test_files_that_are_not_what_they_should_be(tmp_path, text, message):
    with pytest.raises(XmlcError, match=message):
        load(write(tmp_path / "train.txt", text))


def test_unknown_format_and_missing_file(tmp_path):
    with pytest.raises(XmlcError, match="no such file"):
        load(tmp_path / "nothing.txt")
    with pytest.raises(XmlcError, match="format 'csv' is unknown; expected one of repository"):
        load(write(tmp_path / "a", "1 1 1\n"), "csv")
    with pytest.raises(XmlcError, match=r":1: found 'a b c', expected a header"):
        load(write(tmp_path / "b", "a b c\n"), "repository")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("yeast", (1500, 917, 103, 14)),
        ("scene", (1211, 1196, 294, 6)),
        ("enron", (1123, 579, 1001, 53)),
        ("bibtex", (4880, 2515, 1836, 159)),
        ("delicious", (12920, 3185, 500, 983)),
        ("tib-core-26k", (41902, 6980, 111663, 26296)),
    ],
)
def test_real_sets_have_their_published_shape(mirror, name, shapes):
    n_train, n_test, d, m = shapes
    for part, n in (("train", n_train), ("test", n_test)):
        X, Y = load(mirror / name / f"{part}.txt.xz")
        assert X.shape == (n, d)
        assert Y.shape == (n, m)
