"""Checks of a Slurm cluster before the first job of a run is submitted.

The executor looks at none of this: a job of more threads than a node has waits for ever, and jobs that a killed run
left behind go on beside those of the next.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError

EXECUTOR = "slurm"
DEFAULT = "(default)"  # the partition of jobs that name none
#: Seconds to wait until cancelled jobs have ended; Slurm kills what does not end by itself after half a minute.
PATIENCE = 180.0
PAUSE = 2.0
#: The executor names its jobs after the run, a random identifier behind an optional prefix; the rule is their comment.
JOB_OF_RUN = re.compile(r"([^|]+)\|(?:[\w-]+_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\|(?:rule|group)_[^|]*\|(.*)")


def before_submission(workflow: Any) -> None:
    """Refuse a run with a job of too many threads, and cancel jobs of a killed run; do nothing with other executors.

    Called when the jobs are known and this run has the folder for itself (`xmlc.suites.controller`).

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        Whose jobs are about to be submitted.

    Raises
    ------
    WorkflowError
        A job would wait for ever, jobs do not end, or Slurm does not answer.
    """
    if workflow.executor_plugin.name == EXECUTOR:
        refuse_wide((job for job in workflow.dag.needrun_jobs() if not job.is_local), most_threads())
        cancel_left(os.getcwd())


def refuse_wide(jobs: Iterable[Any], most: Mapping[str, int]) -> None:
    """Refuse a job with more threads than any node of its partitions has; Slurm itself refuses too much memory."""
    for job in sorted(jobs, key=lambda job: -job.threads):
        partition = str(job.resources.get("slurm_partition") or DEFAULT)
        there = max(most.get(name, 0) for name in partition.split(","))
        if job.threads > there:
            raise WorkflowError(
                f"{job.rule.name} asks for {job.threads} threads, and the partition {partition} has nodes of {there} at"
                " most: give --config threads=..., or another `slurm_partition` in profiles/slurm/profile.yaml"
                f" (this cluster has {', '.join(sorted(set(most) - {DEFAULT}))})."
            )


def most_threads() -> dict[str, int]:
    """Return the threads of the largest node of each partition, and of the default one, as ``sinfo`` lists them."""
    found: dict[str, int] = {}
    for line in ask("sinfo", "--noheader", "--exact", "--format", "%P|%c").splitlines():
        name, threads = line.strip().split("|")
        for key in [name.rstrip("*"), DEFAULT] if name.endswith("*") else [name]:
            # A sign behind a number says that some of the nodes have more.
            found[key] = max(found.get(key, 0), int(threads.rstrip("+")))
    return found


def cancel_left(folder: str) -> None:
    """Cancel the jobs that a killed run left in a folder, and wait until they have ended.

    A run that is killed cannot cancel its jobs. They would go on beside those of the next run, which makes the same
    results: their controller alone knew what they were for. Nobody else may run the workflow there now.

    Raises
    ------
    WorkflowError
        They have not ended after `PATIENCE`.
    """
    if not (left := jobs_in(folder)):
        return
    print(f"Cancelling jobs that a killed run left in this folder: {', '.join(left)}", file=sys.stderr, flush=True)
    ask("scancel", *left)
    deadline = time.monotonic() + PATIENCE
    while left := jobs_in(folder):
        if time.monotonic() > deadline:
            raise WorkflowError(
                f"jobs of a killed run do not end: {', '.join(left)}. Give the command again when `squeue --me` no"
                " longer lists them."
            )
        time.sleep(PAUSE)


def jobs_in(folder: str) -> list[str]:
    """Return the numbers of this user's jobs that wait or run and that the executor submitted in a folder."""
    lines = ask("squeue", "--me", "--noheader", "--format", "%i|%j|%k|%Z").splitlines()
    found = [job for line in lines if (job := JOB_OF_RUN.fullmatch(line.strip()))]
    return [job[1] for job in found if os.path.realpath(job[2]) == os.path.realpath(folder)]


def ask(*command: str) -> str:
    """Return the output of a Slurm command."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise WorkflowError(f"Slurm does not answer `{command[0]}`: {said.strip()}") from None
