"""Test the comparison of tables, its text and Markdown, and how reference tables are accepted."""

import pandas as pd
import pytest
from compare_cases import MIXED, TABLE, change
from facts import absent, raises_with
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.suite.report.compare import (
    LIMIT,
    accept,
    compare,
    compare_cells,
    listing,
    published_lines,
    to_markdown,
    to_text,
)
from xmlc.suite.report.verdicts import Judge, NumberKind, Spread
from xmlc.suite.results.fingerprint import fingerprint, of_parts, of_table, read_table
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.numbers import cells_of
from xmlc.suite.results.verdicts import Verdict

FTA = ("yeast", "plt", "fta")
STO = ("yeast", "plt", "sto")
JUDGE = Judge(
    {
        ("left", "table2", FTA, "macro_f"): Spread(3, 0.1),
        ("left", "table2", STO, "macro_f"): Spread(3, 0.1),
        ("left", "table2", FTA, "inner_products"): Spread(3, 0.0),
    },
    splits={("left", "yeast"): {"same": True}},
)


def places(cells):
    """Return the verdicts on cells, rows, columns and tables by their place."""
    judged = cells[cells["verdict"] != ""]
    return {(one.row, one.column): one.verdict for one in judged.itertuples()}


def moved(cells):
    """Return the places that are not equal."""
    return {place: verdict for place, verdict in places(cells).items() if verdict != Verdict.EQUAL}


def row(key):
    return " / ".join(key)


def test_comparison_with_a_paper_judges_each_kind_of_cell(files):
    left, right = files(TABLE, change(change(TABLE, "60.0,100", "61.0,7"), "40.0,0.25", "40.1,99"))
    cells = compare(left, right, JUDGE).cells
    costs = cells[cells["kind"] == NumberKind.COST]
    assert costs[["new", "verdict"]].to_numpy().tolist() == [["99", ""], ["0.5", ""]]
    assert places(cells) == {
        (row(FTA), "macro_f"): Verdict.INSIDE,
        (row(STO), "macro_f"): Verdict.EQUAL,
        (row(FTA), "inner_products"): Verdict.EQUAL,
        (row(STO), "inner_products"): Verdict.UNDECIDED,
        (row(FTA), "c"): Verdict.EQUAL,
        (row(STO), "c"): Verdict.BELOW,
    }
    measured, configuration = published_lines(cells)
    facts = ["4 of 4", "1 of 1", "2 equal", "1 inside", "1 undecided"]
    assert absent(measured, "measured", facts) == []
    assert absent(configuration, "configuration", "1 below") == []


def test_additional_results_are_no_difference_from_a_paper(files):
    printed = "dataset,model,p@1,train_minutes\na,plt,72.4,5\na,fastxml,-,6\nb,plt,70.10,7\n"
    ours = "dataset,model,p@1,p@3,train_minutes\na,plt,72.4,1,50\na,fastxml,30,1,6\na,swnn,5,1,1\n"
    cells = compare(*files(printed, ours, "table1.csv"), Judge()).cells
    assert places(cells) == {
        ("a / plt", "p@1"): Verdict.EQUAL,
        ("b / plt", "p@1"): Verdict.NOT_RUN,
    }


@pytest.mark.parametrize(
    ("text", "tolerance", "places"),
    [
        ("35.123456000000004", 0.0, [(row(STO), "macro_f")]),  # the next float64
        ("35.2", 0.1, []),
        ("35.2", 0.05, [(row(STO), "macro_f")]),
        ("", 100, [(row(STO), "macro_f")]),
    ],
)
def test_two_runs_are_compared_exactly_or_within_a_tolerance(files, text, tolerance, places):
    left, right = files(TABLE, change(TABLE, "35.123456", text))
    assert [*moved(compare(left, right, tolerance=tolerance).cells)] == places


def test_rows_missing_on_one_side_are_named(files):
    cells = compare(*files(TABLE, change(TABLE, "plt,sto", "plt,ofo"))).cells
    parts = {(row(STO), ""): "missing", ("yeast / plt / ofo", ""): "new"}
    assert moved(cells) == parts
    assert len(cells[cells["verdict"] != Verdict.EQUAL]) == len(parts)


def test_columns_and_deviations_on_one_side_are_named_except_costs(files):
    one = "dataset,model,p@1,seeds\na,plt,1,1\n"
    # Reference tables have no costs.
    five = "dataset,model,p@1,p@1_std,train_seconds,seeds\na,plt,1,0.5,9,5\n"
    left, right = files(one, five, "table1.csv")
    for sides, expected in (
        ((left, right), ["new", "above"]),
        ((right, left), ["missing", "below"]),
    ):
        places = [("a / plt", "p@1_std"), ("a / plt", "seeds")]
        assert moved(compare(*sides).cells) == dict(zip(places, expected))


def write_tables(folder, *names):
    for name in names:
        file = folder / f"{name}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TABLE)


