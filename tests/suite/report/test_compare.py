"""Test the comparison of tables, each status of a cell, and how reference tables are accepted."""

import pandas as pd
import pytest
from compare_cases import TABLE, change, statuses
from facts import raises_with
from hypothesis import given
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.suite.report.compare import accept, compare, compare_rows, compared_fingerprints, count, in_order
from xmlc.suite.report.verdicts import Judge, NumberKind, Spread, Tolerance
from xmlc.suite.results.fingerprint import fingerprint, of_parts, of_table
from xmlc.suite.results.frame import make_row
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.verdicts import Verdict

FTA, STO = ("yeast", "plt", "fta"), ("yeast", "plt", "sto")
DEVIATIONS = {(FTA, "macro_f"): 0.1, (STO, "macro_f"): 0.1, (FTA, "inner_products"): 0.0}
JUDGE = Judge(
    {("left", "table2", *place): Spread(3, deviation) for place, deviation in DEVIATIONS.items()},
    same_split=frozenset({("left", "yeast")}),
)


def test_costs_are_never_judged(files):
    left, right = files(TABLE, change(TABLE, "40.0,0.25", "40.0,99.9"))
    for judge in (None, JUDGE):
        (comparison,) = compare(left, right, judge)
        assert comparison.same
        assert [one.value for one in comparison.numbers if not one.verdict] == ["99.9", "0.5"]


def test_comparison_with_a_paper_counts_each_kind_of_cell_separately(files):
    left, right = files(TABLE, change(change(TABLE, "60.0,100", "61.0,7"), "40.0", "40.1"))
    (comparison,) = compare(left, right, JUDGE)
    assert statuses(comparison) == {
        (*FTA, "macro_f"): Verdict.INSIDE,
        (*STO, "macro_f"): Verdict.EQUAL,
        (*FTA, "inner_products"): Verdict.EQUAL,
        (*STO, "inner_products"): Verdict.UNDECIDED,
        (*FTA, "c"): Verdict.EQUAL,
        (*STO, "c"): Verdict.BELOW,
    }
    assert count(comparison.numbers, NumberKind.MEASURED) == {
        Verdict.EQUAL: 2,
        Verdict.INSIDE: 1,
        Verdict.UNDECIDED: 1,
    }
    assert count(comparison.numbers, NumberKind.CONFIGURATION) == {Verdict.EQUAL: 1, Verdict.BELOW: 1}
    assert comparison.same


def test_statistic_repeated_in_rows_of_a_dataset_is_one_cell(files):
    text = "dataset,model,m,p@1\nyeast,plt,14,1\nyeast,fastxml,14,1\nscene,plt,6,1\n"
    (comparison,) = compare(*files(text, change(text, "scene,plt,6", "scene,plt,7"), "table1.csv"), Judge())
    assert count(comparison.numbers, NumberKind.DATASET) == {Verdict.EQUAL: 1, Verdict.ABOVE: 1}


def test_additional_results_are_no_difference_from_a_paper(files):
    printed = "dataset,model,p@1,train_minutes\na,plt,72.4,5\na,fastxml,-,6\nb,plt,70.10,7\n"
    ours = "dataset,model,p@1,p@3,train_minutes\na,plt,72.46,1,50\na,fastxml,30,1,6\na,swnn,50,1,1\n"
    judge = Judge({("left", "table1", ("a", "plt"), "p@1"): Spread(2, 0.07)}, same_split=frozenset({("left", "a")}))
    (comparison,) = compare(*files(printed, ours, "table1.csv"), judge)
    assert statuses(comparison) == {("a", "plt", "p@1"): Verdict.INSIDE, ("b", "plt", "p@1"): Verdict.NOT_RUN}
    assert comparison.parts == [("row", ("b", "plt"), Verdict.NOT_RUN)]
    assert comparison.same


@pytest.mark.parametrize(
    ("text", "tolerance", "same"),
    [
        ("35.123456000000004", Tolerance(), False),  # the next float64
        ("35.123456000000004", Tolerance(1e-14), True),
        ("35.2", Tolerance(0.1), True),
        ("35.2", Tolerance(0.05), False),
        ("35.2", Tolerance(0.05, 0.003), True),
        ("35.2", Tolerance(0.05, 0.002), False),
        ("", Tolerance(100), False),
    ],
)
def test_two_runs_are_compared_exactly_or_within_a_tolerance(files, text, tolerance, same):
    left, right = files(TABLE, change(TABLE, "35.123456", text))
    (comparison,) = compare(left, right, tolerance=tolerance)
    assert comparison.same == same
    assert [(one.key, one.quantity) for one in comparison.moved()] == [(STO, "macro_f")] * (not same)
    assert compare(left, right, tolerance=tolerance, columns=["c", "inner_products"])[0].same


def without_column(column):
    """Return the text of the table without one column."""
    lines = [line.split(",") for line in TABLE.splitlines()]
    place = lines[0].index(column)
    return "".join(",".join(line[:place] + line[place + 1 :]) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("left", "right", "parts"),
    [
        (TABLE, change(TABLE, "plt,sto", "plt,ofo"), [("row", STO, "missing"), ("row", (*STO[:2], "ofo"), "new")]),
        (TABLE, without_column("macro_f"), [("column", ("macro_f",), "missing")]),
        (without_column("macro_f"), TABLE, [("column", ("macro_f",), "new")]),
        # Reference tables have no costs.
        (without_column("test_ms"), TABLE, []),
        (TABLE, without_column("test_ms"), []),
    ],
)
def test_rows_and_columns_missing_on_one_side_are_named(files, left, right, parts):
    (comparison,) = compare(*files(left, right))
    assert comparison.parts == parts
    assert comparison.same == (not parts)
    assert comparison.moved() == []  # A missing row or column is reported as a part, not cell by cell.


