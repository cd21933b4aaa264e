"""Every status a cell can have."""

import pandas as pd
import pytest
from compare_cases import TABLE, change, statuses, table_writer
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.errors import XmlcError
from xmlc.judging.compare import compare, compare_frames, compared_fingerprints
from xmlc.judging.compare_text import headline, to_text
from xmlc.judging.tolerances import Deviations, Tolerances
from xmlc.judging.verdict import Verdict
from xmlc.tables.fingerprint import fingerprint, of_parts, of_table


@pytest.fixture
def files(tmp_path):
    return table_writer(tmp_path)


BOUNDS = Tolerances(k=2, deviations=Deviations({"yeast": {"plt": {"runs": 5, "macro_f": 0.1, "inner_products": 0.05}}}))


@pytest.mark.parametrize(
    ("printed", "ours", "column", "expected"),
    [
        ("40.00", "40.0", "macro_f", Verdict.EQUAL),
        ("40.00", "40.005", "macro_f", Verdict.EQUAL),
        ("40.00", "40.0051", "macro_f", Verdict.WITHIN),
        ("40.00", "39.795", "macro_f", Verdict.WITHIN),
        ("40.00", "40.206", "macro_f", Verdict.OUTSIDE),
        ("72.4", "72.44", "p@1", Verdict.EQUAL),
        ("72.40", "72.44", "p@1", Verdict.OUTSIDE),
        ("100", "110.5", "inner_products", Verdict.WITHIN),
        ("100", "110.6", "inner_products", Verdict.OUTSIDE),
        ("100", "100.5", "inner_products", Verdict.EQUAL),
        ("40.00", "", "macro_f", Verdict.NOT_RUN),
        ("0.00001", "0.3", "somewhere", Verdict.OUTSIDE),
    ],
)
def test_status_of_a_cell_beside_a_published_one(printed, ours, column, expected):
    frames = [pd.DataFrame({"dataset": ["yeast"], "model": ["plt"], column: [value]}) for value in (printed, ours)]
    comparison = compare_frames("t", *frames, ("dataset", "model"), BOUNDS)
    assert [cell.verdict for cell in comparison.cells] == [expected]
    assert comparison.same == (expected in (Verdict.EQUAL, Verdict.WITHIN))


def test_costs_are_shown_and_never_judged(files):
    left, right = files(TABLE, change(TABLE, "40.0,0.25", "40.0,99.9"))
    for published in (None, Tolerances()):
        (comparison,) = compare(left, right, published=published)
        assert comparison.same
        assert [cell.right for cell in comparison.cells if not cell.judged] == ["99.9", "0.5"]
    assert "test_ms  new / old from 1.00 to 399.60" in to_text(compare(left, right), "")


def test_beside_a_published_number_a_column_may_be_shown_without_judgement(files):
    left, right = files(TABLE, change(TABLE, "60.0,100", "60.0,7"))
    unjudged = Tolerances(unjudged={"c": "a grid's neighbour"})
    assert compare(left, right, published=unjudged)[0].same
    assert not compare(left, right)[0].same


def test_two_runs_of_ours_differ_by_the_last_bit(files):
    left, right = files(TABLE, change(TABLE, "35.123456", "35.123456000000004"))
    assert compare(left, right, published=Tolerances())[0].same
    (comparison,) = compare(left, right)
    assert statuses(comparison)["yeast", "plt", "sto", "macro_f"] is Verdict.DIFFERENT
    # What six digits would hide is shown in full.
    assert "35.123456000000004" in to_text([comparison], "")


def test_order_of_rows_and_columns_does_not_matter(files):
    lines = TABLE.splitlines()
    shuffled = pd.DataFrame([line.split(",") for line in lines[:0:-1]], columns=lines[0].split(","))
    left, right = files(TABLE, shuffled[shuffled.columns[::-1]].to_csv(index=False))
    (comparison,) = compare(left, right)
    assert comparison.same
    assert [cell.key[2] for cell in comparison.cells] == ["fta"] * 4 + ["sto"] * 4


def test_rows_that_one_side_lacks(files):
    left, right = files(TABLE, change(TABLE, "plt,sto", "plt,ofo"))
    (comparison,) = compare(left, right)
    assert [(part.kind, part.name, part.verdict.value) for part in comparison.parts] == [
        ("row", ("yeast", "plt", "sto"), "missing"), ("row", ("yeast", "plt", "ofo"), "new")
    ]  # fmt: skip
    assert comparison.counts == {Verdict.EQUAL: 3, Verdict.MISSING: 3, Verdict.NEW: 3}
    assert not comparison.same


def test_a_column_that_one_side_lacks(files):
    column = "macro_f"
    frame = pd.DataFrame([line.split(",") for line in TABLE.splitlines()[1:]], columns=TABLE.splitlines()[0].split(","))
    less = frame.drop(columns=column).to_csv(index=False)
    (missing,) = compare(*files(TABLE, less))
    assert [(part.kind, part.name[0], part.verdict) for part in missing.parts] == [("column", column, Verdict.MISSING)]
    (new,) = compare(*files(less, TABLE))
    assert [(part.kind, part.name[0], part.verdict) for part in new.parts] == [("column", column, Verdict.NEW)]
    assert not missing.same
    assert not new.same


