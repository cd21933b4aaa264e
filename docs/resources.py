"""Write `docs/resources.md`, on standard output: what jobs are expected to take, and took. See `make resources`.

`docs/resources/jobs.csv` has the jobs: the median of the peak over seeds, and the least processor seconds, which are
those without compilation. `docs/resources/sets.json` has what `xmlc prepare` counts of their data.
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
    "growth-base": "clusters",
    "synthetic-wikipara-3-like": "clusters",
    "amazon-670k-shape": "cut, text, time",
}
SHOWN = ("demo", "bibtex", "delicious", "tib-core-26k", "amazon-670k-shape")
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
        methods=int(row["methods"]),
        posteriors=not row["dataset"].startswith("synthetic"),
    )
    found, seconds = costs(row["job"], job), known("cpu_seconds")
    about = (row["dataset"], row["model"], row["estimator"], row["job"], row["portion"])
    return Measured(*about, found.bytes / 1e6, float(row["used_mb"]), found.seconds, seconds)


def summary(jobs: Iterable[Measured]) -> list[str]:
    """Return a line for each dataset: how many jobs are within the bounds of memory, and the extremes."""
    jobs = list(jobs)
    lines = [
        "| dataset | fitted | jobs | memory within the bounds | least ratio | largest ratio |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(job.dataset for job in jobs):
        own = [job for job in jobs if job.dataset == name]
        ratios = [job.memory for job in own]
        met = sum(job.is_met for job in own)
        fitted = FITTED.get(name, "nothing")
        lines.append(f"| {name} | {fitted} | {len(own)} | {met} | {min(ratios):.2f} | {max(ratios):.2f} |")
    return lines


def listing(jobs: Iterable[Measured]) -> list[str]:
    """Return a line for each job."""
    lines = [
        "| dataset | model | job | MB expected | used | ratio | s expected | used | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for job in jobs:
        part = f"{job.job}, {job.portion}".removesuffix(", ").replace("full", "100 %").replace(", 80", ", 80 %")
        time = (
            "– | –"
            if job.used_seconds is None
            else f"{job.used_seconds:.1f} | {job.expected_seconds / job.used_seconds:.2f}"
        )
        mark = "" if job.is_met else " *"
        lines.append(
            f"| {job.dataset} | {job.model or '–'} | {part} | {job.expected_mb:.0f} | {job.used_mb:.0f} | "
            f"{job.memory:.2f}{mark} | {job.expected_seconds:.1f} | {time} |"
        )
    return lines


def head(jobs: list[Measured]) -> str:
    """Return the text above the tables, with the numbers of jobs that it names."""
    known = [job for job in jobs if job.estimator != "ldsm"]
    timed = [(job.expected_seconds / job.used_seconds, job.used_seconds) for job in jobs if job.used_seconds]
    in_time = [seconds for ratio, seconds in timed if LOWER <= ratio <= UPPER]
    long = [seconds for _, seconds in timed if seconds > LONG]
    text = HEAD.replace("{others}", str(sum(not job.is_met for job in known))).replace("{all}", str(len(known)))
    text = text.replace("{timed}", str(len(timed))).replace("{in_time}", str(len(in_time)))
    met = sum(seconds > LONG for seconds in in_time)
    return text.replace("{long}", str(len(long))).replace("{met}", str(met)).rstrip()


def page() -> str:
    """Return the page."""
    jobs = measured()
    shown = [job for name in SHOWN for job in jobs if job.dataset == name]
    missed = [job for job in shown if not job.is_met]
    parts = [head(jobs), "", *summary(jobs), "", "## Jobs outside the bounds", "", *listing(missed), "",
             "## Every job of five sets", "", *listing(shown)]  # fmt: skip
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(), end="")