def test_only_suites_of_the_left_side_are_compared(tmp_path):
    for name in ("left/demo", "left/gone", "right/demo", "right/more"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "table2.csv").write_text(TABLE)
    (tmp_path / "right/demo/table9.csv").write_text(TABLE)
    (tmp_path / "left/README.md").write_text("no table")
    for side in ("left", "right"):  # no suite has such a table
        (tmp_path / side / "tuning").mkdir()
        (tmp_path / side / "tuning/arity-and-weights.csv").write_text("model,arity\nplt,16\n")
    sides = tmp_path / "left", tmp_path / "right"
    assert [(c.name, c.same) for c in compare(*sides)] == [
        ("demo/table2.csv", True), ("demo/table9.csv", False), ("gone/table2.csv", False)
    ]  # fmt: skip
    left, right = compared_fingerprints(*sides)
    assert left == of_parts({name: fingerprint(tmp_path / "left" / name) for name in ("demo", "gone")}) != right
    assert right == of_parts({"demo": fingerprint(tmp_path / "right/demo")})
    (tmp_path / "right/demo/table9.csv").unlink()
    (tmp_path / "left/gone/table2.csv").unlink()
    assert all(comparison.same for comparison in compare(*sides))
    left, right = compared_fingerprints(*sides)
    assert left == right


def test_tables_are_in_order_of_the_paper_with_claims_last():
    names = ["a/table1.csv", "a/table2.csv", "a/table10.csv", "a/measures.csv", "b/table1.csv", "a/claims.csv"]
    assert sorted(reversed(names), key=in_order) == names


@pytest.mark.parametrize(
    ("left", "right", "columns", "facts"),
    [
        (TABLE + TABLE.splitlines()[1] + "\n", TABLE, (), ["left/table2.csv", *FTA]),
        (TABLE, TABLE + TABLE.splitlines()[2] + "\n", (), ["right/table2.csv", *STO]),
        (TABLE, without_column("method"), (), ["right/table2.csv", "'method'"]),
        ("", TABLE, (), ["left/table2.csv"]),
        (TABLE, TABLE, ["macro_f", "macro-f"], ["'macro-f'", "macro_f", "test_ms"]),
    ],
)
def test_incomparable_tables_are_refused(files, left, right, columns, facts):
    with raises_with(XmlcError, facts):
        compare(*files(left, right), columns=columns)


CELLS = st.sampled_from(["1", "1.0", "0.1", "0.30000000000000004", "0.3", "-0", "0", "nan", "", "a", "10/20", "inf"])


@given(left=st.tuples(CELLS, CELLS, CELLS), right=st.tuples(CELLS, CELLS, CELLS))
def test_tables_are_equal_exactly_if_their_fingerprints_are(left, right):
    sides = [
        pd.DataFrame([("a", *cells[:2]), ("b", cells[2], "")], columns=["dataset", "p@1", "c"])
        for cells in (left, right)
    ]
    rows = ({(name,): make_row((name,), {"p@1": p, "c": c}) for name, p, c in side.values} for side in sides)
    assert compare_rows("t", ("dataset",), *rows).same == (of_table(sides[0]) == of_table(sides[1]))


def test_claims_are_compared_only_for_the_same_data(files):
    claims = "claim,effect,verdict\nfaster,2.5,holds\n"
    left, right = files(claims, claims, "claims.csv")
    for ours, accepted, same in (
        ({"yeast": "12ab"}, {"yeast": "12ab"}, True),
        ({"yeast": "12ab"}, {"bibtex": "34cd"}, False),
        ({"yeast": "12ab"}, None, False),
    ):
        for path, digests in ((right, ours), (left, accepted)):
            Manifest("claims", "plt2016", (), digests=digests or {}).write(path.with_suffix(""))
        (comparison,) = compare(left, right)
        assert comparison.same == same
        assert [part.verdict for part in comparison.parts] == [Verdict.OTHER_DATA] * (not same)


OLD = "dataset,model,method,macro_f,seeds\nyeast,plt,sto,2.50,1\n"
MADE = OLD.replace("seeds\nyeast,plt,sto,2.50", "train_seconds,train_threads,seeds\nyeast,plt,sto,1.50,9.5,2")
NEW = OLD.replace("sto,2.50", "sto,1.50")  # without costs, and with every digit


def test_accept_copies_existing_tables_without_costs(tmp_path):
    made, reference = tmp_path / "made", tmp_path / "reference"
    files = {"made/plt2016/table2": MADE, "made/plt2016/claims": MADE, "made/other/table1": MADE}
    files |= {"reference/plt2016/table1": OLD, "reference/plt2016/table2": OLD}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.csv").write_text(text)
    about = Manifest(
        "claims", "plt2016", (made / "x.json",), digests={"yeast": "12ab"}, settings={"yeast / plt": {"C": 1}}
    )
    about.write(made / "plt2016/claims")
    said = accept(made, reference)
    assert [(file.name, line.split(",")[0]) for file, line in said] == [
        ("claims.csv", "new table"),
        ("table2.csv", "1 of 2 cells equal"),  # the number of seeds is unchanged
    ]
    found = {str(file.relative_to(reference)): file.read_text() for file in sorted(reference.rglob("*.csv"))}
    assert found == {"plt2016/table1.csv": OLD, "plt2016/table2.csv": NEW, "plt2016/claims.csv": NEW}
    kept = Manifest.beside(reference / "plt2016/claims.csv")
    assert (kept.records, kept.settings) == ((), about.settings)
    with raises_with(XmlcError, reference, made / "other"):
        accept(reference, made / "other")
