"""Define the fields that records share, the record of `xmlc train`, and functions that read and
write records.

The record of `xmlc train` has no kind, because records of other kinds contain its fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypedDict, TypeVar, dataclass_transform

import msgspec
from msgspec import Meta

from xmlc.core.checksums import Damaged, check_content, written_with
from xmlc.core.errors import XmlcError, let_through
from xmlc.data.synthetic import without_mark
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.files import write_record
from xmlc.suite.provenance.environment import Environment, StepCosts

SCHEMA = 1
HIGHEST = 1 + 1e-9  # The mean of scores that are all 1 may exceed 1 because of rounding errors.

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def json_keys(cls: type[T]) -> type[T]:
    """Make a frozen dataclass, whose fields are keys of a JSON file and keyword arguments."""
    return dataclass(frozen=True, kw_only=True)(cls)


def expected_of(command: str) -> str:
    """Return the description of a command's record in error messages."""
    if command:
        return f"a record of `xmlc {command}` of this version"
    return "a record of this version"


def check_header(path: Path, content: object, kinds: Iterable[str], command: str) -> str:
    """Return the kind of a record from the content of its file.

    The content must be a record of a kind in ``kinds`` and of the current version.

    Raises
    ------
    XmlcError
        The content is no record, or is a record of another kind or version.
    """
    expected = expected_of(command)
    if not isinstance(content, dict):
        raise misfit(path, f"found {content!r:.40}", f"{expected}, with keys")
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in list(kinds):
        raise misfit(path, f"found kind {kind!r}, expected {' or '.join(kinds)}", expected)
    if content.get("schema") != SCHEMA:
        raise misfit(path, f"found schema {content.get('schema')!r}, expected {SCHEMA}", expected)
    return kind


def check_scores(
    place: str, scores: Mapping[str, float], needed: Iterable[str], shares: Iterable[str] = ()
) -> None:
    """Raise an error if a score in ``needed`` is missing, or if a score in ``shares`` is not
    between 0 and 1.

    Raises
    ------
    ValueError
        A score is missing, or is not between 0 and 1. The error message contains ``place``, the
        field with the scores. msgspec adds the path of this field in the file.
    """
    lacking = [name for name in needed if name not in scores]
    if lacking:
        raise ValueError(f"{place} lack {lacking[0]!r}")
    for name in shares:
        if not 0 <= scores.get(name, 0) <= HIGHEST:
            raise ValueError(
                f"{place}: found {name} {scores[name]}, expected a share between 0 and 1"
            )


