"""Former names are refused with the present name, and remain nowhere else."""

import subprocess

import pytest
from repository import ROOT

from xmlc.core.errors import RENAMED, nearest

# These words also have other meanings.
ORDINARY = {"floor", "beside", "quick", "found", "further", "deviations", "calibrated"}
ALLOWED = {".ci/prose.py", "CHANGELOG.md", "xmlc/core/errors.py", "tests/project/test_renamed.py"}


@pytest.mark.parametrize("name", RENAMED)
def test_nearest_name_of_former_name_is_its_present_one(name):
    assert nearest(name, [name + "s", RENAMED[name], name[:-1]]) == RENAMED[name]


def test_former_names_are_in_no_other_file():
    names = {*RENAMED} - ORDINARY
    patterns = [f"-e{name}" for name in names]
    command = ["git", "grep", "-wIo", *patterns, "--", ".", *[f":!{file}" for file in ALLOWED]]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.stdout == ""


@pytest.mark.parametrize(
    ("words", "present"),
    [(("deviations",), "seed-variation"), (("estimate", "--floor", "0.1"), "--min-probability")],
)
def test_former_command_or_option_is_refused(words, present, capsys):
    from xmlc.cli import main

    with pytest.raises(SystemExit) as error:
        main([*words])
    assert error.value.code == 2
    assert present in capsys.readouterr().err
