"""Which work is one job, and the commands of rules as text that Snakemake fills in.

Several methods of one model are one job, because a process takes longer to start than most run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmlc.core.errors import XmlcError
from xmlc.suites import paths
from xmlc.suites.needs import PEER_METHODS
from xmlc.suites.paths import Pattern
from xmlc.suites.project import Project
from xmlc.suites.suite import Suite

PAPERS, ANYWHERE = "papers", "anywhere"  # places that are no suite of its own
INFERRED_FROM = {"full": "model", "80": "spe"}  # by portion, what of a run label sets are inferred from
INFERRING = {"full": "--model", "80": "--estimates"}  # and the option of `xmlc infer` for it


@dataclass(frozen=True)
class QuickJob:
    """Models that train in minutes: all seeds are one job, and training and ranking are."""

    models: list[str]
    seeds: list[int]
    #: Behind the names of its rules.
    suffix: str

    def paths_by_seed(self, pattern: Pattern, **further: object) -> list[Pattern]:
        """Return a path for each seed; its other wildcards stay, but for the given ones."""
        return [Pattern(pattern.of(seed=seed, **further)) for seed in self.seeds]

    @staticmethod
    def common_path(pattern: Pattern, **further: object) -> str:
        """Return the path of a file of all seeds: it has ``seeds`` where others have ``seed0``."""
        return pattern.of(seed="s", **further)


def quick_jobs(project: Project) -> list[QuickJob]:
    """Group the models that train in minutes by the seeds that suites have for them."""
    seeds: dict[str, set[int]] = {}
    for suite in project.suites.values():
        for name, model in suite.all_models.items():
            if model.quick and name not in project.scattered:
                seeds.setdefault(name, set()).update(suite.seeds)
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, found in seeds.items():
        groups.setdefault(tuple(sorted(found)), []).append(name)
    jobs: dict[str, QuickJob] = {}
    for group, models in groups.items():
        suffix = f"of_{len(group)}_seed{'s' * (len(group) > 1)}"
        suffix = suffix if suffix not in jobs else f"{suffix}_{models[0]}"
        jobs[suffix] = QuickJob(models, list(group), suffix)
    return list(jobs.values())


def models_outside(jobs: Iterable[QuickJob], models: Iterable[str]) -> str:
    """Return the wildcard of models of a rule for one seed, without the runs of jobs for all seeds."""
    taken = [rf"(?:{one_of(job.models)})/seed(?:{'|'.join(map(str, job.seeds))})/full/" for job in jobs]
    return rf"(?!{'|'.join(taken)})(?:{one_of(models)})" if taken else one_of(models)


@dataclass(frozen=True)
class ThresholdJob:
    """Threshold methods that are tuned and evaluated in one job."""

    #: Of the rule.
    name: str
    methods: list[str]
    models: list[str]
    #: Regular expression of the datasets; what lies behind one is looked at where other jobs take some methods.
    datasets: str
    #: The step in the path of its log.
    log: str = "thresholds"
    #: What is inferred from the same estimates for each instance.
    inference: InferenceJob | None = None


def threshold_jobs(project: Project) -> list[ThresholdJob]:
    """List the jobs of all suites, and last the job of any method that is requested by the path of its record.

    Of a model that several papers have the methods of all are one job. Suites of their own have jobs of their own.
    """
    inferred = _inferred_from_estimates(project)
    groups: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (place, model), methods in _methods_by_model(project).items():
        if methods:
            beside = inferred.get((place, model))
            key = (place, tuple(methods), tuple(beside.methods) if beside else ())
            groups.setdefault(key, []).append(model)
    jobs: dict[str, ThresholdJob] = {}
    for (place, named, _), models in groups.items():
        name = f"thresholds_{place}"
        name = name if name not in jobs else f"{name}_{models[0]}"
        beside = inferred.get((place, models[0]))
        jobs[name] = ThresholdJob(name, list(named), models, _datasets_at(project, place), inference=beside)
    taken = "|".join(_outputs_of(job) for job in jobs.values())
    others = rf"(?!(?:{taken})){paths.NAME}"
    last = ThresholdJob(f"thresholds_{ANYWHERE}", ["{method}"], list(project.models), others, "thresholds/{method}")
    return [*jobs.values(), last]


def _methods_by_model(project: Project) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for suite in project.suites.values():
        methods = [*suite.methods, *suite.measure_methods]
        for_peers = [method for method in PEER_METHODS if method in methods]
        for models, wanted in ((suite.models, methods), (suite.peers, for_peers)):
            for model in models:
                known = found.setdefault((suite.name if suite.own else PAPERS, model), [])
                known += [method for method in wanted if method not in known]
    return found


def _inferred_from_estimates(project: Project) -> dict[tuple[str, str], InferenceJob]:
    """Return, by place and model, the inference job on the estimates that thresholds are tuned on."""
    jobs = {job.model: job for job in inference_jobs(project) if not job.predicts}
    return {
        (suite.name if suite.own else PAPERS, model): jobs[model]
        for suite in project.suites.values()
        if suite.inference and suite.inference.portion == "80"
        for model in suite.inference.methods
    }


def datasets_inferred_alone(jobs: Iterable[ThresholdJob]) -> str:
    """Return the datasets of jobs that only infer, as a regular expression: not where thresholds are tuned as well."""
    taken = [rf"{job.datasets}/(?:{one_of(job.models)})/seed\d+/80/inference/" for job in jobs if job.inference]
    return rf"(?!{'|'.join(taken)}){paths.NAME}" if taken else paths.NAME


def _outputs_of(job: ThresholdJob) -> str:
    """Return a regular expression of a job's outputs, from the name of the dataset on."""
    models, methods = "|".join(map(re.escape, job.models)), "|".join(map(re.escape, job.methods))
    return rf"{job.datasets}/(?:{models})/seed\d+/80/(?:thresholds/(?:{methods})|evaluation/(?:{methods})\.json)$"