def parsed(path: Path, what: str = "file") -> dict[str, object]:
    """Return the content of a JSON file that `xmlc.suite.files.write_record` wrote, without the
    checksum.

    Raises
    ------
    XmlcError
        The file is not readable, was edited, or contains a number that JSON does not allow.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        let_through(error)
        raise Damaged(
            path, f"found no readable JSON {what} ({error})", written_with(path)
        ) from error
    if not isinstance(content, dict):
        raise Damaged(path, f"found no keys, expected a JSON {what}", written_with(path))
    return check_content(path, content)


def as_checked(path: Path, content: object, kind: type[T], expected: str) -> T:
    """Convert the content of a file to a dataclass.

    Keys in the file that are not fields of the dataclass are ignored.

    Error messages describe the expected file by ``expected``.

    Raises
    ------
    XmlcError
        The content violates the schema of the dataclass.
    """
    try:
        return msgspec.convert(
            content, kind, dec_hook=lambda to, found: Path(found) if to is Path else found
        )
    except msgspec.ValidationError as error:
        problem = str(error).replace("Object missing required field", "found no key")
        raise misfit(path, problem, expected) from error


def misfit(path: Path, found: str, expected: str) -> XmlcError:
    """Return the error that is raised for a file with unexpected content."""
    return Damaged(path, f"{found}. The file should be {expected}", written_with(path))


def _refuse_constant(text: str) -> float:
    raise ValueError(f"found {text}, expected a number that JSON allows")


# If a record is read and written again, an integer in the file remains an integer.
JsonNumber = int | float
Fraction = Annotated[float, Meta(ge=0, le=HIGHEST)]
# Fractions are in a dict, because a name such as "p@1" cannot be the name of a field.
Fractions = dict[str, Fraction]
TrainingSplit = Literal["full", "80"]
Count = Annotated[int, Meta(ge=0)]
Quantities = dict[str, object]  # Maps the name of a quantity to the value of the quantity.
# Pairs of the name of a part of a record (a variant) and the quantities in this part. Most records
# consist of one part, whose name is "".
Numbers = Iterator[tuple[str, Quantities]]

DATASET_COLUMNS = ("m", "d", "n_test", "n_train", "instances_per_label", "labels_per_instance")
# Maps a column of costs to a field of a record, and to the factor that converts the field to the
# column's unit.
CostColumns = Mapping[str, tuple[str, float]]


@json_keys
class RecordedDataset:
    """Describe the dataset on which a record was computed.

    Averages in this description are over the training set.
    """

    digest: str
    name: str
    n_train: JsonNumber
    n_test: JsonNumber
    d: JsonNumber
    m: JsonNumber
    labels_per_instance: JsonNumber
    instances_per_label: JsonNumber


@json_keys
class RecordFile:
    """Represent a JSON file. Subclasses represent the different kinds of files.

    The fields of a class have the order of the keys in the file. ``KIND`` is the kind of record
    that the file contains. ``COMMAND`` is the `xmlc` command that writes the file. If users'
    scripts write the file, ``COMMAND`` is "".
    """

    KIND: ClassVar[str] = ""
    COMMAND: ClassVar[str] = ""

    def numbers(self) -> Numbers:
        """Yield the name and the quantities of each part of the record.

        The quantities have the units of the table columns. If the record lacks a quantity, its
        value is None or NaN.
        """
        yield from ()

    def details(self) -> Numbers:
        """Yield further parts of the record, which figures show, but neither tables nor claims
        use.
        """
        yield from ()

    @property
    def facts(self) -> Quantities:
        """Return the hyperparameters, and the size and digest of the dataset."""
        dataset = getattr(self, "dataset", None)
        sizes = {}
        if isinstance(dataset, RecordedDataset):
            sizes = asdict(dataset)
        return sizes | getattr(self, "hyperparameters", {}) | {"digest": self.data_digest}

    def resampled_numbers(self) -> dict[str, dict[str, Any]]:
        """Return quantities on resampled test sets by variant, in the unit of the table columns."""
        return {}

    @property
    def dataset_name(self) -> str:
        """Return the name of the record's dataset, or "" if the record has no dataset."""
        return getattr(getattr(self, "dataset", None), "name", "")

    @property
    def model_name(self) -> str:
        """Return the name of the record's model, or "" if the record has no model."""
        return getattr(self, "model", "")

    @property
    def method_name(self) -> str:
        """Return the name of the threshold or inference method, or "" if the record has no
        method.
        """
        return ""

    @property
    def data_digest(self) -> str:
        """Return the digest of the record's dataset, or "" if the record has no dataset."""
        return getattr(getattr(self, "dataset", None), "digest", "")

    def __init_subclass__(cls, kind: str = "", command: str = "") -> None:
        cls.KIND = kind
        cls.COMMAND = command

    def write(self, path: Path) -> None:
        """Write the record to a file atomically, with the checksum of the content."""
        write_record(path, self.content())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a record from a file, and check the record.

        Raises
        ------
        XmlcError
            The file is not readable, contains another kind of record, or lacks a key.
        """
        return cls.of(path, parsed(path, "record"))

    @classmethod
    def of(cls, path: Path, content: object) -> Self:
        """Convert the content of a file to a record, and check the record."""
        if cls.KIND:
            check_header(path, content, [cls.KIND], cls.COMMAND)
        return as_checked(path, content, cls, expected_of(cls.COMMAND))

    def content(self) -> dict[str, object]:
        """Return the content of the record's file as a dict of JSON values."""
        header: dict[str, object] = {}
        if self.KIND:
            header = {"kind": self.KIND, "schema": SCHEMA}
        return header | asdict(self)


