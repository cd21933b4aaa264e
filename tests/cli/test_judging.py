"""`xmlc compare`: its exit status, and what it prints first."""

import math
import shutil

import pandas as pd
import pytest
from command_line import run
from compare_cases import MIXED, TABLE, table_writer
from repository import ROOT

from xmlc.numbers.fingerprint import fingerprint


@pytest.fixture
def files(tmp_path):
    return table_writer(tmp_path)


def compared(capsys, *arguments):
    return run("compare", *arguments), *capsys.readouterr()


def test_exit_status(files, tmp_path, capsys, monkeypatch):
    left, right = files(TABLE, MIXED)
    status, out, err = compared(capsys, left, left)
    assert (status, err) == (0, "")
    word = fingerprint(left).word
    assert out.splitlines()[0] == f"Same fingerprint, {word}: every number but costs is the same"
    status, out, err = compared(capsys, left, right)
    assert (status, err) == (1, "")
    assert out.splitlines()[0] == f"Fingerprints differ: old {word}, new {fingerprint(right).word}"
    assert out.splitlines()[1].startswith("3 of 6 cells equal")
    assert compared(capsys, left, right, "--markdown", tmp_path / "out" / "c.md")[0] == 1
    assert (tmp_path / "out" / "c.md").read_text().splitlines()[2].startswith("**3 of 6 cells equal")
    # Beside a paper every verdict is a result.
    monkeypatch.chdir(ROOT)
    status, out, _ = compared(capsys, left, right, "--published")
    assert (status, "different:" in out) == (0, False)
    assert "3 undecided" in out
    status, _, err = compared(capsys, left, tmp_path / "nothing.csv", "--published")
    assert status == 2
    assert "no such table" in err
    assert compared(capsys, left, left, "--unknown", "x")[0] == 2


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
