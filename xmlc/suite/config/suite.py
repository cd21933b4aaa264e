"""Define classes that describe a suite, and read suites from YAML files.

The reader checks the types of all values.

The keys of a suite's file are described for users in config/README.md.
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
# Names that `xmlc.suite.config.checks` looks up. The annotation says where.
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
    """Identify a run. A run trains and evaluates one model on one dataset with one seed."""

    dataset: str
    model: str
    seed: int

    def file(self, pattern: Pattern, **further: object) -> str:
        """Return the path of a file of this run.

        ``pattern`` is a path with wildcards, which are replaced by the values of this run.
        """
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
    """Describe how the hyperparameters of a model on a dataset were found."""

    #: A text about how the hyperparameters were found, which the table of hyperparameters shows.
    by: str
    #: P@1 on the validation set as a fraction (not a percentage), or None if it is unknown.
    p_at_1: Annotated[float, Meta(ge=0, le=1)] | None = None
    #: Where the hyperparameters come from, such as "paper" or "search" (see
    #: `ModelSpec.provenance`).
    source: OriginKind = "search"
    #: The file that contains all trials of the search.
    trials: str | None = None
    #: The command that repeats the search, if no file contains the trials.
    command: str | None = None
    #: Quantities whose published values helped to choose the hyperparameters, such as ``depth``.
    #: Our numbers of these quantities count as fitted.
    fitted: tuple[str, ...] = ()


#: A list of the stages of a search. A stage is a list of trials. A trial consists of values that
#: override the best values of earlier stages.
Stages = Some[
    Some[Annotated[Hyperparameters, Meta(min_length=1, description="some hyperparameters")]]
]


@dataclass(frozen=True)
class SearchSpec:
    """Describe which hyperparameters a search tries for a model."""

    #: The range of each hyperparameter, which is used if the setting `tuning` of config.yaml has a
    #: method and a number of trials.
    ranges: Space = field(default_factory=dict)
    #: The stages of a search with fixed trials. If `always` is false, the search runs only if the
    #: setting `tuning` is `auto` and the model sets no value for the dataset except
    #: `weight_threshold`.
    stages: Stages = field(default_factory=list)
    #: Additional stages on some datasets, which follow the stages in `stages`.
    extra_stages: dict[KnownDataset, Stages] = field(default_factory=dict)
    #: Hyperparameters that replace the configured values in all trials of the stages, but not in
    #: the final model.
    trial_overrides: Hyperparameters = field(default_factory=dict)
    #: Whether the search in stages runs on every dataset, for any value of the setting `tuning`.
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
        """Return whether the model has stages that are tried only on datasets for which the model
        is untuned.
        """
        return bool(self.stages) and not self.always

    def stages_on(self, dataset: str) -> Stages:
        """Return all stages of a search on a dataset."""
        return [*self.stages, *self.extra_stages.get(dataset, [])]


@dataclass(frozen=True)
class ModelSpec:
    """Describe one model of a suite."""

    #: The estimator: a name in `xmlc.models.registry.ESTIMATORS`, or ``path/to/file.py:ClassName``.
    #: If a suite's file sets `from_suite`, the estimator is "".
    estimator: str = ""
    #: The name of another suite, from which the keys of the model or baseline with the same name
    #: are copied. All keys are copied except ``without``, and except ``title`` if this model has a
    #: title.
    from_suite: str | None = None
    #: Hyperparameters on the datasets that `datasets` does not list.
    hyperparameters: Hyperparameters = field(default_factory=dict)
    #: Maps a dataset to its hyperparameters, if they differ from `hyperparameters`. When a suite is
    #: read, the hyperparameters of a dataset in this mapping are completed from `hyperparameters`.
    datasets: dict[KnownDataset, Hyperparameters] = field(default_factory=dict)
    #: Maps a hyperparameter to the source of its values. The key ``all`` stands for all
    #: hyperparameters that have no key, and the key ``datasets`` for the values in `datasets`. A
    #: source begins with one of five words. These are paper, program (of the authors), search (on
    #: the validation set), fitted (chosen on published test results) or hand (not searched).
    provenance: dict[str, Origin] = field(default_factory=dict)
    #: Maps a dataset to a description of how its hyperparameters were found.
    selected: dict[KnownDataset, HyperparameterOrigin] = field(default_factory=dict)
    search: SearchSpec = SearchSpec()
    #: The name of another model in the same suite. This model uses the other model's search result,
    #: or, with the key `always`, starts its own search from the result.
    share_search_with: Name | None = None
    #: Number of threads of the model's jobs. If the value is None, the setting `threads` of the run
    #: is used.
    threads: ThreadCount | None = None
    #: The task of the datasets on which the model runs. If the task is None, the model runs on all
    #: datasets.
    task: Task | None = None
    #: Whether one job trains the models of all seeds and ranks labels with them. A job for all
    #: seeds is sensible if training takes only minutes.
    batch_seeds: bool = False
    #: Whether the model is skipped if its program is not installed.
    optional: bool = False
    #: Maps each dataset on which the model is not run to the reason.
    without: dict[KnownDataset, Reason] = field(default_factory=dict)
    #: For a baseline, the reason why no thresholds are tuned.
    skip_thresholds: Reason | None = None
    #: For a baseline, a text about the hyperparameters that were not searched.
    untuned: Reason | None = None
    #: The model's name in tables and figures. If the title is None, the name that a paper's package
    #: defines is used, or the name in the suite.
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
        """Return a text about the hyperparameters that are fitted to published results, or "" if
        there are none.
        """
        parts = {name: text.split(": ", 1) for name, text in self.provenance.items()}
        return "; ".join(
            f"{name}: {where}" for name, (source, where) in parts.items() if source == "fitted"
        )

    def values_on(self, dataset: str) -> Hyperparameters:
        """Return the hyperparameters of the model on a dataset."""
        return self.datasets.get(dataset, self.hyperparameters)


@dataclass(frozen=True)
class Inference:
    """List the inference methods of each model, and set the training split of the models."""

    split: Literal["full", "80"]
    methods: Annotated[dict[KnownModel, Some[InferenceMethod]], Meta(min_length=1)]
    #: Number of label vectors that are drawn for each instance, if a model can draw label vectors.
    samples: Annotated[int, Meta(ge=1)] = 200
    #: Number of seconds after which an inference method is stopped. If the time limit is None, a
    #: method is never stopped.
    time_limit: Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)] | None = None


@dataclass(frozen=True)
class Ensembles:
    """List forests that are scored not only with all trees, but also with the first n trees, and
    list the numbers n.
    """

    models: Some[KnownModel]
    sizes: Some[Annotated[int, Meta(ge=1)]]


@dataclass(frozen=True)
class Sweep:
    """Describe a sweep.

    In a sweep, a model is trained on the whole training set with several values of one
    hyperparameter.
    """

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
        """Return the values that the sweep tries on a dataset."""
        return self.datasets.get(dataset, self.values)


@dataclass(frozen=True, kw_only=True)
class Experiments:
    """Hold the content of a suite's YAML file."""

    title: str
    #: The names of the datasets, in the order in which tables show them.
    datasets: Some[DatasetName]
    #: The seeds. Every experiment runs once with each seed. Tables show the means over the seeds.
    seeds: Some[Seed]
    #: Names of threshold methods for macro-F.
    methods: list[ThresholdMethod]
    tables: list[Name]
    figures: list[Name]
    models: Annotated[dict[Name, ModelSpec], Meta(min_length=1)]
    #: Number of runs whose results the paper averages.
    printed_runs: Annotated[int, Meta(ge=1)] = 1
    #: Other measures than macro-F for which thresholds are tuned.
    measures: list[MeasureName] = field(default_factory=list)
    #: Users' Python files that register threshold or inference methods.
    extensions: list[Extension] = field(default_factory=list)
    inference: Inference | None = None
    ensembles: Ensembles | None = None
    #: Datasets with exactly one label per instance.
    few_shot: list[KnownDataset] = field(default_factory=list)
    #: Models that are evaluated by progressive validation: each training instance is first
    #: predicted, then learned.
    progressive: list[KnownModel] = field(default_factory=list)
    sweeps: dict[Name, Sweep] = field(default_factory=dict)
    #: Maps a dataset to the minimum probability of its stored estimates. Only estimates above the
    #: minimum probability are stored.
    min_probabilities: dict[KnownDataset, Annotated[float, Meta(ge=1e-4, lt=1)]] = field(
        default_factory=dict
    )
    #: Maps names of datasets and of models to the reason why no thresholds are tuned. If no
    #: thresholds are tuned, the models are trained on the whole training set, and only their
    #: rankings are scored.
    skip_thresholds: dict[ModelOrDataset, Reason] = field(default_factory=dict)
    #: The baselines, which a run includes only for the target `baselines`.
    baselines: dict[Name, ModelSpec] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Suite(Experiments):
    """Describe the experiments of one paper or of one user."""

    #: The name of the suite's file, such as ``plt2016``.
    name: str
    #: The path of the suite's file, such as ``config/papers/plt2016.yaml``.
    file: str
    #: The content of the file as plain values, before models of other suites were copied.
    written: Any

    @property
    def own(self) -> bool:
        """Return whether the suite belongs to no paper, such as the demo.

        The setting `datasets` of config.yaml does not affect a suite that belongs to no paper.
        """
        return self.name in OWN

    @property
    def all_models(self) -> dict[str, ModelSpec]:
        """Return the suite's models by name, followed by the suite's baselines."""
        return {**self.models, **self.baselines}

    def place_of(self, model: str) -> tuple[str, str]:
        """Return the keys of a model or baseline in the suite's file, such as ``("models",
        "plt")``.
        """
        return ("baselines" if model in self.baselines else "models", model)

    @property
    def titles(self) -> dict[str, str]:
        """Return the title of each model and baseline that has a title.

        Tables and figures show titles instead of names.
        """
        return {name: model.title for name, model in self.all_models.items() if model.title}

    @property
    def measure_methods(self) -> list[str]:
        """Return the threshold methods for measures other than macro-F.

        For example, the method for the measure ``x`` is ``for-x``.
        """
        return [f"for-{measure}" for measure in self.measures]

    @property
    def every_method(self) -> list[str]:
        """Return the distinct names of the suite's threshold and inference methods, in the order of
        the tables.
        """
        methods = [*self.measure_methods, *self.methods]
        if self.inference:
            methods += chain(*self.inference.methods.values())
        return list(dict.fromkeys(methods))

    def inferred(self, model: str, split: str | None = None) -> list[str]:
        """Return the inference methods of a model trained on ``split``, or on any split if
        ``split`` is None.
        """
        if self.inference and split in (None, self.inference.split):
            return self.inference.methods.get(model, [])
        return []

    def swept(self, model: str) -> list[Hyperparameters]:
        """Return each set of hyperparameters that the suite's sweeps use for a model."""
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