@json_keys
class Record(RecordFile):
    """Represent a JSON file about one model on one dataset.

    ``model`` is the name of the model in tables, and ``split`` is the model's training split.
    ``settings`` contains further settings that influence the numbers in the record.
    `xmlc.suite.results.settings.RECORDED` contains the names of the possible settings.
    """

    dataset: RecordedDataset
    # Tables and figures do not use it, so that records of users' scripts may lack it.
    estimator: str = ""
    model: str
    hyperparameters: Hyperparameters
    seed: int
    split: TrainingSplit
    # Records of earlier versions lack ``settings``.
    settings: dict[str, object] = field(default_factory=dict)

    @property
    def run_names(self) -> tuple[str, str, TrainingSplit]:
        """Return the dataset, the model and the training split of the record.

        The costs of a step are assigned to a run by dataset, model and training split.
        """
        return without_mark(self.dataset.name), self.model, self.split

    @property
    def method_name(self) -> str:
        """Return the name of the threshold or inference method, or "" if the record has no
        method.
        """
        return getattr(self, "method", "")

    @property
    def dataset_sizes(self) -> Quantities:
        """Return the numbers that describe the size of the dataset, such as the number of
        labels.
        """
        return {name: getattr(self.dataset, name) for name in DATASET_COLUMNS}

    def setting(self, name: str) -> float:
        """Return the value of a numeric hyperparameter.

        Raises
        ------
        XmlcError
            The hyperparameter is missing, or is not a number.
        """
        value = self.hyperparameters.get(name)
        if isinstance(value, int | float):
            return value
        raise XmlcError(
            f"{self.model} on {self.dataset.name}: found hyperparameter {name} {value!r}, "
            "expected a number"
        )


# The method, the budget and the seed of a search, and the validation P@1 of its best trial.
SearchSummary = TypedDict(
    "SearchSummary", {"method": str, "budget": int, "seed": int, "p@1": float}, total=False
)


@json_keys
class TrainingCosts:
    """Hold the costs of training a model.

    If the model is not trained, such as an oracle, the costs are None.
    """

    train_seconds: JsonNumber | None
    train_cpu_seconds: JsonNumber | None = None  # Records of earlier versions lack the CPU seconds.
    train_threads: int | None
    train_peak_bytes: JsonNumber | None
    model_bytes: JsonNumber | None


@json_keys
class ModelRecord(Record):
    """Represent a record about a trained model, which also contains the costs of training.

    Attributes
    ----------
    costs : TrainingCosts
    environment : Environment
    tuning : SearchSummary or None
        Method, budget, seed and best P@1 of the search that found the hyperparameters, or None
        without a search.
    step : StepCosts or None
        Costs of the step that wrote the record. Records of earlier versions lack these costs.
    """

    costs: TrainingCosts
    environment: Environment
    tuning: SearchSummary | None = None
    step: StepCosts | None = None


@json_keys
class TrainingRecord(ModelRecord, command="train"):
    """The record of `xmlc train`."""

    def __post_init__(self) -> None:
        if not self.estimator:  # Other records may lack it.
            raise ValueError("found no key `estimator`")


def costs_in(costs: object, wanted: CostColumns) -> Quantities:
    """Return the cost for each column in ``wanted``, converted to the unit of the column."""
    return {name: or_nan(getattr(costs, key)) * factor for name, (key, factor) in wanted.items()}


def or_nan(value: float | None) -> float:
    """Return ``value`` as a float, or NaN if the value is None."""
    if value is None:
        return float("nan")
    return float(value)
