"""Test output and exit status of `xmlc show` and `xmlc compare`. make returns the same status."""

import math
import os
import re
import shutil
import subprocess

import pandas as pd
import pytest
from command_line import run
from compare_cases import MIXED, TABLE, change
from facts import absent
from repository import ROOT

from xmlc.suite.results.fingerprint import fingerprint


@pytest.mark.parametrize(
    "text",
    [
        "**Table 1.** Caption.\n\n**First**\n\n| a |\n|--:|\n| 1 |",
        "Caption.\n\n| a |\n|--:|\n| 1 |",
    ],
)
def test_brief_output_is_the_first_panel(tmp_path, capsys, text):
    more = "\n\n**Second**\n\n| b |\n|--:|\n| 2 |\n\n- A note.\n"
    (tmp_path / "t.md").write_text(text + more)
    assert run("show", "--brief", tmp_path / "t.md") == 0
    assert capsys.readouterr().out == f"{text.removeprefix('**Table 1.** Caption.').strip()}\n"
    assert run("show", tmp_path / "t.md") == 0
    assert capsys.readouterr().out == f"\n{text}{more}\n"


def compared(capsys, *arguments):
    return run("compare", *arguments), *capsys.readouterr()


def test_exit_status_depends_on_equality_except_for_published(files, tmp_path, capsys, monkeypatch):
    left, right = files(TABLE, MIXED)
    status, out, err = compared(capsys, left, left)
    assert (status, err) == (0, "")
    word = fingerprint(left).word
    assert absent(out.splitlines()[0], word) == []
    written = tmp_path / "out" / "c.md"
    status, out, err = compared(capsys, left, right, "--markdown", written)
    assert (status, err) == (1, "")
    assert absent(out.splitlines()[0], word, fingerprint(right).word) == []
    assert [f"- {line}" for line in out.splitlines()[:3]] == written.read_text().splitlines()[:3]
    assert "| yeast / plt / sto | inner_products | 60.0 | – |" in written.read_text()
    # In a comparison with a paper, every verdict is a result.
    monkeypatch.chdir(ROOT)
    status, out, _ = compared(capsys, left, right, "--published")
    assert (status, word in out) == (0, False)


def test_missing_folder_of_a_comparison_is_named_with_a_similar_one(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    missing = "results/published/gfm2010"
    similar = "results/published/gfm2011"
    status, _, err = compared(capsys, missing, "results/reference/gfm2011", "--published")
    assert (status, absent(err, missing, similar)) == (2, [])
    for command in ("fingerprint", "verify"):
        assert run(command, missing) == 1
        assert absent(capsys.readouterr().err, missing, similar) == []


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--tolerance", 1], 0),
        (["--tolerance", 0.5], 1),
        (["--tolerance", -1], 2),
        (["--tolerance", 1, "--published"], 2),
        (["--markdown", "/dev/null/x.md"], 2),
    ],
)
def test_exit_status_depends_on_tolerance_and_valid_options(files, capsys, options, status):
    left, right = files(TABLE, change(TABLE, "35.123456", "36"))
    found, out, err = compared(capsys, left, right, *options)
    assert (found, bool(out), bool(err)) == (status, status < 2, status == 2)


def test_published_folders_without_suite_are_skipped(tmp_path, capsys):
    (tmp_path / "tables").mkdir()
    assert compared(capsys, ROOT / "results/published", tmp_path / "tables", "--published")[0] == 0


def test_last_bit_of_one_number_makes_comparison_fail(tmp_path, capsys):
    """Run the check of CI with one changed cell in a copy of the reference results."""
    reference = ROOT / "results/reference/plt2016"
    new = tmp_path / "new"
    shutil.copytree(reference, new)
    assert compared(capsys, reference, new)[0] == 0
    frame = pd.read_csv(new / "table2.csv", dtype=str)
    row = frame.index[(frame["model"] == "plt") & (frame["method"] == "sto")][0]
    old = frame.loc[row, "macro_f"]
    frame.loc[row, "macro_f"] = changed = repr(math.nextafter(float(old), 100))
    frame.to_csv(new / "table2.csv", index=False)
    status, out, _ = compared(capsys, reference, new)
    assert status == 1
    assert ["table2", "bibtex / plt / sto", "macro_f", old, changed] in [
        re.split(" {2,}", line)[:5] for line in out.splitlines()
    ]


@pytest.mark.parametrize("status", [0, 1, 2])
def test_make_returns_status_of_xmlc(tmp_path, status):
    """A fake `xmlc` in the environment of make ends with the given status."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/xmlc"
    program.write_text(f"#!/bin/sh\nexit {status}\n")
    program.chmod(0o755)
    (tmp_path / "has-base").touch()
    # The make that runs the tests would pass its settings through the environment.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    command = ["make", "-C", ROOT, "compare", f"ENV={os.path.relpath(tmp_path, ROOT)}"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == status, found.stderr


def test_unknown_target_of_make_is_refused_with_all_targets_before_anything_runs():
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    command = ["make", "-C", ROOT, "lint", "demos"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert absent(found.stderr, "demos", "demo", "compare", "test-all") == []
    assert "ruff" not in found.stdout
