"""What a job requests: memory, minutes and threads, from what is known of its data and its model when it is planned.

Snakemake asks twice: when the jobs are listed, and again before each starts. By then the data are prepared and the
model that the job reads is there, so that their own sizes take the place of the catalogue's and of what was expected.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.files import read_json
from xmlc.planning.shape import Shape
from xmlc.planning.steps import Costs, Job, costs
from xmlc.records.estimates import Estimates
from xmlc.records.statistics import Statistics
from xmlc.records.training import read_searches
from xmlc.suites import paths
from xmlc.suites.project import Project

# The most threads that a step can use; training and what is not named here use all that the settings give.
MOST_THREADS = {"rank": 4, "estimate": 4, "thresholds": 2, "infer": 4, "forest": 4}
GAIN = 0.6  # of each thread beyond the first
BESIDE = 300  # MB of Snakemake itself, which runs twice within a job on another node
ANY = ("any",)  # a method, of steps that have methods
LEAST_MINUTES = 5  # a process starts, reads files that others share, and may have kernels to compile
SLACK = 2.0  # wall seconds for a processor second of one thread, on a node that other jobs share


class Wildcards(Protocol):
    """Wildcards of a job; iterating over them gives their values."""

    def get(self, name: str, otherwise: str | None = None, /) -> str | None:
        """Return one by name."""

    def __getitem__(self, name: str, /) -> str:
        """Return one by name."""

    def __contains__(self, name: object, /) -> bool:
        """Tell whether there is one of this name."""

    def __iter__(self) -> Iterator[str]:
        """Go through them."""


class Snakemake(Protocol):
    """What of Snakemake's workflow is asked."""

    @property
    def global_resources(self) -> Mapping[str, object]:
        """Limits of all jobs together."""

    @property
    def local_exec(self) -> bool:
        """Whether jobs run on this machine."""


class Requests:
    """What the rules request of a machine.

    Parameters
    ----------
    project : Project
    workflow : Snakemake's workflow
        Asked when jobs are planned: what it knows of its executor comes after the rules.
    """

    def __init__(self, project: Project, workflow: Snakemake):
        self.project, self.workflow = project, workflow
        self._told: set[str] = set()  # datasets

    def of(self, step: str, methods: Sequence[str] = ANY) -> dict[str, Callable[..., int]]:
        """Return the resources of the rule of one step, see `of_steps`."""
        return self.of_steps({step: methods})

    def of_steps(self, steps: Mapping[str, Sequence[str]], times: int = 1) -> dict[str, Callable[..., int]]:
        """Return the resources of a rule of steps one after the other, as functions that Snakemake calls.

        ``mem_mb`` and ``runtime`` grow with the attempt; ``cpu_seconds``, what they are about, limits nothing.

        Parameters
        ----------
        steps : mapping of str to sequence of str
            Threshold or inference methods of each step, none of most.
        times : int
            How often all steps are done, such as once for each seed; ``cpu_seconds`` are those of once.
        """

        def found(wildcards: Wildcards) -> Costs:
            each = [expected(self.project, step, wildcards, methods) for step, methods in steps.items()]
            return Costs(max(one.bytes for one in each), sum(one.seconds for one in each))

        def memory(wildcards: Wildcards, attempt: int) -> int:
            mb = megabytes(found(wildcards), attempt)
            self._tell_if_large(mb, " ".join([" and ".join(steps), *wildcards]), wildcards.get("dataset") or "")
            return mb if self.workflow.local_exec else mb + BESIDE

        def runtime(wildcards: Wildcards, threads: int, attempt: int) -> int:
            once = found(wildcards)
            whole = Costs(once.bytes, times * once.seconds)
            return minutes(whole, threads, attempt, self.project.settings.speed)

        def seconds(wildcards: Wildcards) -> int:
            return math.ceil(found(wildcards).seconds)

        return {"mem_mb": memory, "runtime": runtime, "cpu_seconds": seconds}

    def threads(self, step: str) -> Callable[[Wildcards], int]:
        """Return a function for the threads of a step's job: those of its model, and no more than the step can use."""

        def chosen(wildcards: Wildcards) -> int:
            model = wildcards.get("model")
            given = self.project.settings.threads if model is None else self.project.threads(model)
            return min(given, MOST_THREADS.get(step, given))

        return chosen

    def _tell_if_large(self, mb: int, job: str, dataset: str) -> None:
        """Say, once for each dataset, that a job needs more than all jobs have together.

        Snakemake would lower its request to that limit, which the profile or --resources gives, without a word.
        """
        limit = getattr(self.workflow.global_resources.get("mem_mb"), "value", None)
        if not isinstance(limit, int) or mb <= limit or dataset in self._told:
            return
        self._told.add(dataset)
        sentence = (
            f"{dataset}: {job} is expected to need {mb:,} MB, more than the {limit:,} MB that all jobs have together "
            "(resources: mem_mb). Such a job runs alone, and may be ended for want of memory: take a larger machine."
        )
        print(sentence, file=sys.stderr, flush=True)


