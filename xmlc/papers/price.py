"""What a run costs before it starts: hours, memory and disk of each paper, and what of it fits this machine."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from xmlc.papers.plan import figures_of, tables_of
from xmlc.suites import paths
from xmlc.suites.project import Project
from xmlc.suites.resources import Taken, free_disk, machine_memory, size_of, taken

STEPS = {"ranking.json": "rank", "forest.json": "forest", "progressive.json": "progressive"}
STEPS |= {"evaluation": "thresholds", "inference": "infer", "sweeps": "sweep"}  # by what follows the portion
ON_DISK = 3  # a dataset as text and as arrays, by the bytes of its arrays
DOWNLOADED = 0.6  # an archive of the text


class Job(NamedTuple):
    """A job of a step; of a search no seed and no portion."""

    step: str
    dataset: str
    model: str
    seed: str = ""
    portion: str = ""


class Price(NamedTuple):
    """What some jobs take together: processor hours, the largest job, the most that is on disk at a time, in bytes."""

    hours: float
    largest: Job | None
    memory: float
    disk: float


def jobs_of(project: Project, papers: Iterable[str]) -> dict[Job, Taken]:
    """Return the jobs of models that lead to the tables and figures of suites, each with what it takes."""
    records = {
        record
        for paper in papers
        for files in [*tables_of(project, paper).values(), *figures_of(project, paper).values()]
        for record in files
    }
    jobs: set[Job] = set()
    for record in records:
        if (run := paths.IN_RUN.read(record)) is None:
            continue
        of_run = run["dataset"], run["model"], run["seed"], run["portion"]
        step = STEPS.get(run["rest"].partition("/")[0], "rank")
        before = [] if step == "progressive" else ["train"]
        before += ["estimate"] if run["portion"] == "80" else []
        jobs |= {Job(name, *of_run) for name in (*before, step)}
        if project.tuned_by(run["model"], run["dataset"]):
            jobs.add(Job("tune", run["dataset"], run["model"]))
    alike = {job._replace(seed="") for job in jobs}  # what a job takes does not depend on the seed
    known = {job: taken(project, job.step, job._asdict()) for job in alike}
    return {job: known[job._replace(seed="")] for job in sorted(jobs)}


def price_of(project: Project, datasets: Collection[str], jobs: dict[Job, Taken], drop_all: bool = False) -> Price:
    """Add up jobs; models and estimates that are dropped are on disk one run at a time."""
    runs: dict[Job, float] = {}
    for job, each in jobs.items():
        if job.step in ("train", "estimate"):
            run = job._replace(step="")
            runs[run] = runs.get(run, 0.0) + each.disk
    dropped = {run for run in runs if drop_all or project.drops(run.dataset)}
    kept = sum(size for run, size in runs.items() if run not in dropped)
    disk = ON_DISK * sum(size_of(project, dataset).bytes for dataset in datasets) + kept
    largest = max(jobs, key=lambda job: jobs[job].memory, default=None)
    return Price(
        sum(each.seconds for each in jobs.values()) / 3600,
        largest,
        jobs[largest].memory if largest else 0.0,
        disk + max((runs[run] for run in dropped), default=0.0),
    )


def told(project: Project, papers: Collection[str]) -> str:
    """Return the price of suites as text: a line for each, whether this machine can, and if not, settings that fit."""
    lines = [f"{'price':10} {'processor h':>11} {'disk, GB':>9} {'download, GB':>13}  largest job"]
    jobs: dict[Job, Taken] = {}
    for paper in papers:
        names, of_paper = project.datasets_of(paper), jobs_of(project, [paper])
        price = price_of(project, names, of_paper)
        absent = [name for name in names if not (project.entry(name).synthetic or _is_here(name))]
        download = DOWNLOADED * sum(size_of(project, name).bytes for name in absent)
        numbers = f"{_amount(price.hours):>11} {_gb(price.disk):>9} {_gb(download):>13}"
        lines.append(f"{paper:10} {numbers}  {_gb(price.memory)} GB{_named(price.largest)}")
        jobs |= of_paper
    memory, free = machine_memory(), free_disk()
    peaks: dict[tuple[str, str], tuple[float, str]] = {}
    for job, each in jobs.items():
        if each.memory > memory:
            peaks[job[1:3]] = max(peaks.get(job[1:3], (0.0, "")), (each.memory, job.step))
    datasets = {name for paper in papers for name in project.datasets_of(paper)}
    fitting = {job: each for job, each in jobs.items() if job[1:3] not in peaks}
    disk, least = (price_of(project, datasets, fitting, drop_all).disk for drop_all in (False, True))
    said = f"too large on {len(peaks)} pairs of dataset and model, the largest jobs being" if peaks else "it fits"
    said = "memory is enough, free disk is not" if disk > free and not peaks else said
    lines.append(f"foretold within a factor of 3; memory here {_gb(memory)} GB, free disk {_gb(free)} GB: {said}")
    settings = [f"models='{_without(project, papers, peaks)}'"] if peaks else []
    for dataset in dict.fromkeys(dataset for dataset, _ in peaks):
        alike: dict[tuple[float, str], list[str]] = {}
        for model, peak in sorted((model, peak) for (of, model), peak in peaks.items() if of == dataset):
            alike.setdefault(peak, []).append(model)
        parts = [f"{_gb(peak)} GB {step} {', '.join(models)}" for (peak, step), models in sorted(alike.items())[::-1]]
        lines.append(f"  {dataset}: {'; '.join(parts)}")
    if disk > free:
        lines.append(f"  disk of the jobs that fit: {_gb(disk)} GB, with keep_models=false {_gb(least)} GB")
        settings += ["keep_models=false"] if least < disk else []
    return "\n".join([*lines, *([f"what fits better: --config {' '.join(settings)}"] if settings else [])])


def _without(project: Project, papers: Collection[str], pairs: Collection[tuple[str, str]]) -> str:
    """Return the setting `models` that leaves out pairs of dataset and model."""
    left: dict[str, list[str]] = {dataset: [] for dataset, _ in pairs}
    for paper in papers:
        for dataset in left.keys() & set(project.datasets_of(paper)):
            models = project.models_on(paper, dataset)
            left[dataset] += [m for m in models if (dataset, m) not in pairs and m not in left[dataset]]
    return json.dumps(left).replace('"', "")


def _is_here(dataset: str) -> bool:
    return Path(paths.RESOURCE.of(dataset=dataset)).exists()


def _gb(size: float) -> str:
    return _amount(size / 1e9)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 9.5 else f"{value:.1g}"


def _named(job: Job | None) -> str:
    return f", {job.step} {job.model} on {job.dataset}" if job else ""
