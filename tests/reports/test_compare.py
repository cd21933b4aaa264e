"""Every status a cell can have."""

import pandas as pd
import pytest
from compare_cases import BOUNDS, TABLE, change, statuses, table_writer
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.errors import XmlcError
from xmlc.reports.compare import compare, compare_frames
from xmlc.reports.compare_text import headline, to_text
from xmlc.reports.tolerances import EXACT, Deviations, Tolerances
from xmlc.reports.verdict import Verdict


@pytest.fixture
def files(tmp_path):
    return table_writer(tmp_path)


@pytest.mark.parametrize(
    ("left", "right", "column", "expected"),
    [
        ("40.0", "40.0", "macro_f", Verdict.EQUAL),
        ("40.0", "40.005", "macro_f", Verdict.EQUAL),
        ("40.0", "40.0051", "macro_f", Verdict.WITHIN),
        ("40.0", "39.795", "macro_f", Verdict.WITHIN),
        ("40.0", "40.206", "macro_f", Verdict.OUTSIDE),
        ("72.4", "72.44", "p@1", Verdict.OUTSIDE),
        ("100", "110.5", "inner_products", Verdict.WITHIN),
        ("100", "110.6", "inner_products", Verdict.OUTSIDE),
        ("100", "100.5", "inner_products", Verdict.EQUAL),
        ("10", "10.0", "c", Verdict.EQUAL),
        ("10", "10.1", "c", Verdict.OUTSIDE),
        ("10/100", "10/100", "c", Verdict.EQUAL),
        ("10/100", "10", "c", Verdict.OUTSIDE),
        ("", "", "macro_f", Verdict.EQUAL),
        ("nan", "", "macro_f", Verdict.EQUAL),
        ("40.0", "", "macro_f", Verdict.MISSING),
        ("", "40.0", "macro_f", Verdict.NEW),
        ("inf", "inf", "macro_f", Verdict.EQUAL),
        ("inf", "1", "macro_f", Verdict.OUTSIDE),
        ("good", "good", "remark", Verdict.EQUAL),
        ("good", "bad", "remark", Verdict.OUTSIDE),
        ("0.00001", "0.3", "somewhere", Verdict.OUTSIDE),
        ("1e-05", "0.3", "somewhere", Verdict.OUTSIDE),
        ("0.123", "0.1234", "somewhere", Verdict.EQUAL),
    ],
)
def test_status_of_a_cell(left, right, column, expected):
    frames = [pd.DataFrame({"dataset": ["yeast"], "model": ["plt"], column: [value]}) for value in (left, right)]
    comparison = compare_frames("t", *frames, ("dataset", "model"), BOUNDS)
    assert [cell.verdict for cell in comparison.cells] == [expected]
    assert comparison.same == (expected in (Verdict.EQUAL, Verdict.WITHIN))


def test_costs_are_shown_and_never_judged(files):
    left, right = files(TABLE, change(TABLE, "40.0,0.25", "40.0,99.9"))
    for tolerances in (Tolerances(), EXACT):
        (comparison,) = compare(left, right, tolerances)
        assert comparison.same
        assert [cell.right for cell in comparison.cells if not cell.judged] == ["99.9", "0.5"]
        assert "test_ms  new / old from 1.00 to 399.60" in to_text([comparison], "")


def test_a_column_may_be_shown_without_judgement(files):
    left, right = files(TABLE, change(TABLE, "60.0,100", "60.0,7"))
    unjudged = Tolerances(unjudged={"c": "a grid's neighbour"})
    assert compare(left, right, unjudged)[0].same
    assert not compare(left, right, EXACT)[0].same


def test_exact_allows_nothing(files):
    left, right = files(TABLE, change(TABLE, "35.123456", "35.1234560001"))
    assert compare(left, right, Tolerances())[0].same
    (comparison,) = compare(left, right, EXACT)
    assert statuses(comparison)["yeast", "plt", "sto", "macro_f"] is Verdict.OUTSIDE
    # What six digits would hide is shown in full.
    assert "35.1234560001" in to_text([comparison], "")


def test_order_of_rows_and_columns_does_not_matter(files):
    lines = TABLE.splitlines()
    shuffled = pd.DataFrame([line.split(",") for line in lines[:0:-1]], columns=lines[0].split(","))
    left, right = files(TABLE, shuffled[shuffled.columns[::-1]].to_csv(index=False))
    (comparison,) = compare(left, right, EXACT)
    assert comparison.same
    assert [cell.key[2] for cell in comparison.cells] == ["fta"] * 4 + ["sto"] * 4


def test_rows_that_one_side_lacks(files):
    left, right = files(TABLE, change(TABLE, "plt,sto", "plt,ofo"))
    (comparison,) = compare(left, right, Tolerances())
    assert [(part.kind, part.name, part.verdict.value) for part in comparison.parts] == [
        ("row", ("yeast", "plt", "sto"), "missing"), ("row", ("yeast", "plt", "ofo"), "new")
    ]  # fmt: skip
    assert comparison.counts == {Verdict.EQUAL: 3, Verdict.MISSING: 3, Verdict.NEW: 3}
    assert not comparison.same


