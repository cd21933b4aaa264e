"""The catalogue of datasets, config/datasets.yaml, as objects."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from msgspec import Meta

from xmlc.core.errors import XmlcError
from xmlc.data.archives import SUFFIXES
from xmlc.suite.files import sha256
from xmlc.suite.schemas import converted, located, read_yaml

NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
FILE_NAME = re.compile(r"(?!source\.json$)[^./\\][^/\\]*")
DRIVE = "https://drive.google.com/uc?id="
# Keys that define how the files are read
LAYOUT = ("format", "zero_based", "train", "test", "labels", "split_files", "filter")
#: Keys that change the prepared arrays, so that an edit makes the workflow prepare the dataset
#: again. A new address does not, because every source must have the same files.
DATA_KEYS = (*LAYOUT, "synthetic")
#: Files of one set, in formats with several
SEVERAL_FILES = {"repository-two-files": 2, "npz": 2, "coordinates": 5}

# The folders `manual` and `digests` are next to the datasets' folders, because Snakemake refuses a
# path that repeats a text twenty times in a row.
DatasetName = Annotated[
    str,
    Meta(
        pattern=rf"^(?!(?:manual|digests)\Z)(?!.*(.+)\1{{18}}){NAME.pattern}\Z",
        description="lower-case letters, digits, '.', '_' and '-' after a letter or digit, not "
        "manual or digests",
    ),
]
PositiveCount = Annotated[int, Meta(ge=1, le=2**31 - 1)]
# Whole numbers in YAML stay integers.
PositiveAverage = Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)]
Format = Literal[
    "repository", "repository-two-files", "npz", "arff", "svmlight", "libsvm", "vw", "coordinates"
]
Propensity = Annotated[
    tuple[Annotated[float, Meta(ge=0)], Annotated[float, Meta(gt=0)]],
    Meta(description="a list of A (at least 0) and B (above 0), such as [0.55, 1.5]"),
]
Url = Annotated[
    str, Meta(pattern="^https?://", description="an address that starts with http:// or https://")
]


class SplitFiles(TypedDict):
    """A split of one data file by row numbers (from 1), in a column (from 0) of two further
    files.
    """

    train: str
    test: str
    column: NotRequired[Annotated[int, Meta(ge=0)]]


class FileFacts(TypedDict):
    """Size and SHA-256 of a file."""

    bytes: int
    sha256: str


class Shape(TypedDict):
    """Unpublished sizes, counted on copies of the dataset, with averages over the training
    instances.
    """

    nonzeros: NotRequired[PositiveAverage]
    labels_per_instance: NotRequired[PositiveAverage]
    m: NotRequired[PositiveCount]


class PublishedCounts(Shape):
    """Published counts and averages over the training instances or the labels.

    `xmlc prepare` compares all but ``nonzeros`` with the data.
    """

    n_train: NotRequired[PositiveCount]
    n_test: NotRequired[PositiveCount]
    d: NotRequired[PositiveCount]
    instances_per_label: NotRequired[PositiveAverage]
    source: str


class SplitEvidence(TypedDict):
    """Evidence on whether a paper has the split of a catalogue entry, by its results on
    ``report_on``, the same instances in the paper's split.
    """

    same: bool
    evidence: Annotated[
        str, Meta(min_length=20, description="the evidence in at least 20 characters")
    ]
    report_on: NotRequired[DatasetName]


class Synthetic(TypedDict):
    """Parameters of `xmlc synth`, see `xmlc.suite.steps.synth.KINDS`."""

    kind: NotRequired[Literal["labels", "subjects", "objects", "texts"]]
    n_train: PositiveCount
    n_test: PositiveCount
    n_features: PositiveCount
    n_labels: PositiveCount
    labels_per_instance: NotRequired[PositiveAverage]
    nonzeros: NotRequired[PositiveCount]
    seed: NotRequired[Annotated[int, Meta(ge=0, le=2**32 - 1)]]
    posteriors: NotRequired[bool]


class Address(TypedDict):
    """Address of a file in a git repository, with git's id of the expected content."""

    url: Url
    blob: Annotated[
        str,
        Meta(
            pattern="^[0-9a-f]{40}$", description="git's id of the file, 40 digits from 0-9 and a-f"
        ),
    ]


class Size(NamedTuple):
    """Numbers of instances, features and labels, and two averages over the instances.

    The defaults serve datasets outside the catalogue. In the papers, an instance has on average 20
    to 700 non-zero features and 2 to 75 labels.
    """

    n_train: float = 50_000.0
    n_test: float = 10_000.0
    d: float = 100_000.0
    m: float = 10_000.0
    nonzeros: float = 100.0
    labels_per_instance: float = 5.0

    @property
    def bytes(self) -> float:
        """Return the bytes of the arrays: 8 per non-zero, and 4 per label of an instance."""
        return (self.n_train + self.n_test) * (8 * self.nonzeros + 4 * self.labels_per_instance)