def _datasets_at(project: Project, place: str) -> str:
    """Return the datasets of a place as a regular expression; of the papers, all outside suites of their own."""
    own = {suite.name: _one_of(suite) for suite in project.suites.values() if suite.own}
    return own.get(place) or rf"(?!(?:{'|'.join(own.values())})/){paths.NAME}"


def _one_of(suite: Suite) -> str:
    return f"(?:{'|'.join(map(re.escape, suite.all_datasets))})"


@dataclass(frozen=True)
class InferenceJob:
    """Inference methods of one model that are one job: drawing or estimating is done once.

    Label sets are inferred with models on the whole training set by predicting (gfm2011), with those on 80 % from the
    estimates that were written for thresholds.
    """

    model: str
    portion: str
    methods: list[str]
    samples: int
    time_limit: int | float | None

    @property
    def name(self) -> str:
        """Name of the rule."""
        return f"infer_{self.portion}_{self.model}"

    @property
    def predicts(self) -> bool:
        """Whether label sets are inferred from the model itself."""
        return self.portion == "full"

    @property
    def source(self) -> str:
        """The part of a run that it infers from."""
        return f"{paths.RUN.of(portion=self.portion)}/{INFERRED_FROM[self.portion]}"

    @property
    def records(self) -> list[str]:
        """The record of each method."""
        return [paths.INFERENCE.of(portion=self.portion, method=method) for method in self.methods]

    @property
    def options(self) -> list[str]:
        """The job's options of `xmlc infer`."""
        limit = [] if self.time_limit is None else [self.time_limit]
        return [*options("--method", self.methods), "--samples", str(self.samples), *options("--time-limit", limit)]

    @property
    def option(self) -> str:
        """The option of `xmlc infer` that takes it."""
        return INFERRING[self.portion]


def inference_jobs(project: Project) -> list[InferenceJob]:
    """List the jobs of all suites.

    Raises
    ------
    XmlcError
        A suite infers from a model that it does not have, or two disagree about samples or the time limit.
    """
    found: dict[tuple[str, str], InferenceJob] = {}
    for suite in project.suites.values():
        if suite.inference is None:
            continue
        block = suite.inference
        for model, methods in block.methods.items():
            if model not in suite.models:
                raise XmlcError(f"config: {suite.name} infers from {model}, which is none of its models")
            new = InferenceJob(model, block.portion, [], block.samples, block.time_limit)
            job = found.setdefault((model, block.portion), new)
            if (job.samples, job.time_limit) != (block.samples, block.time_limit):
                raise XmlcError(
                    f"config: {suite.name} infers from {model} with other samples or time limit than another"
                )
            job.methods.extend(method for method in methods if method not in job.methods)
    return list(found.values())


