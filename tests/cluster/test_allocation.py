"""Test the workflow inside one allocation of a real Slurm, as docs/clusters.md describes."""

import shlex
import subprocess
import sys

import pytest
from project_copy import Project
from slurm_cluster import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.needs("slurm")]


def test_run_uses_resources_of_slurm_allocation(tmp_path):
    project = Project(tmp_path / "project")
    target = "results/demo/statistics.json"
    command = (
        f"{shlex.quote(sys.executable)} -m snakemake --workflow-profile profiles/allocation "
        f"{target}"
    )
    sbatch = "sbatch --wait --cpus-per-task 1 --mem 2500 --output said.txt --wrap".split()
    with Cluster(tmp_path / "slurm") as cluster:
        environment = cluster.added_to(project.environment)
        subprocess.run(
            [*sbatch, command], cwd=project.folder, env=environment, check=False, timeout=900
        )
        (job,) = cluster.jobs()
    said = (project.folder / "said.txt").read_text()
    assert (job.state, job.cpus) == ("COMPLETED", 1), said
    (log,) = (project.folder / ".snakemake/log").glob("*.snakemake.log")
    assert "Provided cores: 1" in log.read_text()
    assert (project.folder / target).exists()