def expected(project: Project, step: str, wildcards: Wildcards, methods: Sequence[str] = ANY) -> Costs:
    """Return what a job is expected to take.

    Parameters
    ----------
    project : Project
    step : str
        As in `xmlc.planning.steps.costs`.
    wildcards : dict of str to str
        Those of its rule: dataset, and where it has them model, seed, portion, paper and sweep.
    methods : sequence of str
        Threshold or inference methods.

    Returns
    -------
    Costs
        Peak bytes and processor seconds.
    """
    dataset, model = wildcards.get("dataset"), wildcards.get("model")
    if dataset is None:
        return costs(step, Job())
    shape = shape_of(project, dataset)
    if model is None:
        made = project.entry(dataset).synthetic
        triggered = made is not None and made.get("kind", "labels") == "labels"
        written = triggered and bool(made and made.get("posteriors", True))
        return costs(step, Job(shape=shape, triggered=triggered, posteriors=written))
    portion = wildcards.get("portion") or ("80" if step in ("estimate", "thresholds", "tune") else "full")
    run = {"dataset": dataset, "model": model, "seed": wildcards.get("seed", "0"), "portion": portion}
    own = step in ("train", "tune", "progressive")
    return costs(
        step,
        Job(
            shape=shape,
            estimator=project.models[model].estimator,
            hyperparameters={} if step == "sweep" else _hyperparameters(project, model, dataset),
            fit_share=1 - project.settings.validation_share if portion == "80" else 1.0,
            trees=1 / project.settings.scatter if "scatteritem" in wildcards else 1.0,
            model_bytes=None if own else _size(Path(paths.TRAINING.of(**run)), ("costs", "model_bytes")),
            estimate_bytes=_size(Path(paths.ESTIMATES.of(**run), Estimates.FILE), ("step", "written_bytes")),
            floor=project.floor(dataset),
            methods=tuple(methods),
            trials=_trials(project, step, wildcards),
        ),
    )


def megabytes(found: Costs, attempt: int = 1) -> int:
    """Return the memory to request: what is expected, times the attempt."""
    return math.ceil(found.bytes / 1e6) * attempt


def minutes(found: Costs, n_threads: int = 1, attempt: int = 1, speed: float = 1.0) -> int:
    """Return the wall minutes to request.

    Parameters
    ----------
    found : Costs
    n_threads, attempt : int
    speed : float
        How many times as fast as the machine of docs/resources.md a processor is.
    """
    seconds = SLACK * found.seconds / speed / (1 + GAIN * (n_threads - 1))
    return attempt * (LEAST_MINUTES + math.ceil(seconds / 60))


def shape_of(project: Project, dataset: str) -> Shape:
    """Return the sizes of a dataset: counted, where it is prepared, or as the catalogue has them."""
    path = Path(paths.STATISTICS.of(dataset=dataset))
    counted = _counted(path, path.stat().st_mtime_ns) if path.is_file() else None
    if counted is not None:
        return counted
    entry = project.entry(dataset)
    return _listed(json.dumps({**(entry.published or {}), **(entry.synthetic or {})}, sort_keys=True))


@lru_cache(maxsize=256)
def _counted(path: Path, changed: int) -> Shape | None:
    """Return what a record says; None if it is damaged, for the step that needs it says so in a sentence."""
    try:
        return Shape.of_statistics(Statistics.read(path))
    except XmlcError:
        return None


@lru_cache(maxsize=256)
def _listed(counts: str) -> Shape:
    return Shape.of_entry(json.loads(counts))


def _hyperparameters(project: Project, model: str, dataset: str) -> Hyperparameters:
    """Return the configured hyperparameters, and over them what a search found, if it has ended."""
    given: Hyperparameters = dict(project.models[model].values_on(dataset))
    tuned = project.tuned_by(model, dataset)
    if tuned is None or not Path(tuned).is_file():
        return given
    try:
        (found,) = read_searches([Path(tuned)])
    except XmlcError:  # the step that needs it says so
        return given
    return given | found.best["hyperparameters"]


def _trials(project: Project, step: str, wildcards: Wildcards) -> tuple[Hyperparameters, ...]:
    """List the hyperparameters that a sweep or a search tries."""
    model, dataset = wildcards["model"], wildcards["dataset"]
    if step == "sweep":
        sweep = project.sweep(wildcards["paper"], wildcards["sweep"])
        return tuple({**sweep.hyperparameters, sweep.hyperparameter: value} for value in sweep.values_on(dataset))
    spec, tuning = project.models[model], project.settings.tuning
    if step != "tune":
        return ()
    if spec.search or tuning == "auto":
        stages: Sequence[Sequence[Hyperparameters]] = spec.search or (spec.auto.stages if spec.auto else ())
        return tuple(dict(trial) for stage in stages for trial in stage)
    return ({},) * (tuning.budget if tuning else 1)


def _size(path: Path, keys: tuple[str, str]) -> float | None:
    """Return a number of a record, if the record is there and has it."""
    try:
        found = read_json(path)[keys[0]][keys[1]]
    except (OSError, KeyError, TypeError, ValueError):
        return None
    return None if found is None else float(found)
