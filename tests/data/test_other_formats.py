"""Vowpal Wabbit's text and Mulan's ARFF."""

import numpy as np
import pytest

from xmlc.data import load
from xmlc.errors import XmlcError

XML = (
    '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">'
    '<label name="beach"></label><label name="it\'s"/></labels>'
)
HEADER = """% a comment
@relation 'scenes: -C 2'
@attribute Att1 numeric
@attribute "two words" real
@attribute beach {0,1}
@attribute kind {red,green,blue}
@attribute "it's" {0,1}
@data
"""


def arff(tmp_path, rows, header=HEADER, xml=XML):
    (tmp_path / "a.arff").write_text(header + rows)
    (tmp_path / "a.xml").write_text(xml)
    return load(tmp_path / "a.arff", labels=tmp_path / "a.xml")


def test_dense_and_sparse_arff_say_the_same(tmp_path):
    dense = arff(tmp_path, "1.5,0,1,green,0\n0,-2,0,red,1\n% between\n\n0,0,0,'blue',0\n")
    sparse = arff(tmp_path, "{0 1.5, 2 1,3 green}\n{1 -2,4 1}\n{3 blue}\n")
    for one, other in zip(dense, sparse):
        np.testing.assert_array_equal(one.toarray(), other.toarray())
    X, Y = dense
    assert X.toarray().tolist() == [[1.5, 0, 1], [0, -2, 0], [0, 0, 2]]
    assert Y.toarray().tolist() == [[True, False], [False, True], [False, False]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,2,0,red\n", r"a\.arff:9: found '1,2,0,red', expected 5 values \(there are 4\)"),
        ("1,?,0,red,0\n", r"expected a finite number for two words \(not '\?'\)"),
        ("1,nan,0,red,0\n", "expected a finite number"),
        ("1,2,0,pink,0\n", r"expected one of red, green, blue for kind \(not 'pink'\)"),
        ("{0 1, 9 1}\n", r"expected attributes 0 \.\. 4, each once \(not '9'\)"),
        ("{0 1, 0 1}\n", "each once"),
        ("{0 1, 2 1\n", "is the line cut off"),
    ],
)
def test_malformed_arff_rows_are_named(tmp_path, rows, message):
    with pytest.raises(XmlcError, match=message):
        arff(tmp_path, rows)


def test_arff_and_xml_must_fit(tmp_path):
    with pytest.raises(XmlcError, match="label 'sea' is no attribute"):
        arff(tmp_path, "", xml=XML.replace("beach", "sea"))
    with pytest.raises(XmlcError, match="names no labels"):
        arff(tmp_path, "", xml="<labels/>")
    with pytest.raises(XmlcError, match="not XML"):
        arff(tmp_path, "", xml="beach")
    with pytest.raises(XmlcError, match="entity declarations"):
        arff(tmp_path, "", xml='<!DOCTYPE x [<!ENTITY a "b">]><labels/>')
    with pytest.raises(XmlcError, match="no @data line"):
        arff(tmp_path, "", header="@relation x\n")


def test_vw_rows(tmp_path):
    train, test = tmp_path / "train.vw", tmp_path / "test.vw"
    train.write_text("3 | 5:0.5 word\n1,2 2.0 'tag|a x:2 x:1 |b x\n | 5:1\n\n")
    test.write_text("2 | new:1 word:4\n")
    vocabulary = {}
    X, Y = load(train, zero_based=False, vocabulary=vocabulary)
    assert list(vocabulary) == ["|5", "|word", "a|x", "b|x"]
    assert X.toarray().tolist() == [[0.5, 1, 0, 0], [0, 0, 3, 1], [1, 0, 0, 0]]
    assert [np.flatnonzero(row).tolist() for row in Y.toarray()] == [[2], [0, 1], []]
    X_test, Y_test = load(test, zero_based=False, vocabulary=vocabulary)
    assert X_test.toarray().tolist() == [[0, 4, 0, 0, 1]]
    assert Y_test.toarray().tolist() == [[False, True]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 | a:1\n1 a:1\n", r":2: found '1 a:1', expected label \| feature:value"),
        ("x | a:1\n", "found 'x', expected labels as whole numbers from 1 on"),
        ("0 | a:1\n", "expected labels as whole numbers from 1 on"),
        ("1 | a:nan\n", "found 'a:nan', expected feature:value with a finite decimal number"),
        ("1 | a:\n", "finite decimal number"),
    ],
)
def test_malformed_vw_rows_are_named(tmp_path, text, message):
    (tmp_path / "a.vw").write_text(text)
    with pytest.raises(XmlcError, match=message):
        load(tmp_path / "a.vw", "vw", zero_based=False)
