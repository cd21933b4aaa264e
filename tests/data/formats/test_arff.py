"""Test ARFF with Mulan's XML and MEKA's header: dense, sparse and malformed files, and scipy's
reader.
"""

import io
from contextlib import nullcontext

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats.arff import check_alike

XML = (
    '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">'
    '<label name="beach"></label><label name="it\'s"/></labels>'
)
Y1 = '<labels><label name="y"/></labels>'
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


def test_dense_and_sparse_arff_give_equal_data(tmp_path):
    dense = "1.5,0,1,'sea, green',0\n0,-2,0,red,1\n% between\n\n0,0,0,'blue',0\n0,0,0,red,0\n"
    thin = "{0 1.5, 2 1,3 'sea, green'}\n{1\t-2,4 1}\n{3 blue}\n{ }\n"
    for rows in (dense, thin):
        X, Y = arff(tmp_path, rows)
        assert X.toarray().tolist() == [[1.5, 0, 1], [0, -2, 0], [0, 0, 2], [0, 0, 0]]
        assert Y.toarray().tolist() == [[True, False], [False, True], [False] * 2, [False] * 2]
        assert (X.dtype, Y.dtype) == (np.float32, bool)


@pytest.mark.parametrize(
    ("first", "second", "positive"),
    [
        ("yes", "NO", True),
        ("'no'", '"Yes"', False),
        ("0", "1", False),
        ("1.0", "0.0", True),
    ],
)
@pytest.mark.parametrize("numeric", [False, True])
def test_boolean_labels_and_features_are_read_correctly(tmp_path, first, second, positive, numeric):
    kind = f"{{{first},{second}}}"
    header = f"@relation r\n@attribute a {kind}\n@attribute y "
    header += "numeric\n@data\n" if numeric else f"{kind}\n@data\n"
    rows = f"{first},{second}\n{second},{first}\n{{0 {second}, 1 {second}}}\n{{ }}\n"
    X, Y = arff(tmp_path, rows, header, Y1)
    # A sparse row leaves out the first value.
    assert X.toarray().ravel().tolist() == [positive, not positive, not positive, positive]
    left_out = positive and not numeric
    assert Y.toarray().ravel().tolist() == [not positive, positive, not positive, left_out]


@pytest.mark.parametrize(
    ("kind", "value", "line"),
    [
        ("{0,1,2}", "2", 3),
        ("{absent,present}", "absent", 3),
        ("numeric", "0.5", 6),
        ("{0,1}", "2", 6),
    ],
)
@pytest.mark.parametrize("form", ["1,{}", "{{0 1, 1 {}}}"])
def test_other_label_values_are_refused(tmp_path, kind, value, line, form):
    header = f"@relation r\n@attribute a numeric\n@attribute y {kind}\n@data\n"
    with raises_with(XmlcError, f"a.arff:{line}: found '{value}', expected 0 or 1"):
        arff(tmp_path, f"1,1\n{form.format(value)}\n", header, Y1)


@pytest.mark.parametrize(
    ("relation", "labels"),
    [
        ("'n: -C -2'", [2, 3]),
        ('"a b:-V 1 -C 1 -split 3"', [0]),
        ("'n: -split 3 -C -1'", [3]),
    ],
)
def test_meka_header_counts_labels_at_beginning_or_end(tmp_path, relation, labels):
    attributes = "".join(f"@attribute x{i} {{0,1}}\n" for i in range(4))
    (tmp_path / "a.arff").write_text(f"@relation {relation}\n{attributes}@data\n1,0,0,1\n{{2 1}}\n")
    X, Y = load(tmp_path / "a.arff")
    table = np.array([[1, 0, 0, 1], [0, 0, 1, 0]])
    assert Y.toarray().astype(int).tolist() == table[:, labels].tolist()
    assert X.toarray().tolist() == np.delete(table, labels, axis=1).tolist()


