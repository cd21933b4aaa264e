"""A suite: the experiments of one paper, or the demo's, as objects, read from YAML and checked by their types.

What the keys mean to users is said in config/README.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.metrics.measure import AVERAGES, OVERLAPS
from xmlc.suite.config.catalogue import DatasetName
from xmlc.suite.config.folders import STUDY, config_files, is_study
from xmlc.suite.config.paths import Pattern
from xmlc.suite.results.methods import INFERENCE_METHODS
from xmlc.suite.schemas import converted, nearest, read_yaml

T = TypeVar("T")
Some = Annotated[list[T], Meta(min_length=1)]
Text = Annotated[str, Meta(min_length=1)]
Name = Annotated[str, Meta(pattern="^[a-z0-9-]+$", description="lower-case letters, digits and dashes")]
Seed = Annotated[int, Meta(ge=0, le=2**32 - 1, description="a whole number from 0 to 4294967295")]
Reason = Annotated[str, Meta(min_length=3, description="a reason")]
MEASURES = [f"{average}-{name}" for average in AVERAGES for name in OVERLAPS]
Measure = Annotated[str, Meta(pattern=f"^({'|'.join(MEASURES)})$", description=f"one of {', '.join(MEASURES)}")]
Extension = Annotated[str, Meta(pattern="[.]py$", description="a Python file, such as my_method.py")]
Threads = Annotated[int, Meta(ge=1, le=4096)]
Number = int | float  # as it stands in the file: a whole number stays one
Task = Literal["few-shot", "multi-label"]


class Run(NamedTuple):
    """One model on one dataset with one seed."""

    dataset: str
    model: str
    seed: int

    def file(self, pattern: Pattern, **further: object) -> str:
        """Return a path of this run."""
        return pattern.of(**self._asdict(), **further)


Source = Literal["paper", "program", "search", "calibrated", "hand"]
Origin = Annotated[
    str,
    Meta(pattern="^(paper|program|search|calibrated|hand): .{4,}", description="a source, a colon, where"),
]


class HyperparameterOrigin(msgspec.Struct, frozen=True, rename={"p_at_1": "p@1"}):
    """How hyperparameters of a dataset were found."""

    #: In words, for Table 3.
    by: str
    #: On validation, a share, where known.
    p_at_1: Annotated[float, Meta(ge=0, le=1)] | None = None
    #: As in `ModelSpec.provenance`.
    source: Source = "search"
    #: Of a search, the file with every trial.
    trials: str | None = None
    #: Of a search without such a file, what makes it again.
    command: str | None = None


#: Trials, those of each stage put over the best of the stages before it.
Stages = Some[Some[Annotated[Hyperparameters, Meta(min_length=1, description="some hyperparameters")]]]


@dataclass(frozen=True)
class SearchSpec:
    """What is tried to find a model's hyperparameters."""

    #: What is drawn from where `tuning` of config.yaml gives a method and a number of trials, by hyperparameter.
    ranges: dict[str, object] = field(default_factory=dict)
    #: Tried where the model has no values but a `weight_cut` for a dataset and `tuning` of config.yaml is `auto`.
    stages: Stages = field(default_factory=list)
    #: By dataset, stages after those.
    further: dict[DatasetName, Stages] = field(default_factory=dict)
    #: What trials of the stages have in place of the configured values and the model that is trained has not.
    in_trials: Hyperparameters = field(default_factory=dict)
    #: Whether the model is trained with the best of the stages on every dataset, whatever `tuning` is.
    always: bool = False

    @property
    def auto(self) -> bool:
        """Whether there are stages for datasets that nobody tuned the model for, and for no others."""
        return bool(self.stages) and not self.always

    def stages_on(self, dataset: str) -> Stages:
        """Return the stages on a dataset."""
        return [*self.stages, *self.further.get(dataset, [])]


