"""Mulan's ARFF with its XML: dense against sparse, against scipy's reader, and every kind of malformed row."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

from xmlc.core.errors import XmlcError
from xmlc.data import load

XML = (
    '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">'
    '<label name="beach"></label><label name="it\'s"/></labels>'
)
HEADER = """% a comment
@relation 'scenes: -C 2'
@attribute Att1 numeric
@ATTRIBUTE "two words" real
@attribute beach {0,1}
@attribute kind {red,'sea, green',blue}
@attribute "it's" {0, 1}
@data
"""


def arff(folder, rows, header=HEADER, xml=XML):
    (folder / "a.arff").write_text(header + rows)
    (folder / "a.xml").write_text(xml)
    return load(folder / "a.arff", labels=folder / "a.xml")


def test_dense_and_sparse_arff_say_the_same(tmp_path):
    dense = arff(tmp_path, "1.5,0,1,'sea, green',0\n0,-2,0,red,1\n% between\n\n0,0,0,'blue',0\n0,0,0,red,0\n")
    sparse = arff(tmp_path, "{0 1.5, 2 1,3 'sea, green'}\n{1\t-2,4 1}\n{3 blue}\n{ }\n")
    for one, other in zip(dense, sparse):
        np.testing.assert_array_equal(one.toarray(), other.toarray())
    X, Y = dense
    assert X.toarray().tolist() == [[1.5, 0, 1], [0, -2, 0], [0, 0, 2], [0, 0, 0]]
    assert Y.toarray().tolist() == [[True, False], [False, True], [False, False], [False, False]]
    assert (X.dtype, Y.dtype) == (np.float32, bool)


def test_what_a_sparse_row_leaves_out_is_the_first_nominal_value(tmp_path):
    header = "@relation r\n@attribute size {3,5}\n@attribute y {0,1}\n@data\n"
    X, Y = arff(tmp_path, "{1 1}\n{0 5}\n{0 3}\n", header, '<labels><label name="y"/></labels>')
    assert X.toarray().tolist() == [[3], [5], [3]]
    assert Y.toarray().tolist() == [[True], [False], [False]]


@settings(deadline=None, max_examples=40)
@given(
    rows=st.lists(
        st.lists(st.one_of(st.just(0.0), st.floats(-1e6, 1e6, width=32)), min_size=4, max_size=4),
        min_size=1,
        max_size=8,
    ),
    labels=st.data(),
)
def test_dense_arff_equals_scipy_and_sparse_arff_equals_dense(tmp_path_factory, rows, labels):
    # Labels stand between the features, as nothing forbids.
    header = "@relation r\n" + "".join(f"@attribute a{i} numeric\n" for i in range(2))
    header += "@attribute y1 {0,1}\n@attribute a2 numeric\n@attribute y2 {0,1}\n@attribute a3 real\n@data\n"
    sets = [labels.draw(st.tuples(st.sampled_from("01"), st.sampled_from("01"))) for _ in rows]
    cells = [
        [repr(a), repr(b), y1, repr(c), y2, repr(d)] for (a, b, c, d), (y1, y2) in zip(rows, sets)
    ]  # fmt: skip
    dense = "".join(",".join(row) + "\n" for row in cells)
    thin = "".join("{" + ", ".join(f"{i} {c}" for i, c in enumerate(row) if float(c)) + "}\n" for row in cells)
    folder, xml = tmp_path_factory.mktemp("arff"), '<labels><label name="y2"/><label name="y1"/></labels>'
    X, Y = arff(folder, dense, header, xml)
    table, _ = scipy_arff.loadarff(io.StringIO(header + dense))
    expected = np.array([[row[f"a{i}"] for i in range(4)] for row in table]).astype(np.float32)
    np.testing.assert_array_equal(X.toarray(), expected)
    np.testing.assert_array_equal(Y.toarray(), [[row["y1"] == b"1", row["y2"] == b"1"] for row in table])
    for one, other in zip((X, Y), arff(folder, thin, header, xml)):
        np.testing.assert_array_equal(one.toarray(), other.toarray())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,2,0,red", "found 4 values, expected 5; is the line cut off?"),
        ("1,?,0,red,0", "found '?', expected a decimal number that fits single precision for two words"),
        ("1,1e39,0,red,0", "found '1e39', expected a decimal number that fits single precision"),
        ("1,2,0,pink,0", "found 'pink', expected one of red, sea, green, blue for kind"),
        ("1,2,0,'red,0", 'found "\'red,0", expected quotes that are closed'),
        ("1,2,2,red,0", "found '2', expected one of 0, 1 for beach"),
        ("{0 1, 9 1}", "found '9 1', expected attributes 0 .. 4, each once"),
        ("{0 1, 0 1}", "found '0 1', expected attributes 0 .. 4, each once"),
        ("{0 1,, 2 1}", "found '', expected attributes 0 .. 4, each once"),
        ("{0 1, 2 1", "found '{0 1, 2 1', expected } at the end of the row; is the line cut off?"),
    ],
)
def test_malformed_rows_are_named(tmp_path, row, message):
    with pytest.raises(XmlcError) as error:
        arff(tmp_path, f"0,0,0,red,0\n{row}\n0,0,0,red,0\n")
    assert f"a.arff:10: {message}" in str(error.value)
    assert "1 malformed line;" in str(error.value)


@pytest.mark.parametrize(
    ("header", "xml", "message"),
    [
        (HEADER, XML.replace("beach", "sea"), "label 'sea' is no attribute"),
        (HEADER, "<labels/>", "names no labels"),
        (HEADER, "beach", "not XML"),
        (HEADER, XML.replace('"1.0"', '"1.0" encoding="no-such"'), "a.xml: not XML (unknown encoding: no-such)"),
        ("@relation x\n", XML, "no @data line; is the file cut off"),
        (
            HEADER.replace("real", "string"),
            XML,
            "a.arff:4: found '@ATTRIBUTE \"two words\" string', expected @attribute",
        ),
        (HEADER.replace("blue}", "'blue}"), XML, 'a.arff:6: found "\'blue", expected quotes that are closed'),
        (HEADER.replace("Att1", "beach"), XML, "a.arff:5: found attribute 'beach' a second time"),
    ],
)
def test_header_and_xml_must_fit(tmp_path, header, xml, message):
    with pytest.raises(XmlcError) as error:
        arff(tmp_path, "0,0,0,red,0\n", header, xml)
    assert message in str(error.value)
