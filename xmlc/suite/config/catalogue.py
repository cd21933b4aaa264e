"""Read the catalogue of datasets, config/datasets.yaml, as objects."""

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
# The address of a file on Google Drive begins with this text.
DRIVE = "https://drive.google.com/uc?id="
# Keys of an entry that define how the dataset's files are read.
LAYOUT = ("format", "zero_based", "train", "test", "labels", "split_files", "filter")
#: Keys of an entry that change the arrays that are prepared. If such a key is edited, the workflow
#: fetches and prepares the dataset again. An address is not among them: another source of a dataset
#: must have the same files, and nobody wants to download what exists because the catalogue has a
#: new address.
DATA_KEYS = (*LAYOUT, "synthetic")
#: Number of files for the training set or the test set, in formats with several files per set.
SEVERAL_FILES = {"repository-two-files": 2, "npz": 2, "coordinates": 5}

# No dataset may have the name `manual` or `digests`, because these two folders are next to the
# folders of datasets. Snakemake refuses a path in which some text is repeated twenty times in a
# row, because such a path seems to grow without end.
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
    """Describe how a single data file is split into training and test set.

    ``train`` and ``test`` are names of files with row numbers. Rows of the data file are counted
    from 1. In both files, the row numbers are in the column with the number ``column``. Columns of
    a file are counted from 0.
    """

    train: str
    test: str
    column: NotRequired[Annotated[int, Meta(ge=0)]]


class FileFacts(TypedDict):
    """Hold the size and the SHA-256 of a file."""

    bytes: int
    sha256: str


class Shape(TypedDict):
    """Hold numbers about a dataset's size that no paper publishes exactly.

    The number of labels, and the averages over the training instances, were counted on copies of
    the dataset.
    """

    nonzeros: NotRequired[PositiveAverage]
    labels_per_instance: NotRequired[PositiveAverage]
    m: NotRequired[PositiveCount]


class PublishedCounts(Shape):
    """Hold the published counts and averages of a dataset, and the source of these numbers.

    An average is over the training instances or over the labels. ``nonzeros`` is the average number
    of non-zeros of an instance. `xmlc prepare` does not compare ``nonzeros`` with the data.
    """

    n_train: NotRequired[PositiveCount]
    n_test: NotRequired[PositiveCount]
    d: NotRequired[PositiveCount]
    instances_per_label: NotRequired[PositiveAverage]
    source: str


class SplitEvidence(TypedDict):
    """State whether a paper uses the same training and test split as a catalogue entry, with
    evidence.

    ``report_on`` names a dataset with the same instances in the paper's split. The paper's results
    are compared with results on that dataset.
    """

    same: bool
    evidence: Annotated[
        str, Meta(min_length=20, description="the evidence in at least 20 characters")
    ]
    report_on: NotRequired[DatasetName]


class Synthetic(TypedDict):
    """Hold the parameters with which `xmlc synth` generates a dataset.

    See `xmlc.suite.steps.synth.KINDS`.
    """

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
    """Hold the address of a file in a git repository, and the git id of the file's expected
    content.
    """

    url: Url
    blob: Annotated[
        str,
        Meta(
            pattern="^[0-9a-f]{40}$", description="git's id of the file, 40 digits from 0-9 and a-f"
        ),
    ]


class Size(NamedTuple):
    """Describe the size of a dataset: the numbers of instances, features and labels, and two
    averages over instances.

    The default values describe a dataset that is not in the catalogue. In the papers' datasets, an
    instance has on average 20 to 700 non-zero features and 2 to 75 labels.
    """

    n_train: float = 50_000.0
    n_test: float = 10_000.0
    d: float = 100_000.0
    m: float = 10_000.0
    nonzeros: float = 100.0
    labels_per_instance: float = 5.0

    @property
    def bytes(self) -> float:
        """Return the bytes of the dataset's arrays: 8 bytes per non-zero, and 4 bytes per label of
        an instance.
        """
        return (self.n_train + self.n_test) * (8 * self.nonzeros + 4 * self.labels_per_instance)


