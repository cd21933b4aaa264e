"""Test runs that delete models after their last use: tables, killed runs and jobs, and jobs that
run again.
"""

import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from project_copy import Project, counts_of

pytestmark = pytest.mark.slow
DROP = ("--config", "keep_models=false")
#: Each Python that the run starts imports this code. With it, `xmlc rank` reports its start and
#: waits until it is killed.
HOLD = """
import signal, sys
from pathlib import Path
if sys.orig_argv[2:3] == ["rank"]:
    Path("held").touch()
    signal.pause()
"""
#: With this code, each step notes the models on the disk when it starts, and the first `xmlc rank`
#: is killed.
WATCH = """
import os, signal, sys
from pathlib import Path
if sys.orig_argv[2:3] and sys.orig_argv[2] in ("train", "rank", "estimate", "thresholds", "infer"):
    with open("seen.txt", "a") as seen:
        print(sys.orig_argv[2], *Path("results").glob("*/*/seed*/*/temporary"), file=seen)
    if sys.orig_argv[2] == "rank" and not Path("killed").exists():
        Path("killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """Return two copies of the project, in which all models count as large.

    The first kept all models. The second kept no models. Its run was killed and continued, and a
    job of the second run was killed.
    """
    kept, dropped = (Project(tmp_path_factory.mktemp(name)) for name in ("kept", "dropped"))
    for project in (kept, dropped):
        file = project.folder / "xmlc/suite/config/project.py"
        file.write_text(
            re.sub("^LARGE_MODELS = .*", "LARGE_MODELS = 0", file.read_text(), flags=re.MULTILINE)
        )
    kept.run_well("demo", "--config", "keep_models=true")
    added = dropped.folder / "sitecustomize.py"
    added.write_text(HOLD)
    process = subprocess.Popen(
        dropped.command("demo", *DROP),
        cwd=dropped.folder,
        env=dropped.environment,
        start_new_session=True,
    )
    while process.poll() is None and not (dropped.folder / "held").exists():
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    dropped.left = models(dropped)
    # Jobs of the other split may have finished before. The killed job has written only
    # `full/train.json`.
    dropped.finished = len(list(dropped.folder.glob("results/demo/*/seed0/80/train.json")))
    added.write_text(WATCH)
    dropped.run_well("demo", "--unlock", *DROP)
    dropped.said = dropped.run_well(
        "demo", "--cores", "4", "--resources", "mem_mb=50000", "--retries", "1", *DROP
    )
    added.unlink()
    return kept, dropped


def models(project):
    found = []
    for name in ("model", "spe", "temporary"):
        found += project.folder.glob(f"results/*/*/seed*/*/{name}")
    return sorted(str(path.relative_to(project.folder)) for path in found)


def test_resumed_run_gives_equal_results_and_keeps_no_model(projects):
    kept, dropped = projects
    assert len(dropped.left) == 1
    assert len(models(kept)) == 6
    assert models(dropped) == []
    assert dropped.tables() == kept.tables()
    for folder, number in (("80", 2), ("full", 2)):
        assert len(list(dropped.folder.glob(f"results/demo/*/seed0/{folder}/train.json"))) == number
    thresholds = list(kept.folder.glob("results/demo/*/seed0/80/thresholds/*.npy"))
    assert len(thresholds) == 8
    for file in thresholds:
        assert (dropped.folder / file.relative_to(kept.folder)).read_bytes() == file.read_bytes()
    assert dropped.xmlc("status", "papers=[demo]").returncode == 0
    assert dropped.xmlc("verify").returncode == 0


def test_no_two_large_models_are_on_disk_even_after_a_kill(projects):
    _, dropped = projects
    assert "failed: Train and use " in dropped.said
    steps = [line.split() for line in (dropped.folder / "seen.txt").read_text().splitlines()]
    names = [step for step, *_ in steps]
    assert names.count("rank") == 3  # The killed job of two ran again.
    assert names.count("train") == 4 - dropped.finished + 1
    for step, *there in steps:
        assert len(there) == (0 if step == "train" else 1)


def test_second_run_is_empty_after_models_are_dropped(projects):
    _, dropped = projects
    dropped.run_well("demo", *DROP, "--touch")
    assert dropped.planned("demo", *DROP) == {}


def test_missing_ranking_reruns_all_steps_of_its_model(projects):
    _, dropped = projects
    target = "results/demo/plt/seed0/full/ranking"
    ranking = dropped.folder / target
    before = dropped.tables()
    ranking.with_suffix(".json").unlink()
    assert dropped.planned(f"{target}.json", *DROP) == {"score": 1}
    shutil.rmtree(ranking)
    assert dropped.planned(f"{target}.json", *DROP) == {"train_full_rank": 1, "score": 1}
    dropped.run_well(target, *DROP)
    # For a target, Snakemake keeps the folder, without the model.
    assert [path.name for path in ranking.with_name("temporary").iterdir()] == [
        ".snakemake_timestamp"
    ]
    dropped.run_well("demo", *DROP)
    assert models(dropped) == []
    assert dropped.tables() == before
    planned = dropped.planned_after_an_edit("xmlc/thresholds/methods.py", *DROP)
    assert (
        planned["train_80_estimate_thresholds"]
        == planned["train_80_estimate_thresholds_infer"]
        == 1
    )
    assert "train_full_rank" not in planned


def test_new_measure_ranks_nothing_again_and_the_plan_names_models_to_train(projects):
    _, dropped = projects
    file = "xmlc/metrics/ranking.py"
    with dropped.restored(file):
        edited = dropped.folder / file
        edited.write_text(f"{edited.read_text()}\nNEW = 1\n")
        said = dropped.run_well("demo", "--dry-run", *DROP)
    planned = counts_of(said)
    assert planned["score"] == 2
    assert {rule for rule in planned if rule.startswith("train_")} == {
        "train_80_estimate_thresholds", "train_80_estimate_thresholds_infer"
    }  # fmt: skip
    assert re.search(r"trained again.*keep_models.*: 2\n", said)


def test_batched_seeds_are_separate_jobs_if_models_are_dropped(projects):
    kept, _ = projects
    settings = (*DROP, "mirror=http://localhost/none", "datasets=[far-set]")
    rankings = [f"results/far-set/oplt-b-1-pass/seed{seed}/full/ranking.json" for seed in (0, 4)]
    planned = kept.planned(rankings[0], rankings[1], *settings)
    assert planned == {"download": 1, "prepare": 1, "train_full_rank": 2, "score": 2}
