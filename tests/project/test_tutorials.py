"""The commands of the tutorials run as printed, and print what the pages show."""

import re
import shutil

import pytest
from project_copy import Project
from repository import ROOT
from tutorials import run_bash, run_python, steps

PAPER = "config/papers/gfm2011.yaml"


@pytest.mark.slow
def test_tag_texts_prints_output_that_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for language, code, shown in steps((ROOT / "docs/tag_texts.md").read_text()):
        said = run_python(code, names) if language == "python" else run_bash(code, tmp_path)
        assert said == (shown or "")


def lines_of(text):
    """Return the lines of a text, without seconds and disk space, which differ from run to run."""
    return [re.sub(r"\(\d+ s\)|(?<=finished in ).*", "", line) for line in text.splitlines()]


@pytest.mark.slow
@pytest.mark.needs("mirror")
def test_reproduce_prints_lines_that_page_shows(tmp_path, mirror):
    project = Project(tmp_path)
    shutil.copy(ROOT / PAPER, tmp_path / PAPER)  # The copy of the project has fewer methods.
    project.edit_yaml("config/config.yaml", lambda content: content.update(mirror=str(mirror)))
    suite = tmp_path / PAPER
    for language, code, shown in steps((ROOT / "docs/reproduce.md").read_text()):
        if language == "yaml":
            head, entry, _ = code.splitlines(keepends=True)
            assert suite.read_text().count(head + entry) == 1
            suite.write_text(suite.read_text().replace(head + entry, code))
            continue
        moved = code.startswith("xmlc compare first-run")
        said = lines_of(
            run_bash(code, tmp_path, project.environment, status=int(moved), messages=True)
        )
        for line in lines_of(shown or ""):
            assert any(each.startswith(line.removesuffix("...")) for each in said), line
