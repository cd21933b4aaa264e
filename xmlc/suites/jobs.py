"""Steps, seeds and methods that are one job, because starting a process takes longer than most of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xmlc.core.errors import XmlcError
from xmlc.suites import paths
from xmlc.suites.paths import Pattern
from xmlc.suites.planned import PEER_METHODS, unlabelled
from xmlc.suites.project import Project


@dataclass(frozen=True)
class SeedJob:
    """Models whose seeds are one job."""

    models: list[str]
    seeds: list[int | str]
    #: End of the names of its rules.
    suffix: str

    @property
    def seed(self) -> str:
        """Seed in the path of a log: ``seeds`` of all, ``seed{seed}`` of one."""
        return "{seed}" if self.seeds == ["{seed}"] else "s"

    def of(self, pattern: Pattern, **further: object) -> list[str]:
        """Return a path for each seed; its other wildcards stay, but for the given ones."""
        return [pattern.of(seed=seed, **further) for seed in self.seeds]

    def seeds_of(self, wildcards: Mapping[str, str]) -> list[str]:
        """Return the seeds of one job of this rule."""
        return [str(seed).format(**dict(wildcards.items())) for seed in self.seeds]


def quick_jobs(project: Project) -> list[SeedJob]:
    """Group the models that train in minutes (key `quick`) by the seeds that suites have for them."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, model in project.models.items():
        if model.quick:
            homes = [suite for suite in project.suites.values() if name in suite.all_models]
            groups.setdefault(tuple(sorted({seed for suite in homes for seed in suite.seeds})), []).append(name)
    jobs: dict[str, SeedJob] = {}
    for group, models in groups.items():
        suffix = f"_of_{len(group)}_seed{'s' * (len(group) > 1)}"
        suffix = suffix if suffix not in jobs else f"{suffix}_{models[0]}"
        jobs[suffix] = SeedJob(models, list(group), suffix)
    return list(jobs.values())


def one_seed(project: Project) -> SeedJob:
    """Return the jobs of one seed, of any model."""
    return SeedJob(list(project.models), ["{seed}"], "")


@dataclass(frozen=True)
class InferenceJob:
    """Inference methods of one model that are one job: drawing or estimating is done once."""

    model: str
    portion: str
    samples: int
    time_limit: int | float | None
    methods: list[str] = field(default_factory=list)

    @property
    def records(self) -> list[str]:
        """The record of each method."""
        return [paths.INFERENCE.of(portion=self.portion, method=method) for method in self.methods]

    def options(self, name: str) -> list[str]:
        """Return the options of `xmlc` that name methods, and the time limit."""
        limit = [] if self.time_limit is None else [self.time_limit]
        return [*options(name, self.methods), *options("--time-limit", limit)]


def inference_jobs(project: Project, portion: str) -> dict[str, InferenceJob]:
    """Collect the jobs of all suites by model: on the whole training set (full), or on 80 %, from estimates.

    Raises
    ------
    XmlcError
        A suite infers from a model that it does not have, or two disagree about samples or the time limit.
    """
    found: dict[str, InferenceJob] = {}
    for suite in project.suites.values():
        block = suite.inference
        if block is None or block.portion != portion:
            continue
        for model, methods in block.methods.items():
            if model not in suite.models:
                raise XmlcError(f"config: {suite.name} infers from {model}, which is none of its models")
            job = found.setdefault(model, InferenceJob(model, portion, block.samples, block.time_limit))
            if (job.samples, job.time_limit) != (block.samples, block.time_limit):
                said = "with other samples or time limit than another"
                raise XmlcError(f"config: {suite.name} infers from {model} {said}")
            _extend(job.methods, methods)
    return found


@dataclass
class ThresholdJob:
    """Threshold methods, and inference methods on the same estimates, that are one job."""

    #: Of the rule.
    name: str
    models: list[str]
    #: Regular expression.
    datasets: str
    methods: list[str] = field(default_factory=list)
    inference: InferenceJob | None = None
    #: Step in the path of its log.
    log: str = "thresholds"

    @property
    def records(self) -> list[str]:
        """The record of each method."""
        evaluations = [paths.EVALUATION.of(method=method) for method in self.methods]
        evaluations += [paths.EVALUATION_OF_FULL.of(method=method) for method in unlabelled(self.methods)]
        return evaluations + (self.inference.records if self.inference else [])

    @property
    def steps(self) -> list[str]:
        """Names of its steps, for the memory that they need."""
        return ["thresholds", *(["infer"] if self.inference else [])]


def threshold_jobs(project: Project) -> list[ThresholdJob]:
    """List the jobs of all suites; the first is the job of any other method, named by the path of its record.

    Methods that several papers have of a model are one job. Suites with datasets of their own have jobs of their own.
    """
    inferred = inference_jobs(project, "80")
    own = {suite.name: f"(?:{one_of(suite.datasets)})" for suite in project.suites.values() if suite.own}
    papers = rf"(?!(?:{'|'.join(own.values())})/){paths.NAME}"
    jobs: dict[str, ThresholdJob] = {}
    for suite in project.suites.values():
        wanted = [*suite.methods, *suite.measure_methods]
        of_peers = [method for method in PEER_METHODS if method in wanted]
        for model in suite.all_models:
            name = f"thresholds_{suite.name if suite.own else 'papers'}_{model}"
            job = jobs.setdefault(name, ThresholdJob(name, [model], own.get(suite.name, papers)))
            _extend(job.methods, of_peers if model in suite.peers else wanted)
            if suite.inferred(model, "80"):
                job.inference = inferred[model]
    anywhere = ThresholdJob("thresholds_anywhere", list(project.models), paths.NAME, ["{method}"])
    anywhere.log = "thresholds/{method}"
    return [anywhere, *(job for job in jobs.values() if job.records)]


def _extend(known: list[str], further: Iterable[str]) -> None:
    known += [name for name in further if name not in known]


def options(name: str, values: Iterable[object]) -> list[str]:
    """Return an option given once for each value: ``--seed 0 --seed 1``."""
    return [word for value in values for word in (name, str(value))]


def each(**lists: Iterable[object]) -> list[str]:
    """Return options for each run of a job in turn: ``--seed 0 --out a --seed 1 --out b``."""
    runs = zip(*lists.values(), strict=True)
    return [word for run in runs for name, value in zip(lists, run, strict=True) for word in (f"--{name}", str(value))]


def one_of(names: Iterable[str]) -> str:
    """Return the regular expression of a wildcard that is one of some names; of none, it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"
