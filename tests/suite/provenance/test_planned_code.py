"""Test that a job of the workflow runs the planned code, and keeps its results aside if the code
changes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click import Context
from facts import raises_with

from xmlc.cli import COMMANDS, group, is_step
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, write_text
from xmlc.core.sources import PACKAGE
from xmlc.suite.provenance.planned_code import (
    ASIDE,
    OUTPUTS,
    VARIABLE,
    as_planned,
    planned_code,
    results_of,
)
from xmlc.suite.provenance.sources import forget_sources

CODE = "POWER = 1\n"
MINE = "from helper_of_job import POWER\n"


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Return a function that runs a job with a user's estimator file, and its folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "helper_of_job.py").write_text(CODE)

    def write_results():
        with atomic_folder("out/model") as folder:
            (folder / "a.txt").write_text("1")
        write_text("out/train.json", "{}")
        write_text("digests.json", "{}")

    def run(before=lambda: None, during=lambda: None, step="download", words=()):
        forget_sources()
        monkeypatch.setenv(VARIABLE, planned_code(step, ["mine.py"]))
        before()
        forget_sources()  # A job is a new process.
        with as_planned(step, [*words, "--out", "out/model", "--record", "out/train.json"]):
            during()
            write_results()
        assert VARIABLE not in os.environ

    run.results = lambda: sorted(path.name for path in (tmp_path / "out").iterdir())
    return run


def edit(file, text):
    return lambda: Path(file).write_text(text)


def edit_and_restore(file, text):
    def write():
        old = Path(file).read_text()
        edit(file, text)()
        edit(file, old)()

    return write


@pytest.mark.parametrize("file", ["mine.py", "helper_of_job.py"])
def test_code_edited_before_the_job_computes_nothing(job, file):
    with raises_with(XmlcError, "download", file, "expected"):
        job(before=edit(file, MINE + "EDITED = 1\n"))
    assert not os.path.exists("out")


@pytest.mark.parametrize(
    ("during", "file"), [(edit, "mine.py"), (edit_and_restore, "helper_of_job.py")]
)
def test_results_are_kept_aside_if_code_changes_during_the_job(job, during, file):
    aside = [f"model{ASIDE}", f"train.json{ASIDE}"]
    with raises_with(XmlcError, "download", file, [f"out/{name}" for name in aside]):
        job(during=during(file, "POWER = 2\n"))
    assert job.results() == aside
    assert os.path.exists("digests.json"), "a file that is no result stays"
    # The results that were kept first are replaced.
    with raises_with(XmlcError, f"out/model{ASIDE}"):
        job(during=during(file, "POWER = 3\n"))
    job()
    assert job.results() == sorted(["model", "train.json", *aside])


def test_deleted_or_broken_code_counts_as_changed(job):
    for during in (lambda: os.remove("mine.py"), edit("helper_of_job.py", "POWER = (\n")):
        with raises_with(XmlcError, ASIDE):
            job(during=during)
        edit("mine.py", MINE)()


def test_edited_comment_does_not_count(job):
    job(
        before=edit("mine.py", f"# a comment\n{MINE}"),
        during=edit("helper_of_job.py", f"'''Text.'''\n{CODE}"),
    )
    assert job.results() == ["model", "train.json"]


def test_step_by_hand_checks_nothing(job, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    with as_planned("train", []):
        edit("mine.py", "EDITED = 1\n")()


def test_digest_is_the_same_through_a_link_to_the_package(tmp_path):
    (tmp_path / "xmlc").symlink_to(PACKAGE)
    code = (
        "from xmlc.suite.provenance.planned_code import planned_code; print(planned_code('train'))"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code]
    found = subprocess.check_output(command, cwd=tmp_path, env=environment, text=True)
    assert found.strip() == planned_code("train")


def test_only_the_values_of_options_for_outputs_name_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py", "methods.py", "ranking", "table2.csv", "table2.md"):
        Path(name).touch()
    words = ["--name", "mine", "--parameters", "x" * 5000, "--extension", "methods.py"]
    words += ["--ranking", "ranking", "--out", "table2"]
    assert {path.name for path in results_of(words)} == {"table2.csv", "table2.md"}


def test_a_users_file_replaced_during_the_job_stays(job):
    def replace():
        edit("new.py", f"{MINE}EDITED = 1\n")()
        os.replace("new.py", "mine.py")

    with raises_with(XmlcError, "mine.py", f"out/model{ASIDE}"):
        job(during=replace, words=["--name", "mine", "--extension", "mine.py"])
    assert os.path.exists("mine.py")


def test_every_option_for_outputs_is_listed():
    for step in filter(is_step, COMMANDS):
        for option in group.get_command(Context(group), step).params:
            if " to write" in (getattr(option, "help", None) or ""):
                assert {*option.opts} <= {*OUTPUTS}, step