def test_accepted_tables_lack_the_costs_and_that_is_no_difference(files):
    less = "\n".join(",".join(line.split(",")[:4] + line.split(",")[5:]) for line in TABLE.splitlines()) + "\n"
    assert less.startswith("dataset,model,method,macro_f,inner_products,c\n")
    for sides in ((less, TABLE), (TABLE, less)):
        (comparison,) = compare(*files(*sides))
        assert comparison.same
        assert comparison.counts.total() == 6
        assert len(comparison.cells) == 6


def test_tables_that_one_side_lacks(files, tmp_path):
    files(TABLE, TABLE)
    (tmp_path / "left" / "table4.csv").write_text("model,dataset,a\nplt,yeast,1\n")
    (tmp_path / "right" / "extra.csv").write_text("dataset,x\nyeast,1\n")
    (tmp_path / "left" / "README.md").write_text("no table")
    comparisons = compare(tmp_path / "left", tmp_path / "right")
    assert [(c.name, c.same) for c in comparisons] == [
        ("extra.csv", False),
        ("table2.csv", True),
        ("table4.csv", False),
    ]
    assert headline(comparisons).endswith("1 table new, 1 table missing; 2 shown without judgement")


def test_of_suites_those_are_compared_that_the_left_side_has(tmp_path):
    for side, suites in (("left", ("demo", "gone")), ("right", ("demo", "more"))):
        for suite in suites:
            (tmp_path / side / suite).mkdir(parents=True)
            (tmp_path / side / suite / "table2.csv").write_text(TABLE)
    (tmp_path / "right/demo/table9.csv").write_text(TABLE)
    sides = tmp_path / "left", tmp_path / "right"
    comparisons = compare(*sides)
    assert [(c.name, c.same) for c in comparisons] == [
        ("demo/table2.csv", True), ("demo/table9.csv", False), ("gone/table2.csv", False)
    ]  # fmt: skip
    left, right = compared_fingerprints(*sides)
    assert left == fingerprint(tmp_path / "left") != right
    assert right == of_parts({"demo": fingerprint(tmp_path / "right/demo")})
    (tmp_path / "right/demo/table9.csv").unlink()
    (tmp_path / "left/gone/table2.csv").unlink()
    assert all(comparison.same for comparison in compare(*sides))
    left, right = compared_fingerprints(*sides)
    assert left == right


def test_keys_are_known_or_found_or_given(files):
    by_registry = compare(*files("model,dataset,x\na,b,1\n", "model,dataset,x\na,b,1\n", "table4.csv"))
    assert by_registry[0].keys == ("model", "dataset")
    text = "suite,set,size,note\na,b,1,x\na,c,1,y\n"
    assert compare(*files(text, text, "other.csv"))[0].keys == ("suite", "set")
    assert compare(*files(text, text, "table4.csv"))[0].keys == ("suite", "set")
    assert compare(*files(text, text, "other.csv"), ["set"])[0].keys == ("set",)


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
        compare(*files(left, right), keys)


def test_paths_that_cannot_be_compared(files, tmp_path):
    left, _ = files(TABLE, TABLE)
    with pytest.raises(XmlcError, match="no such table"):
        compare(left, tmp_path / "nothing")
    with pytest.raises(XmlcError, match="one is a folder and one a file"):
        compare(left, tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(XmlcError, match="neither holds a table"):
        compare(empty, empty)


def test_a_model_is_judged_by_its_own_deviation():
    """The same difference is within FastXML's tolerance and outside that of others."""
    left, right = (
        pd.DataFrame({"dataset": ["a", "a"], "model": ["fastxml", "plt"], "macro_f": [value, value]})
        for value in ("40.0", "41.0")
    )
    bounds = Tolerances(k=3, deviations=Deviations({"a": {"fastxml": {"macro_f": 0.4}, "plt": {"macro_f": 0.1}}}))
    verdicts = [cell.verdict for cell in compare_frames("t", left, right, ("dataset", "model"), bounds).cells]
    assert verdicts == [Verdict.WITHIN, Verdict.OUTSIDE]


@settings(max_examples=50, deadline=None)
@given(left=st.floats(-1e6, 1e6), right=st.floats(-1e6, 1e6), deviation=st.floats(0, 10), k=st.floats(0, 3))
def test_against_isclose(left, right, deviation, k):
    frames = [pd.DataFrame({"dataset": ["a"], "model": ["m"], "p@1": [repr(value)]}) for value in (left, right)]
    bounds = Tolerances(units=0.0, k=k, deviations=Deviations({"a": {"m": {"p@1": deviation}}}))
    (cell,) = compare_frames("t", *frames, ("dataset", "model"), bounds).cells
    slack = abs(left - right) - k * deviation
    if abs(slack) > 1e-6:
        assert (cell.verdict is not Verdict.OUTSIDE) == (slack < 0)


CELLS = st.sampled_from(["1", "1.0", "0.1", "0.30000000000000004", "0.3", "-0", "0", "nan", "", "a", "10/20", "inf"])


@settings(max_examples=100, deadline=None)
@given(left=st.tuples(CELLS, CELLS, CELLS), right=st.tuples(CELLS, CELLS, CELLS))
def test_tables_are_the_same_where_their_fingerprints_are(left, right):
    sides = [
        pd.DataFrame([("a", *cells[:2]), ("b", cells[2], "")], columns=["dataset", "p@1", "c"])
        for cells in (left, right)
    ]
    comparison = compare_frames("t", *sides, ("dataset",))
    assert comparison.same == (of_table(sides[0]) == of_table(sides[1]))
