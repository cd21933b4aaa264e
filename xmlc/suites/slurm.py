"""Checks of a Slurm cluster before the first job of a run is submitted.

The executor looks at none of this: a job that fits no node waits for ever, and jobs that a killed run left behind go on
beside those of the next.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from snakemake_interface_common.exceptions import WorkflowError

EXECUTOR = "slurm"
PROFILE = "profiles/slurm/profile.yaml"
DEFAULT = "(default)"  # the partition of jobs that name none
#: Seconds to wait until cancelled jobs have ended; Slurm kills what does not end by itself after half a minute.
PATIENCE = 180.0
PAUSE = 2.0
#: The executor names its jobs after the run, a random identifier behind an optional prefix; the rule is their comment.
JOB_OF_RUN = re.compile(r"([^|]+)\|(?:[\w-]+_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\|(?:rule|group)_[^|]*\|(.*)")


class Size(NamedTuple):
    """What a job asks for, or what a job on one kind of nodes can have at most."""

    threads: int
    memory_mb: int
    minutes: float

    def __str__(self) -> str:
        """Return it in words."""
        limit = "" if self.minutes == float("inf") else f", {self.minutes:,.0f} minutes"
        return f"{self.threads} threads, {self.memory_mb:,} MB{limit}"

    def fits(self, node: Size) -> bool:
        """Whether a node, with nothing else on it, can run the job."""
        return all(asked <= there for asked, there in zip(self, node, strict=True))


class Demand(NamedTuple):
    """A job with what it asks for."""

    size: Size
    about: str
    partition: str


def before_submission(workflow: Any) -> None:
    """Refuse a run with a job that fits on no node, and cancel jobs of a killed run; do nothing with other executors.

    Called when the jobs are known and this run has the folder for itself (`xmlc.suites.controller`).

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        Whose jobs are about to be submitted.

    Raises
    ------
    WorkflowError
        A partition that does not exist, a job that would wait for ever, jobs that do not end, or no answer from Slurm.
    """
    if workflow.executor_plugin.name == EXECUTOR:
        refuse_misfits([demand(job) for job in workflow.dag.needrun_jobs() if not job.is_local], partitions())
        cancel_left(os.getcwd())


def demand(job: Any) -> Demand:
    """Return what the first attempt of a Snakemake job asks for; 0 of what is known only later."""
    memory, minutes = (job.resources.get(key) for key in ("mem_mb", "runtime"))
    size = Size(job.threads, *(value if isinstance(value, int) else 0 for value in (memory, minutes)))
    about = f"{job.rule.name} ({', '.join(job.wildcards)})" if job.wildcards else job.rule.name
    return Demand(size, about, str(job.resources.get("slurm_partition") or DEFAULT))


def refuse_misfits(demands: Iterable[Demand], nodes: Mapping[str, list[Size]]) -> None:
    """Raise an error that names the largest job that no node of its partition can have, if there is one.

    Parameters
    ----------
    demands : iterable of Demand
    nodes : dict of str to list of Size
        The kinds of nodes of each partition, as of `partitions`.
    """
    misfits = []
    for job in demands:
        names = job.partition.split(",")
        if unknown := set(names) - set(nodes):
            raise WorkflowError(
                f"this cluster has no partition {', '.join(sorted(unknown))}; it has"
                f" {', '.join(sorted(set(nodes) - {DEFAULT})) or 'none'}. Edit `slurm_partition` in {PROFILE}."
            )
        if not any(job.size.fits(node) for name in names for node in nodes[name]):
            misfits.append(job)
    if misfits:
        size, about, partition = max(misfits)
        kinds = sorted({str(node) for name in partition.split(",") for node in nodes[name]})
        raise WorkflowError(
            f"jobs that no node can run would wait for ever ({len(misfits)}), such as {about}, which asks for {size}."
            f" The nodes of the partition {partition} have {'; or '.join(kinds)}. Ask for fewer threads"
            f" (`--config threads=...`) or for another partition (`slurm_partition` in {PROFILE})."
        )


def partitions() -> dict[str, list[Size]]:
    """Return the kinds of nodes of each partition, and of the default one, as ``sinfo`` lists them."""
    found: dict[str, list[Size]] = {}
    for line in ask("sinfo", "--noheader", "--exact", "--format", "%P|%c|%m|%l").splitlines():
        name, threads, memory, limit = line.strip().split("|")
        # A sign behind a number says that some of the nodes have more.
        size = Size(int(threads.rstrip("+")), int(memory.rstrip("+")), minutes(limit))
        for key in [name.rstrip("*"), DEFAULT] if name.endswith("*") else [name]:
            found.setdefault(key, []).append(size)
    return found


def minutes(limit: str) -> float:
    """Return the minutes of a time limit as Slurm writes it: ``infinite`` or ``[days-][hours:]minutes:seconds``."""
    if not limit[:1].isdigit():
        return float("inf")
    days, _, clock = limit.rpartition("-")
    seconds = 0
    for part in clock.split(":"):
        seconds = 60 * seconds + int(part)
    return 1440 * int(days or 0) + seconds / 60


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
