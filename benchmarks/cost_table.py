"""The table config/costs.csv with the costs of each step on each dataset of the catalogue.

A measured cost is scaled to the whole dataset and to the suite's number of trees by the ratio of
two estimates of `benchmarks.cost_model`. A cost that nobody measured is the estimate itself.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from benchmarks.commands import group
from benchmarks.cost_model import (
    FORESTS,
    MAPPED_BYTES,
    StepCosts,
    Workload,
    costs_of_data,
    costs_of_fit,
    costs_of_step,
)
from benchmarks.costs import FINISHED, MOST_ROWS, OUT
from benchmarks.harness import ROOT
from xmlc.core.files import atomic_file
from xmlc.models.registry import LEARNERS
from xmlc.suite.config.catalogue import Size
from xmlc.suite.config.costs import COLUMNS, PROCESS, TRYING
from xmlc.suite.config.jobs import SPLITS, threshold_methods
from xmlc.suite.config.project import Project
from xmlc.suite.config.ranges import MOST_FITTED, MOST_VALIDATED
from xmlc.suite.config.suite import Stages

TABLE = ROOT / "config/costs.csv"
START_SECONDS = 2.5  # CPU seconds of a process that does nothing
MEASURED_PROCESS = 100e6  # private bytes of a process without data that compiles kernels
ON_DISK = 3  # bytes of text files and arrays, per byte of the arrays
DOWNLOADED = 0.6  # bytes of the archive, per byte of the arrays
HELP = """Write config/costs.csv.

