"""Measurements of the workflow's steps on synthetic copies of datasets.

A copy has as many labels and features as a dataset of the catalogue, but only a share of its
instances, so `benchmarks.cost_table` scales the costs. Each step is the command of its rule in a
separate process, whose memory is read from /proc while it runs.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import chdir, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.commands import count_option, group
from benchmarks.cost_model import variant_of
from benchmarks.harness import ROOT
from xmlc.core.errors import XmlcError, nearest
from xmlc.core.files import folder_bytes
from xmlc.data.matrices import load_csr
from xmlc.suite.config import paths
from xmlc.suite.config.catalogue import Size
from xmlc.suite.config.costs import size_of
from xmlc.suite.config.jobs import options, search_options, sweep_options, threshold_methods
from xmlc.suite.config.project import Project
from xmlc.suite.config.suite import read_suite
from xmlc.suite.provenance.environment import commit, environment
from xmlc.suite.steps.compile import compile_suite
from xmlc.suite.steps.synth import make_dataset

OUT = ROOT / paths.MEASURED / "costs.csv"
XMLC = str(Path(sys.executable).with_name("xmlc"))
SHAPE = ("n_train", "rows", "d", "m", "nonzeros", "labels", "units")
MEASURED = (
    "cpu_seconds",
    "wall_seconds",
    "peak_bytes",
    "private_bytes",
    "mapped_bytes",
    "written_bytes",
)
ABOUT = ("outcome", "load", "commit", "machine", "date")
COLUMNS = (
    *("dataset", "share", "model", "step", *SHAPE, "threads"),
    *(*MEASURED, "estimates_per_row", *ABOUT),
)
STEPS = ("prepare", "train", "estimate", "thresholds", "rank", "forest", "tune", "sweep")
USUAL = STEPS[:6]
SCORING = ("rank", "forest")  # predict the test set only
# Fewer than in the suites, because all trees of a forest cost the same
TREES = {"fastxml": 5, "ldsm": 3, "parabel": 1}
MOST_ROWS = 10_000  # test instances at most, so that predictions take minutes
INTERVAL = 0.02  # seconds between two readings of a process's memory
FINISHED = "finished"
FEWER = ", ".join(f"{name} {n}" for name, n in TREES.items())
HELP = """Measure steps of models on a synthetic copy of a dataset, and append costs to a CSV file.

Models are trained on 80 % of the training instances, with the hyperparameters of their suites
except the number of trees, and deleted after their last step."""


class Usage(NamedTuple):
    """Costs and end of a process."""

    cpu_seconds: float
    wall_seconds: float
    #: Largest resident memory, and its largest private and mapped parts.
    peak_bytes: int
    private_bytes: int
    mapped_bytes: int
    #: Exit status, or minus the number of the signal that ended it.
    status: int
    #: `FINISHED`, or why the process did not finish.
    outcome: str
    #: Load of the machine at the start.
    load: float


class Job(NamedTuple):
    """A step, as the command of its rule."""

    step: str
    #: File or folder from an earlier step.
    needs: Path
    #: Words of the command after the name of the step, without the number of threads.
    words: Sequence[str]
    written: Sequence[Path]
    #: Training instances of the model: 80 % of them, or all.
    split: str = "80"


@dataclass(frozen=True)
class Copy:
    """A synthetic copy of a dataset, in a folder with the layout of a run."""

    folder: Path
    dataset: str
    one_in: int
    threads: int
    #: Wall seconds after which a step is stopped.
    limit: float
    #: Trees of each forest, or None for the number in `TREES`.
    trees: int | None

    def run(self, words: Sequence[str]) -> Usage:
        """Run a command in the folder."""
        return usage(words, self.folder, self.limit)

    def path(self, pattern: paths.Pattern, **values: object) -> Path:
        """Return a path in the folder."""
        return self.folder / pattern.of(dataset=self.dataset, **values)

    @property
    def size(self) -> Size:
        """Return the numbers that `xmlc prepare` counted."""
        with chdir(self.folder):
            return size_of(self.project(None), self.dataset)

    def project(self, tuning: str | None) -> Project:
        """Return the suites with fewer trees and this benchmark's threads."""
        project = Project.read(
            {"papers": ["plt2016"], "threads": self.threads, "tuning": tuning}, ROOT / "config"
        )
        models = {}
        for name, spec in project.models.items():
            fewer = {}
            if spec.estimator in TREES:
                fewer = {"n_trees": self.trees or TREES[spec.estimator]}
            datasets = {of: values | fewer for of, values in spec.datasets.items()}
            models[name] = replace(
                spec, hyperparameters=spec.hyperparameters | fewer, datasets=datasets
            )
        return replace(project, models=models)


