"""The begin and the end of a run."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from suite_cases import project_of, suite

from xmlc.core.errors import XmlcError
from xmlc.core.files import OURS, atomic_folder, write_json
from xmlc.suites.runs import LastRun, begin, check_installed, datasets_left_out, end, made_by, read_project, sweep


def test_a_mistake_in_the_configuration_ends_with_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    with pytest.raises(SystemExit, match=r"^xmlc: error: config: .*mirorr"):
        read_project({"papers": [], "mirorr": "x"})


def test_datasets_of_earlier_runs_that_tables_leave_out_are_named(tmp_path):
    papers = {"a": suite({"plt": {}}), "b": suite({"br": {}}), "demo": suite({"plt": {}}, datasets=["toy"])}
    project = project_of(tmp_path / "config", {"datasets": ["mine"]}, **papers)
    for run in ("scene/plt", "scene/br", "mine/plt", "toy/plt", "old/none"):
        write_json(tmp_path / f"results/{run}/seed0/80/train.json", {})
    (tmp_path / "results/begun/plt/seed0/80/model").mkdir(parents=True)
    found = {paper: datasets_left_out(project, [paper], tmp_path) for paper in papers}
    assert found == {"a": ["scene"], "b": ["scene"], "demo": []}
    assert datasets_left_out(project, papers, tmp_path) == ["scene"]


def test_a_run_keeps_its_settings_and_names_what_is_there(tmp_path, monkeypatch):
    project = project_of(tmp_path / "config", a=suite({"plt": {}}), b=suite({"br": {}}))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config/config.yaml").write_text("papers: [b]\nthreads: 8\n")
    config = {"papers": ["b"], "threads": 8, "datasets": ["yeast"]}
    begin(config, project, ["a"], [Path(".snakemake/storage/fs/far/results/yeast/data"), Path("results/tables/a/1.md")])
    run = LastRun.read()
    assert (run.settings, run.targets, run.process) == ({"datasets": ["yeast"]}, ["a"], os.getpid())
    assert run.files == ["results/tables/a/1.md", "results/yeast/data"]
    assert not run.ended
    end()
    assert LastRun.read() == replace(run, ended=True)
    assert not made_by(project)
    (tmp_path / "results/tables/a").mkdir(parents=True)
    (tmp_path / "results/tables/a/table1.md").touch()
    assert "results/tables/a/*.md" in made_by(project)


def test_an_installed_copy_of_other_files_is_refused(tmp_path):
    clone, installed = tmp_path / "clone/xmlc", tmp_path / "site-packages/xmlc"
    check_installed(clone, installed)  # the folder of a run need not be a clone
    (clone / "core").mkdir(parents=True)
    for name in ("__init__.py", "core/a.py"):
        (clone / name).write_text("1")
    shutil.copytree(clone, installed)
    check_installed(clone, installed)
    (clone / "core/a.py").write_text("2")
    with pytest.raises(XmlcError, match=r"clone/xmlc/core/a\.py differs from .*packages/xmlc/core/a\.py"):
        check_installed(clone, installed)


def test_what_ended_processes_left_is_swept(tmp_path):
    left = [tmp_path / name for name in (f"plt/.model{OURS}0a1b2c3d", f"a/b/.table.csv{OURS}0a1b2c3d.csv")]
    for path in left:
        (path / f"inner/.model{OURS}0a1b2c3d").mkdir(parents=True)
        os.utime(path, (0, 0))
    with atomic_folder(tmp_path / "plt/model") as unfinished:
        sweep(tmp_path)
        assert unfinished.exists()
    assert not any(path.exists() for path in left)
    assert (tmp_path / "plt/model").exists()
