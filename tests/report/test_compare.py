"""Comparison of tables: every status of a cell, its text, and what is accepted."""

import pandas as pd
import pytest
from compare_cases import MIXED, TABLE, change, statuses, table_writer
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.numbers.fingerprint import fingerprint, of_parts, of_table
from xmlc.numbers.made_of import MadeOf
from xmlc.report.compare import accept, compare, compare_frames, compared_fingerprints, headline, to_markdown, to_text
from xmlc.report.judge import Judge
from xmlc.report.runs import CellRuns, Place, Runs
from xmlc.report.verdict import Kind, Verdict


@pytest.fixture
def files(tmp_path):
    return table_writer(tmp_path)


def judge_of(*cells, paper="left"):
    """A judge with three runs of each cell: (row, column, mean, step)."""
    runs = {
        Place(paper, "table2", row, column): CellRuns({0: mean - step, 1: mean, 2: mean + step})
        for row, column, mean, step in cells
    }
    return Judge(Runs(runs), same_split=frozenset({(paper, "yeast")}))


FTA, STO = ("yeast", "plt", "fta"), ("yeast", "plt", "sto")
JUDGE = judge_of((FTA, "macro_f", 40.0, 0.1), (STO, "macro_f", 35.0, 0.1), (FTA, "inner_products", 55.0, 0.0))


def test_costs_are_shown_and_never_judged(files):
    left, right = files(TABLE, change(TABLE, "40.0,0.25", "40.0,99.9"))
    for published in (None, JUDGE):
        (comparison,) = compare(left, right, published=published)
        assert comparison.same
        assert [cell.right for cell in comparison.cells if not cell.judged] == ["99.9", "0.5"]
    assert "test_ms  new / old from 1.00 to 399.60" in to_text(compare(left, right), "")


def test_beside_a_paper_each_kind_of_cell_is_counted_by_itself(files):
    left, right = files(TABLE, change(TABLE, "60.0,100", "60.0,7"))
    (comparison,) = compare(left, right, published=JUDGE)
    assert statuses(comparison) == {
        (*FTA, "macro_f"): Verdict.INSIDE,
        (*STO, "macro_f"): Verdict.INSIDE,
        (*FTA, "inner_products"): Verdict.UNDECIDED,
        (*STO, "inner_products"): Verdict.UNDECIDED,
        (*FTA, "c"): Verdict.EQUAL,
        (*STO, "c"): Verdict.DIFFERENT,
    }
    assert comparison.counts(Kind.MEASURED) == {Verdict.INSIDE: 2, Verdict.UNDECIDED: 2}
    assert comparison.counts(Kind.CONFIGURATION) == {Verdict.EQUAL: 1, Verdict.DIFFERENT: 1}
    assert headline([comparison]) == (
        "4 of 4 printed results run again, on 1 of 1 datasets: 2 inside, 0 outside +, 0 outside -, 2 undecided; "
        "configuration: 1 of 2 equal, 1 different"
    )
    assert comparison.same


def test_a_statistic_that_stands_in_every_row_of_a_dataset_is_one_cell(files):
    text = "dataset,model,m,p@1\nyeast,plt,14,1\nyeast,fastxml,14,1\nscene,plt,6,1\n"
    (comparison,) = compare(*files(text, change(text, "scene,plt,6", "scene,plt,7"), "table1.csv"), published=Judge())
    assert comparison.counts(Kind.DATASET) == {Verdict.EQUAL: 1, Verdict.DIFFERENT: 1}
    assert len([cell for cell in comparison.cells if cell.kind is Kind.DATASET]) == 3


def test_two_runs_of_ours_differ_by_the_last_bit(files):
    left, right = files(TABLE, change(TABLE, "35.123456", "35.123456000000004"))
    assert compare(left, right, published=JUDGE)[0].same
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
    assert comparison.counts() == {Verdict.EQUAL: 3, Verdict.MISSING: 3, Verdict.NEW: 3}
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
        assert comparison.counts().total() == 6
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


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (TABLE + TABLE.splitlines()[1] + "\n", TABLE, r"left.table2.csv: two rows for yeast, plt, fta"),
        (TABLE, TABLE + TABLE.splitlines()[2] + "\n", r"right.table2.csv: two rows for yeast, plt, sto"),
        ("suite,x\na,1\n", "x\n1\n", "no column 'suite'"),
        ("x,y\n1,2\n", "x,y\n1,2\n", "expected text in front"),
        ("", TABLE, "no readable CSV table"),
    ],
)
def test_what_cannot_be_compared(files, left, right, message):
    with pytest.raises(XmlcError, match=message):
        compare(*files(left, right))


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


