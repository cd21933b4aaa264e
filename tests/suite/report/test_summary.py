"""What a comparison says: what the runs differ in, the largest moves, each table, and how long it is."""

import pytest
from compare_cases import MIXED, TABLE, change, table_writer
from record_files import as_record
from report_cases import ranking, thresholds

from xmlc.suite.report.changes import told
from xmlc.suite.report.compare import compare, compared_fingerprints
from xmlc.suite.report.judge import Judge
from xmlc.suite.report.runs import CellRuns, Place, Runs
from xmlc.suite.report.summary import LIMIT, Section, Told, tell_published, tell_runs, to_markdown, to_text
from xmlc.suite.results.made_of import MadeOf
from xmlc.suite.results.settings import settings_of


@pytest.fixture
def files(tmp_path):
    return table_writer(tmp_path)


def tell(left, right, runs=None, **how):
    return tell_runs(compare(left, right, **how), *compared_fingerprints(left, right), "old, new", runs)


def settings(**changes):
    """Return what a run of PLT on two datasets keeps beside its tables."""
    passport = {"python": "3.13.0", "cpu": "any", "threads": 2}
    records = [
        make(name, seed=seed, passport=passport)
        for name in ("scene", "yeast") for make in (ranking, thresholds) for seed in (0, 1)
    ]  # fmt: skip
    found = settings_of(map(as_record, records))
    found[""] |= {"code": "34cd", "commit": "5e6f"}
    for subject, values in changes.items():
        found[subject] = found[subject] | values
    return found


def differ(old, new, moved=True):
    return told([(old, new)], moved)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "nothing that is known: seeds, hyperparameters, data, versions and code are the same"),
        ({"yeast / plt": {"arity": 8}, "scene / plt": {"arity": 8.0}}, "plt: arity 16 -> 8"),
        ({"yeast / plt": {"arity": 8}}, "plt on yeast: arity 16 -> 8"),
        ({"yeast / plt": {"beam": 3}}, "plt on yeast: beam none -> 3"),
        ({"yeast / plt / fta": {"grid": "2 10"}}, "plt fta on yeast: grid 2 10 100 -> 2 10"),
        ({"yeast": {"data": "12ab"}}, "yeast: data 796561737400 -> 12ab"),
        (
            {"yeast / plt": {"seeds": [1]}, "scene / plt": {"seeds": [1]}},
            "nothing but the seeds 0 1 -> 1: each move is noise over seeds",
        ),
        ({"yeast / plt": {"seeds": [1]}}, "plt on yeast: seeds 0 1 -> 1"),
        ({"": {"code": "12ab"}}, "nothing but the code 34cd -> 12ab"),
        ({"": {"code": "12ab", "commit": "9f8e"}}, "nothing but the code 34cd (5e6f) -> 12ab (9f8e)"),
        ({"": {"python": "3.14.0", "code": "12ab"}}, "python 3.13.0 -> 3.14.0; code 34cd -> 12ab"),
    ],
)
def test_what_two_runs_differ_in(changes, said):
    old = settings()
    assert differ(old, old | settings(**changes)) == f"The runs differ in {said}"


def test_what_equal_and_unknown_runs_differ_in():
    old = settings()
    assert differ(old, settings(), moved=False) == "The runs differ in nothing"
    assert differ({}, old) == "What the runs differ in is not known: the tables of old have no settings"
    many = {f"x{number}": number for number in range(9)}
    assert differ(old, settings(**{"yeast / plt": many})).endswith("; plt on yeast: x5 none -> 5; and 3 more")
    long = " ".join(map(str, range(100)))
    assert differ(settings(**{"yeast": {"data": f"{long} 5"}}), settings(**{"yeast": {"data": long}})).endswith(
        "yeast: data .. 99 5 -> .. 99"
    )


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("validation_share", (0.2, 0.4), "yeast: validation_share 0.2 -> 0.4"),
        ("propensity", ("0.55 1.5", "0.5 0.4"), "yeast: propensity 0.55 1.5 -> 0.5 0.4"),
        ("model code", ("12ab", "34cd"), "plt: model code 12ab -> 34cd"),
        ("files", ("12ab 34cd", "12ab 56ef"), "plt: files 12ab 34cd -> 12ab 56ef"),
        ("method code", ("12ab", "34cd"), "plt fta: method code 12ab -> 34cd"),
    ],
)
def test_whatever_else_a_record_was_made_with_is_named_if_it_differs(name, values, said):
    old, new = (settings_of([as_record(thresholds(settings={name: value}))]) for value in values)
    assert differ(old, new) == f"The runs differ in {said}"
    earlier = settings_of([as_record(thresholds())])  # by a version that did not record it
    assert "nothing that is known" in differ(earlier, new)


