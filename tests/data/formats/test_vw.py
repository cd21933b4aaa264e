"""Test Vowpal Wabbit's text format: round trips of rows, the vocabulary, and every kind of
malformed line.
"""

import numpy as np
import pytest
from facts import raises_with, warns_with
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.data import load


def test_rows_equal_hand_written_matrix(tmp_path):
    train = tmp_path / "train.vw"
    train.write_text(
        "3 | 5:0.5 word\n1,2,1 2.0 'tag|a x:2 x:1 |b:0.5 x\n | 5:1\n2 1 0.5 tag|\n'tag| 5:0\n\n\n"
    )
    vocabulary = {}
    X, Y = load(train, zero_based=False, vocabulary=vocabulary)
    assert list(vocabulary) == ["|5", "|word", "a|x", "b|x"]
    assert X.toarray().tolist() == [[0.5, 1, 0, 0], [0, 0, 3, 0.5], [1, 0, 0, 0], [0] * 4, [0] * 4]
    assert X.nnz == 5
    assert [np.flatnonzero(row).tolist() for row in Y.toarray()] == [[2], [0, 1], [], [1], []]
    assert (X.dtype, Y.dtype) == (np.float32, bool)
    train.write_text("2 | new:1 word:4\n")
    X, Y = load(train, zero_based=False, vocabulary=vocabulary)
    assert X.toarray().tolist() == [[0, 4, 0, 0, 1]]
    assert Y.toarray().tolist() == [[False, True]]


def test_features_missing_from_training_are_dropped(tmp_path):
    train = tmp_path / "train.vw"
    test = tmp_path / "test.vw"
    vocabulary = {}
    train.write_text("1 | b a\n")
    test.write_text("4 | new a:2 c:0\n | b new:0.5 2\n")
    d = load(train, vocabulary=vocabulary)[0].shape[1]
    for _ in range(2):
        with warns_with(UserWarning, "test.vw", "2", "3 of 5 values"):
            X, Y = load(test, vocabulary=vocabulary, n_features=d)
        assert X.toarray().tolist() == [[0, 2], [1, 0]]
        assert list(vocabulary) == ["|b", "|a"]
    assert Y.shape == (2, 5), "a label that it lacks keeps its column"
    test.write_text("1 | 1:3 7\n")
    with warns_with(UserWarning, "1", "1 of 2 values"):
        assert load(test, n_features=2)[0].toarray().tolist() == [[0, 3]]


@pytest.mark.parametrize("text", ["1 | 07:1\n", "1 | 1 -2\n", "1 |a 1 |b 1\n", "1 | 99999999999\n"])
def test_nonnumeric_feature_names_require_vocabulary(tmp_path, text):
    (tmp_path / "a.vw").write_text(text)
    with raises_with(XmlcError, "a.vw:1", "vocabulary="):
        load(tmp_path / "a.vw", "vw", n_features=10)
    assert load(tmp_path / "a.vw", "vw", n_features=10, vocabulary={})[0].shape[1] == 10


NAMES = st.text(
    st.characters(exclude_characters=" \t\n\r|:\x00", exclude_categories=["Cs"]),
    min_size=1,
    max_size=3,
)


LABELS = st.lists(st.integers(0, 6), max_size=3)
FURTHER = st.sampled_from(["", " 1", " 0.5 'tag", " 'tag"])
KEYS = st.tuples(st.sampled_from(["", "n", "ns"]), NAMES)
PAIRS = st.dictionaries(KEYS, st.floats(-9, 9, width=32), max_size=6)


@settings(max_examples=60)
@given(st.lists(st.tuples(LABELS, FURTHER, PAIRS), max_size=8), st.integers(0, 1))
def test_structured_rows_survive_round_trip(tmp_path_factory, rows, base):
    path = tmp_path_factory.mktemp("vw") / "a.vw"
    text = ""
    for labels, further, pairs in rows:
        if labels:
            text += ",".join(str(label + base) for label in labels) + further + " "
        features = [f"|{space} {name}:{value!r}" for (space, name), value in pairs.items()]
        text += " ".join(features or ["|"]) + "\n"
    path.write_bytes(text.encode())
    vocabulary = {}
    X, Y = load(path, "vw", zero_based=base == 0, vocabulary=vocabulary, n_labels=7)
    known = list(vocabulary)
    assert X.shape == (len(rows), len(known))
    assert Y.shape == (len(rows), 7)
    for row, true, (labels, _, pairs) in zip(X, Y, rows):
        found = {known[j]: value for j, value in zip(row.indices, row.data.tolist())}
        expected = {f"{space}|{name}": value for (space, name), value in pairs.items() if value}
        assert found == expected
        assert {*true.indices.tolist()} == {*labels}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("1 a:1", "'1 a:1'"),
        ("x | a:1", "'x |'"),
        ("4 | a:1", "'4'"),
        ("1|f a:1", "'1|'"),
        ("1 1 1 1 | a:1", "'1 1 1 1 |'"),
        (" 1 | a:1", "' 1 |'"),
        ("1 'tag 2 | a:1", '"1 \'tag 2 |"'),
        ("1 | a:nan", "'a:nan'"),
        ("1 | a:1e39", "'a:1e39'"),
        ("1 | a:3e38 a:3e38", "'6e+38'"),
        ("1 | :1", "':1'"),
        ("", "a blank line"),
    ],
)
def test_malformed_lines_are_named(tmp_path, line, found):
    (tmp_path / "a.vw").write_text(f"1 | a:1\n{line}\n1 | a:1\n")
    with raises_with(XmlcError, f"a.vw:2: found {found}, expected", "1 malformed line"):
        load(tmp_path / "a.vw", "vw", zero_based=False, n_labels=3, vocabulary={})