@dataclass(frozen=True)
class Dataset:
    """Describe one entry of the catalogue. config/README.md explains the keys of an entry to users.

    A new key that changes the data belongs to `DATA_KEYS`.
    """

    #: The name of the dataset, which is the key of the entry.
    name: str = ""
    _: KW_ONLY
    #: The format of the files. See `xmlc.data.formats.load`.
    format: Format = "repository"
    #: Whether the smallest label id is 0, instead of 1. In the format svmlight, the smallest
    #: feature id is the same as the smallest label id.
    zero_based: bool = True
    #: Names of the training and test files in ``resources/<name>``. In some formats, the training
    #: set consists of several files, and so does the test set. A single name means a list with one
    #: name.
    train: str | list[str] = "train.txt"
    test: str | list[str] = "test.txt"
    #: XML file with the names of an ARFF dataset's labels. An ARFF file for MEKA needs no XML file,
    #: because its header contains the number of labels.
    labels: str | None = None
    #: Files with the row numbers of the training set and of the test set, if one data file contains
    #: both sets.
    split_files: SplitFiles | None = None
    #: File with pairs of a test instance and a label, which all measures ignore; see
    #: `xmlc.suite.steps.prepare.read_pairs`.
    filter: str | None = None
    #: The addresses from which the data are downloaded. A dataset without addresses can only come
    #: from a mirror or from a manual download.
    drive: Annotated[
        str,
        Meta(pattern="^[A-Za-z0-9_-]{10,}$", description="the id of an archive on Google Drive"),
    ] = ""
    url: Url = ""
    urls: dict[str, Url | Address] = field(default_factory=dict)
    source: Literal["mirror"] = "mirror"
    #: Other entries for the same data, for example with other file names. An alternative is used if
    #: all sources of this entry fail.
    alternatives: list[Dataset] = field(default_factory=list)
    published: PublishedCounts | None = None
    #: Unpublished numbers about the size of a large dataset, for cost estimates and for rehearsals
    #: with synthetic data.
    shape: Shape | None = None
    #: MB of memory that each job on this dataset requests, instead of what
    #: `xmlc.suite.config.costs` expects.
    memory: PositiveCount | None = None
    #: Minutes of wall time that each job on this dataset requests.
    runtime: PositiveCount | None = None
    #: Maps a paper to evidence about the training and test split that the paper uses.
    splits: dict[str, SplitEvidence] = field(default_factory=dict)
    #: Propensity parameters A and B. If ``propensity`` is None, the parameters depend on the
    #: dataset's name.
    propensity: Propensity | None = None
    #: The parameters with which `xmlc synth` generates this dataset. See
    #: `xmlc.suite.steps.synth.KINDS`.
    synthetic: Synthetic | None = None
    #: The edition that users have to download by hand, if several editions of the dataset have the
    #: same name.
    edition: str | None = None
    homepage: str | None = None
    licence: str | None = None

    def __post_init__(self) -> None:
        for part in ("train", "test"):
            names = getattr(self, part)
            object.__setattr__(self, part, [names] if isinstance(names, str) else [*names])

    @property
    def sources(self) -> list[dict[str, str]]:
        """Return the addresses of each source of the data, a dict from file name to address.

        If the address is that of an archive with all files, the file name is empty.
        """
        archive = {"": DRIVE + self.drive} if self.drive else {}
        page = {"": self.url} if self.url else {}
        files = {name: self.address(name)["url"] for name in self.urls}
        return [source for source in (archive, page, files) if source]

    def address(self, name: str) -> Address:
        """Return the address of a file, with its git id, or an empty text if the entry has none."""
        address = self.urls.get(name, "")
        if isinstance(address, str):
            return {"url": address, "blob": ""}
        return address

    @property
    def size(self) -> Size:
        """Return the size of the dataset from the published numbers, or from the parameters of a
        synthetic dataset.

        If a number is unknown, it has its default value.
        """
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
        """Return whether the entry has numbers about the size of the dataset."""
        return bool(self.published or self.synthetic)

    @property
    def known_shape(self) -> dict[str, Any]:
        """Return the contents of the keys `published` and `shape`: numbers about the size of the
        dataset.
        """
        return {**(self.published or {}), **(self.shape or {})}

    def in_its_shape(self, one_in: int) -> Mapping[str, Any]:
        """Return parameters of `xmlc synth` for a dataset of the same shape, with 1 / ``one_in`` of
        the instances.

        Raises
        ------
        XmlcError
            The entry lacks one of the numbers that `Size` contains.
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
        """Return the distinct names of the dataset's files."""
        names = [*self.train, *self.test, self.labels]
        if self.split_files:
            names += [self.split_files["train"], self.split_files["test"]]
        return tuple(dict.fromkeys(filter(None, [*names, self.filter])))

    @property
    def layouts(self) -> tuple[Dataset, ...]:
        """Return the possible catalogue entries for the files of the dataset, in order of
        preference.

        A source of the dataset may have other files than the files that this entry lists.
        """
        plain = Dataset(self.name, filter=self.filter)
        pairs = replace(
            plain, format="npz", train=["X.trn.npz", "Y.trn.npz"], test=["X.tst.npz", "Y.tst.npz"]
        )
        entries: dict[tuple[str, ...], Dataset] = {}
        for entry in (self, *self.alternatives, plain, pairs):
            entries.setdefault(entry.files, entry)
        return tuple(entries.values())

    def files_in(self, folder: Path) -> dict[str, Path]:
        """Return a dict of the files in a folder that may belong to the dataset.

        A key is a file name without a suffix such as ``.gz``.
        """
        names = {*chain(*(entry.files for entry in self.layouts))}
        found = {}
        for name, suffix in product(sorted(names), reversed(SUFFIXES)):
            file = folder / (name + suffix)
            if file.is_file():
                found[name] = file
        return found

    def layout_of(self, found: Collection[str]) -> Dataset | None:
        """Return the first entry of `layouts` whose files are all in ``found``, or None if there is
        no such entry.
        """
        return next((entry for entry in self.layouts if {*found} >= {*entry.files}), None)

    def renamed(self, found: Mapping[str, str]) -> Dataset:
        """Return a copy of the entry in which each file name is replaced by its value in
        ``found``.
        """
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
        """Return the keys of the entry that define how the files are read, with their values.

        The file ``source.json`` of a fetched dataset contains these keys.
        """
        return {key: getattr(self, key) for key in LAYOUT}

    @property
    def data_settings(self) -> str:
        """Return the keys that change the data, as JSON.

        The workflow rebuilds a dataset if this text changes.
        """
        return json.dumps({key: getattr(self, key) for key in DATA_KEYS}, sort_keys=True)

    def stored(self, source: Mapping[str, Any]) -> Dataset:
        """Return a copy of the entry with the file names and the format from the content of a
        ``source.json``.
        """
        return replace(self, **{key: source[key] for key in LAYOUT if key in source})


