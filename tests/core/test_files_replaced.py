"""Test that a new folder replaces a folder of the same name only if the package wrote the old
folder.
"""

import os
import subprocess
import sys

import pytest
from facts import raises_with

from xmlc.core.checksums import NAME as CHECKSUMS
from xmlc.core.checksums import SYSTEMS_OWN
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder

KILLED = """
import os, sys
import numpy as np
from xmlc.core import files
from xmlc.core.checksums import verify_file, listed_in
from pathlib import Path

target = Path(sys.argv[1])
files.SETTLED = -1.0  # what a killed process left goes at once

def write(value):
    with files.atomic_folder(target) as folder:
        for name in "abc":
            np.save(folder / f"{name}.npy", np.full(200, value))

def killed_after(left):
    def trace(frame, event, argument):
        nonlocal left
        if frame.f_code.co_filename != files.__file__:
            return None
        left -= event == "line"
        if left < 0:
            os.kill(os.getpid(), 9)
        return trace
    return trace

write(-1)
values, status = [-1], 9
while status:
    number = len(values)
    child = os.fork()
    if child == 0:
        sys.settrace(killed_after(number))
        write(number)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    for name in listed_in(target) if target.exists() else ():
        verify_file(target / name)
    (value,) = {int(np.load(target / f"{name}.npy")[7]) if target.exists() else 0 for name in "abc"}
    assert value in (values[-1], number, 0)
    values.append(value)
print(*values)
"""


def write_own(path, content="new"):
    with atomic_folder(path) as folder:
        (folder / "train").mkdir()
        (folder / "train/X.npy").write_text(content)
        (folder / "model.json").write_text(content)


def tree(place):
    """Return the files with contents, the folders, and the links with targets below a folder."""
    found = {}
    for path in place.rglob("*"):
        content = None
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = path.read_bytes()
        found[path.relative_to(place).as_posix()] = content
    return found


def with_foreign(path, name="thesis.tex"):
    write_own(path, "old")
    (path / name).write_text("mine")


def foreign(path):
    path.mkdir()
    (path / "thesis.tex").write_text("mine")


def linked(path, make):
    make(path.parent / "there")
    path.symlink_to("there")


def with_list_edited(path):
    write_own(path, "old")
    (path / CHECKSUMS).write_text(
        (path / CHECKSUMS).read_text().replace("model.json", "thesis.tex")
    )


def test_folder_written_by_xmlc_is_replaced(tmp_path):
    (tmp_path / "model").mkdir()
    write_own(tmp_path / "model", "old")
    (tmp_path / "model/model.json").unlink()
    for name in SYSTEMS_OWN:
        (tmp_path / "model/train" / name).touch()
        (tmp_path / "model" / name).touch()
    write_own(tmp_path / "model")
    files = {f"model/{name}" for name in ("model.json", "train", "train/X.npy", CHECKSUMS)}
    assert set(tree(tmp_path)) == {"model"} | files
    assert (tmp_path / "model/train/X.npy").read_text() == "new"


REFUSED = {
    "own, with a foreign file": (with_foreign, "thesis.tex"),
    "own, with one in its folder": (
        lambda path: with_foreign(path, "train/thesis.tex"),
        "train/thesis.tex",
    ),
    "own, its list edited": (with_list_edited, "checksums.json"),
    "foreign": (foreign, "thesis.tex"),
    "foreign, with a folder": (lambda path: (path / "chapters").mkdir(parents=True), "chapters"),
    "a link to an own one": (lambda path: linked(path, write_own), "there"),
    "a file": (lambda path: path.write_text("mine"), "model"),
    "below a file": (lambda path: path.parent.joinpath("sub").write_text("mine"), "sub"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_foreign_folder_is_refused_before_any_change(tmp_path, kind):
    make, said = REFUSED[kind]
    path = tmp_path / ("sub/model" if said == "sub" else "model")
    make(tmp_path / "model")
    before = tree(tmp_path)
    with raises_with(XmlcError, said), atomic_folder(path):
        pytest.fail("began to write")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("path", [".", "..", "{}"])
def test_working_directory_and_its_parents_are_refused(tmp_path, monkeypatch, path):
    write_own(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    before = tree(tmp_path)
    with pytest.raises(XmlcError), atomic_folder(path.format(tmp_path)):
        pytest.fail("began to write")
    assert tree(tmp_path) == before


def test_file_added_during_write_is_kept(tmp_path):
    def write():
        with atomic_folder(tmp_path / "model") as folder:
            (folder / "model.json").write_text("new")
            (tmp_path / "model/thesis.tex").write_text("mine")

    write_own(tmp_path / "model", "old")
    before = tree(tmp_path)
    with raises_with(XmlcError, "thesis.tex"):
        write()
    assert tree(tmp_path) == before | {"model/thesis.tex": b"mine"}


def test_failed_rename_keeps_old_folder(tmp_path, monkeypatch):
    write_own(tmp_path / "model", "old")
    before = tree(tmp_path)
    rename = os.rename

    def failing(source, target):
        if "+" in str(source) and not str(source).endswith("-"):
            raise PermissionError(13, "Permission denied", str(source))
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(PermissionError):
        write_own(tmp_path / "model")
    assert tree(tmp_path) == before


def test_kill_at_any_line_leaves_one_complete_folder_or_none(tmp_path):
    made = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "model")], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    values = [int(value) for value in made.stdout.split()]
    replaced = [value == number for number, value in enumerate(values[1:], 1)]
    assert 20 < sum(not one for one in replaced)
    assert 1 < sum(replaced)
    assert values.count(0) <= 2
    assert replaced[-1]
