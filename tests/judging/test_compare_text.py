"""What a comparison says, and the exit status that follows."""

import math
import shutil

import pandas as pd
import pytest
from compare_cases import TABLE, table_writer
from repository import ROOT

from xmlc.cli import main
from xmlc.judging.compare import compare
from xmlc.judging.compare_text import headline, to_markdown, to_text
from xmlc.judging.tolerances import Deviations, Tolerances
from xmlc.judging.verdict import Verdict
from xmlc.tables.fingerprint import fingerprint

MIXED = """\
dataset,model,method,macro_f,test_ms,inner_products,c
yeast,plt,fta,40.1,0.5,55.0,10
yeast,plt,sto,36.0,0.5,,100
"""


@pytest.fixture
def files(tmp_path):
    return table_writer(tmp_path)


def test_text_says_the_headline_first_and_then_what_is_outside(files):
    comparisons = compare(*files(TABLE, MIXED))
    lines = to_text(comparisons, "old: a, new: b").splitlines()
    assert lines[0] == ("3 of 6 cells reproduced, 2 different, 1 missing; 2 shown without judgement")
    assert lines[1] == "old: a, new: b"
    assert lines[3:5] == ["different:", lines[4]]
    assert lines[4].split() == ["table", "row", "column", "old", "new", "difference"]
    assert lines[5].split("  ")[1] == "table2.csv"
    assert lines[5].split()[1:] == "yeast / plt / fta macro_f 40 40.1 +0.1".split()
    assert lines[6].split()[1:] == "yeast / plt / sto macro_f 35.1235 36 +0.877".split()
    text = "\n".join(lines)
    assert text.index("different:") < text.index("missing:") < text.index("without judgement:")


def test_beside_a_paper_the_text_says_what_is_tolerated(files):
    bounds = Tolerances(k=2, deviations=Deviations({"yeast": {"plt": {"runs": 5, "macro_f": 0.1}}}))
    lines = to_text(compare(*files(TABLE, MIXED), published=bounds), "", published=True).splitlines()
    assert lines[0].startswith("4 of 6 cells reproduced, 1 outside, 1 not run, 1 of them within tolerance")
    assert lines[4].split() == ["table", "row", "column", "published", "measured", "difference", "tolerance"]
    assert lines[5].split()[1:] == "yeast / plt / sto macro_f 35.1235 36 +0.877 0.2".split()
    assert "within tolerance:" in lines


def test_markdown_structure(files):
    text = to_markdown(compare(*files(TABLE, MIXED)), "old: a, new: b")
    assert text.startswith("**3 of 6 cells reproduced, ")
    marks = [line for line in text.splitlines() if line.startswith(("#", "**", "<"))]
    assert marks[1:] == [
        "### Different",
        "### Missing",
        "<details><summary>table2.csv: 3 of 6 cells reproduced, 2 different, 1 missing; 2 shown without judgement"
        "</summary>",
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


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["compare", *map(str, arguments)])
    return stop.value.code, *capsys.readouterr()


def test_exit_status(files, tmp_path, capsys):
    left, right = files(TABLE, MIXED)
    status, out, err = run(capsys, left, left)
    assert (status, err) == (0, "")
    word = fingerprint(left).word
    assert out.splitlines()[0] == f"Same fingerprint, {word}: every number but costs is the same"
    status, out, err = run(capsys, left, right)
    assert (status, err) == (1, "")
    assert out.splitlines()[0] == f"Fingerprints differ: old {word}, new {fingerprint(right).word}"
    assert out.splitlines()[1].startswith("3 of 6 cells reproduced")
    status, out, _ = run(capsys, left, right, "--report-only", "--markdown", tmp_path / "out" / "c.md")
    assert status == 0
    assert "report only" in out
    assert (tmp_path / "out" / "c.md").read_text().splitlines()[2].startswith("**3 of 6 cells reproduced")
    status, _, err = run(capsys, left, tmp_path / "nothing.csv", "--report-only")
    assert status == 2
    assert "no such table" in err
    assert run(capsys, left, left, "--unknown", "x")[0] == 2
    status, _, err = run(capsys, left, left, "--tolerances", ROOT / "config/tolerances.yaml")
    assert status == 2
    assert "two runs of ours are compared exactly" in err


def test_the_last_bit_of_one_number_turns_the_comparison_red(tmp_path, capsys):
    """What CI does, with one cell of a copy of the accepted numbers changed."""
    reference, new = ROOT / "results/reference", tmp_path / "new"
    shutil.copytree(reference / "plt2016", new)
    assert run(capsys, reference / "plt2016", new)[0] == 0
    frame = pd.read_csv(new / "table2.csv", dtype=str)
    row = (frame["model"] == "plt") & (frame["method"] == "sto")
    (old,) = frame.loc[row, "macro_f"]
    changed = repr(math.nextafter(float(old), 100))
    frame.loc[row, "macro_f"] = changed
    frame.to_csv(new / "table2.csv", index=False)
    status, out, _ = run(capsys, reference / "plt2016", new)
    assert status == 1
    assert out.startswith("Fingerprints differ: ")
    assert ", 1 different" in out.splitlines()[1]
    (line,) = (line for line in out.splitlines() if "bibtex / plt / sto" in line and "table2.csv" in line)
    table, *place, column, before, after, difference = line.split()
    assert (table, " ".join(place), column) == ("table2.csv", "bibtex / plt / sto", "macro_f")
    assert (before, after) == (old, changed)
    assert 0 < float(difference) < 1e-13


def test_tables_as_published_equal_themselves(capsys):
    folder = ROOT / "results/published/plt2016"
    status, out, _ = run(capsys, folder, folder)
    assert status == 0
    # Table 1: 12 rows of 9 columns and a time; Table 2: 36 of 2 and a time; Table 3: 4 of 2; Table 4: 12 of 6.
    cells = 12 * 9 + 36 * 2 + 4 * 2 + 12 * 6
    assert out.splitlines()[1].startswith(f"{cells} of {cells} cells reproduced")
    assert "; 48 shown without judgement" in out
    # As a paper's, a and b are left without judgement too.
    status, out, _ = run(capsys, folder, folder, "--published", "--tolerances", ROOT / "config/tolerances.yaml")
    assert status == 0
    assert out.startswith(f"{cells - 24} of {cells - 24} cells reproduced")


def test_beside_a_paper_its_own_digits_count_and_more_of_ours_is_no_difference(files):
    printed = "dataset,model,p@1,train_minutes\na,plt,72.4,5\na,fastxml,-,6\nb,plt,70.10,7\n"
    ours = "dataset,model,p@1,p@3,train_minutes\na,plt,72.44,1,50\na,fastxml,30,1,6\na,swnn,50,1,1\n"
    (comparison,) = compare(*files(printed, ours, "table1.csv"), published=Tolerances())
    assert {cell.key: cell.verdict for cell in comparison.cells if cell.judged} == {
        ("a", "plt"): Verdict.EQUAL,
        ("b", "plt"): Verdict.NOT_RUN,
    }
    assert [(part.kind, part.name, part.verdict) for part in comparison.parts] == [
        ("row", ("b", "plt"), Verdict.NOT_RUN)
    ]
    assert headline([comparison]).startswith("1 of 2 cells reproduced, 1 not run, 1 row not run")
    text = to_markdown([comparison], "", published=True)
    assert text[text.index("<details>") :].startswith(
        "<details><summary>Not run</summary>\n\n- table1.csv: row not run"
    )
