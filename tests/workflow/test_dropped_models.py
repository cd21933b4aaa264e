"""Test runs that delete models after their last use: tables, killed runs, and jobs that run again."""

import os
import signal
import subprocess
import time

import pytest
from project_copy import Project

from xmlc.core.files import read_json

pytestmark = pytest.mark.slow
DROP = ("--config", "keep_models=false")
#: Each Python that the run starts imports this code. With it, `xmlc rank` reports its start and waits until it is
#: killed.
HOLD = """
import signal, sys
from pathlib import Path
if sys.orig_argv[2:3] == ["rank"]:
    Path("held").touch()
    signal.pause()
"""


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """Return two copies of the project.

    The first kept all models. The second was killed, continued, and kept no models.
    """
    kept, dropped = (Project(tmp_path_factory.mktemp(name)) for name in ("kept", "dropped"))
    kept.run_well("demo")
    command = dropped.command("demo", *DROP)
    (dropped.folder / "sitecustomize.py").write_text(HOLD)
    process = subprocess.Popen(command, cwd=dropped.folder, env=dropped.environment, start_new_session=True)
    while process.poll() is None and not (dropped.folder / "held").exists():
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (dropped.folder / "sitecustomize.py").unlink()
    dropped.left = models(dropped)
    dropped.run_well("demo", "--unlock", *DROP)
    dropped.said = dropped.run_well("demo", *DROP)
    return kept, dropped


def models(project):
    found = [path for name in ("model", "spe") for path in project.folder.glob(f"results/*/*/seed*/*/{name}")]
    return sorted(str(path.relative_to(project.folder)) for path in found)


def test_resumed_run_gives_equal_tables_and_keeps_no_model(projects):
    kept, dropped = projects
    assert dropped.left
    assert len(models(kept)) == 6
    assert models(dropped) == []
    assert dropped.tables() == kept.tables()
    assert len(list(dropped.folder.glob("results/demo/*/seed0/*/train.json"))) == 4
    assert dropped.xmlc("status", "--paper", "demo").returncode == 0
    assert " GB on disk, " in dropped.said
    for folder in dropped.left:  # The folder was complete when the run was killed, so its model is not trained again.
        assert read_json(dropped.folder / folder.replace("/model", "/train.json").replace("/spe", "/train.json"))


def test_second_run_is_empty_after_models_are_dropped(projects):
    _, dropped = projects
    dropped.run_well("demo", *DROP, "--touch")
    assert dropped.planned("demo", *DROP) == {}


def test_later_step_retrains_only_the_dropped_model(projects):
    _, dropped = projects
    ranking = dropped.folder / "results/demo/plt/seed0/full/ranking.json"
    before = dropped.tables()
    ranking.unlink()
    planned = dropped.planned("results/demo/plt/seed0/full/ranking.json", *DROP)
    assert planned == {"train_and_drop": 1, "rank": 1}
    dropped.run_well("demo", *DROP)
    assert models(dropped) == []
    assert dropped.tables() == before
    planned = dropped.planned_after_an_edit("xmlc/thresholds/methods.py", *DROP)
    assert planned["thresholds"] == planned["estimate_and_drop"] == planned["train_and_drop"] == 2


def test_batched_seeds_are_separate_jobs_if_models_are_dropped(projects):
    kept, _ = projects
    settings = (*DROP, "mirror=http://localhost/none")
    rankings = [f"results/far-set/oplt-b-1-pass/seed{seed}/full/ranking.json" for seed in (0, 4)]
    planned = kept.planned(rankings[0], rankings[1], *settings)
    assert planned == {"download": 1, "prepare": 1, "train_and_drop": 2, "rank": 2}
