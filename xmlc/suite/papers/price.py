"""What a run costs before it starts: hours, memory and disk of each paper, and what of it fits this machine."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from xmlc.core.memory import machine_memory
from xmlc.suite.config import paths
from xmlc.suite.config.project import Project
from xmlc.suite.config.resources import Taken, free_disk, is_size_known, size_of, taken
from xmlc.suite.papers.plan import remarks

#: Steps by their outputs, the part of a path after the portion.
STEPS = {
    "model": "train",
    "ranking.json": "rank",
    "forest.json": "forest",
    "progressive.json": "progressive",
    "spe": "estimate",
    "evaluation": "thresholds",
    "inference": "infer",
    "sweeps": "sweep",
}
TRYING = ("tune", "sweep")
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


def jobs_of(project: Project, made: Iterable[str]) -> dict[Job, Taken]:
    """Return the jobs of models that write some paths, on datasets of known size, each with its cost."""
    jobs: set[Job] = set()
    for path in made:
        if run := paths.IN_RUN.read(path):
            step = STEPS.get(run["rest"].partition("/")[0], "")
            job = Job(step, run["dataset"], run["model"], run["seed"], run["portion"])
        elif search := paths.TUNING.read(path):
            job = Job("tune", search["dataset"], search["model"])
        else:
            continue
        if job.step and job.model in project.models and is_size_known(project, job.dataset):
            jobs.add(job)
    alike = {job._replace(seed="") for job in jobs}  # what a job takes does not depend on the seed
    known = {job: taken(project, job.step, job._asdict()) for job in alike}
    return {job: known[job._replace(seed="")] for job in sorted(jobs)}


def disk_of(
    project: Project, datasets: Collection[str], jobs: dict[Job, Taken], at_once: int, drop_all: bool = False
) -> float:
    """Return the peak bytes on disk, if dropped models and estimates exist only for the runs that are at work.

    A search and a sweep drop each model that they train.
    """
    runs: dict[Job, float] = {}
    for job, each in jobs.items():
        if job.step in ("train", "estimate", *TRYING):
            run = job if job.step in TRYING else job._replace(step="")
            runs[run] = runs.get(run, 0.0) + each.disk
    dropped = {run for run in runs if drop_all or run.step or project.drops(run.dataset)}
    kept = sum(size for run, size in runs.items() if run not in dropped)
    data = ON_DISK * sum(size_of(project, dataset).bytes for dataset in datasets)
    return data + kept + sum(sorted(runs[run] for run in dropped)[-min(at_once, SIDE_BY_SIDE) :])


def told(project: Project, made: Collection[str], processors: int) -> str:
    """Return a text with omissions of tables, the cost of each dataset, and settings that fit this machine.

    Parameters
    ----------
    project : Project
    made : collection of str
        The paths that the jobs of the run write.
    processors : int
        No job has more threads.

    Returns
    -------
    str
        If no job belongs to a model, only omissions and datasets of unknown size.
    """
    threads = min(project.settings.threads, processors)
    project = _on(project, threads)
    found = [run for path in made for run in (paths.IN_RUN.read(path), paths.TUNING.read(path)) if run]
    every = dict.fromkeys(run["dataset"] for run in found)
    unknown = sorted(name for name in every if not is_size_known(project, name))
    lines = remarks(project, made)
    lines += [f"price not known before preparation, and not counted: {', '.join(unknown)}"] if unknown else []
    jobs = jobs_of(project, made)
    if not jobs:
        return "\n".join(lines)
    lines += _by_dataset(project, jobs, made, processors // threads)
    memory, free = machine_memory(), free_disk()
    peaks, settings = _too_large(jobs, memory), []
    out, at_once = peaks, processors // threads
    narrow = jobs_of(_on(project, 1), made)  # forests grow one tree at a time
    if len(less := _too_large(narrow, memory)) < len(peaks):
        jobs, out, settings, at_once = narrow, less, ["threads=1"], processors
    new = _prepared(made, (job.dataset for job in jobs))
    fitting = {job: each for job, each in jobs.items() if job[1:3] not in out}
    disk, least = (disk_of(project, new, fitting, at_once, drop_all) for drop_all in (False, True))
    left = _left_out(project, new, fitting, at_once, free)
    fitting = {job: each for job, each in fitting.items() if job.dataset not in left}
    rest = [name for name in project.settings.named_datasets or every if name not in left]
    out = {pair: peak for pair, peak in out.items() if pair[0] not in left}
    settings += [f"datasets='[{', '.join(rest)}]'"] if left else []
    settings += [f"models='{_without(project, out)}'"] if out else []
    kept, dropped = (disk_of(project, new - {*left}, fitting, at_once, drop_all) for drop_all in (False, True))
    settings += ["keep_models=false"] if kept > free and kept > dropped else []
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
    if left and not fitting:
        return "\n".join([*lines, f"nothing fits: free {_gb(least - free)} GB more, or take another disk"])
    said = f"nothing fits: leave out {', '.join(left)}" if left else "other settings fit better"
    return "\n".join([*lines, *([f"{said}; add to --config: {' '.join(settings)}"] if settings else [])])


def _left_out(project: Project, new: Collection[str], jobs: dict[Job, Taken], at_once: int, free: float) -> list[str]:
    """List the datasets to leave out, largest first, until the others fit the free disk without kept models."""
    left: list[str] = []
    while jobs and disk_of(project, {*new} - {*left}, jobs, at_once, drop_all=True) > free:
        sizes = {
            name: disk_of(
                project, {name} & {*new}, {job: jobs[job] for job in jobs if job.dataset == name}, at_once, True
            )
            for name in dict.fromkeys(job.dataset for job in jobs)
        }
        left.append(max(sizes, key=lambda name: sizes[name]))
        jobs = {job: each for job, each in jobs.items() if job.dataset != left[-1]}
    return left


def _by_dataset(project: Project, jobs: dict[Job, Taken], made: Collection[str], at_once: int) -> list[str]:
    """Return the lines of a table with the costs of each dataset, the longest first, and their totals."""
    hours: dict[str, float] = {}
    for job, each in jobs.items():
        hours[job.dataset] = hours.get(job.dataset, 0.0) + each.seconds / 3600
    groups = {dataset: [dataset] for dataset in sorted(hours, key=lambda dataset: -hours[dataset])}
    groups |= {"all": list(hours)} if len(hours) > 1 else {}
    width = max(map(len, ["dataset", *groups]))
    lines = [f"{'price':{width}} {'processor h':>11} {'disk, GB':>9} {'download, GB':>13}  largest job"]
    for name, datasets in groups.items():
        some = {job: each for job, each in jobs.items() if job.dataset in datasets}
        fetched = [of for of in datasets if paths.RESOURCE.of(dataset=of) in made and of not in project.made]
        download = DOWNLOADED * sum(size_of(project, of).bytes for of in fetched)
        disk = disk_of(project, _prepared(made, datasets), some, at_once)
        memory, largest = max((each.memory, job) for job, each in some.items())
        lines.append(
            f"{name:{width}} {_amount(sum(hours[of] for of in datasets)):>11} {_gb(disk):>9} {_gb(download):>13}"
            f"  {_gb(memory)} GB, {largest.step} {largest.model} on {largest.dataset}"
        )
    return lines


def _prepared(made: Collection[str], datasets: Iterable[str]) -> set[str]:
    """Return the datasets whose arrays a run writes."""
    return {dataset for dataset in datasets if paths.DATA.of(dataset=dataset) in made}


def _on(project: Project, threads: int) -> Project:
    """Return the project with so many threads."""
    return replace(project, settings=replace(project.settings, threads=threads))


def _too_large(jobs: dict[Job, Taken], memory: float) -> dict[tuple[str, str], tuple[float, str]]:
    """Return the pairs of dataset and model with jobs above some memory, each with its largest and the step of that."""
    peaks: dict[tuple[str, str], tuple[float, str]] = {}
    for job, each in jobs.items():
        if each.memory > memory:
            peaks[job[1:3]] = max(peaks.get(job[1:3], (0.0, "")), (each.memory, job.step))
    return peaks


def _without(project: Project, pairs: Collection[tuple[str, str]]) -> str:
    """Return the setting `models` that leaves out pairs of dataset and model, and what a setting leaves out now."""
    left: dict[str, list[str]] = {dataset: [] for dataset, _ in pairs}
    for paper in project.suites:
        for dataset in project.datasets_of(paper):
            if dataset in left or project.settings.models:  # which the new setting replaces
                models, there = project.models_on(paper, dataset), left.setdefault(dataset, [])
                there += [model for model in models if (dataset, model) not in pairs and model not in there]
    return json.dumps(left).replace('"', "")


def _gb(size: float) -> str:
    return _amount(size / 1e9)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 9.5 else f"{value:.1g}"
