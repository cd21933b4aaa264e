"""Test how names of labels are read from cells and from JSON values."""

import json
import sys

import pytest
from facts import raises_with

from xmlc.data.formats.lines import LineError
from xmlc.data.formats.names import LabelNames

X = [f"http://ex.org/{i}" for i in range(9)]


def of_cell(cell, separator=None):
    return LabelNames(separator).of_cell(cell)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("a;b", ["a", "b"]),
        # Names are stripped, and empty or repeated names are dropped.
        (" a ;; b\t; ;a;", ["a", "b"]),
        ("", []),
        (f"{X[1]}; {X[2]} ;", X[1:3]),
        (f"<{X[1]}>;<{X[2]}> ; {X[1]}", X[1:3]),
        ("<urn:isbn:1>;<info:x/1>", ["urn:isbn:1", "info:x/1"]),
        ("http://x/1,2", ["http://x/1,2"]),
        ("a:b c:d", ["a:b c:d"]),
        ("<b>", ["<b>"]),
        ("New\u00a0York; \u00a0", ["New\u00a0York", "\u00a0"]),
        ('["a",\n "b", "a", " b "]', ["a", "b"]),
        ('{"COOK": 1.0, "GARDEN": 0}', ["COOK"]),
        ("(2020)", ["(2020)"]),
        ("(1,2)-b", ["(1,2)-b"]),
        ("x; [y]", ["x", "[y]"]),
        ("the 's-Hertogenbosch; 's-Hertogenbosch", ["the 's-Hertogenbosch", "'s-Hertogenbosch"]),
        ("R&D;AT&T", ["R&D", "AT&T"]),
        ("0;1", ["0", "1"]),  # The names may be ids.
    ],
)
def test_cell_is_parsed_into_names(cell, expected):
    assert of_cell(cell) == expected


@pytest.mark.parametrize(
    ("cell", "separator", "expected"),
    [
        ("http://x/1 http://x/2", "|", ["http://x/1 http://x/2"]),
        ("<http://x/1> <http://x/2>  http://x/1 ", " ", ["http://x/1", "http://x/2"]),
        ("a  b\tc", " ", ["a", "b\tc"]),
        ('["a", "b"]', ";", ['["a", "b"]']),
        ('"Heroes"; b', ";", ['"Heroes"', "b"]),
        ("AT&amp;T", ";", ["AT&amp", "T"]),
    ],
)
def test_given_separator_takes_precedence(cell, separator, expected):
    assert of_cell(cell, separator) == expected


OPTION = "--separator ';'"
JSON = '["a", "b"]'
URIS = ["--separator", "' '"]


@pytest.mark.parametrize(
    ("cell", "facts"),
    [
        (f"{X[1]} {X[2]}", URIS),
        ("<info:x/1> <mailto:me> ftp://x", URIS),
        # The semicolon may belong to a URI.
        (f"{X[1]};urn:a urn:b", URIS),
        ("<http://e.org/a;v=1>", URIS),
        (f"see {X[1]}", URIS),
        (f"{X[1]},{X[2]}", URIS),
        (f"{X[1]}|<{X[2]}>", URIS),
        # Python prints lists, tuples, sets and dicts in these forms.
        ("['a', 'b']", JSON),
        ("('a', ' b ')", JSON),
        ("()", JSON),
        ("{'COOK': 1.0, 'GARDEN': 0.0}", JSON),
        ("{x}; [y]", JSON),
        ('"Heroes"; b', "quotes"),
        ("a; '';b", "quotes"),
        ("<java>;<x><y>", "><"),
        ("AT&amp;T", "&amp;"),
        ("rock &#38; roll", "&amp;"),
    ],
)
def test_cells_of_other_forms_are_refused_with_an_option(cell, facts):
    with raises_with(LineError, facts, OPTION):
        of_cell(cell)


@pytest.mark.parametrize(
    ("cell", "separator"),
    [
        ("(1, 0, 0)", None),
        ("1;;0;1", None),
        ("0 1 0 0", None),
        ("1#0#1", "#"),
        ('"a,b"', ","),
    ],
)
def test_vectors_of_zeros_and_ones_and_quotes_are_refused(cell, separator):
    with raises_with(LineError, "quotes" if '"' in cell else "0s and 1s"):
        of_cell(cell, separator)