@dataclass(frozen=True)
class Dataset:
    """An entry of the catalogue (config/README.md).

    A new key that changes the data belongs in `DATA_KEYS`.
    """

    name: str = ""
    _: KW_ONLY
    #: See `xmlc.data.formats.load`.
    format: Format = "repository"
    #: Whether label ids start from 0, not 1, and in svmlight feature ids, too.
    zero_based: bool = True
    #: Training and test files in ``resources/<name>``, of which some formats have several.
    train: str | list[str] = "train.txt"
    test: str | list[str] = "test.txt"
    #: XML file with the labels of an ARFF dataset, unless it is MEKA's.
    labels: str | None = None
    split_files: SplitFiles | None = None
    #: File of pairs that all measures ignore, see `xmlc.suite.steps.prepare.read_pairs`.
    filter: str | None = None
    drive: Annotated[
        str,
        Meta(pattern="^[A-Za-z0-9_-]{10,}$", description="the id of an archive on Google Drive"),
    ] = ""
    url: Url = ""
    urls: dict[str, Url | Address] = field(default_factory=dict)
    source: Literal["mirror"] = "mirror"
    #: Entries for the same data, if all sources of this one fail.
    alternatives: list[Dataset] = field(default_factory=list)
    published: PublishedCounts | None = None
    #: Sizes of a large dataset, for cost estimates and rehearsals.
    shape: Shape | None = None
    #: MB of memory of each job, instead of an estimate.
    memory: PositiveCount | None = None
    #: Minutes of wall time of each job.
    runtime: PositiveCount | None = None
    #: By paper.
    splits: dict[str, SplitEvidence] = field(default_factory=dict)
    #: A and B, by default those of the dataset's name.
    propensity: Propensity | None = None
    synthetic: Synthetic | None = None
    #: Edition that users have to download by hand, if several have the same name.
    edition: str | None = None
    homepage: str | None = None
    licence: str | None = None

    def __post_init__(self) -> None:
        for part in ("train", "test"):
            names = getattr(self, part)
            object.__setattr__(self, part, [names] if isinstance(names, str) else [*names])

    @property
    def sources(self) -> list[dict[str, str]]:
        """Return a dict from file name to address for each source. An archive has an empty name."""
        archive = {"": DRIVE + self.drive} if self.drive else {}
        page = {"": self.url} if self.url else {}
        files = {name: self.address(name)["url"] for name in self.urls}
        return [source for source in (archive, page, files) if source]

    def address(self, name: str) -> Address:
        """Return the address and the git id of a file, or empty texts."""
        address = self.urls.get(name, "")
        if isinstance(address, str):
            return {"url": address, "blob": ""}
        return address

    @property
    def size(self) -> Size:
        """Return the published or synthetic size, with defaults for unknown numbers."""
        given = self.known_shape | {**(self.synthetic or {})}
        if given.get("kind") in ("objects", "texts"):
            given["labels_per_instance"] = 1
        given |= {
            short: given[long]
            for long, short in (("n_features", "d"), ("n_labels", "m"))
            if long in given
        }
        return Size(**{name: float(given[name]) for name in Size._fields if name in given})

    @property
    def has_size(self) -> bool:
        """Return whether any size is known."""
        return bool(self.published or self.synthetic)

    @property
    def known_shape(self) -> dict[str, Any]:
        """Return the keys `published` and `shape` together."""
        return {**(self.published or {}), **(self.shape or {})}

    def in_its_shape(self, one_in: int) -> Mapping[str, Any]:
        """Return parameters of `xmlc synth` for this shape, which must be complete, with 1 /
        ``one_in`` of the instances.
        """
        known = self.known_shape
        missing = ", ".join(key for key in Size._fields if key not in known)
        if missing:
            raise XmlcError(
                f"{self.name}: found no {missing} in the keys published and shape of its entry. "
                "Add them"
            )
        return Synthetic(
            n_train=-(-known["n_train"] // one_in),
            n_test=-(-known["n_test"] // one_in),
            n_features=known["d"],
            n_labels=known["m"],
            labels_per_instance=known["labels_per_instance"],
            nonzeros=round(known["nonzeros"]),
            posteriors=False,
        )

    @property
    def files(self) -> tuple[str, ...]:
        """Return the names of the dataset's files."""
        names = [*self.train, *self.test, self.labels]
        if self.split_files:
            names += [self.split_files["train"], self.split_files["test"]]
        return tuple(dict.fromkeys(filter(None, [*names, self.filter])))

    @property
    def layouts(self) -> tuple[Dataset, ...]:
        """Return this entry and its alternatives for some sources, in order of preference."""
        plain = Dataset(self.name, filter=self.filter)
        pairs = replace(
            plain, format="npz", train=["X.trn.npz", "Y.trn.npz"], test=["X.tst.npz", "Y.tst.npz"]
        )
        entries: dict[tuple[str, ...], Dataset] = {}
        for entry in (self, *self.alternatives, plain, pairs):
            entries.setdefault(entry.files, entry)
        return tuple(entries.values())

    def files_in(self, folder: Path) -> dict[str, Path]:
        """Return the files in a folder by their names without a suffix such as ``.gz``."""
        names = {*chain(*(entry.files for entry in self.layouts))}
        found = {}
        for name, suffix in product(sorted(names), reversed(SUFFIXES)):
            file = folder / (name + suffix)
            if file.is_file():
                found[name] = file
        return found

    def layout_of(self, found: Collection[str]) -> Dataset | None:
        """Return the first entry of `layouts` whose files are all in ``found``, or None."""
        return next((entry for entry in self.layouts if {*found} >= {*entry.files}), None)

    def renamed(self, found: Mapping[str, str]) -> Dataset:
        """Return a copy with the new file names in ``found``."""
        names = {file: found.get(file, file) for file in self.files}
        split = self.split_files
        return replace(
            self,
            train=[names[file] for file in self.train],
            test=[names[file] for file in self.test],
            labels=self.labels and names[self.labels],
            filter=self.filter and names[self.filter],
            split_files=split
            and {**split, "train": names[split["train"]], "test": names[split["test"]]},
        )

    @property
    def layout(self) -> dict[str, Any]:
        """Return the keys of `LAYOUT`."""
        return {key: getattr(self, key) for key in LAYOUT}

    @property
    def data_settings(self) -> str:
        """Return `DATA_KEYS` as JSON, whose change makes the workflow rebuild the dataset."""
        return json.dumps({key: getattr(self, key) for key in DATA_KEYS}, sort_keys=True)

    def stored(self, source: Mapping[str, Any]) -> Dataset:
        """Return the entry with the files and the format of a ``source.json``."""
        return replace(self, **{key: source[key] for key in LAYOUT if key in source})


Catalogue = Annotated[
    dict[DatasetName, Dataset], Meta(description="names of datasets, each with an entry")
]


def load_catalogue(*paths: str | Path) -> dict[str, Dataset]:
    """Read and check the catalogue from files, of which a later one takes precedence.

    Without a file, datasets only come from a mirror or a manual download.
    """
    catalogue = {}
    for path in paths:
        problems = []
        content = converted(read_yaml(Path(path)) or {}, Catalogue, str(path))
        for name, entry in content.items():
            catalogue[name] = _named(name, entry)
            found = _contradictions(catalogue[name])
            if entry.name:
                found.append("unknown key: found 'name'. Remove it")
            problems += [located(str(path), (name,), problem) for problem in found]
        if problems:
            raise XmlcError("\n".join(problems))
    return catalogue


def catalogue_entry(
    name: str, catalogue: dict[str, Dataset], planned: str | None = None
) -> Dataset:
    """Return the entry of a dataset, with default values if the catalogue has none.

    Raises
    ------
    XmlcError
        The name is no name of a folder, or `data_settings` changed since the job was ``planned``.
    """
    converted(name, DatasetName, "dataset")
    entry = catalogue.get(name) or Dataset(name)
    if planned not in (None, entry.data_settings):
        found = f"found {entry.data_settings}, expected {planned}"
        raise XmlcError(
            f"{name}: the entry in the catalogue was edited after this job was planned: {found}. "
            "Nothing was computed. Run the same command again"
        )
    return entry


def file_facts(folder: Path) -> dict[str, FileFacts]:
    """Return size and SHA-256 of all files in a folder, sorted."""
    return {
        file.name: {"bytes": file.stat().st_size, "sha256": sha256(file)}
        for file in sorted(folder.iterdir())
    }


def _named(name: str, entry: Dataset) -> Dataset:
    others = (replace(other, filter=other.filter or entry.filter) for other in entry.alternatives)
    return replace(entry, name=name, alternatives=[_named(name, other) for other in others])


def _contradictions(entry: Dataset) -> list[str]:
    odd = [file for file in entry.files if not FILE_NAME.fullmatch(file)]
    found = [
        f"found {file!r}, expected a file name without a folder and without a leading dot"
        for file in odd
    ]
    names = SEVERAL_FILES.get(entry.format, 1)
    for part, files in (("train", entry.train), ("test", entry.test)):
        if len(files) != names:
            found.append(
                f"{part}: found {len(files)} file names, expected {names} for format {entry.format}"
            )
    if entry.labels and entry.format != "arff":
        found.append(
            f"labels: found format {entry.format}, expected this key for format arff only. Remove "
            "it"
        )
    if entry.split_files and (entry.train != entry.test or entry.format != "repository"):
        found.append(
            "split_files: expected format repository, and the same single file in train and test"
        )
    if not entry.split_files and set(entry.train) & set(entry.test):
        found.append(
            "train and test: found the same file, expected different files or the key split_files"
        )
    if entry.urls and {*entry.urls} != {*entry.files}:
        found.append(
            f"urls: found {', '.join(entry.urls)}, expected the files {', '.join(entry.files)}"
        )
    if entry.synthetic and (entry.sources or entry.alternatives):
        found.append(
            "synthetic: found addresses or alternatives, too. A dataset is either generated or "
            "downloaded"
        )
    for number, other in enumerate(entry.alternatives):
        found += [f"alternatives[{number}]: {text}" for text in _contradictions(other)]
    return found