def test_settings_are_compared_for_tables_that_have_them_on_both_sides():
    one, other = settings(), settings(**{"yeast / plt": {"arity": 8}})
    assert told([(one, one), ({}, other)], False) == (
        "The runs differ in nothing, by 1 of 2 tables: the others of old have no settings"
    )
    assert told([({}, one), (one, {})], True).endswith("not known: the tables of old and new have no settings")
    assert told([], False).endswith("not known: the tables of both have no settings")


def test_files_of_all_seeds_are_named_each_once():
    records = [as_record(ranking(seed=seed, settings={"files": f"both of-{seed}"})) for seed in (0, 1, 0)]
    assert settings_of(records)["yeast / plt"]["files"] == "both of-0 of-1"


def test_the_first_lines_the_largest_moves_and_a_line_for_each_table(files):
    left, right = files(TABLE, MIXED)
    for path, arity in ((left, 16), (right, 8)):
        made = settings(**{"yeast / plt": {"arity": arity}, "scene / plt": {"arity": arity}})
        MadeOf("table2", "plt2016", (), titles={"plt": "Mine"}, settings=made).write(path.with_suffix(""))
    place = Place("plt2016", "table2", ("yeast", "plt", "sto"), "macro_f")
    on_file = Runs({place: CellRuns({0: 35.0, 1: 36.0, 2: 37.0})})
    lines = to_text(tell(left, right, on_file)).splitlines()
    assert lines[0].startswith("Fingerprints differ: old 1-")
    assert lines[1:4] == [
        "3 of 6 cells moved, in 2 rows of 1 of 1 table",
        "The runs differ in plt: arity 16 -> 8",
        "old, new",
    ]
    # The smaller move stands first, since nobody knows that it is noise.
    assert [" ".join(line.split()) for line in lines[5:8]] == [
        "Largest moves of headline quantities, those within seed noise last:",
        "yeast, Mine, FTA, Macro-F 40 -> 40.1 +0.1",
        "yeast, Mine, STO, Macro-F 35.1235 -> 36 +0.877 within seed noise (seeds vary by 1)",
    ]
    assert lines[9] == "table2: 3 of 6 cells in 2 rows: macro_f by up to 0.877, inner_products in 1 row"
    whole = to_text(tell(left, right), every_cell=True)
    cells = [line.split() for line in whole.splitlines() if line.startswith("  ")]
    assert [*"yeast / plt / sto".split(), "inner_products", "60.0", "–", "missing"] in cells
    assert ["table2", "test_ms", "1.00", "2.00"] in cells  # the least and the largest ratio


def test_the_headline_of_a_study_is_macro_f_over_the_labels_present(tmp_path):
    text = "dataset,model,method,macro_f,macro_f_present\nmine,plt,fta,{},{}\n"
    for side, values in (("old", (40, 4)), ("new", (41, 6))):
        (tmp_path / side / "suite").mkdir(parents=True)
        (tmp_path / side / "suite/table2.csv").write_text(text.format(*values))
    said = to_text(tell(tmp_path / "old", tmp_path / "new"))
    moves = [" ".join(line.split()) for line in said.splitlines() if "->" in line]
    assert moves == ["mine, PLT, FTA, Macro-F, labels present 4 -> 6 +2"]


def test_noise_comes_from_the_side_with_more_seeds_and_each_number_is_told_once(files, tmp_path):
    one = "dataset,model,method,macro_f,seeds\nyeast,plt,fta,40,1\nyeast,plt,sto,40,1\nyeast,br,sto,40,1\n"
    five = (
        "dataset,model,method,macro_f,macro_f_std,seeds\n"
        "yeast,plt,fta,41.53,0.5,5\nyeast,plt,sto,41.51,0.5,5\nyeast,br,sto,41,0,5\n"
    )
    left, right = files(one, five)
    for side in (left, right):
        (side.parent / "measures.csv").write_text(side.read_text().replace("method", "tuned_for"))
    told = tell(left.parent, right.parent)
    # Student's t of 4 degrees of freedom, times 0.5 sqrt(1 + 1 / 5), is 1.52.
    assert [(row[0], row[-1]) for row in told.moves.rows] == [
        ("yeast, PLT, FTA, Macro-F", "seeds vary by 0.5"),
        ("yeast, BR, STO, Macro-F", "seeds vary by 0"),  # whose seeds give the same number
        ("yeast, PLT, STO, Macro-F", "within seed noise (seeds vary by 0.5)"),
    ]
    assert tell(left, right).moves.line.endswith("those within seed noise last:")
    assert tell(*files(TABLE, MIXED)).moves.line.endswith("noise over seeds not known:")


