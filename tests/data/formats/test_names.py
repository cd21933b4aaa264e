"""Test how names of labels are read from cells and from JSON values."""

import json
import sys

import pytest

from xmlc.data.formats import names
from xmlc.data.formats.lines import LineError
from xmlc.data.formats.names import LabelNames

X = [f"http://ex.org/{i}" for i in range(9)]


def of_cell(cell, separator=None):
    return LabelNames(separator).of_cell(cell)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("a;b", ["a", "b"]),
        (" a ;; b\t; ;a;", ["a", "b"]),  # Names are stripped, and empty or repeated names are dropped.
        ("", []),
        (" ;\t; ", []),
        ("Rosa canina", ["Rosa canina"]),
        ("Cooking, American", ["Cooking, American"]),
        (f"{X[1]};{X[2]}", X[1:3]),
        (f"{X[1]}; {X[2]} ;", X[1:3]),
        (f"<{X[1]}>;<{X[2]}>", X[1:3]),
        (f"{X[1]} {X[2]}", X[1:3]),
        (f" {X[1]}\t<{X[2]}>  {X[1]}", X[1:3]),
        (f"<{X[1]}>", X[1:2]),
        ("urn:isbn:1 URN:isbn:2 <urn:isbn:1>", ["urn:isbn:1", "URN:isbn:2"]),
        ("<info:x/1> <mailto:me> ftp://x", ["info:x/1", "mailto:me", "ftp://x"]),
        (f"{X[1]};urn:a urn:b", [X[1], "urn:a urn:b"]),  # The cell has a separator.
        (" ".join(X[1:9]) + " rice", [*X[1:9], "rice"]),
        (f"{X[1]} Rosa canina {X[2]} dog rose", [X[1], "Rosa canina", X[2], "dog rose"]),
        (f"see {X[1]}", [f"see {X[1]}"]),
        ("a:b c:d", ["a:b c:d"]),
        ("<b>", ["<b>"]),
        ("New\u00a0York; \u00a0", ["New\u00a0York", "\u00a0"]),
        ("['a', 'b']", ["a", "b"]),
        ('["a", "b;c", "d, e"]', ["a", "b;c", "d, e"]),
        ("""["it's", 'b']""", ["it's", "b"]),
        (r"['it\'s', 'b\\']", ["it's", "b\\"]),
        ("('a', ' b ')", ["a", "b"]),
        ("{'b', 'a'}", ["a", "b"]),
        ("['a',\n 'b']", ["a", "b"]),
        ("[]", []),
        ("set()", []),
        ("[3, 17]", ["3", "17"]),
        ("{'COOK': 1.0, 'GARDEN': 0.0}", ["COOK"]),
        ('{"COOK": true, "GARDEN": false}', ["COOK"]),
        ("[Rock]", ["[Rock]"]),
        ("['a', 'b'", ["['a', 'b'"]),
        ("http://x/1,2", ["http://x/1,2"]),
        ("(2020)", ["(2020)"]),
        ("f(x)", ["f(x)"]),
        ('"Heroes"; b', ['"Heroes"', "b"]),
        ('"a";"b"', ['"a"', '"b"']),
        ("Paris (France)", ["Paris (France)"]),
        ("(a, b)", ["(a, b)"]),
        ("poly((R)-3-hydroxybutyrate)", ["poly((R)-3-hydroxybutyrate)"]),
        ("{x}; [y]", ["{x}", "[y]"]),
        ("0;1", ["0", "1"]),  # The names may be ids.
    ],
)
def test_cell_is_parsed_into_names(cell, expected):
    assert of_cell(cell) == expected


@pytest.mark.parametrize(
    ("cell", "separator", "expected"),
    [
        ("http://x/1|http://x/2", "|", ["http://x/1", "http://x/2"]),
        ("http://x/1 http://x/2", "|", ["http://x/1 http://x/2"]),
        ("http://x/1 http://x/2", ";", ["http://x/1 http://x/2"]),
        ("a, b", ",", ["a", "b"]),
        ("a  b\tc", " ", ["a", "b\tc"]),
        ("a;b", "|", ["a;b"]),
        ("['a', 'b']", ",", ["['a'", "'b']"]),
        ("a -- b", "--", ["a", "b"]),
        ("<a><b>", ";", ["<a><b>"]),
    ],
)
def test_given_separator_takes_precedence(cell, separator, expected):
    assert of_cell(cell, separator) == expected


