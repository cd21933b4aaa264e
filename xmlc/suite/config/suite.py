"""The classes of a suite, read from YAML files with checked types and explained in
config/README.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.metrics.measure import AVERAGES, OVERLAPS
from xmlc.suite.config.catalogue import DatasetName
from xmlc.suite.config.folders import STUDY, config_files, is_study
from xmlc.suite.config.paths import Pattern
from xmlc.suite.config.ranges import IntOrFloat, Space
from xmlc.suite.schemas import converted, located, nearest, read_yaml

T = TypeVar("T")
Some = Annotated[list[T], Meta(min_length=1)]
Text = Annotated[str, Meta(min_length=1)]
Name = Annotated[
    str, Meta(pattern="^[a-z0-9-]+$", description="lower-case letters, digits and dashes")
]
# Names that `xmlc.suite.config.checks` looks up, and in what
KnownDataset = Annotated[str, Meta(extra={"names": "datasets"})]
KnownModel = Annotated[str, Meta(extra={"names": "models"})]
ModelOrDataset = Annotated[str, Meta(extra={"names": "models and datasets"})]
ThresholdMethod = Annotated[str, Meta(extra={"names": "threshold methods"})]
InferenceMethod = Annotated[str, Meta(extra={"names": "inference methods"})]
Seed = Annotated[int, Meta(ge=0, le=2**32 - 1, description="a whole number from 0 to 4294967295")]
Reason = Annotated[str, Meta(min_length=3, description="a reason")]
MEASURES = ["-".join(words) for words in product(AVERAGES, OVERLAPS)]
MeasureName = Annotated[
    str, Meta(pattern=f"^({'|'.join(MEASURES)})$", description=f"one of {', '.join(MEASURES)}")
]
Extension = Annotated[
    str, Meta(pattern="[.]py$", description="a Python file, such as my_method.py")
]
ThreadCount = Annotated[int, Meta(ge=1, le=4096)]
Task = Literal["few-shot", "multi-label"]


class Run(NamedTuple):
    """One model on one dataset with one seed."""

    dataset: str
    model: str
    seed: int

    def file(self, pattern: Pattern, **further: object) -> str:
        """Return the path of a file, from a path with wildcards."""
        return pattern.of(**self._asdict(), **further)


OriginKind = Literal["paper", "program", "search", "fitted", "hand"]
Origin = Annotated[
    str,
    Meta(
        pattern="^(paper|program|search|fitted|hand): .{4,}",
        description="paper, program, search, fitted or hand, then ': ' and the place",
    ),
]


class HyperparameterOrigin(msgspec.Struct, frozen=True, rename={"p_at_1": "p@1"}):
    """How the hyperparameters of a model on a dataset were found."""

    by: str
    #: P@1 on the validation set as a fraction.
    p_at_1: Annotated[float, Meta(ge=0, le=1)] | None = None
    source: OriginKind = "search"
    #: File with all trials.
    trials: str | None = None
    #: Command that repeats a search without such a file.
    command: str | None = None
    #: Quantities whose published values helped to choose, such as ``depth``, so that the suite's
    #: numbers of them count as fitted.
    fitted: tuple[str, ...] = ()


#: Stages of a search, each with trials, whose values override the best of earlier stages.
Stages = Some[
    Some[Annotated[Hyperparameters, Meta(min_length=1, description="some hyperparameters")]]
]


@dataclass(frozen=True)
class SearchSpec:
    """The hyperparameters that a search tries for a model."""

    #: Ranges for a search by the setting `tuning` of config.yaml.
    ranges: Space = field(default_factory=dict)
    #: Stages of fixed trials. Unless `always` is true, they run only with `tuning: auto` and if the
    #: model sets no value for the dataset except `weight_threshold`.
    stages: Stages = field(default_factory=list)
    #: Stages that follow on some datasets.
    extra_stages: dict[KnownDataset, Stages] = field(default_factory=dict)
    #: Values that replace the configured ones in trials of the stages, but not in the final model.
    trial_overrides: Hyperparameters = field(default_factory=dict)
    #: Whether the stages run on every dataset, whatever the setting `tuning`.
    always: bool = False

    def __post_init__(self) -> None:
        for key in ("extra_stages", "trial_overrides", "always"):
            if getattr(self, key) and not self.stages:
                raise ValueError(f"found {key} without stages. Add stages, or remove {key}")
        for key in ("ranges", "trial_overrides"):
            if getattr(self, key) and self.always:
                raise ValueError(f"found {key} next to always: true. Remove one of them")

    @property
    def auto(self) -> bool:
        """Return whether stages run only on datasets without tuned values."""
        return bool(self.stages) and not self.always

    def stages_on(self, dataset: str) -> Stages:
        """Return the stages on a dataset."""
        return [*self.stages, *self.extra_stages.get(dataset, [])]


@dataclass(frozen=True)
class ModelSpec:
    """A model of a suite."""

    #: A name in `xmlc.models.registry.ESTIMATORS`, or ``path/to/file.py:ClassName``. It is "" in a
    #: file that sets `from_suite`.
    estimator: str = ""
    #: Another suite, whose model or baseline of this name provides the keys, except ``without``
    #: and, if this model has one, ``title``.
    from_suite: str | None = None
    hyperparameters: Hyperparameters = field(default_factory=dict)
    #: Different hyperparameters on some datasets.
    datasets: dict[KnownDataset, Hyperparameters] = field(default_factory=dict)
    #: The source of each hyperparameter, of all without a key (``all``), and of the values in
    #: `datasets` (``datasets``). It begins with paper, program (of the authors), search (on the
    #: validation set), fitted (chosen on published test results) or hand (not searched).
    provenance: dict[str, Origin] = field(default_factory=dict)
    selected: dict[KnownDataset, HyperparameterOrigin] = field(default_factory=dict)
    search: SearchSpec = SearchSpec()
    #: Another model, whose search result this model uses or, with `always`, starts from.
    share_search_with: Name | None = None
    #: Threads of the model's jobs, by default the setting `threads`.
    threads: ThreadCount | None = None
    #: Task of the datasets on which the model runs, or None for all.
    task: Task | None = None
    #: Whether one job trains and ranks with all seeds, sensible for training in minutes.
    batch_seeds: bool = False
    #: Whether to skip the model if its program is missing.
    optional: bool = False
    #: Reasons not to run the model, by dataset.
    without: dict[KnownDataset, Reason] = field(default_factory=dict)
    #: Why a baseline has no tuned thresholds.
    skip_thresholds: Reason | None = None
    #: Hyperparameters of a baseline that were not searched.
    untuned: Reason | None = None
    #: The name in tables and figures, by default the paper's, or else the name in the suite.
    title: Text | None = None

    def __post_init__(self) -> None:
        if bool(self.estimator) == bool(self.from_suite):
            raise ValueError(
                "found both or none of the keys estimator and from_suite, expected one of them"
            )
        if (
            self.share_search_with
            and not self.search.always
            and (self.search.stages or self.search.ranges)
        ):
            raise ValueError(
                "found share_search_with and a search. Remove one of them, or add always: true"
            )

    @property
    def fitted_settings(self) -> str:
        """Return a text about hyperparameters fitted to published results, or ""."""
        parts = {name: text.split(": ", 1) for name, text in self.provenance.items()}
        return "; ".join(
            f"{name}: {where}" for name, (source, where) in parts.items() if source == "fitted"
        )

    def values_on(self, dataset: str) -> Hyperparameters:
        """Return the hyperparameters on a dataset."""
        return self.datasets.get(dataset, self.hyperparameters)


@dataclass(frozen=True)
class Inference:
    """Inference methods and the training split of their models."""

    split: Literal["full", "80"]
    methods: Annotated[dict[KnownModel, Some[InferenceMethod]], Meta(min_length=1)]
    #: Label vectors per instance, if a model can draw them.
    samples: Annotated[int, Meta(ge=1)] = 200
    #: Seconds until a method is stopped.
    time_limit: Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)] | None = None


@dataclass(frozen=True)
class Ensembles:
    """Forests that are also scored with their first n trees, and the numbers n."""

    models: Some[KnownModel]
    sizes: Some[Annotated[int, Meta(ge=1)]]


@dataclass(frozen=True)
class Sweep:
    """A model trained with several values of one hyperparameter."""

    model: KnownModel
    hyperparameter: str
    values: Some[IntOrFloat | str]
    datasets: dict[KnownDataset, Some[IntOrFloat | str]] = field(default_factory=dict)
    hyperparameters: Hyperparameters = field(default_factory=dict)
    without: dict[KnownDataset, Reason] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.hyperparameter in self.hyperparameters:
            raise ValueError(
                f"found {self.hyperparameter} in hyperparameters, whose values the sweep sets. "
                "Remove it"
            )
        for dataset in self.without:
            if dataset in self.datasets:
                raise ValueError(f"found {dataset} in without and in datasets. Remove one of them")

    def values_on(self, dataset: str) -> list[IntOrFloat | str]:
        """Return the values on a dataset."""
        return self.datasets.get(dataset, self.values)


@dataclass(frozen=True, kw_only=True)
class Experiments:
    """The content of a suite's YAML file."""

    title: str
    #: In the order of the tables.
    datasets: Some[DatasetName]
    #: Tables show means over seeds.
    seeds: Some[Seed]
    #: Threshold methods for macro-F.
    methods: list[ThresholdMethod]
    tables: list[Name]
    figures: list[Name]
    models: Annotated[dict[Name, ModelSpec], Meta(min_length=1)]
    #: Runs whose results the paper averages.
    printed_runs: Annotated[int, Meta(ge=1)] = 1
    #: Further measures for which thresholds are tuned.
    measures: list[MeasureName] = field(default_factory=list)
    #: Users' files that register threshold or inference methods.
    extensions: list[Extension] = field(default_factory=list)
    inference: Inference | None = None
    ensembles: Ensembles | None = None
    #: Datasets with exactly one label per instance.
    few_shot: list[KnownDataset] = field(default_factory=list)
    #: Models under progressive validation, which predict each training instance before learning it.
    progressive: list[KnownModel] = field(default_factory=list)
    sweeps: dict[Name, Sweep] = field(default_factory=dict)
    #: Smallest stored estimate, by dataset.
    min_probabilities: dict[KnownDataset, Annotated[float, Meta(ge=1e-4, lt=1)]] = field(
        default_factory=dict
    )
    #: Why a dataset or a model has no tuned thresholds, so that models only rank.
    skip_thresholds: dict[ModelOrDataset, Reason] = field(default_factory=dict)
    #: They run only for the target `baselines`.
    baselines: dict[Name, ModelSpec] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Suite(Experiments):
    """The experiments of one paper or of one user."""

    name: str
    file: str
    #: The content of the file as plain values, before models of other suites are copied.
    written: Any

    @property
    def own(self) -> bool:
        """Return whether the suite is of no paper and so ignores the setting `datasets`."""
        return self.name in OWN

    @property
    def all_models(self) -> dict[str, ModelSpec]:
        """Return the models, followed by the baselines."""
        return {**self.models, **self.baselines}

    def place_of(self, model: str) -> tuple[str, str]:
        """Return the keys in the file, such as ``("models", "plt")``."""
        return ("baselines" if model in self.baselines else "models", model)

    @property
    def titles(self) -> dict[str, str]:
        """Return the names of models in tables and figures, if configured."""
        return {name: model.title for name, model in self.all_models.items() if model.title}

    @property
    def measure_methods(self) -> list[str]:
        """Return the threshold methods of further measures, such as ``for-x`` of ``x``."""
        return [f"for-{measure}" for measure in self.measures]

    @property
    def every_method(self) -> list[str]:
        """Return all threshold and inference methods, in the order of the tables."""
        methods = [*self.measure_methods, *self.methods]
        if self.inference:
            methods += chain(*self.inference.methods.values())
        return list(dict.fromkeys(methods))

    def inferred(self, model: str, split: str | None = None) -> list[str]:
        """Return the inference methods of a model trained on ``split``, or on any."""
        if self.inference and split in (None, self.inference.split):
            return self.inference.methods.get(model, [])
        return []

    def swept(self, model: str) -> list[Hyperparameters]:
        """Return the hyperparameters of each training in a model's sweeps."""
        found: list[Hyperparameters] = []
        for sweep in self.sweeps.values():
            if sweep.model == model:
                for value in chain(sweep.values, *sweep.datasets.values()):
                    found.append(sweep.hyperparameters | {sweep.hyperparameter: value})
        return found

    def task_of(self, dataset: str) -> Task:
        """Return the task of a dataset: few-shot or multi-label."""
        if dataset in self.few_shot:
            return "few-shot"
        return "multi-label"


