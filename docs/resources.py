"""Write `docs/resources.md`, on standard output: what jobs are expected to take, and took. See `make resources`.

`docs/resources/jobs.csv` has the jobs: the median of the peak over seeds, and the least processor seconds (user and
system), which are those without compilation and with the least work beside them. `docs/resources/sets.json` has what
`xmlc prepare` counts of their data.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from xmlc.planning.shape import Shape
from xmlc.planning.steps import Job, costs
from xmlc.records.statistics import Statistics

HERE = Path(__file__).parent
LOWER, UPPER = 1 / 1.1, 1.5  # expected over used: never below by more than 10 %, and at most 1.5 times
LONG = 10.0  # seconds
FITTED = {
    "demo": "time",
    "scene": "forests, time",
    "yeast": "forests, time",
    "enron": "forests",
    "bibtex": "forests, time",
    "delicious": "forests, time",
    "tib-core-26k": "base, cut, time",
    "growth-base": "clusters, time",
    "synthetic-wikipara-3-like": "clusters",
    "amazon-670k-shape": "cut, text, time",
    "amazon-3m-shape": "text, index, time",
}
# Why the time of a job is outside the bounds.
REASONS = {
    ("scene", "train"): "steps until the solver has converged",
    ("delicious", "rank"): "leaves that instances reach are larger than others",
    ("growth-base", "estimate"): "fewer nodes are opened than on other sets",
    ("amazon-670k-shape", "estimate"): "fewer nodes are opened than on tib-core-26k",
    ("amazon-670k-shape", "thresholds"): "fewer nodes are opened than on tib-core-26k",
    ("amazon-670k-shape", "rank"): "an index that comes from memory, beside other work",
    ("growth-base", "rank"): "fewer nodes are opened than on other sets",
    ("growth-base", "train"): "fewer steps until the solver has converged",
}
WITH_POSTERIORS = ("demo", "growth-base", "amazon-670k-shape")
SHOWN = ("demo", "bibtex", "delicious", "tib-core-26k", "amazon-670k-shape", "amazon-3m-shape")
HEAD = (HERE / "resources" / "head.txt").read_text(encoding="utf-8")


class Measured(NamedTuple):
    """A job that was run: what was expected of it and what it took, in MB and processor seconds; None if not known."""

    dataset: str
    model: str
    estimator: str
    job: str
    portion: str
    expected_mb: float
    used_mb: float
    expected_seconds: float
    used_seconds: float | None

    @property
    def memory(self) -> float:
        """Expected over used."""
        return self.expected_mb / self.used_mb

    @property
    def is_met(self) -> bool:
        """Whether memory is within the bounds."""
        return LOWER <= self.memory <= UPPER

    @property
    def time(self) -> float | None:
        """Expected over used processor seconds."""
        return self.expected_seconds / self.used_seconds if self.used_seconds else None

    @property
    def is_late(self) -> bool:
        """Whether its time is known and outside the bounds."""
        return self.time is not None and not LOWER <= self.time <= UPPER


def measured(portion_of_validation: float = 0.2) -> list[Measured]:
    """Read the jobs, and plan them as when they start: with the data counted and the models that they read there."""
    sets = json.loads((HERE / "resources" / "sets.json").read_text(encoding="utf-8"))
    shapes = {name: Shape.of_statistics(msgspec.convert(found, Statistics)) for name, found in sets.items()}
    with (HERE / "resources" / "jobs.csv").open(encoding="utf-8", newline="") as file:
        return [_planned(row, shapes[row["dataset"]], portion_of_validation) for row in csv.DictReader(file)]


def _planned(row: dict[str, str], shape: Shape, held_out: float) -> Measured:
    def known(name: str, unit: float = 1.0) -> float | None:
        return unit * float(row[name]) if row[name] else None

    job = Job(
        shape=shape,
        estimator=row["estimator"],
        hyperparameters=json.loads(row["hyperparameters"] or "{}"),
        fit_share=1 - held_out if row["portion"] == "80" else 1.0,
        model_bytes=known("model_mb", 1e6),
        estimate_bytes=known("estimates_mb", 1e6),
        floor=0.01 if row["dataset"] == "amazon-670k-shape" else 1e-4,
        methods=tuple(row["methods"].split()),
        triggered=row["dataset"] in (*WITH_POSTERIORS, "amazon-3m-shape"),
        posteriors=row["dataset"] in WITH_POSTERIORS,
    )
    found, seconds = costs(row["job"], job), known("cpu_seconds")
    about = (row["dataset"], row["model"], row["estimator"], row["job"], row["portion"])
    return Measured(*about, found.bytes / 1e6, float(row["used_mb"]), found.seconds, seconds)


def summary(jobs: Iterable[Measured]) -> list[str]:
    """Return a line for each dataset: how many jobs are within the bounds of memory, and the extremes."""
    jobs = list(jobs)
    lines = [
        "| dataset | fitted | jobs | memory within the bounds | ratios | times | within the bounds | ratios |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(job.dataset for job in jobs):
        own = [job for job in jobs if job.dataset == name]
        met, fitted = sum(job.is_met for job in own), FITTED.get(name, "nothing")
        times = [job.time for job in own if job.time is not None]
        in_time = f"{len(times) - sum(job.is_late for job in own)} | {extremes(times)}" if times else "– | –"
        memory = f"{met} | {extremes([job.memory for job in own])}"
        lines.append(f"| {name} | {fitted} | {len(own)} | {memory} | {len(times) or '–'} | {in_time} |")
    return lines


def extremes(ratios: list[float]) -> str:
    """Return the least and the largest."""
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def listing(jobs: Iterable[Measured]) -> list[str]:
    """Return a line for each job."""
    lines = [
        "| dataset | model | job | MB expected | used | ratio | s expected | used | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for job in jobs:
        part = f"{job.job}, {job.portion}".removesuffix(", ").replace("full", "100 %").replace(", 80", ", 80 %")
        late = " *" if job.is_late else ""
        time = "– | –" if job.time is None else f"{job.used_seconds:.1f} | {job.time:.2f}{late}"
        mark = "" if job.is_met else " *"
        lines.append(
            f"| {job.dataset} | {job.model or '–'} | {part} | {job.expected_mb:.0f} | {job.used_mb:.0f} | "
            f"{job.memory:.2f}{mark} | {job.expected_seconds:.1f} | {time} |"
        )
    return lines


def head(jobs: list[Measured]) -> str:
    """Return the text above the tables, with the numbers of jobs that it names."""
    timed = [job for job in jobs if job.used_seconds]
    long = [job for job in timed if job.used_seconds and job.used_seconds > LONG]
    five = [job for job in jobs if job.dataset in SHOWN]
    numbers = {
        "memory": sum(job.is_met for job in five),
        "jobs": len(five),
        "others": sum(not job.is_met for job in jobs if job.dataset not in SHOWN),
        "all": len(jobs) - len(five),
        "in_time": sum(not job.is_late for job in timed),
        "timed": len(timed),
        "met": sum(not job.is_late for job in long),
        "long": len(long),
    }
    text = HEAD
    for name, number in numbers.items():
        text = text.replace("{" + name + "}", str(number))
    return text.rstrip()


def missed(jobs: Iterable[Measured]) -> list[str]:
    """Return a line for each job whose time is outside the bounds, with the reason."""
    lines = ["| dataset | model | job | s expected | used | ratio | |", "|---|---|---|---|---|---|---|"]
    for job in jobs:
        if job.is_late:
            reason = REASONS.get((job.dataset, job.job), "start of the process")
            figures = f"{job.expected_seconds:.1f} | {job.used_seconds:.1f} | {job.time:.2f}"
            lines.append(f"| {job.dataset} | {job.model} | {job.job} | {figures} | {reason} |")
    return lines


def page() -> str:
    """Return the page."""
    jobs = measured()
    shown = [job for name in SHOWN for job in jobs if job.dataset == name]
    memory = [job for job in jobs if not job.is_met]
    parts = [head(jobs), "", *summary(jobs), "", "## Memory outside the bounds", "", *listing(memory), "",
             "## Times outside the bounds", "", *missed(jobs), "",
             "## Every job of six sets", "", *listing(shown)]  # fmt: skip
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(), end="")