@dataclass(frozen=True)
class ModelSpec:
    """One model of a suite."""

    #: A name of `xmlc.models.registry.ESTIMATORS`, or ``path/to/file.py:ClassName``; "" where the suite `as_in` has it.
    estimator: str = ""
    #: A suite that has a model or baseline of this name; but for ``without`` and a ``title`` all is as it stands there.
    as_in: str | None = None
    #: For every dataset that has no values of its own.
    hyperparameters: Hyperparameters = field(default_factory=dict)
    #: Those of single datasets. Once the suite is read, the common ones are among them.
    datasets: dict[DatasetName, Hyperparameters] = field(default_factory=dict)
    #: Where values are from: by hyperparameter, ``all`` for every other common one, ``datasets`` for those of single
    #: datasets. The source is the paper, the authors' program, a search on validation, calibrated (chosen because
    #: printed test results then come out) or hand (nothing searched).
    provenance: dict[str, Origin] = field(default_factory=dict)
    #: By dataset, how its hyperparameters were found.
    found: dict[DatasetName, HyperparameterOrigin] = field(default_factory=dict)
    search: SearchSpec = SearchSpec()
    #: The model of the same suite with whose search results it is trained, or which its own search begins with.
    tuned_as: Name | None = None
    #: Of its jobs; None for the setting of the run.
    threads: Threads | None = None
    #: Times the bytes of the data that its training holds; None for the number of its estimator.
    memory: Annotated[float, Meta(gt=0, le=100_000)] | None = None
    #: Wall minutes that each step of it requests; None for the class of the data's size.
    minutes: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    #: The datasets that it is run on; None for all.
    task: Task | None = None
    #: Whether it trains in minutes, so that training and ranking with all seeds are one job.
    quick: bool = False
    #: Whether it is run only where its program is installed.
    optional: bool = False
    #: Datasets that it is not run on, with the reason.
    without: dict[DatasetName, Reason] = field(default_factory=dict)
    #: Of a baseline: why its scores take no thresholds; which hyperparameters were not searched.
    ranks_only: Reason | None = None
    untuned: Reason | None = None
    #: Its name in print; None for its name here, or the one that a paper's room gives it.
    title: Text | None = None

    def __post_init__(self) -> None:
        if bool(self.estimator) == bool(self.as_in):
            raise ValueError("expected one of the keys estimator and as_in")

    @property
    def calibration(self) -> str:
        """Describe the hyperparameters calibrated on printed test results; empty without any."""
        parts = {name: text.split(": ", 1) for name, text in self.provenance.items()}
        return "; ".join(f"{name}: {where}" for name, (source, where) in parts.items() if source == "calibrated")

    @property
    def every_value(self) -> list[Hyperparameters]:
        """The hyperparameters that it is given anywhere: for all datasets, for single ones, in trials."""
        stages = chain(self.search.stages, *self.search.further.values())
        return [self.hyperparameters, *self.datasets.values(), *chain(*stages), self.search.in_trials]

    def values_on(self, dataset: str) -> Hyperparameters:
        """Return the hyperparameters on one dataset."""
        return self.datasets.get(dataset, self.hyperparameters)


@dataclass(frozen=True)
class Inference:
    """Label sets that are inferred for each instance: the methods by model, from models of which portion."""

    portion: Literal["full", "80"]
    methods: dict[Name, Some[Name]]
    #: Label vectors drawn for each instance from a model of the joint distribution.
    samples: Annotated[int, Meta(ge=1)] = 200
    #: Seconds after which a method is stopped; None for no limit.
    time_limit: Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)] | None = None


@dataclass(frozen=True)
class Ensembles:
    """Forests that are scored by their first trees too."""

    models: Some[Name]
    sizes: Some[Annotated[int, Meta(ge=1)]]


@dataclass(frozen=True)
class Sweep:
    """One hyperparameter of one model, whose values are tried on the whole training set; ``without`` some datasets."""

    model: Name
    hyperparameter: str
    values: Some[Number | str]
    datasets: dict[DatasetName, Some[Number | str]] = field(default_factory=dict)
    hyperparameters: Hyperparameters = field(default_factory=dict)
    without: dict[DatasetName, Reason] = field(default_factory=dict)

    def values_on(self, dataset: str) -> list[Number | str]:
        """Return the values that are tried on a dataset."""
        return self.datasets.get(dataset, self.values)


@dataclass(frozen=True, kw_only=True)
class Experiments:
    """What the YAML file of a suite holds."""

    title: str
    #: In the order of the tables.
    datasets: list[DatasetName]
    #: Each experiment is run once for each; tables give means.
    seeds: Some[Seed]
    #: Threshold methods for macro-F.
    methods: list[Name]
    tables: list[Name]
    figures: list[Name]
    models: dict[Name, ModelSpec]
    #: Runs that the paper's printed numbers are means of.
    printed_runs: Annotated[int, Meta(ge=1)] = 1
    #: Measures that thresholds are tuned for too.
    measures: list[Measure] = field(default_factory=list)
    #: Python files that register further threshold or inference methods.
    extensions: list[Extension] = field(default_factory=list)
    inference: Inference | None = None
    ensembles: Ensembles | None = None
    #: Datasets whose instances have one label each.
    few_shot: list[DatasetName] = field(default_factory=list)
    #: Models that are validated progressively, on a stream of the training set.
    progressive: list[Name] = field(default_factory=list)
    sweeps: dict[Name, Sweep] = field(default_factory=dict)
    #: By dataset, the estimate up to which none is written.
    floors: dict[DatasetName, Annotated[float, Meta(gt=0, lt=1)]] = field(default_factory=dict)
    #: Datasets and models that are trained on the whole training set and ranked, and nothing else, with the reason.
    ranked_only: dict[str, Reason] = field(default_factory=dict)
    #: Baselines, which the target `peers` alone runs.
    peers: dict[Name, ModelSpec] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Extensions may register further methods.
        methods = self.inference.methods.values() if self.inference and not self.extensions else ()
        for name in (name for names in methods for name in names):
            if name not in INFERENCE_METHODS:
                raise ValueError(f"inference.methods: found {name!r}, expected {nearest(name, INFERENCE_METHODS)}")