@pytest.mark.parametrize(
    "cell",
    [
        "['a' 'b']",  # NumPy prints arrays in this form.
        "[1 0 0]",
        '{"COOK": 1, "COOK": 0}',
        '{"COOK": 0.7}',
        "Index(['a', 'b'], dtype='object')",
    ],
)
def test_cells_without_names_are_refused(cell):
    with pytest.raises(LineError):
        of_cell(cell)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([" a ", "", "a", "\t"], ["a"]),
        (["a;b"], ["a;b"]),
        ([3, 17], ["3", "17"]),
        (["0", "1"], ["0", "1"]),
        (None, []),
        ("a; b", ["a", "b"]),
        ({"choices": ["a", "b"]}, ["a", "b"]),
        ({"choices": 1, "a": 0}, ["choices"]),
        ({"COOK": True, "GARDEN": False, "x": 1, "y": 0}, ["COOK", "x"]),
        (
            [
                {"label": "a", "uri": "http://x/1"},
                {"uri": "http://x/2"},
                {"label": "", "uri": "http://x/3"},
            ],
            ["a", "http://x/2", "http://x/3"],
        ),
        ({"label": "a", "value": False}, []),
        (
            [
                {"label": "a", "score": 1.0},
                {"label": "b", "score": 0},
                {"label": "c", "value": True},
            ],
            ["a", "c"],
        ),
        (
            [{"label": "a", "id": 3, "value": "x", "score": None}, {"label": None, "uri": "urn:b"}],
            ["a", "urn:b"],
        ),
        ([{"label": "a"}, {"label": "a", "uri": "http://x/1"}], ["a"]),
    ],
)
def test_json_value_is_parsed_into_names(value, expected):
    assert LabelNames().of_value(json.loads(json.dumps(value))) == expected


@pytest.mark.parametrize(
    "value",
    [
        3,
        [1, 0, 0],
        [True, False],
        ["1", "0", "0"],
        ["a", None],
        [["a", "b"]],
        [{"name": "a"}],
        {"a": 0.5},
        {"choices": ["a"], "b": 1},
        {"choices": [["a"]]},
        [{"label": 3, "uri": "urn:a"}],
        [{"label": "a", "uri": 3}],
        [{"label": "a", "score": 0.02}],
    ],
)
def test_values_without_names_are_refused(value):
    with pytest.raises(LineError):
        LabelNames().of_value(value)


@pytest.mark.parametrize("score", ["0", "true", 0.5])
def test_scores_as_text_are_refused(score):
    value = [{"label": "A", "score": score}, {"label": "B", "score": "1"}]
    with raises_with(LineError, "'A'", "0, 1, false or true"):
        LabelNames().of_value(value)


def calls_of(function, *arguments):
    """Return the number of calls of Python and C functions."""
    count = 0

    def watch(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(watch)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return count


MANY = " ".join(f"http://ex.org/{i:05}" for i in range(10_000))
N = 250_000


# With a regular expression that takes quadratic time, this test takes hours.
@pytest.mark.parametrize("separator", [None, ";"])
@pytest.mark.parametrize(
    "cell",
    [
        MANY,
        MANY.replace(" ", " rice "),
        MANY.replace(" ", "> <"),
        MANY.replace(" ", ";"),
        MANY.replace(" ", ", "),
        str(MANY.split()),
        json.dumps(MANY.split())[:-1] + ", nan]",
        "<" * N,
        "<" + "a:" * N,
        "[" * N + "]" * N,
        "a(" * N + ")",
        ",a" * N,
        "urn:a" * N,
        "(" + "1," * N,
        "a" + " " * N + "b",
        "<" + "><" * N,
        "&#" + "1" * N + " ",
        "['" + "\\" * N + "']",
        "[" + "1" * N + "x]",
    ],
)
def test_cell_parsing_takes_linear_steps(cell, separator):
    def read():
        try:
            of_cell(cell, separator)
        except LineError:
            return

    assert calls_of(read) < 60 + 3 * len(cell)
