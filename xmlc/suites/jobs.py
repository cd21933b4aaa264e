"""Which work is one job: several methods of one model are, because a process takes longer to start than most run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xmlc.errors import XmlcError
from xmlc.suites import paths
from xmlc.suites.needs import PEER_METHODS
from xmlc.suites.project import Project
from xmlc.suites.suite import Suite

PAPERS, ANYWHERE = "papers", "anywhere"  # places that are no suite of its own
INFERRED_FROM = {"full": "model", "80": "spe"}  # by portion, what of a run label sets are inferred from
INFERRING = {"full": "--model", "80": "--estimates"}  # and the option of `xmlc infer` for it


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


def threshold_jobs(project: Project) -> list[ThresholdJob]:
    """List the jobs of all suites, and last the job of any method that is requested by the path of its record.

    Of a model that several papers have the methods of all are one job. Suites of their own have jobs of their own.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (place, model), methods in _methods_by_model(project).items():
        if methods:
            groups.setdefault((place, tuple(methods)), []).append(model)
    jobs: dict[str, ThresholdJob] = {}
    for (place, named), models in groups.items():
        name = f"thresholds_{place}"
        name = name if name not in jobs else f"{name}_{models[0]}"
        jobs[name] = ThresholdJob(name, list(named), models, _datasets_at(project, place))
    taken = "|".join(_taken(job) for job in jobs.values())
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


def _taken(job: ThresholdJob) -> str:
    """Return a regular expression of what a job makes, from the name of the dataset on."""
    models, methods = "|".join(map(re.escape, job.models)), "|".join(map(re.escape, job.methods))
    return rf"{job.datasets}/(?:{models})/seed\d+/80/(?:thresholds/(?:{methods})|evaluation/(?:{methods})\.json)$"


def _datasets_at(project: Project, place: str) -> str:
    """Return the datasets of a place as a regular expression; the papers' are those of no suite of its own."""
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
    def given(self) -> str:
        """What of a run it infers from."""
        return f"{paths.RUN.of(portion=self.portion)}/{INFERRED_FROM[self.portion]}"

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
