"""Test the start and the end of a run."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import run
from facts import absent, raises_with
from suite_cases import project_of, suite

from xmlc.core.checksums import Damaged
from xmlc.core.files import OURS, atomic_folder
from xmlc.core.sources import PACKAGE
from xmlc.suite.config import runs
from xmlc.suite.config.runs import (
    LastRun,
    begin,
    end,
    in_one_line,
    made_by,
    sweep,
    trained_again,
)


def test_planning_names_damaged_result_and_target_that_rebuilds_it():
    record = Path("results/yeast/statistics.json")
    with raises_with(SystemExit, f"Delete {record}", f"snakemake {record}"):
        with in_one_line():
            raise Damaged(record, "was edited", record)


@pytest.mark.parametrize("text", ["", '{"files": ["resu', "[]"])
def test_damaged_settings_of_last_run_are_ignored(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs.LAST_RUN.parent.mkdir()
    runs.LAST_RUN.write_text(text)
    assert LastRun.read() == LastRun()


def test_models_that_a_killed_run_left_are_deleted_at_the_start(tmp_path, monkeypatch):
    project = project_of(tmp_path / "config", a=suite())
    monkeypatch.chdir(tmp_path)
    Path("config/config.yaml").write_text("papers: [a]\n")
    big = Path("results/big")
    trial = ".model+xmlc-other-node+1"
    left = [
        big / "plt/seed0/80/temporary/spe",
        big / "plt/seed0/full/sweeps/a/arity.trial" / trial,
        big / "tuning/plt.trial" / trial,
    ]
    kept = big / "plt/seed0/full/model"
    for folder in (*left, kept):
        folder.mkdir(parents=True)
    begin({"papers": ["a"]}, project, ["a"], [])
    end()
    assert not any(folder.parent.exists() for folder in left)
    assert kept.exists()


def test_run_saves_its_settings_and_names_its_results(tmp_path, monkeypatch):
    project = project_of(tmp_path / "config", a=suite(), b=suite())
    monkeypatch.chdir(tmp_path)
    Path("config/config.yaml").write_text("papers: [b]\nthreads: 8\n")
    config = {"papers": ["b"], "threads": 8, "datasets": ["yeast"]}
    files = [Path(".snakemake/storage/fs/far/results/yeast/data"), Path("results/tables/a/1.md")]
    begin(config, project, ["a"], files)
    run = LastRun.read()
    assert run.settings == {"datasets": ["yeast"]}
    assert run.targets == ["a"]
    assert run.process == os.getpid()
    assert run.files == ["results/tables/a/1.md", "results/yeast/data"]
    assert not run.ended
    end()
    assert LastRun.read() == replace(run, ended=True)
    assert not made_by(project)
    Path("results/tables/a").mkdir(parents=True)
    Path("results/tables/a/table1.md").touch()
    assert "results/tables/a/*.md" in made_by(project)


def test_command_prints_its_package_folder(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.rstrip().endswith(f" from {PACKAGE}")


def test_temporary_files_of_ended_processes_are_deleted(tmp_path):
    left = [tmp_path / f"plt/.model{OURS}0a1b2c3d", tmp_path / f"a/.table.csv{OURS}0a1b2c3d.csv"]
    for path in left:
        (path / f"inner/.model{OURS}0a1b2c3d").mkdir(parents=True)
        os.utime(path, (0, 0))
    with atomic_folder(tmp_path / "plt/model") as unfinished:
        sweep(tmp_path)
        assert unfinished.exists()
    assert not any(path.exists() for path in left)
    assert (tmp_path / "plt/model").exists()


def test_models_that_are_trained_again_after_deletion_are_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = [Path(f"results/yeast/plt/seed{seed}/80") for seed in (0, 1)]
    made = [str(run / "temporary") for run in runs]
    assert trained_again(made) == []
    runs[0].mkdir(parents=True)
    (runs[0] / "train.json").touch()
    (line,) = trained_again(made)
    assert absent(line, "1", "keep_models") == []
    assert trained_again([f"{runs[0]}/model", f"{runs[0]}/train.json"]) == []
