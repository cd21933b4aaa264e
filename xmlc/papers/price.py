"""What a run costs before it starts: hours, memory and disk of each paper, and what of it fits this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from xmlc.papers.plan import figures_of, tables_of
from xmlc.suites import paths
from xmlc.suites.project import Project
from xmlc.suites.resources import Taken, free_disk, is_size_known, machine_memory, size_of, taken

STEPS = {"ranking.json": "rank", "forest.json": "forest", "progressive.json": "progressive"}
STEPS |= {
    "evaluation": "thresholds",
    "calibration.json": "thresholds",
    "inference": "infer",
    "sweeps": "sweep",
}  # by what follows the portion
ON_DISK = 3  # a dataset as text and as arrays, by the bytes of its arrays
SIDE_BY_SIDE = 2  # of the runs whose models are largest, memory seldom lets more be at work at once
DOWNLOADED = 0.6  # an archive of the text


class Job(NamedTuple):
    """A job of a step; of a search no seed and no portion."""

    step: str
    dataset: str
    model: str
    seed: str = ""
    portion: str = ""


Missing = Callable[[str], bool]  # whether a path has to be made


def is_missing(path: str) -> bool:
    """Say whether a path is not there."""
    return not Path(path).exists()


def jobs_of(project: Project, papers: Iterable[str], missing: Missing) -> dict[Job, Taken]:
    """Return the jobs that lead to the missing records of models on datasets of known size, and what each takes."""
    records = {
        record
        for paper in papers
        for files in [*tables_of(project, paper).values(), *figures_of(project, paper).values()]
        for record in files
    }
    jobs: set[Job] = set()
    for record in records:
        if (run := paths.IN_RUN.read(record)) is None or not missing(record):
            continue
        if not is_size_known(project, run["dataset"]):
            continue
        of_run = run["dataset"], run["model"], run["seed"], run["portion"]
        step = STEPS.get(run["rest"].partition("/")[0], "rank")
        needed = {Job(step, *of_run): record}
        if step != "progressive":
            needed[Job("train", *of_run)] = paths.MODEL.of(**run)
        if run["portion"] == "80":
            needed[Job("estimate", *of_run)] = paths.ESTIMATES.of(**run)
        if search := project.tuned_by(run["model"], run["dataset"]):
            needed[Job("tune", run["dataset"], run["model"])] = search
        jobs |= {job for job, output in needed.items() if missing(output)}
    alike = {job._replace(seed="") for job in jobs}  # what a job takes does not depend on the seed
    known = {job: taken(project, job.step, job._asdict()) for job in alike}
    return {job: known[job._replace(seed="")] for job in sorted(jobs)}


def disk_of(
    project: Project, datasets: Collection[str], jobs: dict[Job, Taken], at_once: int, drop_all: bool = False
) -> float:
    """Return the most bytes on disk; of models and estimates that are dropped, those of some runs are there at once."""
    runs: dict[Job, float] = {}
    for job, each in jobs.items():
        if job.step in ("train", "estimate"):
            run = job._replace(step="")
            runs[run] = runs.get(run, 0.0) + each.disk
    dropped = {run for run in runs if drop_all or project.drops(run.dataset)}
    kept = sum(size for run, size in runs.items() if run not in dropped)
    data = ON_DISK * sum(size_of(project, dataset).bytes for dataset in datasets)
    return data + kept + sum(sorted(runs[run] for run in dropped)[-min(at_once, SIDE_BY_SIDE) :])


def told(project: Project, papers: Collection[str], missing: Missing, processors: int) -> str:
    """Return the price of suites as text: a line for each, whether this machine can, and if not, settings that fit.

    Parameters
    ----------
    project : Project
    papers : collection of str
    missing : callable
        As `is_missing`.
    processors : int
        No job has more threads.

    Returns
    -------
    str
        Without a job only the datasets whose size is not known, if there are any.
    """
    threads = min(project.settings.threads, processors)
    project = _on(project, threads)
    every = {name for paper in papers for name in project.datasets_of(paper)}
    unknown = sorted(name for name in every if not is_size_known(project, name))
    unsaid = [f"price not known before preparation, and not counted: {', '.join(unknown)}"] if unknown else []
    jobs = jobs_of(project, papers, missing)
    if not jobs:
        return "".join(unsaid)
    lines = [*unsaid, f"{'price':10} {'processor h':>11} {'disk, GB':>9} {'download, GB':>13}  largest job"]
    for paper in papers:
        names, of_paper = project.datasets_of(paper), jobs_of(project, [paper], missing)
        fetched = [name for name in _new(project, paths.RESOURCE, names, missing) if name not in project.made]
        download = DOWNLOADED * sum(size_of(project, name).bytes for name in fetched)
        hours = sum(each.seconds for each in of_paper.values()) / 3600
        disk = disk_of(project, _new(project, paths.DATA, names, missing), of_paper, processors // threads)
        line = f"{paper:10} {_amount(hours):>11} {_gb(disk):>9} {_gb(download):>13}"
        if of_paper:
            memory, largest = max((each.memory, job) for job, each in of_paper.items())
            line += f"  {_gb(memory)} GB, {largest.step} {largest.model} on {largest.dataset}"
        lines.append(line)
    memory, free = machine_memory(), free_disk()
    peaks, settings = _too_large(jobs, memory), []
    out, at_once = peaks, processors // threads
    narrow = jobs_of(_on(project, 1), papers, missing)  # where forests grow one tree at a time
    if len(less := _too_large(narrow, memory)) < len(peaks):
        jobs, out, settings, at_once = narrow, less, ["threads=1"], processors
    settings += [f"models='{_without(project, papers, out)}'"] if out else []
    datasets = _new(project, paths.DATA, every, missing)
    fitting = {job: each for job, each in jobs.items() if job[1:3] not in out}
    disk, least = (disk_of(project, datasets, fitting, at_once, drop_all) for drop_all in (False, True))
    said = f"too large on {len(peaks)} pairs of dataset and model, the largest jobs being" if peaks else "it fits"
    said = "memory is enough, free disk is not" if disk > free and not peaks else said
    here = f"memory here {_gb(memory)} GB, free disk {_gb(free)} GB"
    lines.append(f"foretold within a factor of 3 for jobs above a minute, with threads={threads}; {here}: {said}")
    for dataset in dict.fromkeys(dataset for dataset, _ in peaks):
        largest_first = sorted(((*peak, model) for (of, model), peak in peaks.items() if of == dataset), reverse=True)
        parts = [f"{_gb(peak)} GB {step} {model}" for peak, step, model in largest_first]
        lines.append(f"  {dataset}: {'; '.join(parts)}")
    if disk > free:
        lines.append(f"  disk of the jobs that fit: {_gb(disk)} GB, with keep_models=false {_gb(least)} GB")
        settings += ["keep_models=false"] if least < disk else []
    return "\n".join([*lines, *([f"what fits better, behind --config: {' '.join(settings)}"] if settings else [])])


def _on(project: Project, threads: int) -> Project:
    """Return the project with so many threads."""
    return replace(project, settings=replace(project.settings, threads=threads))


def _new(project: Project, pattern: paths.Pattern, datasets: Iterable[str], missing: Missing) -> list[str]:
    """Name the datasets of known size of which a path has to be made."""
    return [name for name in datasets if missing(pattern.of(dataset=name)) and is_size_known(project, name)]


def _too_large(jobs: dict[Job, Taken], memory: float) -> dict[tuple[str, str], tuple[float, str]]:
    """Return the pairs of dataset and model with jobs above some memory, each with its largest and the step of that."""
    peaks: dict[tuple[str, str], tuple[float, str]] = {}
    for job, each in jobs.items():
        if each.memory > memory:
            peaks[job[1:3]] = max(peaks.get(job[1:3], (0.0, "")), (each.memory, job.step))
    return peaks


def _without(project: Project, papers: Collection[str], pairs: Collection[tuple[str, str]]) -> str:
    """Return the setting `models` that leaves out pairs of dataset and model, and what a setting leaves out now."""
    left: dict[str, list[str]] = {dataset: [] for dataset, _ in pairs}
    for paper in papers:
        for dataset in project.datasets_of(paper):
            if dataset in left or project.settings.models:  # which the new setting replaces
                models, there = project.models_on(paper, dataset), left.setdefault(dataset, [])
                there += [model for model in models if (dataset, model) not in pairs and model not in there]
    return json.dumps(left).replace('"', "")


def _gb(size: float) -> str:
    return _amount(size / 1e9)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 9.5 else f"{value:.1g}"
