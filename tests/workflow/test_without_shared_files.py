"""Test a run whose jobs share no files, as on Kubernetes: jobs pass all files through a storage."""

import subprocess
import sys
from pathlib import Path

import pytest
from project_copy import Project

from xmlc.core.files import read_json
from xmlc.suite.results.fingerprint import fingerprint

pytestmark = [pytest.mark.slow, pytest.mark.needs("storage")]
# Snakemake finds the executor `elsewhere` in this folder.
SUPPORT = Path(__file__).parents[1] / "support"
TABLE = "results/tables/demo/table2.csv"
DROPPED = "results/demo/plt/seed1/80/evaluation"


def make_demo(folder):
    """Return a copy of the project whose demo is one model, its thresholds and one table."""
    project = Project(folder)
    few = {"tables": ["table2"], "figures": [], "measures": [], "seeds": [0]}
    project.edit_yaml(
        "config/demo.yaml", lambda content: content.update(few) or content.pop("inference")
    )
    project.edit_yaml("config/demo.yaml", lambda content: content["models"].pop("oracle"))
    return project


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    project = make_demo(tmp_path_factory.mktemp("local"))
    # as in the storage, because manifests list threads
    project.run_well(TABLE, "--config", "threads=1")
    return project


@pytest.fixture(scope="module")
def storage(tmp_path_factory, expected):
    """Return the storage after two runs in which each job began in an empty folder."""
    project = make_demo(tmp_path_factory.mktemp("project"))
    storage = tmp_path_factory.mktemp("storage")
    jobs = tmp_path_factory.mktemp("jobs")
    # Snakemake sends the files in git to the jobs. The container image has all other files.
    for words in (["init", "--quiet"], ["add", *(path.name for path in project.folder.iterdir())]):
        subprocess.run(["git", *words], cwd=project.folder, check=True)
    project.environment["PYTHONPATH"] += f":{SUPPORT}"
    project.environment["ELSEWHERE"] = str(jobs)
    command = (
        "-m snakemake --executor elsewhere --jobs 2 --shared-fs-usage none "
        "--default-storage-provider fs"
    ).split()
    command += ["--default-storage-prefix", str(storage), "--config", "threads=1"]
    # The jobs are synthesise, prepare, train, estimate and thresholds, then tune and
    # train_80_estimate_thresholds.
    runs = {
        5: ["--", TABLE],
        7: ["keep_models=false", "tuning={method: random, budget: 2}", "--", DROPPED],
    }
    for number, words in runs.items():
        done = subprocess.run(
            [sys.executable, *command, *words],
            cwd=project.folder,
            env=project.environment,
            capture_output=True,
            text=True,
            timeout=1800,
        )
        logs = "\n".join(log.read_text()[-2000:] for log in jobs.glob("*.log"))
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:] + logs
        assert len(list(jobs.glob("*.log"))) == number
    assert not (project.folder / "results/demo").exists()
    return storage


def test_table_equals_local_run(storage, expected):
    assert fingerprint(storage / TABLE) == fingerprint(expected.folder / TABLE)


def test_model_that_is_deleted_is_not_stored(storage):
    assert (storage / DROPPED / "sto.json").exists()
    stored = [path.name for path in (storage / DROPPED).with_name("temporary").iterdir()]
    assert stored == [".snakemake_timestamp"]


def test_files_fetched_from_storage_support_report(storage, expected):
    """The manifest has the project's paths, so `xmlc status` and the page find the records."""
    made, local = (
        read_json(folder / TABLE.replace(".csv", ".manifest.json"))
        for folder in (storage, expected.folder)
    )
    assert made == local
    assert all((storage / record).exists() for record in made["records"])
