"""Test output and exit status of `xmlc show` and `xmlc compare`. make returns the same status."""

import os
import subprocess

import pytest
from command_line import run
from compare_cases import MIXED, TABLE, change
from facts import absent
from repository import ROOT


@pytest.mark.parametrize("heading", ["**First**\n\n", ""])
def test_brief_output_is_the_first_panel(tmp_path, capsys, heading):
    panel = f"{heading}| a |\n|--:|\n| 1 |"
    text = f"**Table 1.** Caption.\n\n{panel}\n\n**Second**\n\n| b |\n|--:|\n| 2 |\n\n- A note."
    (tmp_path / "t.md").write_text(text)
    assert run("show", tmp_path / "t.md") == 0
    assert capsys.readouterr().out == f"\n{text}\n\n"
    assert run("show", "--brief", tmp_path / "t.md") == 0
    assert panel in capsys.readouterr().out


def compared(capsys, *arguments):
    return run("compare", *arguments), *capsys.readouterr()


def test_exit_status_depends_on_equality_except_for_published(files, tmp_path, capsys, monkeypatch):
    left, right = files(TABLE, MIXED)
    assert compared(capsys, left, left)[0] == 0
    written = tmp_path / "out" / "c.md"
    status, out, err = compared(capsys, left, right, "--markdown", written)
    assert (status, err) == (1, "")
    assert [f"- {line}" for line in out.splitlines()[:3]] == written.read_text().splitlines()[:3]
    assert "| yeast / plt / sto | inner_products | 60.0 | – |" in written.read_text()
    # In a comparison with a paper, every verdict is a result.
    monkeypatch.chdir(ROOT)
    assert compared(capsys, left, right, "--published")[0] == 0


def test_missing_folder_of_a_comparison_is_named_with_a_similar_one(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    missing = "results/published/gfm2010"
    status, _, err = compared(capsys, missing, "results/reference/gfm2011")
    assert (status, absent(err, missing, "results/published/gfm2011")) == (2, [])


# Maps options to the status.
OPTIONS = {
    "--tolerance 1": 0,
    "--tolerance 0.5": 1,
    "--tolerance -1": 2,
    "--tolerance 1 --published": 2,
    "--markdown /dev/null/x.md": 2,
}


@pytest.mark.parametrize("options", OPTIONS)
def test_exit_status_depends_on_tolerance_and_valid_options(files, capsys, options):
    left, right = files(TABLE, change(TABLE, "35.123456", "36"))
    status, out, err = compared(capsys, left, right, *options.split())
    assert status == OPTIONS[options]
    assert (bool(out), bool(err)) == (status < 2, status == 2)


def test_published_folders_without_suite_are_skipped(tmp_path, capsys):
    (tmp_path / "tables").mkdir()
    assert compared(capsys, ROOT / "results/published", tmp_path / "tables", "--published")[0] == 0


def make(*words):
    """Run make without the settings of a make that runs the tests."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    command = ["make", "-C", ROOT, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("status", [0, 1, 2])
def test_make_returns_status_of_xmlc(tmp_path, status):
    """A fake `xmlc` in the environment of make ends with the given status."""
    program = tmp_path / "bin/xmlc"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexit {status}\n")
    program.chmod(0o755)
    (tmp_path / "has-base").touch()
    found = make("compare", f"ENV={os.path.relpath(tmp_path, ROOT)}")
    assert found.returncode == status, found.stderr


def test_unknown_target_of_make_is_refused_with_all_targets_before_anything_runs():
    found = make("lint", "demos")
    assert found.returncode == 2
    assert absent(found.stderr, "demos", "demo", "compare", "test-all") == []
    assert "ruff" not in found.stdout