def test_equal_tables_parts_and_claims(files, tmp_path):
    claims = "claim,effect,verdict\nfaster,2.5,holds\nbetter,1,mixed\nnew,1,\n"
    left, right = files(claims, change(claims, "2.5,holds", "2.4,mixed"), "claims.csv")
    for side in (left, right):
        MadeOf("claims", "plt2016", (), digests={"yeast": "12ab"}).write(side.with_suffix(""))
        (side.parent / "table2.csv").write_text(TABLE)
        (side.parent / "table1.csv").write_text(f"dataset,model,p@1\n{side.parent.name},plt,1\n")
    (right.parent / "table4.csv").write_text("model,dataset,a\nplt,yeast,1\n")
    lines = to_text(tell(left.parent, right.parent)).splitlines()
    assert lines[1] == ("2 of 12 cells moved, in 1 row of 1 of 4 tables; 1 row missing; 1 row new; 1 table new")
    assert lines[5:9] == [
        "table1: 1 row missing: left / plt; 1 row new: right / plt",
        "table4: new",
        "claims: 2 of 6 cells in 1 row: faster: holds -> mixed; effect by up to 0.1",
        "Equal: table2",
    ]


def test_beside_a_paper_measured_numbers_come_first_each_with_its_interval(files):
    place = Place("left", "table2", ("yeast", "plt", "sto"), "macro_f")
    judge = Judge(Runs({place: CellRuns({0: 35.9, 1: 36.0, 2: 36.1})}), same_split=frozenset({("left", "yeast")}))
    told = tell_published(compare(*files(TABLE, MIXED), published=judge), "old, new")
    lines = to_text(told).splitlines()
    assert lines[0] == (
        "3 of 4 printed results run again, on 1 of 1 datasets: 1 equal as printed, 0 inside, 1 outside +, 0 outside -, "
        "0 different, 1 undecided; configuration: 2 of 2 equal"
    )
    assert lines[3:5] == [
        "Farthest outside, measured by the interval:",
        "  yeast, PLT, STO, Macro-F  35.1235 -> 36  +0.877  ± 0.608",
    ]
    assert lines[6:10] == [
        f"measured, {said}: 1 cell" for said in ("equal as printed", "outside +", "undecided", "not run")
    ]
    assert to_markdown(told).splitlines()[0] == f"- {lines[0]}"


def test_of_different_numbers_the_sizes_are_told(files):
    place = Place("left", "table2", ("yeast", "plt", "sto"), "macro_f")
    judge = Judge(Runs({place: CellRuns({0: 36.0, 1: 36.0})}), same_split=frozenset({("left", "yeast")}))
    text = to_text(tell_published(compare(*files(TABLE, MIXED), published=judge), "old, new"))
    assert "measured, different: 1 cell, by 2.5 to 2.5 % of the printed number\n" in text


def test_markdown_is_never_too_long_and_counts_what_is_left_out():
    sections = [
        Section(f"table{place}: moved", ("row", "x"), [(f"row {i}|", "9" * 80)] * 2000) for place, i in enumerate("abc")
    ]
    few = Section("table9: moved", ("row", "x"), [("here", "1")])
    told = Told(["first"], Section("Largest:", rows=[("p", "1 -> 2", "+1", "")]), [few, *sections])
    text = to_markdown(told)
    assert 0.98 * LIMIT < len(text) <= LIMIT
    assert text.startswith("- first\n\nLargest:\n\n")
    assert "| here | 1 |" in text
    assert "| row a&#124; |" in text
    left_out = [
        int(line.split()[0].replace(",", "")) for line in text.splitlines() if line.endswith("rows more left out")
    ]
    assert sum(left_out) + text.count("9" * 80) == 6000
    assert text.count("<details>") == text.count("</details>") == 4
    crowd = to_markdown(Told([], Section(""), [Section(f"table: {'moved ' * 400}")] * 500))
    assert len(crowd) <= LIMIT
    assert crowd.splitlines()[-1] == f"{500 - crowd.count('table: ')} sections left out"
