"""What the jobs of a run took, beside what the plan foretold of them (`xmlc.suite.config.resources`)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import click

from benchmarks.commands import group
from xmlc.core.files import atomic_file, read_json
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.project import Project
from xmlc.suite.config.resources import taken
from xmlc.suite.config.runs import LastRun
from xmlc.suite.config.settings import read_config

STEPS = {"evaluate": "thresholds"}  # of a record whose step has another name than its rule
LONG, BIG = 60.0, 1e9  # seconds and bytes: below them nobody asks what a job takes, and a start is most of it
HELP = """Print what the jobs of the last run in this folder took, by step, beside what its plan foretold: processor
hours, the largest job, and the ratio foretold / measured, of jobs of a minute, or of 1 GB, and more."""


@dataclass
class Job:
    """A job: processor seconds, and bytes of memory and on disk, as measured and as foretold."""

    step: str
    dataset: str
    model: str
    seconds: float
    peak: float
    disk: float
    seconds_foretold: float
    peak_foretold: float
    disk_foretold: float


@group.command("foretold", help=HELP)
@click.option("--out", type=click.Path(path_type=Path), help="CSV file for a row of each job.")
def bench_foretold(out: Path | None) -> None:
    """Compare the jobs of a run."""
    project = Project.read(read_config(config_folder() / "config.yaml") | LastRun.read().settings)
    jobs = jobs_of(project, Path("results"))
    click.echo("\n".join(told(jobs)))
    if out:
        with atomic_file(out) as path, path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, Job.__annotations__, lineterminator="\n")
            writer.writeheader()
            writer.writerows(map(asdict, jobs))


def jobs_of(project: Project, results: Path) -> list[Job]:
    """Return the jobs of models whose records lie below a folder; those of methods are one job a folder."""
    jobs: dict[tuple[str, ...], Job] = {}
    for record in sorted(results.rglob("*.json")):
        step = read_json(record).get("step")
        if not isinstance(step, dict) or not step["model"] or step["model"] not in project.models:
            continue
        name = str(STEPS.get(step["name"], step["name"]))
        key = name, str(record.parent if record.parent.name in paths.OF_METHODS else record)
        if key not in jobs:
            wildcards = {each: str(step[each]) for each in ("dataset", "model", "portion")}
            foretold = taken(project, name, wildcards)
            jobs[key] = Job(name, step["dataset"], step["model"], 0.0, 0.0, 0.0, *foretold)
        jobs[key].seconds += step["cpu_seconds"]
        jobs[key].peak = max(jobs[key].peak, step["peak_bytes"])
        jobs[key].disk += step["written_bytes"] or 0
    return list(jobs.values())


def told(jobs: Sequence[Job]) -> list[str]:
    """Return a table as lines: for each step, and for all, measured and foretold."""
    lines = [f"{'step':12} {'jobs':>5} {'hours':>12} {'largest, GB':>12}  foretold / measured (least, median, most)"]
    lines.append(f"{'':43}  {'seconds':18}{'memory':18}{'disk':18}")
    for step in [*sorted({job.step for job in jobs}), "all"]:
        of_step = [job for job in jobs if step in (job.step, "all")]
        seconds = [(job.seconds, job.seconds_foretold) for job in of_step]
        peaks = [(job.peak, job.peak_foretold) for job in of_step]
        disks = [(job.disk, job.disk_foretold) for job in of_step]
        hours = " ".join(f"{sum(column) / 3600:.2f}" for column in zip(*seconds, strict=True))
        largest = " ".join(f"{max(column) / 1e9:.1f}" for column in zip(*peaks, strict=True))
        cells = ratios(seconds, LONG), ratios(peaks, BIG), ratios(disks, BIG)
        lines.append(f"{step:12} {len(of_step):5} {hours:>12} {largest:>12}  {''.join(f'{cell:18}' for cell in cells)}")
    return [line.rstrip() for line in lines]


def ratios(pairs: Iterable[tuple[float, float]], least: float) -> str:
    """Return foretold / measured: the least, the median and the most of the pairs that reach a size."""
    found = [foretold / measured for measured, foretold in pairs if measured and max(measured, foretold) >= least]
    return f"{min(found):.2f} {median(found):.2f} {max(found):.2f}" if found else "-"