def test_claims_are_compared_if_both_sides_are_of_the_same_data(files):
    claims = "claim,effect,verdict\nfaster,2.5,holds\n"
    left, right = files(claims, claims, "claims.csv")
    for ours, accepted, found in (
        ({"yeast": "12ab"}, {"yeast": "12ab"}, Verdict.EQUAL),
        ({"yeast": "12ab"}, {"bibtex": "34cd"}, Verdict.OTHER_DATA),
        ({"yeast": "12ab"}, None, Verdict.OTHER_DATA),
    ):
        for path, digests in ((right, ours), (left, accepted)):
            MadeOf("claims", "plt2016", (), digests=digests or {}).write(path.with_suffix(""))
        (comparison,) = compare(left, right)
        assert comparison.same == (found is Verdict.EQUAL)
        assert (Verdict.OTHER_DATA.value in to_text([comparison], "")) == (found is Verdict.OTHER_DATA)


OLD = "dataset,model,p@1,seeds\nyeast,plt,2.50,1\n"
MADE = "dataset,model,p@1,train_seconds,train_seconds_std,train_threads,seeds\nyeast,plt,1.50,9.5,,2,1\n"
NEW = OLD.replace("plt,2.50", "plt,1.50")  # without the costs, and digit by digit as it was made


def test_accepting_takes_the_tables_that_were_made_without_costs_and_no_others(tmp_path):
    made, reference = tmp_path / "made", tmp_path / "reference"
    files = {"made/paper/table2": MADE, "made/paper/table5": MADE, "made/other/table1": MADE}
    files |= {"reference/paper/table1": OLD, "reference/paper/table2": OLD}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.csv").write_text(text)
    said = accept(made, reference)
    assert [(file.name, line.split(",")[0]) for file, line in said] == [
        ("table2.csv", "1 of 2 cells equal"),  # the number of seeds is as before
        ("table5.csv", "new table"),
    ]
    found = {str(file.relative_to(reference)): file.read_text() for file in sorted(reference.rglob("*.csv"))}
    assert found == {"paper/table1.csv": OLD, "paper/table2.csv": NEW, "paper/table5.csv": NEW}
    with pytest.raises(XmlcError, match="no table of a suite that"):
        accept(reference, made / "other")


def test_beside_a_paper_the_text_says_the_interval_of_each_cell(files):
    place = Place("left", "table2", ("yeast", "plt", "sto"), "macro_f")
    judge = Judge(Runs({place: CellRuns({0: 35.9, 1: 36.0, 2: 36.1})}), same_split=frozenset({("left", "yeast")}))
    lines = to_text(compare(*files(TABLE, MIXED), published=judge), "", published=True).splitlines()
    assert lines[0] == (
        "3 of 4 printed results run again, on 1 of 1 datasets: 0 inside, 1 outside +, 0 outside -, 2 undecided; "
        "configuration: 2 of 2 equal"
    )
    assert lines[3] == "outside +:"
    assert lines[4].split() == ["table", "row", "column", "published", "measured", "difference", "interval"]
    assert lines[5].split()[1:] == "yeast / plt / sto macro_f 35.1235 36 +0.877 ± 0.608".split()
    assert "undecided:" in lines


def test_beside_a_paper_its_own_digits_count_and_more_of_ours_is_no_difference(files):
    printed = "dataset,model,p@1,train_minutes\na,plt,72.4,5\na,fastxml,-,6\nb,plt,70.10,7\n"
    ours = "dataset,model,p@1,p@3,train_minutes\na,plt,72.44,1,50\na,fastxml,30,1,6\na,swnn,50,1,1\n"
    place = Place("left", "table1", ("a", "plt"), "p@1")
    judge = Judge(Runs({place: CellRuns({0: 72.4, 1: 72.48})}), same_split=frozenset({("left", "a")}))
    (comparison,) = compare(*files(printed, ours, "table1.csv"), published=judge)
    assert {cell.key: cell.verdict for cell in comparison.cells if cell.judged} == {
        ("a", "plt"): Verdict.INSIDE,
        ("b", "plt"): Verdict.NOT_RUN,
    }
    assert [(part.kind, part.name, part.verdict) for part in comparison.parts] == [
        ("row", ("b", "plt"), Verdict.NOT_RUN)
    ]
    assert headline([comparison]) == (
        "1 of 2 printed results run again, on 1 of 2 datasets: 1 inside, 0 outside +, 0 outside -, 0 undecided; "
        "1 row not run"
    )
    assert comparison.same
    text = to_markdown([comparison], "", published=True)
    assert text[text.index("<details>") :].startswith(
        "<details><summary>Not run</summary>\n\n- table1.csv: row not run"
    )
