"""The package can be imported in every folder in which a user may start Python."""

import os
import subprocess
import sys

import pytest
from repository import ROOT

SCRIPT = "import xmlc\nprint(xmlc.__file__)\nassert callable(xmlc.set_progress)\n"
FOLDERS = ("", "xmlc", "xmlc/xmlc", "xmlc/examples/study", "elsewhere")


@pytest.fixture(scope="module")
def parent(tmp_path_factory):
    """Return a folder that contains the clone under the name that README gives it, and an empty
    folder.
    """
    folder = tmp_path_factory.mktemp("projects")
    (folder / "xmlc").symlink_to(ROOT)
    (folder / "elsewhere").mkdir()
    return folder


def printed(folder, *arguments, text=None):
    """Return what Python prints in a folder, without the paths that the running tests add."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=folder, env=environment, input=text, capture_output=True, text=True
    )
    assert done.returncode == 0, (
        f"{done.stderr}\nafter a change of pyproject.toml, run `make env` again"
    )
    return done.stdout.strip()


@pytest.mark.parametrize("folder", FOLDERS)
def test_import_finds_package_in_each_folder(parent, folder):
    assert os.path.samefile(printed(parent / folder, "-c", SCRIPT), ROOT / "xmlc/__init__.py")


def test_import_finds_package_from_each_kind_of_program(parent):
    """A script has its own folder first in `sys.path`.

    A module and a notebook have the current folder.
    """
    (parent / "first.py").write_text(SCRIPT)
    paths = {
        "script": printed(parent, "first.py"),
        "module": printed(parent, "-m", "first"),
        "input": printed(parent, "-", text=SCRIPT),
        "isolated": printed(parent, "-I", "-c", SCRIPT),
        "interactive": printed(parent, "-i", "-c", SCRIPT, text=""),
    }
    for program, path in paths.items():
        assert os.path.samefile(path, ROOT / "xmlc/__init__.py"), program
