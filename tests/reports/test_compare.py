"""Every status a cell can have, and the exit status that follows."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.cli import main
from xmlc.errors import XmlcError
from xmlc.reports.compare import Status, compare, compare_frames
from xmlc.reports.tolerances import EXACT, Tolerance, Tolerances
from xmlc.reports.verdict import headline, to_markdown, to_text

ROOT = Path(__file__).parents[2]
TABLE = """\
dataset,model,method,macro_f,test_ms,inner_products,c
yeast,plt,fta,40.0,0.25,55.0,10
yeast,plt,sto,35.123456,0.5,60.0,100
"""


@pytest.fixture
def files(tmp_path):
    def make(left, right, name="table2.csv"):
        paths = []
        for side, text in (("left", left), ("right", right)):
            (tmp_path / side).mkdir(exist_ok=True)
            paths.append(tmp_path / side / name)
            paths[-1].write_text(text)
        return paths

    return make


def statuses(comparison):
    return {(*cell.key, cell.column): cell.status for cell in comparison.cells if cell.judged}


def change(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


BOUNDS = Tolerances(
    columns={(None, "macro_f"): Tolerance(absolute=0.2), (None, "inner_products"): Tolerance(relative=0.1)}
)


@pytest.mark.parametrize(
    ("left", "right", "column", "expected"),
    [
        ("40.0", "40.0", "macro_f", Status.EQUAL),
        ("40.0", "40.005", "macro_f", Status.EQUAL),
        ("40.0", "40.0051", "macro_f", Status.WITHIN),
        ("40.0", "39.8", "macro_f", Status.WITHIN),
        ("40.0", "40.21", "macro_f", Status.OUTSIDE),
        ("72.4", "72.44", "p@1", Status.OUTSIDE),
        ("100", "110", "inner_products", Status.WITHIN),
        ("100", "111", "inner_products", Status.OUTSIDE),
        ("100", "100.5", "inner_products", Status.EQUAL),
        ("10", "10.0", "c", Status.EQUAL),
        ("10", "10.1", "c", Status.OUTSIDE),
        ("10/100", "10/100", "c", Status.EQUAL),
        ("10/100", "10", "c", Status.OUTSIDE),
        ("", "", "macro_f", Status.EQUAL),
        ("nan", "", "macro_f", Status.EQUAL),
        ("40.0", "", "macro_f", Status.MISSING),
        ("", "40.0", "macro_f", Status.NEW),
        ("inf", "inf", "macro_f", Status.EQUAL),
        ("inf", "1", "macro_f", Status.OUTSIDE),
        ("good", "good", "remark", Status.EQUAL),
        ("good", "bad", "remark", Status.OUTSIDE),
        ("0.00001", "0.3", "somewhere", Status.OUTSIDE),
        ("1e-05", "0.3", "somewhere", Status.OUTSIDE),
        ("0.123", "0.1234", "somewhere", Status.EQUAL),
    ],
)
def test_status_of_a_cell(left, right, column, expected):
    frames = [pd.DataFrame({"dataset": ["yeast"], column: [value]}) for value in (left, right)]
    comparison = compare_frames("t", *frames, ("dataset",), BOUNDS)
    assert [cell.status for cell in comparison.cells] == [expected]
    assert comparison.same == (expected in (Status.EQUAL, Status.WITHIN))


def test_costs_are_shown_and_never_judged(files):
    left, right = files(TABLE, change(TABLE, "40.0,0.25", "40.0,99.9"))
    for tolerances in (Tolerances(), EXACT):
        (comparison,) = compare(left, right, tolerances)
        assert comparison.same
        assert [cell.right for cell in comparison.cells if not cell.judged] == ["99.9", "0.5"]
        assert "test_ms  right / left from 1.00 to 399.60" in to_text([comparison], "")


def test_a_column_may_be_shown_without_judgement(files):
    left, right = files(TABLE, change(TABLE, "60.0,100", "60.0,7"))
    unjudged = Tolerances(columns={(None, "c"): Tolerance(judged=False)})
    assert compare(left, right, unjudged)[0].same
    assert not compare(left, right, EXACT)[0].same


def test_exact_allows_nothing(files):
    left, right = files(TABLE, change(TABLE, "35.123456", "35.1234560001"))
    assert compare(left, right, Tolerances())[0].same
    (comparison,) = compare(left, right, EXACT)
    assert statuses(comparison)["yeast", "plt", "sto", "macro_f"] is Status.OUTSIDE
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
    assert [(part.kind, part.name, part.status.value) for part in comparison.parts] == [
        ("row", ("yeast", "plt", "sto"), "missing"), ("row", ("yeast", "plt", "ofo"), "new")
    ]  # fmt: skip
    assert comparison.counts == {Status.EQUAL: 3, Status.MISSING: 3, Status.NEW: 3}
    assert not comparison.same


@pytest.mark.parametrize("column", ["macro_f", "test_ms"])
def test_columns_that_one_side_lacks(files, column):
    """Also a column of costs: its values are not judged, its absence is."""
    frame = pd.DataFrame([line.split(",") for line in TABLE.splitlines()[1:]], columns=TABLE.splitlines()[0].split(","))
    less = frame.drop(columns=column).to_csv(index=False)
    (missing,) = compare(*files(TABLE, less), EXACT)
    assert [(part.kind, part.name[0], part.status) for part in missing.parts] == [("column", column, Status.MISSING)]
    (new,) = compare(*files(less, TABLE), EXACT)
    assert [(part.kind, part.name[0], part.status) for part in new.parts] == [("column", column, Status.NEW)]
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


def test_a_model_is_judged_by_its_own_bounds():
    """The same difference is within FastXML's bounds and outside those of others."""
    left, right = (
        pd.DataFrame({"dataset": ["a", "a"], "model": ["fastxml", "plt"], "macro_f": [value, value]})
        for value in ("40.0", "41.0")
    )
    bounds = Tolerances(
        columns={("fastxml", "macro_f"): Tolerance(absolute=2.0), (None, "macro_f"): Tolerance(absolute=0.2)}
    )
    statuses = [cell.status for cell in compare_frames("t", left, right, ("dataset", "model"), bounds).cells]
    assert statuses == [Status.WITHIN, Status.OUTSIDE]