The costs are scaled from the measurements of `costs`. Costs that were not measured are estimated by
formulas."""

Row = tuple[str | int, ...]


class Ratio(NamedTuple):
    """Measured / estimated costs of a step."""

    seconds: float = 1.0
    private: float = 1.0
    disk: float = 1.0


Ratios = Mapping[tuple[str, str, str], Ratio]
MEASURED_NOTHING = Ratio()


@group.command("cost-table", help=HELP)
@click.option("--out", type=click.Path(path_type=Path), default=TABLE, help="File to write.")
def bench_cost_table(out: Path) -> None:
    """Write the costs of all models of the suites."""
    project = Project.read({"papers": []}, ROOT / "config")
    ratios = ratios_of(project)
    found: list[Row] = []
    for dataset, entry in project.catalogue.items():
        if entry.published or entry.synthetic:
            found += rows_of_data(project, dataset, ratios)
            for model in models_on(project, dataset):
                found += rows_of_model(project, dataset, model, ratios)
    with atomic_file(out) as path, path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(sorted(found))


def rows_of_data(project: Project, dataset: str, ratios: Ratios) -> Iterator[Row]:
    """Yield the rows of the steps for data."""
    entry = project.entry(dataset)
    data = entry.size.bytes
    ratio = ratios.get((dataset, "", "prepare"), MEASURED_NOTHING)
    costs = costs_of_data(entry.size)
    yield table_row(dataset, "", "prepare", costs._replace(disk=ON_DISK * data), ratio)
    if entry.synthetic:
        yield table_row(dataset, "", "synth", costs._replace(disk=0.0))
    else:
        yield table_row(dataset, "", "download", StepCosts(0.0, 0.0, DOWNLOADED * data))


def models_on(project: Project, dataset: str) -> set[str]:
    """Return the models of suites on a dataset, installed or not."""
    suites = project.suites.values()
    own = [suite for suite in suites if suite.own and dataset in suite.datasets]
    models = set()
    for suite in own or [suite for suite in suites if not suite.own]:
        for name, spec in suite.all_models.items():
            if dataset not in spec.without and spec.task in (None, suite.task_of(dataset)):
                models.add(name)
    return models


def rows_of_model(project: Project, dataset: str, model: str, ratios: Ratios) -> Iterator[Row]:
    """Yield the rows of a model on the whole training set."""
    size = project.entry(dataset).size
    threads = project.settings.threads
    work = workload(project, dataset, model, size, size.n_train, size.n_test, threads)
    given = {**work.hyperparameters, **largest_arity(project, dataset, model)}
    work = replace(work, hyperparameters=given)
    n_validated = project.settings.validation_share * size.n_train
    both_parts = replace(work, rows=size.n_test + n_validated)
    suites = project.suites.values()
    steps = {"train": work, "rank": work}
    if any(model in suite.progressive for suite in suites):
        steps["progressive"] = work
    if project.ensemble_sizes(model):
        steps["forest"] = work
    is_inferred = any(suite.inferred(model) for suite in suites)
    if is_inferred or threshold_methods(project, model, dataset):
        steps |= dict.fromkeys(("estimate", "thresholds"), both_parts)
    if is_inferred:
        steps["infer"] = both_parts
    of_train = ratios.get((dataset, model, "train"), MEASURED_NOTHING)
    mapped = 0.0
    if work.estimator in LEARNERS:
        mapped = min(of_train.disk * costs_of_fit(work).model_bytes, MAPPED_BYTES)
    for step, of_step in steps.items():
        ratio = ratios.get((dataset, model, step), MEASURED_NOTHING)
        held = mapped
        if step in ("train", "progressive"):
            held = 0.0
        yield table_row(dataset, model, step, costs_of_step(step, of_step), ratio, held)
    search = project.models[model].search
    if search.always or search.stages:
        fitted = size.n_train - n_validated
        if search.always:
            n = fitted
        else:
            n = min(fitted, MOST_FITTED)
        trial = replace(
            work,
            n=n,
            rows=min(n_validated, MOST_VALIDATED),
            hyperparameters=given | search.trial_overrides,
        )
        seconds, private, disk = costs_of_trials(trial, search.stages_on(dataset))
        splits = 1
        if search.always:
            splits = SPLITS
        tuning = StepCosts(splits * seconds, private, disk)
        yield table_row(dataset, model, "tune", tuning)
    sweeps = []
    for suite in suites:
        for sweep in suite.sweeps.values():
            if sweep.model == model:
                values = sweep.values_on(dataset)
                stage = [{**sweep.hyperparameters, sweep.hyperparameter: value} for value in values]
                sweeps.append(costs_of_trials(work, [stage]))
    if sweeps:
        yield table_row(dataset, model, "sweep", max(sweeps))


def workload(
    project: Project, dataset: str, model: str, size: Size, n: float, rows: float, threads: int
) -> Workload:
    """Return a model that learns from n instances and predicts some rows."""
    spec = project.models[model]
    return Workload(
        size,
        spec.estimator,
        spec.values_on(dataset),
        n,
        rows,
        threads,
        min_probability=project.min_probability(dataset),
        methods=max(1, len(threshold_methods(project, model, dataset))),
    )


def largest_arity(project: Project, dataset: str, model: str) -> dict[str, int]:
    """Return the largest arity in a search, which training may select."""
    if not project.tuned_by(model, dataset):
        return {}
    owner = project.models[project.models[model].share_search_with or model]
    arities: list[int] = []
    for stage in owner.search.stages_on(dataset):
        for trial in stage:
            arity = trial.get("arity")
            if isinstance(arity, int):
                arities.append(arity)
    if arities:
        return {"arity": max(arities)}
    return {}


def costs_of_trials(work: Workload, stages: Stages) -> StepCosts:
    """Return the costs of trials, which train a model, rank, and delete the model.

    Later stages extend the most expensive trial.
    """
    given = work.hyperparameters
    costs = []
    for stage in stages:
        trials = [{**given, **trial} for trial in stage]
        of_stage = [costs_of_fit(replace(work, hyperparameters=trial)) for trial in trials]
        given = trials[of_stage.index(max(of_stage))]
        costs += of_stage
    seconds = [cost.seconds + work.rows * cost.ranking_ms / 1e3 for cost in costs]
    peak = max(cost.peak_bytes for cost in costs)
    disk = max(cost.model_bytes for cost in costs)
    return StepCosts(math.fsum(seconds), work.size.bytes + peak, disk)


def ratios_of(project: Project) -> Ratios:
    """Return the ratios of measured to estimated costs by dataset, model and step.

    Both are sums over copies, so that the largest copies count most.
    """
    sums: dict[tuple[str, str, str], tuple[np.ndarray, np.ndarray]] = {}
    with OUT.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] == FINISHED]
    for row in rows:
        if row["step"] not in TRYING:
            seconds, private, disk = estimate_of(project, row)
            estimated = np.array([START_SECONDS + seconds, MEASURED_PROCESS + private, disk])
            columns = ("cpu_seconds", "private_bytes", "written_bytes")
            measured = np.array([float(row[column]) for column in columns])
            if row["step"] not in ("train", "estimate"):  # files of other steps do not count
                measured[2] = estimated[2] = 1.0
            key = row["dataset"], row["model"], row["step"]
            before = sums.get(key, (np.zeros(3), np.zeros(3)))
            sums[key] = before[0] + measured, before[1] + estimated
    return {key: Ratio(*(measured / estimated)) for key, (measured, estimated) in sums.items()}


def estimate_of(project: Project, row: Mapping[str, str]) -> StepCosts:
    """Return the estimated costs of a measured step."""
    dataset = row["dataset"]
    model = row["model"]
    n = float(row["n_train"])
    one_in = float(row["share"].partition("/")[2])
    size = Size(
        n / (1 - project.settings.validation_share) if model else n,
        min(project.entry(dataset).size.n_test / one_in, MOST_ROWS),
        *(float(row[column]) for column in ("d", "m", "nonzeros", "labels")),
    )
    if not model:
        return costs_of_data(size)
    rows = float(row["rows"])
    work = workload(project, dataset, model, size, n, rows, int(row["threads"]))
    if work.estimator in FORESTS:
        fewer = {"n_trees": max(1, round(float(row["units"])))}
        work = replace(work, hyperparameters={**work.hyperparameters, **fewer})
    return costs_of_step(row["step"], work)


def table_row(
    dataset: str,
    model: str,
    step: str,
    costs: StepCosts,
    ratio: Ratio = MEASURED_NOTHING,
    mapped: float = 0.0,
) -> Row:
    """Return a row, in seconds and megabytes of memory and disk."""
    seconds = START_SECONDS + ratio.seconds * costs.seconds
    memory = PROCESS + (ratio.private * costs.private + mapped) / 1e6
    amounts = (seconds, memory, ratio.disk * costs.disk / 1e6)
    return (dataset, model, step, *map(rounded, amounts))


def rounded(amount: float) -> int:
    """Round to at most three significant digits."""
    return round(float(f"{amount:.3g}"))
