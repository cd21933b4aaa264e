"""Fields that records share, and the record of `xmlc train`, which has no kind because other
records contain its fields.
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
HIGHEST = 1 + 1e-9  # Rounding may lift the mean of scores that are all 1 above 1

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def json_keys(cls: type[T]) -> type[T]:
    """Make a frozen dataclass whose fields are keys of a JSON file and keyword arguments."""
    return dataclass(frozen=True, kw_only=True)(cls)


def expected_of(command: str) -> str:
    """Describe a command's record for error messages."""
    if command:
        return f"a record of `xmlc {command}` of this version"
    return "a record of this version"


def check_header(path: Path, content: object, kinds: Iterable[str], command: str) -> str:
    """Return the kind of a record, which must be in ``kinds`` and of the current version."""
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
    """Check that all scores in ``needed`` exist, and that ``shares`` are between 0 and 1."""
    lacking = [name for name in needed if name not in scores]
    if lacking:
        raise ValueError(f"{place} lack {lacking[0]!r}")
    for name in shares:
        if not 0 <= scores.get(name, 0) <= HIGHEST:
            raise ValueError(
                f"{place}: found {name} {scores[name]}, expected a share between 0 and 1"
            )


def parsed(path: Path, what: str = "file") -> dict[str, object]:
    """Return the content of a file by `xmlc.suite.files.write_record`, without its checksum, which
    must be right.
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
    """Convert the content of a file to a dataclass, ignoring keys that are not its fields."""
    try:
        return msgspec.convert(
            content, kind, dec_hook=lambda to, found: Path(found) if to is Path else found
        )
    except msgspec.ValidationError as error:
        problem = str(error).replace("Object missing required field", "found no key")
        raise misfit(path, problem, expected) from error


def misfit(path: Path, found: str, expected: str) -> XmlcError:
    """Return the error for a file with unexpected content."""
    return Damaged(path, f"{found}. The file should be {expected}", written_with(path))


def _refuse_constant(text: str) -> float:
    raise ValueError(f"found {text}, expected a number that JSON allows")


# An integer stays an integer when a record is read and written again.
JsonNumber = int | float
Fraction = Annotated[float, Meta(ge=0, le=HIGHEST)]
# A dict, because a name such as "p@1" cannot be the name of a field
Fractions = dict[str, Fraction]
TrainingSplit = Literal["full", "80"]
Count = Annotated[int, Meta(ge=0)]
Quantities = dict[str, object]
# Names and quantities of the parts (variants) of a record, most of which have one part, ""
Numbers = Iterator[tuple[str, Quantities]]

DATASET_COLUMNS = ("m", "d", "n_test", "n_train", "instances_per_label", "labels_per_instance")
# The field of a record for each column of costs, and the factor to the column's unit
CostColumns = Mapping[str, tuple[str, float]]


@json_keys
class RecordedDataset:
    """The dataset of a record, with averages over the training set."""

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
    """A JSON file, whose kinds are the subclasses.

    ``KIND`` is the kind of record, and ``COMMAND`` the `xmlc` command that writes it, or "" if
    users' scripts do.
    """

    KIND: ClassVar[str] = ""
    COMMAND: ClassVar[str] = ""

    def numbers(self) -> Numbers:
        """Yield each part's name and quantities in the units of the table columns, with None or NaN
        for missing ones.
        """
        yield from ()

    def details(self) -> Numbers:
        """Yield further parts for figures only."""
        yield from ()

    @property
    def facts(self) -> Quantities:
        """Hyperparameters, and size and digest of the dataset."""
        dataset = getattr(self, "dataset", None)
        sizes = {}
        if isinstance(dataset, RecordedDataset):
            sizes = asdict(dataset)
        return sizes | getattr(self, "hyperparameters", {}) | {"digest": self.data_digest}

    def resampled_numbers(self) -> dict[str, dict[str, Any]]:
        """Return quantities on resampled test sets by variant."""
        return {}

    @property
    def dataset_name(self) -> str:
        """Name of the dataset, or ""."""
        return getattr(getattr(self, "dataset", None), "name", "")

    @property
    def model_name(self) -> str:
        """Name of the model, or ""."""
        return getattr(self, "model", "")

    @property
    def method_name(self) -> str:
        """Name of the method, or ""."""
        return ""

    @property
    def data_digest(self) -> str:
        """Digest of the dataset, or ""."""
        return getattr(getattr(self, "dataset", None), "digest", "")

    def __init_subclass__(cls, kind: str = "", command: str = "") -> None:
        cls.KIND = kind
        cls.COMMAND = command

    def write(self, path: Path) -> None:
        """Write the record atomically, with a checksum."""
        write_record(path, self.content())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and check a record.

        Raises
        ------
        XmlcError
            The file is not readable, contains another kind of record, or lacks a key.
        """
        return cls.of(path, parsed(path, "record"))

    @classmethod
    def of(cls, path: Path, content: object) -> Self:
        """Convert and check the content of a file."""
        if cls.KIND:
            check_header(path, content, [cls.KIND], cls.COMMAND)
        return as_checked(path, content, cls, expected_of(cls.COMMAND))

    def content(self) -> dict[str, object]:
        """Return the file's content as JSON values."""
        header: dict[str, object] = {}
        if self.KIND:
            header = {"kind": self.KIND, "schema": SCHEMA}
        return header | asdict(self)


