"""A suite: the experiments of one paper, or the demo's, as objects, read from YAML and checked against a schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import jsonschema
import msgspec

from xmlc.core.errors import XmlcError
from xmlc.core.schemas import broken, read_yaml
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suites.paths import Pattern

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


class HyperparameterOrigin(msgspec.Struct, frozen=True, rename={"p_at_1": "p@1"}):
    """How hyperparameters of a dataset were found."""

    #: In words, for Table 3.
    by: str
    #: On validation, a share, where known.
    p_at_1: float | None = None
    #: As in `ModelSpec.provenance`.
    source: Source = "search"
    #: Of a search, the file with every trial.
    trials: str | None = None
    #: Of a search without such a file, what makes it again.
    command: str | None = None


@dataclass(frozen=True)
class Auto:
    """A bounded search for datasets that have no values of their own, run by `tuning: auto` of config.yaml."""

    #: Trials, those of each stage put over the best of the stages before it.
    stages: list[list[Hyperparameters]]
    #: What trials have in place of the configured values and the model that is trained afterwards has not.
    in_trials: Hyperparameters = field(default_factory=dict)


@dataclass(frozen=True)
class ModelSpec:
    """One model of a suite.

    Attributes
    ----------
    estimator : str
        A name of `xmlc.models.registry.ESTIMATORS`, or ``path/to/file.py:ClassName``.
    hyperparameters : dict
        For every dataset that has no values of its own.
    datasets : dict of str to dict
        Hyperparameters of single datasets, put over the common ones.
    whole : dict of str to dict
        Hyperparameters of the datasets of a suite of its own, in place of the common ones.
    provenance : dict of str to str
        By hyperparameter, ``all`` for every other common one and ``datasets`` for those of single datasets: where the
        values are from, as ``source: where``. The source is the paper, the authors' program, a search on validation,
        calibrated (chosen because printed test results then come out) or hand (set by hand, nothing searched).
    found : dict of str to HyperparameterOrigin
        By dataset, how its hyperparameters were found.
    tuning : dict or None
        Ranges that a search draws from.
    search : list or None
        Trials of a search in stages, whose best is always used.
    further_search : dict of str to list
        Stages after those, on single datasets.
    tuned_as : str or None
        The model of the same suite with whose search results it is trained, or which its own ``search`` begins with.
    threads : int or None
        Of its jobs; None for the setting of the run.
    memory : float or None
        Times the bytes of the data that its training holds; None for the number of its estimator.
    minutes : int or None
        Wall minutes that each step of it requests; None for the class of the data's size.
    auto : Auto or None
        A search whose best is used on datasets that the model has no values for.
    task : {"few-shot", "multi-label"} or None
        The datasets that it is run on; None for all.
    quick : bool
        Whether it trains in minutes, so that training and ranking with all seeds are one job.
    optional : bool
        Whether it is run only where its program is installed.
    without : dict of str to str
        Datasets that it is not run on, with the reason.
    ranks_only, untuned : str or None
        Of a baseline: why its scores take no thresholds; which hyperparameters were not searched.
    title : str or None
        Its name in print; None for its name here, or the one that a paper's room gives it.
    """

    estimator: str
    hyperparameters: Hyperparameters = field(default_factory=dict)
    datasets: dict[str, Hyperparameters] = field(default_factory=dict)
    whole: dict[str, Hyperparameters] = field(default_factory=dict)
    provenance: dict[str, str] = field(default_factory=dict)
    found: dict[str, HyperparameterOrigin] = field(default_factory=dict)
    tuning: dict[str, object] | None = None
    search: list[list[Hyperparameters]] | None = None
    further_search: dict[str, list[list[Hyperparameters]]] = field(default_factory=dict)
    tuned_as: str | None = None
    threads: int | None = None
    memory: float | None = None
    minutes: int | None = None
    auto: Auto | None = None
    task: Task | None = None
    quick: bool = False
    optional: bool = False
    without: dict[str, str] = field(default_factory=dict)
    ranks_only: str | None = None
    untuned: str | None = None
    title: str | None = None

    @property
    def calibration(self) -> str:
        """Describe the hyperparameters calibrated on printed test results; empty without any."""
        parts = {name: text.split(": ", 1) for name, text in self.provenance.items()}
        return "; ".join(f"{name}: {where}" for name, (source, where) in parts.items() if source == "calibrated")

    def values_on(self, dataset: str) -> Hyperparameters:
        """Return the hyperparameters on one dataset."""
        return {**self.whole.get(dataset, self.hyperparameters), **self.datasets.get(dataset, {})}


@dataclass(frozen=True)
class Inference:
    """Label sets that are inferred for each instance: the methods by model, from models of which portion."""

    portion: str
    methods: dict[str, list[str]]
    samples: int = 200
    time_limit: int | float | None = None


@dataclass(frozen=True)
class Ensembles:
    """Forests that are scored by their first trees too."""

    models: list[str]
    sizes: list[int]


@dataclass(frozen=True)
class Sweep:
    """One hyperparameter of one model, whose values are tried on the whole training set; ``without`` some datasets."""

    model: str
    hyperparameter: str
    values: list[int | float | str]
    datasets: dict[str, list[int | float | str]] = field(default_factory=dict)
    hyperparameters: Hyperparameters = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)

    def values_on(self, dataset: str) -> list[int | float | str]:
        """Return the values that are tried on a dataset."""
        return self.datasets.get(dataset, self.values)


@dataclass(frozen=True)
class Suite:
    """The experiments of one paper; keys are its YAML file's, explained in ``suite.schema.yaml``.

    Attributes
    ----------
    name, file : str
        Of the file, such as ``plt2016`` and ``config/papers/plt2016.yaml``.
    own : bool
        Whether it is not a paper's: it has datasets of its own, whatever the key `datasets` of config.yaml says.
    """

    name: str
    file: str
    own: bool
    title: str
    datasets: list[str]
    seeds: list[int]
    methods: list[str]
    tables: list[str]
    figures: list[str]
    models: dict[str, ModelSpec]
    printed_runs: int = 1
    measures: list[str] = field(default_factory=list)
    extensions: list[str] = field(default_factory=list)
    inference: Inference | None = None
    ensembles: Ensembles | None = None
    few_shot: list[str] = field(default_factory=list)
    progressive: list[str] = field(default_factory=list)
    sweeps: dict[str, Sweep] = field(default_factory=dict)
    floors: dict[str, float] = field(default_factory=dict)
    ranked_only: dict[str, str] = field(default_factory=dict)
    peers: dict[str, ModelSpec] = field(default_factory=dict)

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

    def is_ranked_only(self, run: Run) -> bool:
        """Say whether no thresholds are tuned on a run: its model is trained on the whole training set and ranked."""
        return run.dataset in self.ranked_only or run.model in self.ranked_only

    def task_of(self, dataset: str) -> Task:
        """Return the task of a dataset."""
        return "few-shot" if dataset in self.few_shot else "multi-label"


Content = dict[str, Any]
CONFIG = Path("config")
OWN = ("demo", "scale")  # suites that are no paper's


def read_suites(config: Path = CONFIG) -> dict[str, Suite]:
    """Read all suites of a folder of configurations: the papers' by name, then the others.

    Raises
    ------
    XmlcError
        A file cannot be read, breaks the schema, or names a model of another suite that is not there.
    """
    names = [*sorted(file.stem for file in (config / "papers").glob("*.yaml")), *OWN]
    return {name: read_suite(suite_file(name, config)) for name in names}


def suite_file(name: str, config: Path = CONFIG) -> Path:
    """Name the file of a suite."""
    return config / f"{name}.yaml" if name in OWN else config / "papers" / f"{name}.yaml"


def find_suite(name: str, config: Path = CONFIG) -> Suite | None:
    """Read a suite, or return None where a folder of configurations has none of this name."""
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
    models = {name: _resolved(name, model, file) for name, model in content["models"].items()}
    made = {"name": file.stem, "file": str(file), "own": file.stem in OWN, "models": models}
    return converted(content | made, Suite, str(file))


def _read(file: Path) -> Content:
    content: Any = read_yaml(file)
    check(content, "suite.schema.yaml", str(file))
    return content


def _resolved(name: str, model: Content, file: Path) -> Content:
    """Resolve ``as_in``: take the model of the other suite, with this one's ``without``."""
    if "as_in" not in model:
        return model
    place = suite_file(model["as_in"], file.parent if file.stem in OWN else file.parent.parent)
    there = _read(place) if place.is_file() else {}
    found = (there.get("peers", {}) | there.get("models", {})).get(name, {})
    if "estimator" not in found:
        raise XmlcError(f"{file}: {file.stem} has model {name} as in {model['as_in']}, which defines none of this name")
    return {**found, "without": model.get("without", {})}


T = TypeVar("T")
FOLDER = Path(__file__).parent


def check(content: object, schema: str, source: str) -> None:
    """Check content against ``schema``, a file of this folder.

    Raises
    ------
    XmlcError
        It breaks the schema; the message names ``source``, the place and what is expected there.
    """
    problem = jsonschema.exceptions.best_match(_validator(schema).iter_errors(content))
    if problem is not None:
        raise XmlcError(f"{source}: {problem.json_path}: {broken(problem)}")


@cache
def _validator(schema: str) -> jsonschema.Draft202012Validator:
    content: Any = read_yaml(FOLDER / schema)
    return jsonschema.Draft202012Validator(content)


def converted(content: object, kind: type[T], source: str) -> T:
    """Convert checked content to a dataclass.

    Raises
    ------
    XmlcError
        A value is of another type.
    """
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise XmlcError(f"{source}: {error}") from error