@pytest.mark.parametrize("column", ["macro_f", "test_ms"])
def test_columns_that_one_side_lacks(files, column):
    """Also a column of costs: its values are not judged, its absence is."""
    frame = pd.DataFrame([line.split(",") for line in TABLE.splitlines()[1:]], columns=TABLE.splitlines()[0].split(","))
    less = frame.drop(columns=column).to_csv(index=False)
    (missing,) = compare(*files(TABLE, less), EXACT)
    assert [(part.kind, part.name[0], part.verdict) for part in missing.parts] == [("column", column, Verdict.MISSING)]
    (new,) = compare(*files(less, TABLE), EXACT)
    assert [(part.kind, part.name[0], part.verdict) for part in new.parts] == [("column", column, Verdict.NEW)]
    assert not missing.same
    assert not new.same


def test_tables_that_one_side_lacks(files, tmp_path):
    files(TABLE, TABLE)
    (tmp_path / "left" / "table4.csv").write_text("model,dataset,a\nplt,yeast,1\n")
    (tmp_path / "right" / "extra.csv").write_text("dataset,x\nyeast,1\n")
    (tmp_path / "left" / "README.md").write_text("no table")
    comparisons = compare(tmp_path / "left", tmp_path / "right", Tolerances())
    assert [(c.name, c.same) for c in comparisons] == [
        ("extra.csv", False),
        ("table2.csv", True),
        ("table4.csv", False),
    ]
    assert headline(comparisons).endswith("1 table new, 1 table missing; 2 shown without judgement")


def test_keys_are_known_or_found_or_given(files):
    by_registry = compare(*files("model,dataset,x\na,b,1\n", "model,dataset,x\na,b,1\n", "table4.csv"), EXACT)
    assert by_registry[0].keys == ("model", "dataset")
    text = "suite,set,size,note\na,b,1,x\na,c,1,y\n"
    assert compare(*files(text, text, "other.csv"), EXACT)[0].keys == ("suite", "set")
    assert compare(*files(text, text, "table4.csv"), EXACT)[0].keys == ("suite", "set")
    assert compare(*files(text, text, "other.csv"), EXACT, ["set"])[0].keys == ("set",)


@pytest.mark.parametrize(
    ("left", "right", "keys", "message"),
    [
        (TABLE + TABLE.splitlines()[1] + "\n", TABLE, [], r"left.table2.csv: two rows for yeast, plt, fta"),
        (TABLE, TABLE + TABLE.splitlines()[2] + "\n", [], r"right.table2.csv: two rows for yeast, plt, sto"),
        (TABLE, TABLE, ["seed"], "no column 'seed'"),
        ("x,y\n1,2\n", "x,y\n1,2\n", [], "give --keys"),
        ("", TABLE, [], "no readable CSV table"),
    ],
)
def test_what_cannot_be_compared(files, left, right, keys, message):
    with pytest.raises(XmlcError, match=message):
        compare(*files(left, right), EXACT, keys)


def test_paths_that_cannot_be_compared(files, tmp_path):
    left, _ = files(TABLE, TABLE)
    with pytest.raises(XmlcError, match="no such table"):
        compare(left, tmp_path / "nothing", EXACT)
    with pytest.raises(XmlcError, match="one is a folder and one a file"):
        compare(left, tmp_path, EXACT)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(XmlcError, match="neither holds a table"):
        compare(empty, empty, EXACT)


def test_a_model_is_judged_by_its_own_deviation():
    """The same difference is within FastXML's tolerance and outside that of others."""
    left, right = (
        pd.DataFrame({"dataset": ["a", "a"], "model": ["fastxml", "plt"], "macro_f": [value, value]})
        for value in ("40.0", "41.0")
    )
    bounds = Tolerances(k=3, machines=Deviations({"a": {"fastxml": {"macro_f": 0.4}, "plt": {"macro_f": 0.1}}}))
    verdicts = [cell.verdict for cell in compare_frames("t", left, right, ("dataset", "model"), bounds).cells]
    assert verdicts == [Verdict.WITHIN, Verdict.OUTSIDE]


@settings(max_examples=50, deadline=None)
@given(left=st.floats(-1e6, 1e6), right=st.floats(-1e6, 1e6), deviation=st.floats(0, 10), k=st.floats(0, 3))
def test_against_isclose(left, right, deviation, k):
    frames = [pd.DataFrame({"dataset": ["a"], "model": ["m"], "p@1": [repr(value)]}) for value in (left, right)]
    bounds = Tolerances(units=0.0, k=k, machines=Deviations({"a": {"m": {"p@1": deviation}}}))
    (cell,) = compare_frames("t", *frames, ("dataset", "model"), bounds).cells
    slack = abs(left - right) - k * deviation
    if abs(slack) > 1e-6:
        assert (cell.verdict is not Verdict.OUTSIDE) == (slack < 0)
    (cell,) = compare_frames("t", *frames, ("dataset", "model"), EXACT).cells
    assert (cell.verdict is Verdict.EQUAL) == (left == right)