@group.command("costs", help=HELP)
@click.option(
    "--set",
    "name",
    required=True,
    help="Dataset of the catalogue that is copied, such as amazon-670k.",
)
@count_option("--one-in", 16, "The copy has one in this number of instances.")
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    help="Model of a suite, such as plt; repeatable.",
)
@click.option(
    "--step", "steps", multiple=True, default=USUAL, show_default=True, type=click.Choice(STEPS)
)
@count_option("--trees", None, f"Number of trees of each forest.  [default: {FEWER}]")
@count_option("--threads", 2, "Number of threads of each step.")
@count_option("--minutes", 20, "Wall minutes after which a step is stopped.")
@click.option(
    "--work",
    type=click.Path(path_type=Path),
    default="costs",
    show_default=True,
    help="Folder for the data.",
)
@click.option("--out", type=click.Path(path_type=Path), default=OUT, help="CSV file to append to.")
def bench_costs(
    name: str,
    one_in: int,
    models: Sequence[str],
    steps: Sequence[str],
    trees: int | None,
    threads: int,
    minutes: int,
    work: Path,
    out: Path,
) -> None:
    """Measure the given steps of each model."""
    copy = Copy(work.absolute() / f"one-in-{one_in}", name, one_in, threads, 60.0 * minutes, trees)
    project = copy.project(None)
    for model in models:
        if model not in project.models:
            raise XmlcError(f"--model: found {model}, expected {nearest(model, project.models)}")
    if not copy.path(paths.DATA).exists():
        prepare(copy, project, out)
    compile_models(models)
    for model in models:
        try:
            measure(copy, project, model, steps, out)
        finally:
            shutil.rmtree(copy.path(paths.RUN, model=model, seed=0, split="80"), ignore_errors=True)
            shutil.rmtree(
                copy.path(paths.RUN, model=model, seed=0, split="full"), ignore_errors=True
            )


def prepare(copy: Copy, project: Project, out: Path) -> None:
    """Generate the copy, and measure its preparation."""
    shape = {**project.entry(copy.dataset).in_its_shape(copy.one_in)}
    shape["n_test"] = min(shape["n_test"], MOST_ROWS)
    source = copy.path(paths.RESOURCE)
    data = copy.path(paths.DATA)
    if not source.exists():
        make_dataset(copy.dataset, "labels", shape, source, copy.threads)
    words = [copy.dataset, "--source", str(source), "--catalogue", str(ROOT / paths.CATALOGUE)]
    words += ["--validation-share", str(project.settings.validation_share)]
    words += ["--out", str(data), "--statistics", str(copy.path(paths.STATISTICS))]
    used = copy.run([XMLC, "prepare", *words])
    if used.status:
        raise XmlcError(f"{copy.dataset}: {used.outcome}")
    record(out, copy, project, "", Job("prepare", source, words, [data], "full"), used)


def compile_models(models: Sequence[str]) -> None:
    """Compile all kernels, so that no step includes it."""
    for file in sorted((ROOT / "config/papers").glob("*.yaml")):
        suite = read_suite(file)
        compile_suite(suite, [name for name in suite.models if name in models])


