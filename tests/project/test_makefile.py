"""What the targets of the Makefile install, in any order and after an interruption, as a stand-in for Python saw it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from repository import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Makes an environment with itself as the interpreter; pip fails as long as a file `cut` is there. Its second line is a
# command to the shell and a string to Python: the path after #! could hold no space.
STAND_IN = f"""#!/bin/sh
"exec" "{sys.executable}" "$0" "$@"
import os, pathlib, shutil, sys
words = sys.argv[1:]
if words[:2] == ["-m", "venv"]:
    os.makedirs(f"{{words[2]}}/bin", exist_ok=True)
    shutil.copy(__file__, f"{{words[2]}}/bin/python")
elif words[:3] == ["-m", "pip", "install"]:
    with open("installed", "a") as file:
        print(words[-1], file=file)
    assert words[words.index("--constraint") + 1] == "constraints.txt"
    sys.exit(os.path.exists("cut"))
elif words[:2] == ["-m", "pytest"]:
    pathlib.Path("tested").write_text(" ".join(words[2:]))
"""


class Clone:
    """A folder with the Makefile, and what it asked pip for."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("Makefile", "pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / name, folder)
        (folder / "python").write_text(STAND_IN)
        (folder / "python").chmod(0o755)

    def make(self, *words):
        (self.folder / "installed").write_text("")
        clean = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "EXTRAS", "CORES", "TESTS")}
        command = ["make", f"PYTHON={self.folder}/python", *words]
        done = subprocess.run(command, cwd=self.folder, env=clean, capture_output=True, text=True)
        return done.returncode, (self.folder / "installed").read_text().split()


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path)


def test_a_target_installs_what_it_needs_and_only_once(clone):
    assert clone.make("test") == (0, [".", ".[test]"])
    assert (clone.folder / "tested").read_text() == "-n 2 --dist loadfile --no-loadscope-reorder -m not slow"
    assert clone.make("test") == (0, [])
    assert clone.make("env") == (0, [])
    assert clone.make("env", "EXTRAS=peers,tune") == (0, [".[peers]", ".[tune]"])
    assert clone.make("env", "EXTRAS=tune,test,peers") == (0, [])


def test_an_installation_that_was_cut_off_is_done_again(clone):
    (clone.folder / "cut").touch()
    assert clone.make("test") == (2, ["."])
    (clone.folder / "cut").unlink()
    assert clone.make("env") == (0, ["."])
    (clone.folder / "cut").touch()
    assert clone.make("test") == (2, [".[test]"])
    (clone.folder / "cut").unlink()
    assert clone.make("test") == (0, [".[test]"])


def test_changed_requirements_are_installed_again_by_who_needs_them(clone):
    clone.make("env", "EXTRAS=tune,test")
    os.utime(clone.folder / "constraints.txt", (2e9, 2e9))
    for stamp in ("has-base", "has-test"):  # from here on later than the constraints
        assert clone.make(f".venv/{stamp}")[1] == [{"has-base": ".", "has-test": ".[test]"}[stamp]]
        os.utime(clone.folder / ".venv" / stamp, (2e9 + 1, 2e9 + 1))
    assert clone.make("test") == (0, [])
    assert clone.make("env", "EXTRAS=tune") == (0, [".[tune]"])


def test_another_environment_is_apart(clone):
    clone.make("test")
    assert clone.make("test-all", "ENV=.venv-all") == (0, [".", ".[test]"])
    assert (clone.folder / ".venv-all/bin/python").exists()
    assert "slow" not in (clone.folder / "tested").read_text()


def test_an_extra_that_does_not_exist_is_refused(clone):
    assert clone.make("env", "EXTRAS=tune,tets") == (2, [])


def test_the_makefile_and_ci_know_every_extra():
    known = re.search(r"^KNOWN *:= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    assert sorted(known) == sorted(PROJECT["optional-dependencies"])
    (all_extras,) = re.findall(r"^make env .* EXTRAS=(\S+)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert sorted(all_extras.split(",")) == sorted(known)


def test_ci_begins_with_the_commands_that_the_readme_gives_a_newcomer():
    section = re.search(r"^## Five minutes\n(.*?)^## ", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    told = re.findall(r"^    (make .*)$", section, re.MULTILINE)
    assert {"make demo", "make compare", "make test"} <= set(told)
    lines = (ROOT / ".ci/run").read_text().splitlines()
    given = [line.removeprefix("stranger ") for line in lines if line.startswith("stranger make ")]
    assert given == told
    # Before them nothing is installed.
    assert not [
        line for line in lines[: lines.index("stranger make demo")] if re.match(r"\s*(make|pip|apt-get)\b", line)
    ]
