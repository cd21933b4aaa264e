"""The costs of jobs in costs.csv, for their requests and for the estimate before a run.

`python -m benchmarks cost-table` writes the file, and config/README.md describes it.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from xmlc.core.errors import XmlcError
from xmlc.suite.config import paths
from xmlc.suite.config.catalogue import Size
from xmlc.suite.config.folders import config_files, config_folder
from xmlc.suite.config.project import Project
from xmlc.suite.config.settings import RequestedSearch
from xmlc.suite.results.records.statistics import Statistics

FILE = "costs.csv"
COLUMNS = ("dataset", "model", "step", "seconds", "memory_mb", "disk_mb")
PROCESS = 800  # MB of a process without data that compiles kernels
MEMORY_MARGIN = 1.5  # requested memory / expected peak
TIME_MARGIN = 3  # requested wall time above SHORTEST / expected CPU time
# Minutes that a job requests
SHORTEST = 30
LONGEST = 2880
TRYING = ("tune", "sweep")  # train several models, and delete each after scoring it
# Steps by the pattern of their output, or by its place in a run
OF_DATASET = {"download": paths.RESOURCE, "prepare": paths.DATA, "tune": paths.TUNING}
OF_RUN = {
    "model": "train",
    "train.json": "train",
    "temporary": "train",
    "ranking.json": "rank",
    "forest.json": "forest",
    "progressive.json": "progressive",
    "sweeps": "sweep",
    "spe": "estimate",
    "evaluation": "thresholds",
    "calibration.json": "thresholds",
    "inference": "infer",
}


class Cost(NamedTuple):
    """CPU seconds of a job, MB of its peak memory, and MB that it leaves on disk."""

    seconds: float
    memory: float
    disk: float


UNKNOWN = Cost(3600, 4000, 0)  # request of a job without a row


class Job(NamedTuple):
    """One step on a dataset, and on a model if it needs one."""

    step: str
    dataset: str
    model: str = ""
    seed: str = ""
    split: str = ""
    #: File of a sweep, because a model can have several.
    sweep: str = ""


def job_of(path: str) -> Job | None:
    """Return the job that writes a file, or None for a file without costs."""
    for step, pattern in OF_DATASET.items():
        found = pattern.read(path)
        if found:
            return Job(step, **found)
    run = paths.IN_RUN.read(path) or {"rest": ""}
    rest = run.pop("rest")
    place = rest.partition("/")[0]
    if place not in OF_RUN:
        return None
    if place == "temporary" and run["split"] == "80":
        return Job("estimate", **run)
    return Job(OF_RUN[place], **run, sweep=rest if place == "sweeps" else "")


@dataclass(frozen=True)
class Costs:
    """The costs of a project's jobs, by model and step and then by dataset."""

    project: Project
    rows: Mapping[tuple[str, str], Mapping[str, Cost]]

    @classmethod
    def read(cls, project: Project) -> Self:
        """Read the costs, among which rows of a study take precedence over rows of the package."""
        rows: dict[tuple[str, str], dict[str, Cost]] = {}
        for path in filter(Path.is_file, config_files(FILE, config_folder())):
            lines = path.read_text(encoding="utf-8").splitlines()
            for number, row in enumerate(csv.reader(lines[1:]), 2):
                try:
                    dataset, model, step, *amounts = row
                    cost = Cost(*map(float, amounts))
                except (TypeError, ValueError) as error:
                    raise XmlcError(
                        f"{path}, line {number}: found {','.join(row)}, expected "
                        f"{','.join(COLUMNS)}"
                    ) from error
                rows.setdefault((model, step), {})[dataset] = cost
        return cls(project, rows)

    def of(self, job: Job) -> Cost | None:
        """Return the costs of a job, or None if it has no row or its dataset no known size.

        Without rows, a model has the costs of its estimator, and a dataset those of the nearest one
        in the catalogue, scaled by bytes. A model of the split 80 is scaled by its share of the
        training set.
        """
        known = self.rows.get((job.model, job.step), {})
        if job.model:
            spec = self.project.models[job.model]
            known = known or self.rows.get((spec.estimator, job.step), {})
            tuning = self.project.settings.tuning
            if job.step == "tune" and not spec.search.always:
                if isinstance(tuning, RequestedSearch):
                    train = self.of(job._replace(step="train"))
                    if train is None:
                        return None
                    return train._replace(seconds=tuning.budget * train.seconds)
        nearest = job.dataset
        ratio = 1.0
        if nearest not in known:
            size = size_of(self.project, job.dataset)
            catalogue = self.project.catalogue
            distances = {}
            for name in known:
                if name in catalogue:
                    other = catalogue[name].size
                    distances[name] = abs(math.log(size.bytes / other.bytes)) + abs(
                        math.log(size.m / other.m)
                    )
            if size == Size() or not distances:
                return None
            nearest = min(distances, key=lambda name: distances[name])
            ratio = size.bytes / catalogue[nearest].size.bytes
        if job.step == "train" and job.split == "80":
            ratio *= 1 - self.project.settings.validation_share
        seconds, memory, disk = known[nearest]
        return Cost(ratio * seconds, PROCESS + ratio * (memory - PROCESS), ratio * disk)

    def request(self, steps: Iterable[str], wildcards: Mapping[str, str]) -> tuple[int, int]:
        """Return the MB of memory and the minutes that a job requests."""
        names = [wildcards.get(name, "") for name in ("dataset", "model", "seed", "split")]
        costs = [self.of(Job(step, *names)) or UNKNOWN for step in steps]
        memory = math.ceil(MEMORY_MARGIN * max(cost.memory for cost in costs))
        seconds = math.fsum(cost.seconds for cost in costs)
        minutes = min(math.ceil(SHORTEST + TIME_MARGIN * seconds / 60), LONGEST)
        entry = self.project.entry(wildcards["dataset"])
        return entry.memory or memory, entry.runtime or minutes

    def disk(self, jobs: Mapping[Job, Cost]) -> float:
        """Return the most MB that jobs occupy at once: data, kept models, and one deleted model,
        because a run has only one large one at a time.
        """
        kept = 0.0
        temporary: dict[Job, float] = {}
        for job, cost in jobs.items():
            if job.model and (job.step in TRYING or self.project.drops(job.dataset)):
                run = job._replace(step="")
                temporary[run] = temporary.get(run, 0.0) + cost.disk
            elif job.step != "download":  # the row of `prepare` includes these files
                kept += cost.disk
        return kept + max(temporary.values(), default=0.0)

    def report(self, made: Iterable[str], memory: float, disk: float) -> list[str]:
        """Return lines on the costs of a run, and on missing MB of memory and disk."""
        known: dict[Job, Cost] = {}
        unknown: dict[Job, str] = {}
        for job in sorted({job for job in map(job_of, made) if job}):
            cost = self.of(job)
            if cost:
                known[job] = cost
            elif job.model:
                unknown[job] = f"{job.model} on {job.dataset}"
        lines = []
        if any(job.model for job in known):
            hours = math.fsum(cost.seconds for cost in known.values()) / 3600
            most_disk = self.disk(known)
            fetched = math.fsum(cost.disk for job, cost in known.items() if job.step == "download")
            largest = max(known, key=lambda job: (known[job].memory, job))
            name = f"{largest.step} {largest.model} on {largest.dataset}"
            most_memory = known[largest].memory
            lines.append(
                f"estimated costs, to a factor of 3: {_amount(hours)} CPU hours, "
                f"{_amount(most_disk / 1e3)} GB of disk, {_amount(fetched / 1e3)} GB to download, "
                f"{_amount(most_memory / 1e3)} GB of memory for the largest job, {name}"
            )
            for resource, needed, here in (
                ("memory", most_memory, memory),
                ("disk", most_disk, disk),
            ):
                if needed > here:
                    lines.append(
                        f"too little {resource}: the run needs {needed / 1e3:,.1f} GB of "
                        f"{here / 1e3:,.1f} GB; choose other `datasets` or `models`, or set "
                        "`keep_models` to false"
                    )
        if unknown:
            names = ", ".join(dict.fromkeys(unknown.values()))
            lines.append(
                f"{len(unknown)} jobs are not counted, because {FILE} has no row of their model or"
                f" because the size of their dataset is unknown: {names}"
            )
        return lines


def _amount(value: float) -> str:
    if value >= 9.5:
        return f"{value:,.0f}"
    return f"{value:.1g}"


def size_of(project: Project, dataset: str) -> Size:
    """Return the size from the statistics, or from the catalogue."""
    path = Path(paths.STATISTICS.of(dataset=dataset))
    with suppress(XmlcError):  # `prepare` reports a damaged file
        if path.is_file():
            found = Statistics.read(path)
            train = found.train
            nonzeros = train.activations_per_instance.mean
            labels = train.labels_per_instance.mean
            return Size(train.instances, found.test.instances, found.d, found.m, nonzeros, labels)
    return project.entry(dataset).size