def test_only_suites_of_the_left_side_are_compared(tmp_path):
    # No suite has a table of the name `arity`.
    write_tables(tmp_path / "left", "demo/table2", "gone/table2", "demo/arity")
    write_tables(tmp_path / "right", "demo/table2", "demo/table4", "more/table2", "demo/arity")
    cells, head = compare(tmp_path / "left", tmp_path / "right")
    parts = cells[cells["row"] == ""]
    assert parts[["table", "verdict"]].to_numpy().tolist() == [
        ["demo/table4", "new"],
        ["gone/table2", "missing"],
    ]
    assert {*cells["table"]} == {"demo/table2", "demo/table4", "gone/table2"}
    table = of_table(read_table(tmp_path / "left/demo/table2.csv"))
    demo = of_parts({"table2.csv": table})
    old = of_parts({"demo": demo, "gone": demo}).word
    new = of_parts({"demo": of_parts({"table2.csv": table, "table4.csv": table})}).word
    assert absent(head[0], old, new) == []


def test_tables_are_in_the_order_of_suites_and_of_the_paper(tmp_path):
    (tmp_path / "right").mkdir()
    names = ["b/table1", "a/measures", "a/table7", "a/table2", "a/table1"]
    write_tables(tmp_path / "left", *names)
    cells = compare(tmp_path / "left", tmp_path / "right").cells
    assert [*cells["table"]] == ["a/table1", "a/table2", "a/table7", "a/measures", "b/table1"]
    assert {*cells["verdict"]} == {Verdict.MISSING}


CELLS = st.sampled_from("1 1.0 0.1 0.30000000000000004 0.3 -0 0 nan  a 10/20 inf".split(" "))


@settings(max_examples=50)
@given(
    second=st.sampled_from(["p@1_std", "c", "row", "macro_f_std"]),
    left=st.tuples(CELLS, CELLS, CELLS),
    right=st.tuples(CELLS, CELLS, CELLS),
)
def test_tables_are_equal_exactly_if_their_fingerprints_are(second, left, right):
    sides = []
    for one, two, three in (left, right):
        rows = [("a", one, two), ("b", three, "")]
        sides.append(pd.DataFrame(rows, columns=["dataset", "p@1", second]))
    found = compare_cells(("dataset",), *(cells_of(side, ("dataset",)) for side in sides))
    assert ({*found["verdict"]} == {Verdict.EQUAL}) == (of_table(sides[0]) == of_table(sides[1]))


@pytest.mark.parametrize(
    ("table", "old", "new"),
    [
        ("dataset,model,p@1\na / b,c,1\na,b / c,2\n", "c,2", "c,3"),
        ("dataset,model,p@1\na / b,c,1\na,b / c,2\n", "a,b / c,2\n", "d,e,2\n"),
        ("dataset,model,train_seconds\na,b,1\n", "a,b", "a,c"),
    ],
)
def test_rows_of_equal_text_and_rows_of_costs_are_compared(files, table, old, new):
    left, right = files(table, change(table, old, new), "table1.csv")
    assert {*compare(left, right).cells["verdict"]} - {Verdict.EQUAL}
    assert {*compare(left, left).cells["verdict"]} <= {Verdict.EQUAL}


YEAST = {"yeast": "12ab"}


@pytest.mark.parametrize(
    ("ours", "accepted", "same"),
    [
        (YEAST, YEAST, True),
        (YEAST, YEAST | {"scene": "56ef"}, False),
        ({}, {}, False),
        (YEAST, None, False),
    ],
)
def test_claims_are_compared_only_for_the_same_data(files, ours, accepted, same):
    claims = "claim,effect,verdict\nfaster,2.5,holds\n"
    left, right = files(claims, change(claims, "2.5,holds", "2.4,undecided"), "claims.csv")
    for path, digests in ((right, ours), (left, accepted)):
        if digests is not None:
            Manifest("claims", "plt2016", (), digests=digests).write(path.with_suffix(""))
    expected = {("", ""): Verdict.OTHER_DATA}
    if same:
        expected = {("faster", "effect"): "below", ("faster", "verdict"): "changed"}
    assert moved(compare(left, right).cells) == expected


def test_text_has_fingerprints_counts_settings_and_the_largest_moves(files):
    left, right = files(TABLE, MIXED)
    for path, arity in ((left, 16), (right, 8)):
        made = {"yeast / plt": {"arity": arity}}
        Manifest("table2", "plt2016", (), settings=made).write(path.with_suffix(""))
    cells, head = compare(left, right)
    assert absent(head[0], fingerprint(left).word, fingerprint(right).word) == []
    assert absent(head[1], "3 equal", "2 above", "1 missing") == []
    assert absent(head[2], "plt on yeast: arity 16 -> 8") == []
    table = listing(cells, False)
    assert table.to_numpy().tolist() == [
        ["table2", row(STO), "macro_f", "35.12", "36.0", "+0.88", "above", ""],
        ["table2", row(FTA), "macro_f", "40.0", "40.1", "+0.10", "above", ""],
        ["table2", row(STO), "inner_products", "60.0", "–", "", "missing", ""],
    ]
    lines = to_text(head, table, 2).splitlines()
    assert lines[:3] == head
    assert absent(lines[-1], "1 more", "--all") == []
    assert "60.0" in to_text(head, table, 3).splitlines()[-1]


