"""Estimate CPU hours, memory and disk space for each dataset before a run, and say what does not fit this machine."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from xmlc.core.memory import machine_memory
from xmlc.suite.config import paths
from xmlc.suite.config.job_costs import Cost, cost_of, is_size_known, size_of
from xmlc.suite.config.project import Project

#: Maps the name of a file or folder of a run to the step that writes the file or folder.
STEPS = {
    "model": "train",
    "train.json": "train",
    "ranking": "rank",
    "ranking.json": "rank",
    "forest.json": "forest",
    "progressive.json": "progressive",
    "spe": "estimate",
    "evaluation": "thresholds",
    "calibration.json": "thresholds",
    "inference": "infer",
}
TRYING = ("tune", "sweep")  # Steps that train several models, and delete each model after scoring it.
ON_DISK = 3  # Bytes of a dataset's text files and arrays, divided by the bytes of the arrays.
DOWNLOADED = 0.6  # Bytes of the archive from which a dataset is downloaded, divided by the bytes of the arrays.


class Job(NamedTuple):
    """Identify a job. A job runs one step of the workflow for one model.

    A job that searches for hyperparameters has no seed and no split. The fields ``paper`` and ``sweep`` are set only
    for the step ``sweep``.
    """

    step: str
    dataset: str
    model: str
    seed: str = ""
    split: str = ""
    paper: str = ""
    sweep: str = ""


Jobs = Mapping[Job, Cost]


class Machine(NamedTuple):
    """Describe a machine: the number of processors, the bytes of memory, and the bytes of free disk."""

    processors: int
    memory: float
    disk: float

    @classmethod
    def here(cls, processors: int) -> Machine:
        """Return a description of this machine. ``processors`` is the number of processors that a run may use."""
        return cls(processors, machine_memory(), shutil.disk_usage(Path()).free)


def job_of(path: str) -> Job | None:
    """Return the job that writes a file, or None if the file is not written by a step that uses a model."""
    if found := paths.TUNING.read(path):
        return Job("tune", **found)
    if found := paths.TEMPORARY.read(path):
        return Job("estimate" if found["split"] == "80" else "train", **found)
    if found := paths.SWEEP.read(path):
        return Job("sweep", split="full", **found)
    found = paths.IN_RUN.read(path) or {"rest": ""}
    step = STEPS.get(found.pop("rest").partition("/")[0])
    return Job(step, **found) if step else None


def estimate(project: Project, made: Iterable[str]) -> Jobs:
    """Return the estimated costs of the jobs that use a model and write one of the given files.

    A job is left out if the size of its dataset is unknown.
    """
    costly = [path for path in made if not paths.RANKING.read(path)]  # `score` takes seconds
    jobs = sorted({job for job in map(job_of, costly) if job and job.model in project.models})
    jobs = [job for job in jobs if is_size_known(project, job.dataset)]
    alike = {job._replace(seed="") for job in jobs}  # Estimated costs do not depend on the seed.
    known = {job: cost_of(project, job.step, job._asdict()) for job in alike}
    return {job: known[job._replace(seed="")] for job in jobs}


def cost_report(project: Project, made: Collection[str], machine: Machine, remarks: Iterable[str] = ()) -> str:
    """Return a report on the costs of a run, and on what does not fit a machine.

    Parameters
    ----------
    project : Project
    made : collection of str
        The paths of the files that the run writes.
    machine : Machine
        The machine on which the run takes place. A job gets at most as many threads as the machine has processors.
    remarks : iterable of str
        Lines that the report starts with.

    Returns
    -------
    str
        If no job uses a model, the report has only the remarks and the names of datasets of unknown size.
    """
    project = with_threads(project, threads := min(project.settings.threads, machine.processors))
    unknown = sorted(name for name in _datasets(made) if not is_size_known(project, name))
    lines = [*remarks]
    if unknown:
        lines.append(f"costs are unknown until these datasets are prepared: {', '.join(unknown)}")
    if jobs := estimate(project, made):
        lines += _lines_of_datasets(project, jobs, made)
        here = f"This machine has {_gb(machine.memory)} GB of memory and {_gb(machine.disk)} GB of free disk"
        lines.append(
            f"estimates are accurate to a factor of 3 for jobs longer than a minute, threads={threads}. {here}"
        )
        faults = [*_memory_line(project, jobs, made, machine), *_disk_line(project, jobs, made, machine)]
        lines += faults or ["the run fits this machine"]
    return "\n".join(lines)


def _lines_of_datasets(project: Project, jobs: Jobs, made: Collection[str]) -> list[str]:
    """Return the lines of a table with the costs of each dataset and the total costs.

    The dataset with the most CPU hours comes first.
    """
    hours: dict[str, float] = {}
    for job, cost in jobs.items():
        hours[job.dataset] = hours.get(job.dataset, 0.0) + cost.seconds / 3600
    groups = {dataset: [dataset] for dataset in sorted(hours, key=lambda dataset: -hours[dataset])}
    groups |= {"all": list(hours)} if len(hours) > 1 else {}
    width = max(map(len, ["dataset", *groups]))
    lines = [f"{'dataset':{width}} {'CPU hours':>9} {'disk, GB':>9} {'download, GB':>13}  largest job"]
    for name, datasets in groups.items():
        some = {job: cost for job, cost in jobs.items() if job.dataset in datasets}
        fetched = [of for of in datasets if paths.RESOURCE.of(dataset=of) in made and of not in project.made]
        time = _amount(sum(hours[of] for of in datasets))
        disk = _gb(disk_of(project, _prepared(made, datasets), some))
        download = _gb(DOWNLOADED * sum(size_of(project, of).bytes for of in fetched))
        largest = _largest(some)
        at_most = f"{_gb(some[largest].memory)} GB, {_name(largest)}"
        lines.append(f"{name:{width}} {time:>9} {disk:>9} {download:>13}  {at_most}")
    if len(lines) == 2:  # one dataset
        return [f"{name}: {time} CPU hours, {disk} GB on disk, {download} GB to download, largest job {at_most}"]
    return lines


def _memory_line(project: Project, jobs: Jobs, made: Collection[str], machine: Machine) -> Iterable[str]:
    """Yield a line if a job needs more memory than the machine has. The line names a setting that helps."""
    largest = _largest(jobs)
    needed = jobs[largest].memory
    if needed <= machine.memory:
        return
    advice = "choose other `datasets` or `models`"
    # With one thread, a forest needs the memory for only one tree at a time.
    narrow = estimate(with_threads(project, 1), made)
    if max(cost.memory for cost in narrow.values()) <= machine.memory:
        advice = "set `threads` to 1"
    yield f"too little memory: {_name(largest)} needs {_exact_gb(needed)} of {_exact_gb(machine.memory)}; {advice}"


def _disk_line(project: Project, jobs: Jobs, made: Collection[str], machine: Machine) -> Iterable[str]:
    """Yield a line if the run needs more disk than is free. The line names a setting that helps."""
    new = _prepared(made, {job.dataset for job in jobs})
    needed = disk_of(project, new, jobs)
    if needed <= machine.disk:
        return
    advice = "choose other `datasets` or `models`"
    if disk_of(project, new, jobs, drop_all=True) <= machine.disk:
        advice = "set `keep_models` to false"
    yield f"too little disk: the run needs {_exact_gb(needed)} of {_exact_gb(machine.disk)}; {advice}"


def disk_of(project: Project, datasets: Collection[str], jobs: Jobs, drop_all: bool = False) -> float:
    """Return the estimated maximum number of bytes on disk during a run.

    A run has at most one large model at a time that is not kept, or that is a trial of a search or sweep. Small models
    of other jobs are not counted.
    """
    runs: dict[Job, float] = {}
    for job, cost in jobs.items():
        if job.step in ("train", "estimate", *TRYING):
            run = job if job.step in TRYING else job._replace(step="")
            runs[run] = runs.get(run, 0.0) + cost.disk
    temporary = {run for run in runs if drop_all or run.step or project.drops(run.dataset)}
    kept = sum(size for run, size in runs.items() if run not in temporary)
    data = ON_DISK * sum(size_of(project, dataset).bytes for dataset in datasets)
    return data + kept + max((runs[run] for run in temporary), default=0.0)


def _datasets(made: Iterable[str]) -> list[str]:
    """Return the names of the datasets that the given files of models and searches belong to."""
    runs = (paths.IN_RUN.read(path) or paths.TUNING.read(path) for path in made)
    return list(dict.fromkeys(run["dataset"] for run in runs if run))


def _prepared(made: Collection[str], datasets: Iterable[str]) -> set[str]:
    """Return the datasets in ``datasets`` whose arrays the run writes."""
    return {dataset for dataset in datasets if paths.DATA.of(dataset=dataset) in made}


def with_threads(project: Project, threads: int) -> Project:
    """Return a copy of the project in which the setting `threads` has the given value."""
    return replace(project, settings=replace(project.settings, threads=threads))


def _largest(jobs: Jobs) -> Job:
    """Return the job that needs the most memory. Among equal jobs, the last one by name."""
    return max(jobs, key=lambda job: (jobs[job].memory, job))


def _name(job: Job) -> str:
    return f"{job.step} {job.model} on {job.dataset}"


def _gb(size: float) -> str:
    return _amount(size / 1e9)


def _exact_gb(size: float) -> str:
    """Return a size with one decimal, because a rounded size could equal the size that it exceeds."""
    return f"{size / 1e9:,.1f} GB"


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 9.5 else f"{value:.1g}"
