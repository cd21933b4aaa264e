"""`xmlc compare`: its exit status, and what it prints first."""

import math
import shutil

import pandas as pd
import pytest
from command_line import run
from compare_cases import MIXED, TABLE, table_writer
from repository import ROOT

from xmlc.tables.fingerprint import fingerprint


@pytest.fixture
def files(tmp_path):
    return table_writer(tmp_path)


def compared(capsys, *arguments):
    return run("compare", *arguments), *capsys.readouterr()


def test_exit_status(files, tmp_path, capsys):
    left, right = files(TABLE, MIXED)
    status, out, err = compared(capsys, left, left)
    assert (status, err) == (0, "")
    word = fingerprint(left).word
    assert out.splitlines()[0] == f"Same fingerprint, {word}: every number but costs is the same"
    status, out, err = compared(capsys, left, right)
    assert (status, err) == (1, "")
    assert out.splitlines()[0] == f"Fingerprints differ: old {word}, new {fingerprint(right).word}"
    assert out.splitlines()[1].startswith("3 of 6 cells equal")
    status, out, _ = compared(capsys, left, right, "--report-only", "--markdown", tmp_path / "out" / "c.md")
    assert status == 0
    assert "report only" in out
    assert (tmp_path / "out" / "c.md").read_text().splitlines()[2].startswith("**3 of 6 cells equal")
    status, _, err = compared(capsys, left, tmp_path / "nothing.csv", "--report-only")
    assert status == 2
    assert "no such table" in err
    assert compared(capsys, left, left, "--unknown", "x")[0] == 2
    status, _, err = compared(capsys, left, left, "--runs", ROOT / "config/runs.csv")
    assert status == 2
    assert "two runs of ours are compared exactly" in err


def test_the_last_bit_of_one_number_turns_the_comparison_red(tmp_path, capsys):
    """What CI does, with one cell of a copy of the accepted numbers changed."""
    reference, new = ROOT / "results/reference", tmp_path / "new"
    shutil.copytree(reference / "plt2016", new)
    assert compared(capsys, reference / "plt2016", new)[0] == 0
    frame = pd.read_csv(new / "table2.csv", dtype=str)
    row = (frame["model"] == "plt") & (frame["method"] == "sto")
    (old,) = frame.loc[row, "macro_f"]
    changed = repr(math.nextafter(float(old), 100))
    frame.loc[row, "macro_f"] = changed
    frame.to_csv(new / "table2.csv", index=False)
    status, out, _ = compared(capsys, reference / "plt2016", new)
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
    status, out, _ = compared(capsys, folder, folder)
    assert status == 0
    # Table 1: 12 rows of 9 columns and a time; Table 2: 36 of 2 and a time; Table 3: 4 of 2; Table 4: 12 of 6.
    cells = 12 * 9 + 36 * 2 + 4 * 2 + 12 * 6
    assert out.splitlines()[1].startswith(f"{cells} of {cells} cells equal")
    assert "; 48 shown without judgement" in out
    # As a paper's, what it measured has no runs of ours behind it, and the rest is equal: Table 1 has 6 statistics of
    # 6 datasets in all, Table 3 ranges, Table 4 chosen a and b.
    status, out, _ = compared(capsys, folder, folder, "--published")
    assert status == 0
    measured = 12 * 3 + 36 * 2 + 12 * 4
    assert out.startswith(
        f"0 of {measured} measured cells reproduced, {measured} without runs to judge by; "
        "statistics of datasets: 36 of 36 equal; configuration: 32 of 32 equal"
    )