@json_keys
class Record(RecordFile):
    """A JSON file about one model on one dataset.

    Further ``settings`` influence the numbers (`xmlc.suite.results.settings.RECORDED`).
    """

    dataset: RecordedDataset
    # Users' scripts may omit it, because tables and figures do not use it.
    estimator: str = ""
    model: str
    hyperparameters: Hyperparameters
    seed: int
    split: TrainingSplit
    # Records of earlier versions have none.
    settings: dict[str, object] = field(default_factory=dict)

    @property
    def run_names(self) -> tuple[str, str, TrainingSplit]:
        """Dataset, model and training split, by which costs of steps are assigned."""
        return without_mark(self.dataset.name), self.model, self.split

    @property
    def method_name(self) -> str:
        """Name of the method, or ""."""
        return getattr(self, "method", "")

    @property
    def dataset_sizes(self) -> Quantities:
        """Sizes of the dataset, such as the number of labels."""
        return {name: getattr(self.dataset, name) for name in DATASET_COLUMNS}

    def setting(self, name: str) -> float:
        """Return a numeric hyperparameter, or raise an error if there is none."""
        value = self.hyperparameters.get(name)
        if isinstance(value, int | float):
            return value
        raise XmlcError(
            f"{self.model} on {self.dataset.name}: found hyperparameter {name} {value!r}, "
            "expected a number"
        )


# ``p@1`` is the validation P@1 of the best trial.
SearchSummary = TypedDict(
    "SearchSummary", {"method": str, "budget": int, "seed": int, "p@1": float}, total=False
)


@json_keys
class TrainingCosts:
    """The costs of training, or None for a model without training, such as an oracle."""

    train_seconds: JsonNumber | None
    train_cpu_seconds: JsonNumber | None = None  # Records of earlier versions lack it
    train_threads: int | None
    train_peak_bytes: JsonNumber | None
    model_bytes: JsonNumber | None


@json_keys
class ModelRecord(Record):
    """A record about a trained model, with the costs of training.

    ``tuning`` is the search that found the hyperparameters, if any, and ``step`` the costs of the
    step that wrote the record.
    """

    costs: TrainingCosts
    environment: Environment
    tuning: SearchSummary | None = None
    step: StepCosts | None = None


@json_keys
class TrainingRecord(ModelRecord, command="train"):
    """The record of `xmlc train`."""

    def __post_init__(self) -> None:
        if not self.estimator:  # Other records may lack it
            raise ValueError("found no key `estimator`")


def costs_in(costs: object, wanted: CostColumns) -> Quantities:
    """Return each column's cost in its unit."""
    return {name: or_nan(getattr(costs, key)) * factor for name, (key, factor) in wanted.items()}


def or_nan(value: float | None) -> float:
    """Return a float, which is NaN for None."""
    if value is None:
        return float("nan")
    return float(value)
