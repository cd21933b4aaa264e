"""Estimate CPU hours, memory and disk space for each dataset before a run, and find the jobs that fit this machine."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import yaml

from xmlc.core.files import write_text
from xmlc.core.memory import machine_memory
from xmlc.suite.config import paths
from xmlc.suite.config.job_costs import Cost, cost_of, is_size_known, size_of
from xmlc.suite.config.project import Project

#: Maps the name of a file or folder of a run to the step that writes the file or folder.
STEPS = {
    "model": "train",
    "train.json": "train",
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
# Assumed number of temporary models on disk at the same time. Memory rarely suffices for more than two jobs with a
# large model.
SIDE_BY_SIDE = 2
BETTER_SETTINGS = "fits-this-machine.yaml"  # Name of a file with settings that fit this machine better.
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


class Choice(NamedTuple):
    """Hold the jobs that do not fit a machine, and the settings with which a run fits the machine better."""

    #: Maps dataset and model to the bytes of memory and the step of their largest job. Only jobs that need more memory
    #: than the machine has are counted.
    too_large: Mapping[tuple[str, str], tuple[float, str]]
    #: Bytes on disk of the jobs that fit into the memory. ``disk`` is computed with the configured settings.
    #: ``least_disk`` is computed for a run that keeps no models.
    disk: float
    least_disk: float
    #: Datasets to leave out so that the results of all other datasets fit on the disk. ``fits_nothing`` is true if no
    #: job remains without the datasets in `left_out`.
    left_out: list[str]
    fits_nothing: bool
    #: Keys of config.yaml, with values for which the run fits the machine better.
    settings: dict[str, object]


def job_of(path: str) -> Job | None:
    """Return the job that writes a file, or None if the file is not written by a step that uses a model."""
    if found := paths.TUNING.read(path):
        return Job("tune", **found)
    if found := paths.SWEEP.read(path):
        return Job("sweep", split="full", **found)
    found = paths.IN_RUN.read(path) or {"rest": ""}
    step = STEPS.get(found.pop("rest").partition("/")[0])
    return Job(step, **found) if step else None


def estimate(project: Project, made: Iterable[str]) -> Jobs:
    """Return the estimated costs of the jobs that use a model and write one of the given files.

    A job is left out if the size of its dataset is unknown.
    """
    jobs = sorted({job for job in map(job_of, made) if job and job.model in project.models})
    jobs = [job for job in jobs if is_size_known(project, job.dataset)]
    alike = {job._replace(seed="") for job in jobs}  # Estimated costs do not depend on the seed.
    known = {job: cost_of(project, job.step, job._asdict()) for job in alike}
    return {job: known[job._replace(seed="")] for job in jobs}


def choose(project: Project, made: Collection[str], machine: Machine) -> Choice:
    """Return the jobs that do not fit a machine, and the settings with which a run fits the machine better.

    ``made`` contains the paths of the files that the run writes.
    """
    jobs, threads = estimate(project, made), project.settings.threads
    out = peaks = _too_large(jobs, machine.memory)
    settings: dict[str, object] = {}
    # With one thread, a forest needs the memory for only one tree at a time.
    narrow = estimate(with_threads(project, 1), made)
    if len(less := _too_large(narrow, machine.memory)) < len(peaks):
        jobs, out, threads, settings = narrow, less, 1, {"threads": 1}
    at_once = max(1, machine.processors // threads)
    new = _prepared(made, (job.dataset for job in jobs))
    jobs = {job: cost for job, cost in jobs.items() if job[1:3] not in out}
    disk, least = (disk_of(project, new, jobs, at_once, drop_all) for drop_all in (False, True))
    left = _left_out(project, new, jobs, at_once, machine.disk)
    jobs = {job: cost for job, cost in jobs.items() if job.dataset not in left}
    kept, dropped = (disk_of(project, new - {*left}, jobs, at_once, drop_all) for drop_all in (False, True))
    named = project.settings.named_datasets
    if left and named:
        settings["datasets"] = [name for name in named if name not in left]
    out_elsewhere = [pair for pair in out if pair[0] not in left]
    if out_elsewhere or (left and not named):
        # A value for the setting `datasets` would replace the datasets of every suite, so `models` is set instead. In
        # the setting `models`, an empty list for a dataset means that all suites leave out the dataset.
        settings["models"] = _models_without(project, out_elsewhere) | ({} if named else {name: [] for name in left})
    if kept > machine.disk and kept > dropped:
        settings["keep_models"] = False
    return Choice(peaks, disk, least, left, bool(left) and not jobs, settings)


def cost_report(
    project: Project, made: Collection[str], machine: Machine, remarks: Iterable[str] = ()
) -> tuple[str, dict[str, object]]:
    """Return a report on the costs of a run on a machine, and settings with which the run fits the machine better.

    Parameters
    ----------
    project : Project
    made : collection of str
    machine : Machine
        The machine on which the run takes place. A job gets at most as many threads as the machine has processors.
    remarks : iterable of str
        Lines that the report starts with.

    Returns
    -------
    report : str
        If no job uses a model, the report has only the remarks and the names of datasets of unknown size.
    settings : dict
        Keys of config.yaml, with values for which the run fits the machine better. The dict is empty if the run fits
        the machine, or if no dataset fits.
    """
    project = with_threads(project, threads := min(project.settings.threads, machine.processors))
    unknown = sorted(name for name in _datasets(made) if not is_size_known(project, name))
    lines, settings = [*remarks], {}
    lines += [f"costs are unknown until these datasets are prepared: {', '.join(unknown)}"] if unknown else []
    if jobs := estimate(project, made):
        choice = choose(project, made, machine)
        lines += _lines_of_datasets(project, jobs, made, machine.processors // threads)
        lines += _lines_of_choice(choice, machine, threads)
        settings = {} if choice.fits_nothing else choice.settings
    return "\n".join(lines), settings


def save_settings(settings: Mapping[str, object]) -> None:
    """Write settings to the file `BETTER_SETTINGS`, which users can pass to the option ``--configfile``.

    If there are no settings, no file is written.
    """
    if settings:
        write_text(BETTER_SETTINGS, yaml.safe_dump(settings, sort_keys=False))


def _lines_of_datasets(project: Project, jobs: Jobs, made: Collection[str], at_once: int) -> list[str]:
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
        disk = _gb(disk_of(project, _prepared(made, datasets), some, at_once))
        download = _gb(DOWNLOADED * sum(size_of(project, of).bytes for of in fetched))
        memory, largest = max((cost.memory, job) for job, cost in some.items())
        at_most = f"{_gb(memory)} GB, {largest.step} {largest.model} on {largest.dataset}"
        lines.append(f"{name:{width}} {time:>9} {disk:>9} {download:>13}  {at_most}")
    if len(lines) == 2:  # one dataset
        return [f"{name}: {time} CPU hours, {disk} GB on disk, {download} GB to download, largest job {at_most}"]
    return lines


def _lines_of_choice(choice: Choice, machine: Machine, threads: int) -> list[str]:
    """Return lines about the jobs that do not fit a machine, and about better settings."""
    peaks, is_disk_short = choice.too_large, choice.disk > machine.disk
    said = f"{len(peaks)} pairs of dataset and model do not fit. Their largest jobs:" if peaks else "the run fits"
    said = "the memory suffices, but the free disk does not" if is_disk_short and not peaks else said
    here = f"This machine has {_gb(machine.memory)} GB of memory and {_gb(machine.disk)} GB of free disk"
    lines = [
        f"estimates are accurate to a factor of 3 for jobs longer than a minute, threads={threads}. {here}: {said}"
    ]
    for dataset in dict.fromkeys(dataset for dataset, _ in peaks):
        largest_first = sorted(((*peak, model) for (of, model), peak in peaks.items() if of == dataset), reverse=True)
        jobs = "; ".join(f"{_gb(peak)} GB {step} {model}" for peak, step, model in largest_first)
        lines.append(f"  {dataset}: {jobs}")
    if is_disk_short:
        least = _gb(choice.least_disk)
        lines.append(f"  disk of the jobs that fit: {_gb(choice.disk)} GB, with keep_models=false {least} GB")
    if choice.fits_nothing:
        return [*lines, f"no job fits. Free {_gb(choice.least_disk - machine.disk)} GB, or use another disk"]
    left = ", ".join(choice.left_out)
    said = f"the run fits without {left}" if left else "other settings fit better"
    return [*lines, f"{said}: add --configfile {BETTER_SETTINGS}"] if choice.settings else lines


def disk_of(project: Project, datasets: Collection[str], jobs: Jobs, at_once: int, drop_all: bool = False) -> float:
    """Return the estimated maximum number of bytes on disk during a run.

    A model or an estimate that is not kept exists until the last step that reads it.
    """
    runs: dict[Job, float] = {}
    for job, cost in jobs.items():
        if job.step in ("train", "estimate", *TRYING):
            run = job if job.step in TRYING else job._replace(step="")
            runs[run] = runs.get(run, 0.0) + cost.disk
    dropped = {run for run in runs if drop_all or run.step or project.drops(run.dataset)}
    kept = sum(size for run, size in runs.items() if run not in dropped)
    data = ON_DISK * sum(size_of(project, dataset).bytes for dataset in datasets)
    return data + kept + sum(sorted(runs[run] for run in dropped)[-min(at_once, SIDE_BY_SIDE) :])


def _left_out(project: Project, new: Collection[str], jobs: Jobs, at_once: int, free: float) -> list[str]:
    """Return the datasets to leave out, in descending order of size.

    Without the returned datasets, a run that keeps no models fits on the free disk.
    """

    def least(datasets: Collection[str]) -> float:
        some = {job: cost for job, cost in jobs.items() if job.dataset in datasets}
        return disk_of(project, {*datasets} & {*new}, some, at_once, drop_all=True)

    rest = sorted(dict.fromkeys(job.dataset for job in jobs), key=lambda name: least([name]))
    left = []
    while rest and least(rest) > free:
        left.append(rest.pop())
    return left


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


def _too_large(jobs: Jobs, memory: float) -> dict[tuple[str, str], tuple[float, str]]:
    """Find the jobs that need more than ``memory`` bytes.

    Return the bytes and the step of the largest job per dataset and model.
    """
    peaks: dict[tuple[str, str], tuple[float, str]] = {}
    for job, cost in jobs.items():
        if cost.memory > memory:
            peaks[job[1:3]] = max(peaks.get(job[1:3], (0.0, "")), (cost.memory, job.step))
    return peaks


def _models_without(project: Project, pairs: Collection[tuple[str, str]]) -> dict[str, list[str]]:
    """Return a value for the setting `models` that leaves out the given pairs of dataset and model.

    Pairs that the current setting `models` leaves out stay left out.
    """
    left: dict[str, list[str]] = {dataset: [] for dataset, _ in pairs}
    for paper in project.suites:
        for dataset in project.datasets_of(paper):
            # The returned value replaces the current setting `models`, so it must include the current selection.
            if dataset in left or project.settings.models:
                models, there = project.models_on(paper, dataset), left.setdefault(dataset, [])
                there += [model for model in models if (dataset, model) not in pairs and model not in there]
    return left


def _gb(size: float) -> str:
    return _amount(size / 1e9)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 9.5 else f"{value:.1g}"