def measure(copy: Copy, project: Project, model: str, steps: Sequence[str], out: Path) -> None:
    """Measure steps of one model, except those whose input is missing."""
    searching = copy.project("auto")
    for job in jobs_of(copy, project, searching, model):
        if job.step in steps and job.needs.exists():
            used = copy.run([XMLC, job.step, *job.words, "--threads", str(copy.threads)])
            record(out, copy, searching if job.step == "tune" else project, model, job, used)


def jobs_of(copy: Copy, project: Project, searching: Project, model: str) -> list[Job]:
    """Return the jobs of a model, with the commands of workflow/rules."""
    data = ["--data", str(copy.path(paths.DATA))]
    kind = ["--estimator", project.models[model].estimator]
    kind += ["--parameters", project.hyperparameters(model, copy.dataset)]
    named = [*data, *kind, "--name", model, "--seed", "0"]
    run = copy.path(paths.HELD_OUT, model=model, seed=0)
    trained = [*data, "--model", str(run / "model"), "--training", str(run / "train.json")]
    jobs = []
    result = copy.path(paths.TUNING, model=model)
    if searching.tuned_by(model, copy.dataset) == paths.TUNING.of(
        dataset=copy.dataset, model=model
    ):
        search = search_options(searching, model, copy.dataset)
        jobs.append(
            Job(
                "tune",
                copy.path(paths.DATA),
                [*data, *kind, *search, "--out", str(result)],
                [result],
            )
        )
    to = ["--out", str(run / "model"), "--record", str(run / "train.json")]
    jobs.append(
        Job("train", copy.path(paths.DATA), [*named, "--part", "fit", *to], [run / "model"])
    )
    methods = threshold_methods(project, model, copy.dataset)
    if methods:
        estimates = run / "spe"
        records = run / "evaluation"
        values = run / "thresholds"
        least = ["--min-probability", str(project.min_probability(copy.dataset))]
        jobs.append(
            Job("estimate", run / "model", [*trained, *least, "--out", str(estimates)], [estimates])
        )
        to = [
            "--thresholds",
            str(values),
            "--calibration",
            str(run / "calibration.json"),
            "--out",
            str(records),
        ]
        tuned = [*methods, *trained, "--estimates", str(estimates), *to]
        jobs.append(Job("thresholds", estimates, tuned, [records, values]))
    ranking = run / "ranking"
    jobs.append(Job("rank", run / "model", [*trained, "--out", str(ranking)], [ranking]))
    sizes = project.ensemble_sizes(model)
    if sizes:
        forest = run / "forest.json"
        words = [*trained, *options("--trees", sizes), "--out", str(forest)]
        jobs.append(Job("forest", run / "model", words, [forest]))
    return jobs + jobs_of_sweeps(copy, project, model, named)


def jobs_of_sweeps(copy: Copy, project: Project, model: str, named: Sequence[str]) -> list[Job]:
    """Return the jobs of sweeps, which read the record of a training on all instances."""
    full = copy.path(paths.FULL, model=model, seed=0)
    to = ["--out", str(full / "model"), "--record", str(full / "train.json")]
    jobs = []
    for paper, suite in project.suites.items():
        for name, sweep in suite.sweeps.items():
            if (
                sweep.model == model
                and copy.dataset in suite.datasets
                and copy.dataset not in sweep.without
            ):
                given = sweep_options(project, paper, name, copy.dataset)
                words = [
                    "--data",
                    str(copy.path(paths.DATA)),
                    "--training",
                    str(full / "train.json"),
                    *given,
                ]
                out = full / f"{name}.json"
                train = Job("train", copy.path(paths.DATA), [*named, *to], [full / "model"], "full")
                words += ["--out", str(out)]
                jobs += [train, Job("sweep", full / "train.json", words, [out], "full")]
    return jobs