Catalogue = Annotated[
    dict[DatasetName, Dataset], Meta(description="names of datasets, each with an entry")
]


def load_catalogue(*paths: str | Path) -> dict[str, Dataset]:
    """Read and check the catalogue.

    If several files have an entry for a dataset, the last of these files takes precedence.

    If no file is given, only datasets in a mirror and manual downloads can be used.

    Raises
    ------
    XmlcError
        A file does not exist, is not YAML, violates its schema or contradicts itself. The error
        message names the entry and the key.
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
    """Return a dataset's entry in the catalogue.

    For a dataset without an entry, return an entry with default values.

    Raises
    ------
    XmlcError
        The name cannot be the name of a folder, or the entry has other `data_settings` than when a
        job was planned.
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
    """Return a dict from file name to size and SHA-256, for all files in a folder in alphabetical
    order.
    """
    return {
        file.name: {"bytes": file.stat().st_size, "sha256": sha256(file)}
        for file in sorted(folder.iterdir())
    }


def _named(name: str, entry: Dataset) -> Dataset:
    """Return a copy of an entry that is renamed to ``name``.

    The alternatives of the entry get the same name as the entry. Alternatives without a filter file
    get the entry's filter file.
    """
    others = (replace(other, filter=other.filter or entry.filter) for other in entry.alternatives)
    return replace(entry, name=name, alternatives=[_named(name, other) for other in others])


def _contradictions(entry: Dataset) -> list[str]:
    """Return a message for each contradiction between the values of an entry."""
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