# The only keys that a copied model may have.
NEXT_TO_FROM_SUITE = ("from_suite", "title", "without")
OWN = ("demo", "scale")  # Names of the suites that belong to no paper.
# The plain content of files of suites, and the same with types
Contents = dict[Path, tuple[Any, Experiments]]


def read_suites(config: Path) -> dict[str, Suite]:
    """Read all suites of a configuration. The suites of papers come first, in alphabetical order.

    In a study, only the suite of the study is read.

    Raises
    ------
    XmlcError
        A file cannot be read or is not a suite, or ``from_suite`` refers to a model that does not
        exist.
    """
    names = [*sorted(file.stem for file in (config / "papers").glob("*.yaml")), *OWN]
    if is_study(config):
        names = [STUDY]
    files = {name: suite_file(name, config) for name in names}
    contents: Contents = {}
    return {name: read_suite(file, contents) for name, file in files.items() if file.is_file()}


def suite_file(name: str, config: Path) -> Path:
    """Return the path of a suite's file.

    If a study has no file for the suite, return the path in the package.
    """
    of_paper = name not in OWN and not (name == STUDY and is_study(config))
    return config_files(f"papers/{name}.yaml" if of_paper else f"{name}.yaml", config)[-1]


def find_suite(name: str, config: Path) -> Suite | None:
    """Return a suite by its name, or None if the configuration has no suite of this name."""
    file = suite_file(name, config)
    if file.is_file():
        return read_suite(file)
    return None


def read_suite(file: Path, contents: Contents | None = None) -> Suite:
    """Read a suite from its file. Models with `from_suite` are copied from the other suite.

    ``contents`` has the files that are already in memory, and gets those that this function reads.

    Raises
    ------
    XmlcError
        A file cannot be read or is not a suite, or ``from_suite`` refers to a model that does not
        exist.
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
    """Return the model or baseline with the same name in the suite that ``from_suite`` names."""
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