@dataclass(frozen=True, kw_only=True)
class Suite(Experiments):
    """The experiments of one paper, or a user's own."""

    #: Of the file, such as ``plt2016``.
    name: str
    #: Such as ``config/papers/plt2016.yaml``.
    file: str

    @property
    def own(self) -> bool:
        """Whether it is no paper's: it has datasets of its own, whatever the key `datasets` of config.yaml says."""
        return self.name in OWN

    @property
    def all_models(self) -> dict[str, ModelSpec]:
        """Its models, then its baselines."""
        return {**self.models, **self.peers}

    @property
    def titles(self) -> dict[str, str]:
        """Names in print that it gives its models."""
        return {name: model.title for name, model in self.all_models.items() if model.title}

    @property
    def measure_methods(self) -> list[str]:
        """Threshold methods for measures other than macro-F; that for measure ``x`` is ``for-x``."""
        return [f"for-{measure}" for measure in self.measures]

    @property
    def every_method(self) -> list[str]:
        """Threshold methods, then inference methods, each once, in the order of tables."""
        inferred = [name for names in self.inference.methods.values() for name in names] if self.inference else []
        return list(dict.fromkeys([*self.measure_methods, *self.methods, *inferred]))

    def inferred(self, model: str, portion: str | None = None) -> list[str]:
        """Name the inference methods of a model, of one portion or either."""
        block = self.inference
        return block.methods.get(model, []) if block and portion in (None, block.portion) else []

    def swept(self, model: str) -> list[Hyperparameters]:
        """Return the hyperparameters that sweeps set for a model."""
        return [
            sweep.hyperparameters | {sweep.hyperparameter: value}
            for sweep in self.sweeps.values()
            if sweep.model == model
            for value in chain(sweep.values, *sweep.datasets.values())
        ]

    def task_of(self, dataset: str) -> Task:
        """Return the task of a dataset."""
        return "few-shot" if dataset in self.few_shot else "multi-label"


OWN = ("demo", "scale")  # suites that are no paper's


def read_suites(config: Path) -> dict[str, Suite]:
    """Read all suites of a configuration: the papers' by name, then the others; of a study its own alone.

    Raises
    ------
    XmlcError
        A file cannot be read, has what is no suite, or names a model of another suite that is not there.
    """
    names = [*sorted(file.stem for file in (config / "papers").glob("*.yaml")), *OWN]
    names = [STUDY] if is_study(config) else names
    files = {name: suite_file(name, config) for name in names}
    return {name: read_suite(file) for name, file in files.items() if file.is_file()}


def suite_file(name: str, config: Path) -> Path:
    """Name the file of a suite; a study has the papers' from the package."""
    if is_study(config) and name == STUDY:
        return config / f"{name}.yaml"
    return config_files(f"{name}.yaml" if name in OWN else f"papers/{name}.yaml", config)[-1]


def find_suite(name: str, config: Path) -> Suite | None:
    """Read a suite, or return None where a configuration has none of this name."""
    file = suite_file(name, config)
    return read_suite(file) if file.is_file() else None


def read_suite(file: Path) -> Suite:
    """Read one suite; models that are as in another suite are put in from there.

    Raises
    ------
    XmlcError
        As for `read_suites`.
    """
    content = _read(file)
    models, peers = ({name: _resolved(name, model, file) for name, model in found.items()}
                     for found in (content.models, content.peers))  # fmt: skip
    return Suite(**vars(content) | {"models": models, "peers": peers}, name=file.stem, file=str(file))


def _read(file: Path) -> Experiments:
    return converted(read_yaml(file), Experiments, str(file))


def _resolved(name: str, model: ModelSpec, file: Path) -> ModelSpec:
    """Put in the model of the other suite that is named, and the common hyperparameters behind those of datasets."""
    if model.as_in:
        place = suite_file(model.as_in, file.parent.parent if file.parent.name == "papers" else file.parent)
        said = f"{file}: {file.stem} has model {name} as in {model.as_in}, which"
        if not place.is_file():
            papers = [other.stem for other in place.parent.glob("*.yaml")]
            raise XmlcError(f"{said} is no suite; expected {nearest(model.as_in, papers)}")
        there = _read(place)
        models = there.peers | there.models
        known = sorted(other for other, spec in models.items() if spec.estimator)
        if name not in models:
            raise XmlcError(f"{said} defines none of this name; it has {nearest(name, known)}")
        found = models[name]
        if found.as_in:
            raise XmlcError(f"{said} has it as in {found.as_in} itself; name the suite that defines it")
        model = replace(found, without=model.without, title=model.title or found.title)
    return replace(model, datasets={dataset: model.hyperparameters | own for dataset, own in model.datasets.items()})
