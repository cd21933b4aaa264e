"""What a comparison says, as text and as Markdown."""

import pytest
from compare_cases import MIXED, TABLE, table_writer

from xmlc.judging.compare import compare
from xmlc.judging.compare_text import headline, to_markdown, to_text
from xmlc.judging.judge import Judge
from xmlc.judging.runs import CellRuns, Place, Runs
from xmlc.judging.verdict import Verdict


@pytest.fixture
def files(tmp_path):
    return table_writer(tmp_path)


def test_text_says_the_headline_first_and_then_what_is_outside(files):
    comparisons = compare(*files(TABLE, MIXED))
    lines = to_text(comparisons, "old: a, new: b").splitlines()
    assert lines[0] == ("3 of 6 cells equal, 2 different, 1 missing; 2 shown without judgement")
    assert lines[1] == "old: a, new: b"
    assert lines[3:5] == ["different:", lines[4]]
    assert lines[4].split() == ["table", "row", "column", "old", "new", "difference"]
    assert lines[5].split("  ")[1] == "table2.csv"
    assert lines[5].split()[1:] == "yeast / plt / fta macro_f 40 40.1 +0.1".split()
    assert lines[6].split()[1:] == "yeast / plt / sto macro_f 35.1235 36 +0.877".split()
    text = "\n".join(lines)
    assert text.index("different:") < text.index("missing:") < text.index("without judgement:")


def test_beside_a_paper_the_text_says_the_interval_of_each_cell(files):
    place = Place("left", "table2", ("yeast", "plt", "sto"), "macro_f")
    judge = Judge(Runs({place: CellRuns({0: 35.9, 1: 36.0, 2: 36.1})}), same_split=frozenset({("left", "yeast")}))
    lines = to_text(compare(*files(TABLE, MIXED), published=judge), "", published=True).splitlines()
    assert lines[0].startswith(
        "0 of 3 measured cells reproduced, 1 better, 2 without runs to judge by; configuration: "
    )
    assert lines[0].endswith("; 1 cells not run")
    assert lines[3] == "better:"
    assert lines[4].split() == ["table", "row", "column", "published", "measured", "difference", "interval"]
    assert lines[5].split()[1:] == "yeast / plt / sto macro_f 35.1235 36 +0.877 ± 0.608".split()
    assert "without runs to judge by:" in lines


def test_markdown_structure(files):
    text = to_markdown(compare(*files(TABLE, MIXED)), "old: a, new: b")
    assert text.startswith("**3 of 6 cells equal, ")
    marks = [line for line in text.splitlines() if line.startswith(("#", "**", "<"))]
    assert marks[1:] == [
        "### Different",
        "### Missing",
        "<details><summary>table2.csv: 3 of 6 cells equal, 2 different, 1 missing; 2 shown without judgement</summary>",
        "</details>",
    ]
    rows = [line for line in text.splitlines() if "| yeast / plt / " in line]
    assert len(rows) == 8
    assert rows[0].split("|")[1:4] == [" table2.csv ", " yeast / plt / fta ", " macro_f  "]
    # GitHub shows a table in a fold only behind an empty line.
    lines = text.splitlines()
    assert all(lines[i + 1] == "" for i, line in enumerate(lines) if line.startswith("<details>"))


def test_many_parts_are_not_all_listed(files):
    rows = "".join(f"set{i},plt,fta,1,1,1,1\n" for i in range(20))
    text = to_text(compare(*files(TABLE + rows, TABLE)), "")
    assert "table2.csv: row missing: set0 / plt / fta; set1 / plt / fta; " in text
    assert "set11 / plt / fta; and 8 more" in text
    assert "set12" not in text


def test_beside_a_paper_its_own_digits_count_and_more_of_ours_is_no_difference(files):
    printed = "dataset,model,p@1,train_minutes\na,plt,72.4,5\na,fastxml,-,6\nb,plt,70.10,7\n"
    ours = "dataset,model,p@1,p@3,train_minutes\na,plt,72.44,1,50\na,fastxml,30,1,6\na,swnn,50,1,1\n"
    place = Place("left", "table1", ("a", "plt"), "p@1")
    judge = Judge(Runs({place: CellRuns({0: 72.44, 1: 72.44})}), same_split=frozenset({("left", "a")}))
    (comparison,) = compare(*files(printed, ours, "table1.csv"), published=judge)
    assert {cell.key: cell.verdict for cell in comparison.cells if cell.judged} == {
        ("a", "plt"): Verdict.REPRODUCED,
        ("b", "plt"): Verdict.NOT_RUN,
    }
    assert [(part.kind, part.name, part.verdict) for part in comparison.parts] == [
        ("row", ("b", "plt"), Verdict.NOT_RUN)
    ]
    assert headline([comparison]) == "1 of 1 measured cells reproduced; 1 cells not run; 1 row not run"
    assert comparison.same
    text = to_markdown([comparison], "", published=True)
    assert text[text.index("<details>") :].startswith(
        "<details><summary>Not run</summary>\n\n- table1.csv: row not run"
    )
