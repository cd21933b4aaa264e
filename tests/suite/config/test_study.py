"""Test `xmlc new`, and the files that a study uses."""

from pathlib import Path

import pytest
import yaml
from command_line import run
from facts import raises_with
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.suite.config.folders import config_files, config_folder
from xmlc.suite.config.project import Project
from xmlc.suite.config.settings import read_config
from xmlc.suite.config.suite import Run
from xmlc.suite.papers.plan import check_tables

FILES = [".github/workflows/study.yml", "README.md", "Snakefile", "my_method.py", "my_model.py"]
FILES += ["profiles/default/profile.yaml", "suite.yaml"]


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Create a study and change into it."""
    assert run("new", tmp_path / "mine") == 0
    monkeypatch.chdir(tmp_path / "mine")
    return tmp_path / "mine"


def test_new_study_has_its_files_and_replaces_no_folder(study, capsys):
    files = sorted(str(file.relative_to(study)) for file in study.rglob("*") if file.is_file())
    assert files == FILES
    # Snakemake behaves as in the project
    assert (study / FILES[5]).read_text() == (ROOT / FILES[5]).read_text()
    assert "xmlc compare accepted results/tables --markdown" in (study / FILES[0]).read_text()
    assert list(study.parent.iterdir()) == [study]
    assert run("new", study) == 1
    assert str(study) in capsys.readouterr().err


def test_empty_folder_becomes_a_study(tmp_path, capsys):
    (tmp_path / "of mine").mkdir()
    assert run("new", tmp_path / "of mine") == 0
    assert (tmp_path / "of mine/suite.yaml").is_file()
    assert f"cd '{tmp_path}/of mine'" in capsys.readouterr().out


def test_study_is_one_suite_with_models_of_papers_and_the_catalogue(study):
    (study / "datasets.yaml").write_text(
        "bibtex: {source: mirror, format: svmlight}\nmine: {source: mirror}\n"
    )
    project = Project.read(read_config(config_folder() / "config.yaml"))
    assert list(project.suites) == project.planned_papers == ["suite"]
    papers = yaml.safe_load((ROOT / "config/papers/plt2016.yaml").read_text())["models"]["plt"]
    assert project.models["plt"].hyperparameters == papers["hyperparameters"]
    assert project.entry("bibtex").layout["format"] == "svmlight"
    assert project.entry("delicious").published["m"] == 983
    assert "demo" in project.made
    assert "bibtex" not in project.made
    assert project.suites["suite"].titles["plt-64"] == "PLT, arity 64"
    chosen = Project.read({"datasets": ["mine"], "models": ["plt-64"], "seeds": [3]})
    assert chosen.runs("suite") == [Run("mine", "plt-64", 3)]


def edit(study, edit_content):
    """Edit the content of a study's suite."""
    content = yaml.safe_load((study / "suite.yaml").read_text())
    edit_content(content)
    (study / "suite.yaml").write_text(yaml.safe_dump(content))


def test_title_in_a_study_overrides_title_of_the_paper(study):
    edit(study, lambda content: content["models"]["plt"].update(title="As in the paper"))
    assert Project.read({}).suites["suite"].titles["plt"] == "As in the paper"


@pytest.mark.parametrize(
    ("tables", "facts"), [(["tabel1"], ["tabel1", "table1"]), ([], ["tables", "table1"])]
)
def test_unknown_or_missing_table_of_a_study_is_refused(study, tables, facts):
    edit(study, lambda content: content.update(tables=tables, figures=[]))
    with raises_with(XmlcError, "suite.yaml", *facts):
        check_tables(Project.read({}))


def test_clone_uses_only_its_own_configuration(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "suite.yaml").touch()
    assert config_folder(tmp_path) == tmp_path / "config"
    assert config_files("datasets.yaml", tmp_path / "config") == [tmp_path / "config/datasets.yaml"]
    assert config_folder(Path("nowhere")) == Path("nowhere/config")
