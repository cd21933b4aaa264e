"""Define the parts that all records share: the header with dataset and model, and functions for reading and writing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import msgspec
from msgspec import Meta

from xmlc.core.checksums import Damaged, check_content, written_with
from xmlc.core.errors import XmlcError, let_through
from xmlc.core.files import write_record
from xmlc.data.synthetic import without_mark
from xmlc.kernels.estimator import Hyperparameters

SCHEMA = 1
# Error messages use these words for the types of JSON values. The keys are the names in msgspec's messages.
KINDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "nothing",
    "object": "keys with values",
    "str": "a text",
}
HIGHEST = 1 + 1e-9  # Because of rounding errors, the mean of scores that are all 1 may exceed 1.

T = TypeVar("T")


def expected_of(command: str) -> str:
    """Return a description of the file that a command writes, for error messages."""
    return f"a record of `xmlc {command}` of this version" if command else "a record of this version"


def check_header(path: Path, content: object, kinds: Iterable[str], command: str) -> str:
    """Return the kind of a record. Raise an error if the content has another kind or version, or is no record.

    Raises
    ------
    XmlcError
        The content is not an object of one of ``kinds`` in this version.
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


def check_scores(place: str, scores: Mapping[str, float], needed: Iterable[str], shares: Iterable[str] = ()) -> None:
    """Raise an error if ``scores`` lacks a name in ``needed``, or if a score in ``shares`` is not between 0 and 1.

    Raises
    ------
    ValueError
        A score is missing, or is not between 0 and 1. The message names the score's place in the object. msgspec adds
        the place of the object in the file.
    """
    if lacking := [name for name in needed if name not in scores]:
        raise ValueError(f"{place} lack {lacking[0]!r}")
    for name in shares:
        if not 0 <= scores.get(name, 0) <= HIGHEST:
            raise ValueError(f"{place}: found {name} {scores[name]}, expected a share between 0 and 1")


def read_checked(path: Path, kind: type[T], expected: str) -> T:
    """Read one file as a dataclass. ``expected`` describes the file in messages.

    Raises
    ------
    XmlcError
        The file is not readable, was edited, contains a number that JSON does not allow, or violates its schema.
    """
    return as_checked(path, parsed(path), kind, expected)


