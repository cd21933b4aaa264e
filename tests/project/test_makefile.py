"""What the targets of the Makefile install, in any order and after an interruption, as a stand-in for Python saw it."""

import os
import shutil
import subprocess
import sys

import pytest
from repository import ROOT

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
