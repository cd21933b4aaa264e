"""Compare the measured costs of a run's jobs with their estimates (`xmlc.suite.config.run_costs`)."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.commands import group
from xmlc.core.files import atomic_file, read_json
from xmlc.suite.config import run_costs
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.project import Project
from xmlc.suite.config.runs import LastRun
from xmlc.suite.config.settings import read_config

# Ratios include only jobs with a measured or estimated cost of at least LONG CPU seconds or BIG bytes. If a job costs
# less, most of its cost is the start of the process.
LONG, BIG = 60.0, 1e9
HELP = """Compare measured costs of the last run with their estimates.

The table lists CPU hours and the largest job of each step. The ratio estimated / measured is for jobs of at least a
minute, or of at least 1 GB."""


@dataclass
class Job:
    """Hold the measured and estimated CPU seconds, bytes of memory and bytes on disk of a job."""

    step: str
    dataset: str
    model: str
    seconds: float
    peak: float
    disk: float
    seconds_estimated: float
    peak_estimated: float
    disk_estimated: float


@group.command("cost-estimates", help=HELP)
@click.option("--out", type=click.Path(path_type=Path), help="CSV file to write, with a row for each job.")
def bench_estimated(out: Path | None) -> None:
    """Print the measured and estimated costs of a run's jobs."""
    project = Project.read(read_config(config_folder() / "config.yaml") | LastRun.read().settings)
    jobs = jobs_of(project, Path("results"))
    click.echo("\n".join(lines_of(jobs)))
    if out:
        with atomic_file(out) as path, path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, Job.__annotations__, lineterminator="\n")
            writer.writeheader()
            writer.writerows(map(asdict, jobs))


def jobs_of(project: Project, results: Path) -> list[Job]:
    """Return the jobs that have records with measured costs below the folder ``results``.

    CPU seconds and bytes on disk are totals over all records of a job, and memory is the maximum over all records of a
    job.
    """
    steps: dict[run_costs.Job, list[Any]] = {}
    files = sorted(results.rglob("*.json"))
    paths = [str(Path("results", file.relative_to(results))) for file in files]
    for file, path in zip(files, paths, strict=True):
        job = run_costs.job_of(path)
        if job and isinstance(step := read_json(file).get("step"), dict):
            steps.setdefault(job, []).append(step)
    return [
        Job(
            *job[:3],
            math.fsum(step["cpu_seconds"] for step in steps[job]),
            max(step["peak_bytes"] for step in steps[job]),
            sum(step["written_bytes"] or 0 for step in steps[job]),
            *cost,
        )
        for job, cost in run_costs.estimate(project, paths).items()
        if job in steps
    ]


def lines_of(jobs: Sequence[Job]) -> list[str]:
    """Return the lines of a table with the measured and estimated costs of each step and of all steps."""
    lines = [f"{'step':12} {'jobs':>5} {'hours':>12} {'largest, GB':>12}  estimated / measured (least, median, most)"]
    lines.append(f"{'':43}  {'seconds':18}{'memory':18}{'disk':18}")
    for step in [*sorted({job.step for job in jobs}), "all"]:
        of_step = [job for job in jobs if step in (job.step, "all")]
        seconds = [(job.seconds, job.seconds_estimated) for job in of_step]
        peaks = [(job.peak, job.peak_estimated) for job in of_step]
        disks = [(job.disk, job.disk_estimated) for job in of_step]
        hours = " ".join(f"{sum(column) / 3600:.2f}" for column in zip(*seconds, strict=True))
        largest = " ".join(f"{max(column) / 1e9:.1f}" for column in zip(*peaks, strict=True))
        cells = ratios(seconds, LONG), ratios(peaks, BIG), ratios(disks, BIG)
        lines.append(f"{step:12} {len(of_step):5} {hours:>12} {largest:>12}  {''.join(f'{cell:18}' for cell in cells)}")
    return [line.rstrip() for line in lines]


def ratios(pairs: Iterable[tuple[float, float]], least: float) -> str:
    """Return the least, median and largest ratio estimated / measured as text.

    A pair is used only if its measured or estimated cost is at least ``least``.
    """
    found = [estimated / measured for measured, estimated in pairs if measured and max(measured, estimated) >= least]
    return f"{min(found):.2f} {median(found):.2f} {max(found):.2f}" if found else "-"