def test_numbers_have_two_decimals_unless_they_would_look_equal(files):
    head = "dataset,model,p@1\n"
    old = f"{head}a,plt,64.42307\na,br,0.90050\nb,plt,70.5\n"
    new = f"{head}a,plt,64.42586\na,br,0.89515\nb,plt,71.25111\n"
    table = listing(compare(*files(old, new, "table1.csv")).cells, False)
    assert {tuple(texts) for texts in table[["old", "new", "difference"]].to_numpy()} == {
        ("64.42", "64.43", "+0.0028"),
        ("0.90050", "0.89515", "-0.01"),
        ("70.5", "71.25", "+0.75"),
    }


def test_variation_is_of_the_side_with_more_seeds_and_a_repeated_move_is_first_only_once(files):
    keys = "dataset,model,method,macro_f"
    one = f"{keys},seeds\nyeast,plt,fta,40,1\nyeast,plt,sto,40,1\nyeast,br,sto,40,1\n"
    five = f"""{keys},macro_f_std,seeds
yeast,plt,fta,41.53,0.5,5
yeast,plt,sto,41.51,0.5,5
yeast,br,sto,41,0,5
"""
    left, right = files(one, five)
    for side in (left, right):
        (side.parent / "measures.csv").write_text(side.read_text().replace("method", "tuned_for"))
    table = listing(compare(left.parent, right.parent).cells, False)
    # Student's t with 4 degrees of freedom times 0.5 sqrt(1 + 1 / 5) is 1.52. Seeds of BR give the
    # same number.
    first = table[["table", "row", "variation over seeds"]][:3].to_numpy().tolist()
    assert first == [
        ["table2", row(FTA), "± 1.5"],
        ["table2", "yeast / br / sto", "± 0"],
        ["table2", row(STO), "± 1.5"],
    ]
    assert (table["column"] == "macro_f").value_counts().to_dict() == {True: 6, False: 12}


@pytest.mark.parametrize(("deviation", "interval"), [(0.1, "± 0.61"), (0.0, "± 5.7e-07")])
def test_numbers_farthest_from_a_paper_come_first(files, deviation, interval):
    judge = Judge(
        {("left", "table2", STO, "macro_f"): Spread(3, deviation)},
        splits={("left", "yeast"): {"same": True}},
    )
    table = listing(compare(*files(TABLE, MIXED), judge).cells, True)
    place = ["table2", row(STO), "macro_f"]
    numbers = ["35.12", "36.0", "+0.88", "above", interval]
    assert table.iloc[0].tolist() == [*place, *numbers, NumberKind.MEASURED]
    assert table["verdict"].tolist()[-1] == Verdict.NOT_RUN
    assert len(table) == 6, "every number, also equal ones"


def test_markdown_is_escaped_and_has_a_limited_length():
    table = pd.DataFrame(
        [(f"row {place}|", "9" * 80) for place in range(2000)], columns=["row", "x"]
    )
    text = to_markdown(["first", "x" * 9000], table)
    assert 0.99 * LIMIT < len(text) < LIMIT + 100
    assert text.startswith("- first\n- xx")
    assert "\n\n| row | x |\n| --- | --- |\n| row 0&#124; |" in text
    assert absent(text.splitlines()[-1], "60,000 characters") == []
    assert to_markdown(["first"], table[:0]) == "- first\n\n"


OLD = "dataset,model,macro_f,seeds\nyeast,plt,2.50,1\n"
MADE = "dataset,model,macro_f,train_seconds,seeds\nyeast,plt,1.50,9.5,2\n"
NEW = "dataset,model,macro_f,seeds\nyeast,plt,1.50,2\n"  # without costs, and with every digit


def test_accept_copies_existing_tables_without_costs(tmp_path):
    made = tmp_path / "made"
    reference = tmp_path / "reference"
    before = {"table1.csv": OLD, "table2.csv": OLD}
    after = {"table2.csv": MADE, "claims.csv": MADE}
    for folder, files in (
        (reference / "plt2016", before),
        (made / "plt2016", after),
        (made / "other", after),
    ):
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
    settings = {"yeast / plt": {"C": 1}}
    about = Manifest(
        "claims", "plt2016", (made / "x.json",), digests={"yeast": "12ab"}, settings=settings
    )
    about.write(made / "plt2016/claims")
    assert accept(made, reference) == [
        reference / "plt2016/claims.csv",
        reference / "plt2016/table2.csv",
    ]
    found = {file.name: file.read_text() for file in reference.rglob("*.csv")}
    assert found == {"table1.csv": OLD, "table2.csv": NEW, "claims.csv": NEW}
    kept = Manifest.beside(reference / "plt2016/claims.csv")
    assert (kept.records, kept.settings) == ((), settings)
    with raises_with(XmlcError, reference, made / "other"):
        accept(reference, made / "other")