@pytest.mark.parametrize(
    "cell",
    [
        "['a' 'b']",  # NumPy prints arrays in this form.
        "['a'\n 'b']",
        "[1 0 0]",
        "[0. 1.]",
        "[ True False]",
        "array(['a', 'b'], dtype=object)",
        "['a', nan]",
        "['a', ['b']]",
        "['a'];['b']",
        "[0.5, 0.5]",
        "[1, 0, 0]",
        "{'COOK': 0.7}",
        '{"COOK": 1, "COOK": 0}',
        "http://x/1, http://x/2",
        "http://x/1 | http://x/2",
        "http://x/1, rice, http://x/2",
        "1;0;0",
        "0, 1, 0",
        "0 1 0 0",
        "true;false;false",
        "<java><arrays>",
        '"a;b"',
        "[np.str_('a'), np.str_('b')]",
        "[np.int64(3)]",
        "[list(['a'])]",
        "dict_keys(['a'])",
        "Index(['a', 'b'], dtype='object')",
        "OrderedDict([('a', 1)])",
        "[a, b]",
        "{a,b}",
        "<http://x/1><http://x/2>",
    ],
)
def test_cells_without_names_are_refused(cell):
    with pytest.raises(LineError):
        of_cell(cell)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["a", "b"], ["a", "b"]),
        ([" a ", "", "a", "\t"], ["a"]),
        (["a;b"], ["a;b"]),
        ([3, 17], ["3", "17"]),
        ([1], ["1"]),
        (["0", "1"], ["0", "1"]),
        (None, []),
        ([], []),
        ({}, []),
        ("a; b", ["a", "b"]),
        ("['a', 'b']", ["a", "b"]),
        ({"COOK": 1.0, "GARDEN": 0.0}, ["COOK"]),
        ({"COOK": True, "GARDEN": False, "x": 1, "y": 0}, ["COOK", "x"]),
        ([{"label": "a", "uri": "http://x/1"}, {"uri": "http://x/2"}, {"label": "", "uri": "http://x/3"}],
         ["a", "http://x/2", "http://x/3"]),
        ({"label": "a", "uri": "http://x/1"}, ["a"]),
        ([{"label": "a", "uri": "http://x/1"}, {"label": "a", "uri": "http://x/1"}], ["a"]),
        ([{"label": "a", "score": 1.0}, {"label": "b", "score": 0}, {"label": "c", "value": True}], ["a", "c"]),
        ({"label": "a", "value": False}, []),
        ([{"label": "a", "id": 3, "value": "x"}], ["a"]),
    ],
)  # fmt: skip
def test_json_value_is_parsed_into_names(value, expected):
    assert LabelNames().of_value(json.loads(json.dumps(value))) == expected


@pytest.mark.parametrize(
    "value",
    [3, 0, 1.5, True, False, [1, 0, 0], [0, 1], [1, 1], [0.0, 1.0], [True, False], [True], ["1", "0", "0"],
     ["true", "false", "true"], [None], ["a", None], [1.5], [float("nan")], [["a", "b"]], [["a", 0.9]], [{}],
     [{"name": "a"}], [{"label": 3}], [{"label": {"en": "a"}}], {"a": 0.5}, {"a": None}, {"a": "yes"}, {"a": [1]},
     {"a": 2}, {"a": -1}, {"a": float("nan")}, [{"label": "a", "score": 0.02}], {"label": "a", "probability": 0.98}],
)  # fmt: skip
def test_values_without_names_are_refused(value):
    with pytest.raises(LineError):
        LabelNames().of_value(value)


def calls_of(function, *arguments):
    """Return the number of calls of Python and C functions, and the number of characters that `is_uri` reads."""
    count, looked_at, is_uri = 0, 0, names.is_uri

    def watch(frame, event, argument):
        nonlocal count, looked_at
        count += event in ("call", "c_call")
        if event == "call" and frame.f_code is is_uri.__code__:
            looked_at += len(frame.f_locals["word"])

    sys.setprofile(watch)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return count, looked_at


URIS = " ".join(f"http://ex.org/{i:05}" for i in range(10_000))


@pytest.mark.parametrize(
    "cell",
    [
        URIS,
        URIS + " rice",
        "rice " + URIS,
        URIS.replace(" ", " rice "),
        URIS.replace(" ", "> <"),
        URIS.replace(" ", ";"),
        URIS.replace("http://", "urn:"),
        URIS.replace(" ", ", "),
        str(URIS.split()),
        str(URIS.split())[:-1] + ", nan]",
        "[" + URIS.replace("http", "'http").replace(" ", "' ") + "']",
        "<" * 100_000,
        "[" * 50_000 + "]" * 50_000,
        "[" + "a" * 100_000 + "]",
        "a(" * 50_000 + ")",
        "['" + "\\" * 100_000 + "']",
        "[" + "1" * 100_000 + "x]",
    ],
)
def test_cell_parsing_takes_linear_steps(cell):
    def read():
        try:
            of_cell(cell)
        except LineError:
            return

    calls, looked_at = calls_of(read)
    assert calls < 60 + 3 * len(cell)
    assert looked_at <= len(cell)
