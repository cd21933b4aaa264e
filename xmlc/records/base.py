"""What all records share: the data and the model that they are about, and how they are written and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec import Meta

from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.files import write_record
from xmlc.records.checking import (
    HIGHEST,
    SCHEMA,
    as_checked,
    check_header,
    check_scores,
    expected_of,
    parsed,
    read_checked,
)

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


@dataclass(frozen=True, kw_only=True)
class RecordFile:
    """A JSON file of one kind; the order of the fields is that of the file's keys.

    A class names its kind, which its files say, and the command that writes them, if it is not a script of the user's.
    """

    KIND: ClassVar[str] = ""
    COMMAND: ClassVar[str] = ""

    def __init_subclass__(cls, kind: str = "", command: str = "") -> None:
        cls.KIND, cls.COMMAND = kind, command

    def write(self, path: Path) -> None:
        """Write the record with the checksum of its content, whole or not at all."""
        write_record(path, self.content())

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


@dataclass(frozen=True, kw_only=True)
class FolderFile:
    """A JSON file in the folder that it is about; a class names the file and the command that writes it."""

    FILE: ClassVar[str]
    COMMAND: ClassVar[str]

    def __init_subclass__(cls, file: str, command: str) -> None:
        cls.FILE, cls.COMMAND = file, command

    def write(self, folder: Path) -> None:
        """Write the file into its folder."""
        write_record(folder / self.FILE, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the file in its folder.

        Raises
        ------
        XmlcError
            It is not readable, or lacks something.
        """
        return read_checked(folder / cls.FILE, cls, expected_of(cls.COMMAND))


@dataclass(frozen=True, kw_only=True)
class Record(RecordFile):
    """A JSON file about one model on one dataset: its name in tables, and the portion that it was trained on."""

    dataset: Dataset
    estimator: str
    model: str
    hyperparameters: Hyperparameters
    seed: int
    portion: Portion

    def described(self) -> dict[str, Any]:
        """Return the fields of `Record`, which other records of the same model have too."""
        return {field.name: getattr(self, field.name) for field in fields(Record)}

    @property
    def whose(self) -> tuple[str, str, Portion]:
        """Names of dataset and model, and the portion: whose costs a step's are."""
        return self.dataset.name, self.model, self.portion

    @property
    def dataset_name(self) -> str:
        """Name of the dataset, as of every kind of file."""
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


class RankingRow:
    """A row with the metrics of a ranking of the test set, all that ``METRICS`` names, as shares."""

    METRICS: ClassVar[tuple[str, ...]]
    metrics: Fractions

    def __post_init__(self) -> None:
        check_scores(".metrics", self.metrics, self.METRICS)


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