def parsed(path: Path, what: str = "file") -> dict[str, object]:
    """Return the verified content of a JSON file from `xmlc.core.files.write_record`, without the checksum.

    Raises
    ------
    XmlcError
        The file is not readable, was edited, or contains a number that JSON does not allow.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        let_through(error)
        raise Damaged(path, f"found no readable JSON {what} ({error})", written_with(path)) from error
    if not isinstance(content, dict):
        raise Damaged(path, f"found no keys, expected a JSON {what}", written_with(path))
    return check_content(path, content)


def as_checked(path: Path, content: object, kind: type[T], expected: str) -> T:
    """Return the content of a file as a dataclass. Keys that are not fields of the class are ignored.

    Raises
    ------
    XmlcError
        The content violates the schema of the dataclass.
    """
    try:
        return msgspec.convert(content, kind, dec_hook=_path)
    except msgspec.ValidationError as error:
        said = re.sub(r"^Expected `([^`]+)`, got `([^`]+)`", _in_words, str(error))
        raise misfit(path, said.replace("Object missing required field", "found no key"), expected) from error


def _in_words(types: re.Match[str]) -> str:
    """Return msgspec's message on an expected and a found type, in words.

    For example, ``array | null`` becomes "a list or nothing".
    """
    expected, got = (" or ".join(KINDS.get(one, one) for one in kinds.split(" | ")) for kinds in types.groups())
    return f"found {got}, expected {expected}"


def misfit(path: Path, found: str, expected: str) -> XmlcError:
    """Return the error for a file with an unexpected content."""
    return Damaged(path, f"{found}. The file should be {expected}", written_with(path))


def _path(kind: type, value: Any) -> Any:
    return Path(value) if kind is Path else value


def _refuse_constant(text: str) -> float:
    raise ValueError(f"found {text}, expected a number that JSON allows")


JsonNumber = int | float  # An integer in a file remains an integer when the record is written again.
Fraction = Annotated[float, Meta(ge=0, le=HIGHEST)]
Fractions = dict[str, Fraction]  # Fractions are in a dict, because names such as "p@1" cannot be fields.
TrainingSplit = Literal["full", "80"]
Quantities = dict[str, object]  # Maps a quantity to its value.
# Pairs of a variant and its quantities. Most records have only the empty variant.
Numbers = Iterator[tuple[str, Quantities]]

DATASET_COLUMNS = ("m", "d", "n_test", "n_train", "instances_per_label", "labels_per_instance")
# Maps a column to the name of a cost and to the factor that converts this cost to the column's unit.
CostColumns = Mapping[str, tuple[str, float]]


@dataclass(frozen=True, kw_only=True)
class RecordedDataset:
    """Describe the dataset of a record. Averages are computed on the training set."""

    digest: str
    name: str
    n_train: JsonNumber
    n_test: JsonNumber
    d: JsonNumber
    m: JsonNumber
    labels_per_instance: JsonNumber
    instances_per_label: JsonNumber


@dataclass(frozen=True, kw_only=True)
class RecordFile:
    """Represent a JSON file of one kind. The fields have the order of the keys in the file.

    Each file contains the ``KIND`` of its class. ``COMMAND`` is the command that writes these files. ``COMMAND`` is
    empty if users' scripts write these files.
    """

    KIND: ClassVar[str] = ""
    COMMAND: ClassVar[str] = ""

    def numbers(self) -> Numbers:
        """Yield (variant, quantities) for each variant of the record. Quantities have the units of their columns.

        A quantity is None or NaN if this record lacks it.
        """
        yield from ()

    @property
    def dataset_name(self) -> str:
        """Return the name of the dataset, or an empty text if the record has none."""
        return getattr(getattr(self, "dataset", None), "name", "")

    @property
    def model_name(self) -> str:
        """Return the name of the model, or an empty text if the record has none."""
        return getattr(self, "model", "")

    @property
    def method_name(self) -> str:
        """Return the name of the threshold or inference method, or an empty text if the record has none."""
        return ""

    @property
    def data_digest(self) -> str:
        """Return the digest of the dataset, or an empty text if the record has none."""
        return getattr(getattr(self, "dataset", None), "digest", "")

    def __init_subclass__(cls, kind: str = "", command: str = "") -> None:
        cls.KIND, cls.COMMAND = kind, command

    def write(self, path: Path) -> None:
        """Write the record atomically, with the checksum of its content."""
        write_record(path, self.content())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and check one file.

        Raises
        ------
        XmlcError
            The file is not readable, is of another kind, or lacks a key.
        """
        return cls.of(path, parsed(path, "record"))

    @classmethod
    def of(cls, path: Path, content: object) -> Self:
        """Check the content of a file, and return the content as a record."""
        if cls.KIND:
            check_header(path, content, [cls.KIND], cls.COMMAND)
        return as_checked(path, content, cls, expected_of(cls.COMMAND))

    def content(self) -> dict[str, object]:
        """Return the content of the record's file, as a dict that JSON can store."""
        header: dict[str, object] = {"kind": self.KIND, "schema": SCHEMA} if self.KIND else {}
        return header | asdict(self)


@dataclass(frozen=True, kw_only=True)
class Record(RecordFile):
    """Represent a JSON file about one model on one dataset.

    ``model`` is the model's name in tables, and ``split`` is the training split. ``settings`` contains the other
    settings that the numbers depend on. `xmlc.suite.results.settings.RECORDED` lists the names of these settings.
    """

    dataset: RecordedDataset
    estimator: str
    model: str
    hyperparameters: Hyperparameters
    seed: int
    split: TrainingSplit
    settings: dict[str, object] = field(default_factory=dict)  # Records of earlier versions lack this field.

    def head_fields(self) -> dict[str, Any]:
        """Return the fields of `Record` with their values, as keyword arguments for another record of this model."""
        return {field.name: getattr(self, field.name) for field in fields(Record)}

    @property
    def run_names(self) -> tuple[str, str, TrainingSplit]:
        """Return dataset, model and training split of the record.

        These three names identify the run to which the costs of a step belong.
        """
        return without_mark(self.dataset.name), self.model, self.split

    @property
    def method_name(self) -> str:
        """Return the name of the threshold or inference method, or an empty text if there is none."""
        return getattr(self, "method", "")

    @property
    def dataset_sizes(self) -> Quantities:
        """Return a dict from quantity to size of the dataset, such as the number of labels."""
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
        place = f"{self.model} on {self.dataset.name}"
        raise XmlcError(f"{place}: found hyperparameter {name} {value!r}, expected a number")


@dataclass(frozen=True, kw_only=True)
class ExperimentRecord(Record):
    """Represent a record with the results of an experiment.

    Tables and figures need this record, but not the estimator.
    """

    estimator: str = ""


def costs_in(costs: object, wanted: CostColumns) -> Quantities:
    """Return a dict from each column in ``wanted`` to its cost, in the unit of the column."""
    return {name: or_nan(getattr(costs, key)) * factor for name, (key, factor) in wanted.items()}


def or_nan(value: float | None) -> float:
    """Return ``value`` as a float, or NaN for None."""
    return float("nan") if value is None else float(value)
