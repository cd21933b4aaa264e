"""Test the workflow on a real Slurm of one node on this machine, as docs/clusters.md describes."""

import shutil
import signal
import subprocess
import sys
import time

import pytest
from project_copy import Project, finished_demo
from slurm_cluster import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.needs("slurm")]
# Small jobs end soon, and a small cluster can answer often, so the job states are checked often.
COMMAND = [
    *(
        "-m snakemake --workflow-profile profiles/slurm --slurm-init-seconds-before-status-checks 3"
    ).split(),
    "demo",
]
ONE_THREAD = ["--config", "threads=1"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return the tables of a local run."""
    return finished_demo(tmp_path_factory.mktemp("local")).tables()


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Project(tmp_path_factory.mktemp("project"))


@pytest.fixture
def start(cluster, project):
    """Return a function that starts the command. All runs are killed after the test."""
    started = []

    def begin(*arguments):
        run = subprocess.Popen(
            [sys.executable, *COMMAND, *arguments],
            cwd=project.folder,
            env=cluster.added_to(project.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(run)
        return run

    yield begin
    for run in started:
        run.kill()
        run.communicate()


def finish(run):
    """Wait for a run and return its output."""
    printed, _ = run.communicate(timeout=900)
    assert run.returncode == 0, printed[-5000:]
    return printed


def test_demo_equals_local_run_even_with_cancelled_job(cluster, project, start, expected):
    run = start(*ONE_THREAD)
    cancelled = cluster.wait_for_job("train")
    cluster.ask("scancel", cancelled.id)
    finish(run)
    jobs = [job for job in cluster.jobs() if job.comment == cancelled.comment]
    assert [job.state for job in jobs] == ["CANCELLED", "COMPLETED"]
    assert {job.state for job in cluster.jobs()} == {"CANCELLED", "COMPLETED"}
    assert project.tables() == expected


def test_same_command_finishes_after_kill_and_cancelled_jobs(cluster, project, start, expected):
    for folder in ("results/demo/plt", "results/tables/demo"):
        shutil.rmtree(project.folder / folder)
    before = {job.id for job in cluster.jobs()}
    run = start(*ONE_THREAD)
    running = cluster.wait_for_job("train")
    run.send_signal(signal.SIGKILL)
    run.wait()
    # No process waits for this job.
    assert running.id in {job.id for job in cluster.jobs("RUNNING")}
    # This is the command in docs/clusters.md.
    cluster.ask("scancel", *(job.id for job in cluster.jobs("PENDING", "RUNNING")))
    while cluster.jobs("PENDING", "RUNNING", "COMPLETING"):
        time.sleep(0.5)
    finish(start("--unlock"))
    finish(start(*ONE_THREAD))
    by_step = {}
    for job in cluster.jobs():
        if job.id not in before:
            by_step.setdefault(job.comment, []).append(job.state)
    assert all(states.count("COMPLETED") == 1 for states in by_step.values())
    assert project.tables() == expected
