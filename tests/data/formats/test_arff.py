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
    dense = arff(
        tmp_path, "1.5,0,1,'sea, green',0\n0,-2,0,red,1\n% between\n\n0,0,0,'blue',0\n0,0,0,red,0\n"
    )
    for one, other in zip(
        dense, arff(tmp_path, "{0 1.5, 2 1,3 'sea, green'}\n{1\t-2,4 1}\n{3 blue}\n{ }\n")
    ):
        np.testing.assert_array_equal(one.toarray(), other.toarray())
    X, Y = dense
    assert X.toarray().tolist() == [[1.5, 0, 1], [0, -2, 0], [0, 0, 2], [0, 0, 0]]
    assert Y.toarray().tolist() == [[True, False], [False, True], [False, False], [False, False]]
    assert (X.dtype, Y.dtype) == (np.float32, bool)


@pytest.mark.parametrize(
    "values", ["TRUE FALSE", "False True", "yes NO", "'no' \"Yes\"", "1 0", "0 1", "1.0 0.0"]
)
@pytest.mark.parametrize("kind", ["nominal", "numeric"])
def test_boolean_labels_and_features_are_read_correctly(tmp_path, values, kind):
    first, second = values.split()
    positive = first.strip("'\"").lower() in ("true", "yes", "1", "1.0")
    declared = f"{{{first},{second}}}"
    header = (
        f"@relation r\n@attribute a {declared}\n@attribute y "
        f"{declared if kind == 'nominal' else kind}\n@data\n"
    )
    X, Y = arff(
        tmp_path,
        f"{first},{second}\n{second},{first}\n{{0 {second}, 1 {second}}}\n{{ }}\n",
        header,
        Y1,
    )
    assert Y.toarray().ravel().tolist() == [
        not positive,
        positive,
        not positive,
        positive and kind == "nominal",
    ]
    assert X.toarray().ravel().tolist() == [positive, not positive, not positive, positive], (
        "the first value, left out"
    )


@pytest.mark.parametrize(
    ("kind", "value", "line"),
    [
        ("{0,1,2}", "2", 3),
        ("{absent,present}", "absent", 3),
        ("numeric", "0.5", 6),
        ("{0,1}", "?", 6),
        ("{0,1}", "2", 6),
    ],
)
@pytest.mark.parametrize("form", ["1,{}", "{{0 1, 1 {}}}"])
def test_other_label_values_are_refused(tmp_path, kind, value, line, form):
    header = f"@relation r\n@attribute a numeric\n@attribute y {kind}\n@data\n"
    with pytest.raises(XmlcError) as error:
        arff(tmp_path, f"1,1\n{form.format(value)}\n", header, Y1)
    assert f"a.arff:{line}: found '{value}', expected 0 or 1" in str(error.value)


@pytest.mark.parametrize(
    ("relation", "labels"),
    [
        ("'n: -C 2'", [0, 1]),
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


@pytest.mark.parametrize("relation", ["r", "r: -C 2", "r: -C 0", "r: -C -9"])
def test_header_must_count_labels_if_xml_is_missing(tmp_path, relation):
    (tmp_path / "a.arff").write_text(f"@relation '{relation}'\n@attribute y {{0,1}}\n@data\n1\n")
    with raises_with(XmlcError, "a.arff", relation[3:]):
        load(tmp_path / "a.arff")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("{0,1}", "{1,0}"), None),
        (("blue}", "blue,green}"), None),
        (("red,'sea, green'", "'sea, green',red"), 6),
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


@settings(deadline=None, max_examples=40)
@given(
    rows=st.lists(
        st.tuples(*[st.just(0.0) | st.floats(-1e6, 1e6, width=32)] * 4), min_size=1, max_size=8
    ),
    labels=st.data(),
)
def test_dense_arff_equals_scipy_and_sparse_arff_equals_dense(tmp_path_factory, rows, labels):
    # Labels are between the features, which the format allows.
    header = "@relation r\n" + "".join(f"@attribute a{i} numeric\n" for i in range(2))
    header += (
        "@attribute y1 {0,1}\n@attribute a2 numeric\n@attribute y2 {0,1}\n@attribute a3 "
        "real\n@data\n"
    )
    sets = [labels.draw(st.tuples(st.sampled_from("01"), st.sampled_from("01"))) for _ in rows]
    cells = [
        [repr(a), repr(b), y1, repr(c), y2, repr(d)] for (a, b, c, d), (y1, y2) in zip(rows, sets)
    ]  # fmt: skip
    dense = "".join(",".join(row) + "\n" for row in cells)
    thin = ""
    for row in cells:
        thin += "{" + ", ".join(f"{i} {c}" for i, c in enumerate(row) if float(c)) + "}\n"
    folder = tmp_path_factory.mktemp("arff")
    xml = '<labels><label name="y2"/><label name="y1"/></labels>'
    X, Y = arff(folder, dense, header, xml)
    table, _ = scipy_arff.loadarff(io.StringIO(header + dense))
    expected = np.column_stack([table[f"a{i}"] for i in range(4)]).astype(np.float32)
    np.testing.assert_array_equal(X.toarray(), expected)
    np.testing.assert_array_equal(
        Y.toarray(), [[row["y1"] == b"1", row["y2"] == b"1"] for row in table]
    )
    for one, other in zip((X, Y), arff(folder, thin, header, xml)):
        np.testing.assert_array_equal(one.toarray(), other.toarray())


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("1,2,0,red", "4 values"),
        ("1,?,0,red,0", "'?'"),
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
    with pytest.raises(XmlcError) as error:
        arff(tmp_path, f"0,0,0,red,0\n{row}\n0,0,0,red,0\n")
    assert f"a.arff:10: found {found}, expected " in str(error.value)
    assert "1 malformed line" in str(error.value)


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
    with pytest.raises(XmlcError) as error:
        arff(tmp_path, "0,0,0,red,0\n", header, xml)
    assert message in str(error.value)
