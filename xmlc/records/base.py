"""What all records share: the data and the model that they are about, and how they are written and read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypedDict

from msgspec import Meta

from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.files import write_json
from xmlc.passport import Passport, StepCosts
from xmlc.records.checked import Misfit, as_checked, misfit, parsed

SCHEMA = 1
HIGHEST = 1 + 1e-9  # a mean of ones may exceed one by a rounding
Number = int | float  # as it stands in the file: an integer stays one when it is written again
Fraction = Annotated[float, Meta(ge=0, le=HIGHEST)]
Fractions = dict[str, Fraction]  # metrics, whose names are no identifiers
Portion = Literal["full", "80"]
Row = dict[str, object]  # of a frame: value by column

DATASET_COLUMNS = ("m", "d", "n_test", "n_train", "instances_per_label", "labels_per_instance")
Costs = Mapping[str, tuple[str, float]]  # column: name of the cost, and the factor from its unit to the column's


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Which data a record is about; averages are over the training set."""

    digest: str
    name: str
    n_train: Number
    n_test: Number
    d: Number
    m: Number
    labels_per_instance: Number
    instances_per_label: Number


class Described(TypedDict):
    """What a record has from the training of its model."""

    dataset: Dataset
    estimator: str
    model: str
    hyperparameters: Hyperparameters
    seed: int
    portion: Portion


# How hyperparameters were searched, and with what validation P@1 the best were found.
Search = TypedDict("Search", {"method": str, "budget": int, "seed": int, "p@1": float}, total=False)


@dataclass(frozen=True, kw_only=True)
class Record:
    """A JSON file about one model on one dataset; the order of the fields is that of the file's keys.

    Attributes
    ----------
    dataset : Dataset
    estimator : str
    model : str
        Name in tables.
    hyperparameters : dict
    seed : int
    portion : {"full", "80"}
        What the model was trained on.
    """

    KIND: ClassVar[str] = ""  # empty: the file says no kind
    COMMAND: ClassVar[str] = ""  # that writes it

    dataset: Dataset
    estimator: str
    model: str
    hyperparameters: Hyperparameters
    seed: int
    portion: Portion

    def write(self, path: Path) -> None:
        """Write the record, whole or not at all."""
        write_json(path, self.content())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and check one file.

        Raises
        ------
        XmlcError
            It is not readable, of another kind, or lacks something.
        """
        return cls.of(path, parsed(path, "record"))

    @classmethod
    def of(cls, path: Path, content: object) -> Self:
        """Check the content of a file."""
        if cls.KIND:
            check_header(path, content, [cls.KIND], cls.COMMAND)
        return as_checked(path, content, cls, expected_of(cls.COMMAND))

    def content(self) -> dict[str, object]:
        """Return what the file holds."""
        header: dict[str, object] = {"kind": self.KIND, "schema": SCHEMA} if self.KIND else {}
        return header | asdict(self)

    def described(self) -> Described:
        """Return what other records of the same model have too."""
        return {
            "dataset": self.dataset,
            "estimator": self.estimator,
            "model": self.model,
            "hyperparameters": self.hyperparameters,
            "seed": self.seed,
            "portion": self.portion,
        }

    @property
    def whose(self) -> tuple[str, str, Portion]:
        """Names of dataset and model, and the portion: whose costs a step's are."""
        return self.dataset.name, self.model, self.portion

    @property
    def dataset_name(self) -> str:
        """Name of the dataset, as every kind of file tells it."""
        return self.dataset.name

    @property
    def model_name(self) -> str | None:
        """The model, likewise."""
        return self.model

    @property
    def data_digest(self) -> str:
        """The digest of the data, likewise."""
        return self.dataset.digest

    @property
    def method_name(self) -> str | None:
        """The threshold or inference method, where the record is of one."""
        return getattr(self, "method", None)

    def setting(self, name: str) -> float:
        """Return a hyperparameter that is a number.

        Raises
        ------
        XmlcError
            There is none of this name, or it is something else.
        """
        value = self.hyperparameters.get(name)
        if isinstance(value, int | float):
            return value
        raise XmlcError(f"{self.model} on {self.dataset.name}: hyperparameter {name} is {value!r}; expected a number")


@dataclass(frozen=True, kw_only=True)
class ExperimentRecord(Record):
    """A record that tables or figures are made from; these do not need to know the estimator."""

    estimator: str = ""


@dataclass(frozen=True, kw_only=True)
class TrainingCosts:
    """What training cost; None where there was nothing to measure, as of an oracle."""

    train_seconds: Number | None
    train_cpu_seconds: Number | None = None  # records of earlier versions lack it
    train_threads: int | None
    train_peak_bytes: Number | None
    model_bytes: Number | None


@dataclass(frozen=True, kw_only=True)
class KnownTrainingCosts(TrainingCosts):
    """The same in records whose tables do not show them, which may lack them."""

    train_seconds: Number | None = None
    train_threads: int | None = None
    train_peak_bytes: Number | None = None
    model_bytes: Number | None = None


@dataclass(frozen=True, kw_only=True)
class ModelRecord(ExperimentRecord):
    """A record of a trained model, which tells its training too.

    Attributes
    ----------
    costs : TrainingCosts
    passport : Passport
    tuning : Search or None
        Method, budget, seed and best P@1 of the search that found the hyperparameters.
    step : StepCosts or None
        What the whole step cost; records of earlier versions lack it.
    """

    costs: TrainingCosts
    passport: Passport
    tuning: Search | None = None
    step: StepCosts | None = None


def expected_of(command: str) -> str:
    """Say in a message what a file should be."""
    return f"a record of `xmlc {command}` of this version"


def check_header(path: Path, content: object, kinds: Iterable[str], command: str) -> str:
    """Return the kind of a record; refuse what is no record of these kinds, or one of another version.

    Raises
    ------
    XmlcError
        With the place.
    """
    expected = expected_of(command)
    if not isinstance(content, dict):
        raise misfit(path, "$", f"found {content!r:.40}", f"{expected}, an object")
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in list(kinds):
        found = f"found {kind!r}, expected {' or '.join(kinds)}"
        raise misfit(path, "$.kind", found, expected)
    if content.get("schema") != SCHEMA:
        raise misfit(path, "$.schema", f"found {content.get('schema')!r}, expected {SCHEMA}", expected)
    return kind


def check_scores(place: str, scores: Mapping[str, float], needed: Iterable[str], shares: Iterable[str] = ()) -> None:
    """Refuse scores that lack a name, or in which one of ``shares`` is no share of one.

    Raises
    ------
    Misfit
        With the place within the object that has the scores.
    """
    if lacking := [name for name in needed if name not in scores]:
        raise Misfit(place, f"{lacking[0]!r} is a required property")
    for name in shares:
        if not 0 <= scores.get(name, 0) <= HIGHEST:
            raise Misfit(f"{place}.{name}", f"found {scores[name]}, expected a share between 0 and 1")


def identity(record: Record) -> Row:
    """Return the columns that say what a row of a frame is about, and the numbers of its dataset."""
    stated = {name: getattr(record.dataset, name) for name in DATASET_COLUMNS}
    return {"dataset": record.dataset.name, "model": record.model, "seed": record.seed, **stated}


def costs_in(costs: object, wanted: Costs) -> Row:
    """Return columns of costs, in their units."""
    return {name: known(getattr(costs, key)) * factor for name, (key, factor) in wanted.items()}


def known(value: float | None) -> float:
    """Return a number of a frame; what is None is missing."""
    return float("nan") if value is None else float(value)