# The only keys of a copied model
NEXT_TO_FROM_SUITE = ("from_suite", "title", "without")
OWN = ("demo", "scale")  # suites of no paper
# The plain content of files of suites, and the same with types
Contents = dict[Path, tuple[Any, Experiments]]


def read_suites(config: Path) -> dict[str, Suite]:
    """Read all suites of a configuration, the papers' first, or the only one of a study."""
    names = [*sorted(file.stem for file in (config / "papers").glob("*.yaml")), *OWN]
    if is_study(config):
        names = [STUDY]
    files = {name: suite_file(name, config) for name in names}
    contents: Contents = {}
    return {name: read_suite(file, contents) for name, file in files.items() if file.is_file()}


def suite_file(name: str, config: Path) -> Path:
    """Return the path of a suite's file, in the package if a study has none."""
    of_paper = name not in OWN and not (name == STUDY and is_study(config))
    return config_files(f"papers/{name}.yaml" if of_paper else f"{name}.yaml", config)[-1]


def find_suite(name: str, config: Path) -> Suite | None:
    """Return a suite by its name, or None."""
    file = suite_file(name, config)
    if file.is_file():
        return read_suite(file)
    return None


def read_suite(file: Path, contents: Contents | None = None) -> Suite:
    """Read a suite, with the models that `from_suite` copies from others.

    ``contents`` has the files that are already read, and gets the others.
    """
    if contents is None:
        contents = {}
    written, content = _content_of(file, contents)
    found: dict[str, dict[str, ModelSpec]] = {"models": {}, "baselines": {}}
    for key, models in found.items():
        for name, model in getattr(content, key).items():
            if model.from_suite:
                for other in written[key][name]:
                    if other not in NEXT_TO_FROM_SUITE:
                        problem = (
                            f"found {other} next to from_suite, expected only title or without. "
                            "Remove it, or"
                        )
                        problem += (
                            f" write all keys of the model under another name, such as my-{name}"
                        )
                        raise XmlcError(located(str(file), (key, name, other), problem))
                model = _copied(model, (key, name), file, contents)
            completed = {
                dataset: model.hyperparameters | own for dataset, own in model.datasets.items()
            }
            models[name] = replace(model, datasets=completed)
    return Suite(**vars(content) | found, name=file.stem, file=str(file), written=written)


def _content_of(file: Path, contents: Contents) -> tuple[Any, Experiments]:
    if file not in contents:
        written = read_yaml(file)
        contents[file] = written, converted(written, Experiments, str(file))
    return contents[file]


def _copied(model: ModelSpec, keys: tuple[str, str], file: Path, contents: Contents) -> ModelSpec:
    name = keys[1]
    other = model.from_suite or ""
    folder = file.parent
    if folder.name == "papers":
        folder = folder.parent
    place = suite_file(other, folder)
    problem = ""
    if not place.is_file() or other == file.stem:
        papers = sorted({paper.stem for paper in place.parent.glob("*.yaml")} - {file.stem})
        problem = f"found {other}, expected another suite: {nearest(other, papers)}"
    else:
        _, content = _content_of(place, contents)
        models = {
            key: spec
            for key, spec in (content.baselines | content.models).items()
            if spec.estimator
        }
        if name in models:
            return replace(
                models[name], without=model.without, title=model.title or models[name].title
            )
        problem = (
            f"found no model {name} with an estimator in {other}, expected "
            f"{nearest(name, sorted(models))}"
        )
    raise XmlcError(located(str(file), (*keys, "from_suite"), problem))