@pytest.mark.parametrize("relation", ["r", "r: -C 0", "r: -C -9"])
def test_header_must_count_labels_if_xml_is_missing(tmp_path, relation):
    (tmp_path / "a.arff").write_text(f"@relation '{relation}'\n@attribute y {{0,1}}\n@data\n1\n")
    with raises_with(XmlcError, "a.arff", relation[3:]):
        load(tmp_path / "a.arff")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("{0,1}", "{1,0}"), None),
        (("blue}", "blue,green}"), None),
        (("Att1", "Att2"), 3),
        (("@attribute Att1 numeric\n", ""), 3),
        (("@data", "@attribute more real\n@data"), ""),
    ],
)
def test_columns_of_two_files_must_match(tmp_path, change, line):
    (tmp_path / "a.arff").write_text(HEADER)
    (tmp_path / "b.arff").write_text(HEADER.replace(*change))
    (tmp_path / "a.xml").write_text(XML)
    with nullcontext() if line is None else raises_with(XmlcError, f"b.arff:{line}"):
        check_alike(tmp_path / "a.arff", tmp_path / "b.arff", tmp_path / "a.xml")


NUMBER = st.just(0.0) | st.floats(-1e6, 1e6, width=32)
FLAG = st.sampled_from("01")
# Labels are between the features, which the format allows.
MIXED = """@relation r
@attribute a0 numeric
@attribute a1 numeric
@attribute y1 {0,1}
@attribute a2 numeric
@attribute y2 {0,1}
@attribute a3 real
@data
"""


@settings(max_examples=40)
@given(
    st.lists(st.tuples(NUMBER, NUMBER, FLAG, NUMBER, FLAG, NUMBER), min_size=1, max_size=8),
)
def test_dense_arff_equals_scipy_and_sparse_arff_equals_dense(tmp_path_factory, rows):
    dense = ""
    thin = ""
    for row in rows:
        dense += ",".join(map(str, row)) + "\n"
        pairs = [f"{i} {cell}" for i, cell in enumerate(row) if float(cell)]
        thin += "{" + ", ".join(pairs) + "}\n"
    folder = tmp_path_factory.mktemp("arff")
    table, _ = scipy_arff.loadarff(io.StringIO(MIXED + dense))
    features = np.column_stack([table[f"a{i}"] for i in range(4)]).astype(np.float32)
    labels = np.column_stack([table["y1"], table["y2"]]) == b"1"
    xml = '<labels><label name="y2"/><label name="y1"/></labels>'
    for text in (dense, thin):
        X, Y = arff(folder, text, MIXED, xml)
        np.testing.assert_array_equal(X.toarray(), features)
        np.testing.assert_array_equal(Y.toarray(), labels)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("1,2,0,red", "4 values"),
        ("1,1e39,0,red,0", "'1e39'"),
        ("1,2,0,pink,0", "'pink'"),
        ("1,2,0,'red,0", '"\'red,0"'),
        ("1,2,2,red,0", "'2'"),
        ("{0 1, 9 1}", "'9 1'"),
        ("{0 1, 0 1}", "'0 1'"),
        ("{0 1,, 2 1}", "''"),
        ("{0 1, 2 1", "'{0 1, 2 1'"),
    ],
)
def test_malformed_rows_are_named(tmp_path, row, found):
    with raises_with(XmlcError, f"a.arff:10: found {found}, expected", "1 malformed line"):
        arff(tmp_path, f"0,0,0,red,0\n{row}\n0,0,0,red,0\n")


@pytest.mark.parametrize(
    ("header", "xml", "message"),
    [
        (HEADER, XML.replace("beach", "sea"), "a.xml: found label 'sea'"),
        (HEADER, "<labels/>", "a.xml: "),
        (HEADER, "beach", "a.xml: found no XML"),
        (HEADER, XML.replace('"1.0"', '"1.0" encoding="no-such"'), "a.xml: found no XML"),
        ("@relation x\n", XML, "a.arff: found no @data"),
        (
            HEADER.replace("real", "string"),
            XML,
            "a.arff:4: found '@ATTRIBUTE \"two words\" string'",
        ),
        (HEADER.replace("blue}", "'blue}"), XML, 'a.arff:6: found "\'blue"'),
        (HEADER.replace("Att1", "beach"), XML, "a.arff:5: found attribute 'beach'"),
    ],
)
def test_header_and_xml_must_agree(tmp_path, header, xml, message):
    with raises_with(XmlcError, message):
        arff(tmp_path, "0,0,0,red,0\n", header, xml)