MODEL = "--estimator {params.estimator:q} --name {wildcards.model} --parameters {params.hyperparameters:q}"


def train_with(seed: str, model: str, record: str, log: str, job: str = "train") -> str:
    """Return the command that trains a model with a seed, and where it writes; its record names the job."""
    given = f"xmlc train --data {{input.data}} --part {{params.part}} {MODEL} {{params.tuned:q}} {{params.trees:q}}"
    return f"{given} --seed {seed} {_planned(job)} --out {model} --record {record} 2> {log}"


def rank_with(model: str, training: str, out: str, log: str, job: str = "rank") -> str:
    """Return the command that ranks with a model; its record names the job."""
    given = f"xmlc rank --data {{input.data}} --model {model} --training {training}"
    return f"{given} {_planned(job)} --out {out} 2> {log}"


def sweep_with(training: str, out: str, log: str) -> str:
    """Return the command that makes a sweep with the seed of a training."""
    swept = "--parameters {params.hyperparameters:q} --hyperparameter {params.hyperparameter:q} {params.values:q}"
    return f"xmlc sweep --data {{input.data}} --training {training} {swept} {_planned('sweep')} --out {out} 2> {log}"


def progress_with(seed: str, curve: str, record: str, log: str) -> str:
    """Return the command that has a model predict and learn a stream in the order of a seed."""
    given = f"xmlc progressive --data {{input.data}} {MODEL} --seed {seed} {_planned('progressive')}"
    return f"{given} --curve {curve} --out {record} 2> {log}"


def _planned(job: str) -> str:
    return f"--threads {{threads}} --plan {job} {{resources.mem_mb}}"


def infer_beside(job: ThresholdJob, extensions: Sequence[str]) -> Callable[..., str]:
    """Return a parameter: the command that infers from the same estimates, after the command of thresholds, if any.

    Snakemake evaluates the text of a rule's ``shell`` when it runs, behind the loop that made the rule: what differs
    from rule to rule is among the parameters. Of logs, which parameters cannot name, the shell has a list.
    """

    # Snakemake gives its own objects, by these names.
    def command(wildcards: object, input: Any, output: Any, threads: int, resources: Any) -> str:
        if job.inference is None:
            return ""
        words = ["--data", input.data, "--estimates", input.estimates, "--training", input.training]
        words += [*job.inference.options, *options("--extension", extensions), "--threads", threads]
        words += ["--plan", "thresholds", resources.mem_mb]
        words += ["--out", f"{folder_above(output[0], 2)}/inference"]
        return f"; xmlc infer {shlex.join(map(str, words))} 2> ${{log[1]}}"

    return command


def options(name: str, values: Iterable[object]) -> list[str]:
    """Return an option given once for each value: ``--seed 0 --seed 1``."""
    return [word for value in values for word in (name, str(value))]


def for_each(lists: Mapping[str, str], command: str) -> str:
    """Return shell text that runs a command for the first words of several lists, then for the second ones, and so on.

    Parameters
    ----------
    lists : mapping of str to str
        By the name of a variable, what Snakemake fills in with the words of its list, such as ``{output.model}``.
    command : str
        It has the variables as ``$model``.
    """
    arrays = " ".join(f"{name}=({words})" for name, words in lists.items())
    for name in lists:
        command = re.sub(rf"\${name}\b", f"${{{{{name}[i]}}}}", command)
    return f"{arrays}; for i in ${{{{!{next(iter(lists))}[@]}}}}; do {command}; done"


def one_of(names: Iterable[str]) -> str:
    """Return the regular expression of a wildcard that is one of some names; of none, it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def gather_pattern(pattern: str) -> str:
    """Return a pattern for Snakemake's ``gather``, which fills in ``scatteritem`` alone."""
    return pattern.replace("{", "{{").replace("}", "}}").replace("{{scatteritem}}", "{scatteritem}")


def without_ending(path: str) -> str:
    """Return the name that the files of a table or figure have in common."""
    return path.rpartition(".")[0]


def folder_above(path: str, levels: int = 1) -> str:
    """Return the folder that a path lies in, or one so many levels above."""
    return str(Path(path).parents[levels - 1])