def record(out: Path, copy: Copy, project: Project, model: str, job: Job, used: Usage) -> None:
    """Append a row to ``out``, and print it."""
    size = copy.size
    share = project.settings.validation_share
    n_train = int(size.n_train)
    if job.split == "80":
        n_train = round((1 - share) * size.n_train)
    rows = {
        "estimate": size.n_test + size.n_train - n_train,
        "thresholds": size.n_test + size.n_train - n_train,
    }
    rows |= dict.fromkeys((*SCORING, "sweep"), size.n_test)
    n_rows = int(rows.get(job.step, 0))
    units = ""
    if model:
        spec = project.models[model]
        units = f"{variant_of(spec.estimator, spec.values_on(copy.dataset), size.m)[1]:g}"
    shape = [
        n_train,
        n_rows,
        int(size.d),
        int(size.m),
        round(size.nonzeros, 2),
        round(size.labels_per_instance, 2),
        units,
    ]
    written = sum(bytes_of(file) for file in job.written)
    per_row = ""
    if job.step == "estimate" and used.status == 0:
        count = sum(load_csr(job.written[0], part).nnz for part in ("val", "test"))
        per_row = f"{count / n_rows:.2f}"
    row = [copy.dataset, f"1/{copy.one_in}", model, job.step, *shape, copy.threads]
    row += [
        f"{used.cpu_seconds:.2f}",
        f"{used.wall_seconds:.2f}",
        used.peak_bytes,
        used.private_bytes,
    ]
    row += [used.mapped_bytes, written, per_row]
    described = environment(copy.threads)
    row += [used.outcome, f"{used.load:.2f}", commit(), described["cpu"], described["time"]]
    is_new = not out.exists()
    with out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerow(row)
    click.echo(", ".join(f"{column} {value}" for column, value in zip(COLUMNS, row, strict=True)))


def usage(words: Sequence[str], folder: Path, limit: float) -> Usage:
    """Return the costs of a command, stopped after ``limit`` seconds, with messages in a log."""
    log = folder / "costs.log"
    load = os.getloadavg()[0]
    peak = private = mapped = 0
    is_stopped = False
    started = time.monotonic()
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(words, cwd=folder, stdout=file, stderr=subprocess.STDOUT)
    try:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        while not ended:
            for pid in (process.pid, *children_of(process.pid)):
                memory = memory_of(pid)
                peak = max(peak, memory.get("VmHWM", 0))
                private = max(private, memory.get("RssAnon", 0))
                mapped = max(mapped, memory.get("RssFile", 0))
            if time.monotonic() - started > limit and not is_stopped:
                is_stopped = True
                process.terminate()
            time.sleep(INTERVAL)
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
    except BaseException:
        process.terminate()
        raise
    seconds = time.monotonic() - started
    # wait4 has taken the status from Popen
    process.returncode = os.waitstatus_to_exitcode(status)
    outcome = FINISHED
    if is_stopped:
        outcome = f"stopped after {limit / 60:g} minutes"
    elif process.returncode:
        lines = log.read_text(encoding="utf-8").splitlines()
        outcome = f"exit status {process.returncode}: {lines[-1] if lines else 'no message'}"
    cpu_seconds = used.ru_utime + used.ru_stime
    return Usage(cpu_seconds, seconds, peak, private, mapped, process.returncode, outcome, load)


def children_of(pid: int) -> list[int]:
    """Return a process's children, because a step works in a child of its command."""
    with suppress(OSError):
        return [
            int(word)
            for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        ]
    return []


def memory_of(pid: int) -> dict[str, int]:
    """Return peak, private and mapped bytes of a process, or {} after its end."""
    with suppress(OSError):
        lines = (
            Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
        )
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        names = [name for name in ("VmHWM", "RssAnon", "RssFile") if name in fields]
        return {name: 1024 * int(fields[name].split()[0]) for name in names}
    return {}


def bytes_of(file: Path) -> int:
    """Return the bytes of a file or folder, or 0 if it is missing."""
    if file.is_dir():
        return folder_bytes(file)
    if file.is_file():
        return file.stat().st_size
    return 0
