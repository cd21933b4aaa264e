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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError

EXECUTOR = "slurm"
PROFILE = "profiles/slurm/profile.yaml"
#: Seconds to wait until cancelled jobs have ended; Slurm kills what does not end by itself after half a minute.
PATIENCE = 180.0
PAUSE = 2.0
#: The executor names its jobs after the run, a random identifier behind an optional prefix; the rule is their comment.
NAME_OF_RUN = re.compile(r"(?:[\w-]+_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
COMMENT = re.compile(r"(?:rule|group)_")
#: Resources that send a job to another cluster, whose nodes are not asked for.
OTHER_CLUSTERS = ("slurm_cluster", "cluster", "clusters")


@dataclass(frozen=True)
class Nodes:
    """Nodes of a partition that are alike."""

    partition: str
    is_default: bool
    threads: int
    memory_mb: int
    #: Longest job, minutes; infinite where there is no limit.
    minutes: float

    def __str__(self) -> str:
        """Return the limits of a job there, in words."""
        limit = "" if self.minutes == float("inf") else f", jobs of {self.minutes:,.0f} minutes"
        return f"{self.threads} threads, {self.memory_mb:,} MB{limit}"


@dataclass(frozen=True)
class Demand:
    """Resources requested by a job."""

    about: str
    partition: str | None
    threads: int
    memory_mb: int
    minutes: float

    def fits(self, nodes: Nodes) -> bool:
        """Whether one of these nodes, with nothing else on it, can run the job."""
        return self.threads <= nodes.threads and self.memory_mb <= nodes.memory_mb and self.minutes <= nodes.minutes


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
    if workflow.executor_plugin.name != EXECUTOR:
        return
    jobs = [job for job in workflow.dag.needrun_jobs() if not job.is_local]
    if not any(job.resources.get(key) for job in jobs for key in OTHER_CLUSTERS):
        refuse_misfits(map(demand, jobs), partitions())
    folder = os.getcwd()
    if left := jobs_in(folder):
        print(f"Cancelling jobs that a killed run left in this folder: {', '.join(left)}", file=sys.stderr, flush=True)
        cancel(left, folder)


def demand(job: Any) -> Demand:
    """Return the resources of a Snakemake job's first attempt; 0 where they are known only later."""
    partition, memory, minutes = (job.resources.get(key) for key in ("slurm_partition", "mem_mb", "runtime"))
    return Demand(
        f"{job.rule.name} ({', '.join(job.wildcards)})" if job.wildcards else job.rule.name,
        str(partition) if partition else None,
        job.threads,
        memory if isinstance(memory, int) else 0,
        minutes if isinstance(minutes, int) else 0,
    )


def refuse_misfits(demands: Iterable[Demand], nodes: Sequence[Nodes]) -> None:
    """Raise an error that names the largest job that no node of its partition can have, if there is one.

    Parameters
    ----------
    demands : iterable of Demand
        What jobs ask for.
    nodes : sequence of Nodes
        All kinds of nodes of all partitions.
    """
    there = ", ".join(sorted({each.partition for each in nodes})) or "none"
    misfits = []
    for each in demands:
        names = each.partition.split(",") if each.partition else [n.partition for n in nodes if n.is_default]
        known = [n for n in nodes if n.partition in names]
        if unknown := set(names) - {n.partition for n in known}:
            raise WorkflowError(
                f"this cluster has no partition {', '.join(sorted(unknown))}; it has {there}."
                f" Edit `slurm_partition` in {PROFILE}."
            )
        if not any(each.fits(n) for n in known):
            misfits.append((each, sorted(set(map(str, known)))))
    if misfits:
        largest, kinds = max(misfits, key=lambda misfit: (misfit[0].threads, misfit[0].memory_mb, misfit[0].minutes))
        raise WorkflowError(
            f"jobs that no node can run would wait for ever ({len(misfits)}), such as {largest.about}, which asks for"
            f" {largest.threads} threads, {largest.memory_mb:,} MB and {largest.minutes:,} minutes. The nodes of the"
            f" partition {largest.partition or '(default)'} have {'; or '.join(kinds)}. Ask for fewer threads"
            f" (`--config threads=...`) or for another partition (`slurm_partition` in {PROFILE})."
        )


def partitions() -> list[Nodes]:
    """Return the kinds of nodes of all partitions, as ``sinfo`` lists them."""
    lines = ask(["sinfo", "--noheader", "--exact", "--format", "%P|%c|%m|%l"]).splitlines()
    return [_nodes(*line.strip().split("|")) for line in lines]


def _nodes(partition: str, threads: str, memory: str, limit: str) -> Nodes:
    # A sign behind a number says that some of the nodes have more.
    return Nodes(
        partition.rstrip("*"),
        partition.endswith("*"),
        int(threads.rstrip("+")),
        int(memory.rstrip("+")),
        minutes(limit),
    )


def minutes(limit: str) -> float:
    """Return the minutes of a time limit as Slurm writes it: ``infinite`` or ``[days-][hours:]minutes:seconds``."""
    if not limit[:1].isdigit():
        return float("inf")
    days, _, clock = limit.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    hours, mins, seconds = [0] * (3 - len(parts)) + parts
    return 1440 * int(days or 0) + 60 * hours + mins + seconds / 60


def cancel(jobs: Sequence[str], folder: str, patience: float = PATIENCE) -> None:
    """Cancel the jobs that a run left in a folder, and wait until they have ended.

    A run that is killed cannot cancel its jobs. They would go on beside those of the next run, which makes the same
    results: their controller alone knew what they were for.

    Parameters
    ----------
    jobs : sequence of str
        Their numbers.
    folder : str
        Where the run was started; nobody else may run the workflow there now.
    patience : float
        Seconds to wait.

    Raises
    ------
    WorkflowError
        They have not ended by then.
    """
    ask(["scancel", *jobs])
    deadline = time.monotonic() + patience
    while remaining := jobs_in(folder):
        if time.monotonic() > deadline:
            raise WorkflowError(
                f"jobs of a killed run do not end: {', '.join(remaining)}. Give the command again when `squeue --me` no"
                " longer lists them."
            )
        time.sleep(PAUSE)


def jobs_in(folder: str) -> list[str]:
    """Return the numbers of this user's jobs that wait or run and that the executor submitted in a folder."""
    lines = ask(["squeue", "--me", "--noheader", "--format", "%i|%j|%k|%Z"]).splitlines()
    jobs = [line.strip().split("|", 3) for line in lines]
    return [
        number
        for number, name, comment, place in jobs
        if NAME_OF_RUN.fullmatch(name)
        and COMMENT.match(comment)
        and os.path.realpath(place) == os.path.realpath(folder)
    ]


def ask(command: Sequence[str]) -> str:
    """Return the output of a Slurm command."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise WorkflowError(f"Slurm does not answer `{' '.join(command[:1])}`: {said.strip()}") from None