@settings(max_examples=50, deadline=None)
@given(
    left=st.floats(-1e6, 1e6), right=st.floats(-1e6, 1e6), absolute=st.floats(0, 10), relative=st.floats(0, 1)
)  # fmt: skip
def test_against_isclose(left, right, absolute, relative):
    frames = [pd.DataFrame({"dataset": ["a"], "x": [repr(value)]}) for value in (left, right)]
    bounds = Tolerances(units=0.0, columns={(None, "x"): Tolerance(absolute=absolute, relative=relative)})
    (cell,) = compare_frames("t", *frames, ("dataset",), bounds).cells
    slack = abs(left - right) - max(absolute, relative * abs(left))
    if abs(slack) > 1e-6:
        assert (cell.status is not Status.OUTSIDE) == (slack < 0)
    (cell,) = compare_frames("t", *frames, ("dataset",), EXACT).cells
    assert (cell.status is Status.EQUAL) == (left == right)


MIXED = """\
dataset,model,method,macro_f,test_ms,inner_products,c
yeast,plt,fta,40.1,0.5,55.0,10
yeast,plt,sto,36.0,0.5,,100
"""


def test_text_says_the_headline_first_and_folds_the_equal(files):
    comparisons = compare(*files(TABLE, MIXED), BOUNDS)
    lines = to_text(comparisons, "left: a, right: b").splitlines()
    assert lines[0] == (
        "3 of 6 cells equal, 1 within tolerance, 1 outside, 1 missing, 0 new; 2 shown without judgement"
    )
    assert lines[1] == "left: a, right: b"
    text = "\n".join(lines)
    assert text.index("  outside:") < text.index("  missing:") < text.index("  within tolerance:")
    outside = text[text.index("  outside:") :].splitlines()[2].split()
    assert outside == ["yeast", "plt", "sto", "macro_f", "35.1235", "36", "+0.877", "0.2"]
    assert lines[-1] == "  3 equal cells not listed"


def test_markdown_structure(files):
    text = to_markdown(compare(*files(TABLE, MIXED), BOUNDS), "left: a, right: b")
    assert text.startswith("**3 of 6 cells equal, ")
    marks = [line for line in text.splitlines() if line.startswith(("#", "**", "<"))]
    assert marks[1:] == [
        "### table2.csv",
        "**outside**",
        "**missing**",
        "<details><summary>1 within tolerance</summary>",
        "</details>",
        "<details><summary>2 without judgement</summary>",
        "</details>",
        "<details><summary>3 equal</summary>",
        "</details>",
    ]
    rows = [line for line in text.splitlines() if line.startswith("| yeast")]
    assert len(rows) == 8
    # GitHub shows a table in a fold only behind an empty line.
    lines = text.splitlines()
    assert all(lines[i + 1] == "" for i, line in enumerate(lines) if line.startswith("<details>"))


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["compare", *map(str, arguments)])
    return stop.value.code, *capsys.readouterr()


def test_exit_status(files, tmp_path, capsys):
    left, right = files(TABLE, MIXED)
    assert run(capsys, left, left)[0] == 0
    assert run(capsys, left, left, "--exact")[0] == 0
    status, out, err = run(capsys, left, right)
    assert (status, err) == (1, "")
    assert out.startswith("3 of 6 cells equal")
    status, out, _ = run(capsys, left, right, "--report-only", "--markdown", tmp_path / "out" / "c.md")
    assert status == 0
    assert "report only" in out
    assert (tmp_path / "out" / "c.md").read_text().startswith("**3 of 6 cells equal")
    status, _, err = run(capsys, left, tmp_path / "nothing.csv", "--report-only")
    assert status == 1
    assert "no such table" in err


def test_exit_status_of_folders_with_the_projects_tolerances(files, tmp_path, capsys):
    files(TABLE, change(change(TABLE, "40.0", "40.15"), "60.0,100", "60.9,50"))
    folders = (tmp_path / "left", tmp_path / "right")
    assert run(capsys, *folders, "--tolerances", ROOT / "config" / "tolerances.yaml")[0] == 0
    assert run(capsys, *folders)[0] == 1
    assert run(capsys, *folders, "--exact")[0] == 1
    keys = ("--keys", "dataset, model, method")
    assert run(capsys, *folders, *keys, "--tolerances", ROOT / "config" / "tolerances.yaml")[0] == 0


def test_published_tables_equal_themselves(capsys):
    folder = ROOT / "results" / "published" / "plt2016"
    status, out, _ = run(capsys, folder, folder, "--exact")
    assert status == 0
    # Table 1: 12 rows of 9 columns and a time; Table 2: 36 of 2 and a time; Table 3: 4 of 2; Table 4: 12 of 6.
    assert out.startswith(f"{12 * 9 + 36 * 2 + 4 * 2 + 12 * 6} of 260 cells equal")
    assert "; 48 shown without judgement" in out
