"""Read the catalogue of datasets, config/datasets.yaml, as objects."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from msgspec import Meta

from xmlc.core.errors import XmlcError
from xmlc.core.files import sha256
from xmlc.data.archives import SUFFIXES
from xmlc.suite.schemas import converted, located, read_yaml

NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
FILE_NAME = re.compile(r"(?!source\.json$)[^./\\][^/\\]*")
SOURCES = ("drive", "url", "urls")
# Fields that define how files are read.
LAYOUT = ("format", "zero_based", "train", "test", "labels", "split_files", "filter")
#: Number of files of one part, in formats with more than one.
SEVERAL_FILES = {"repository-two-files": 2, "npz": 2, "coordinates": 5}

# `manual` and `digests` are folders next to the folders of datasets. Snakemake refuses a name that repeats a part
# twenty times, because such a path seems to grow without end.
DatasetName = Annotated[
    str,
    Meta(
        pattern=rf"^(?!(?:manual|digests)\Z)(?!.*(.+)\1{{18}}){NAME.pattern}\Z",
        description="lower-case letters, digits, '.', '_' and '-' after a letter or digit, not manual or digests",
    ),
]
PositiveCount = Annotated[int, Meta(ge=1, le=2**31 - 1)]
PositiveAverage = Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)]  # a whole number in the file stays one
Format = Literal["repository", "repository-two-files", "npz", "arff", "svmlight", "libsvm", "vw", "coordinates"]
Propensity = Annotated[
    tuple[Annotated[float, Meta(ge=0)], Annotated[float, Meta(gt=0)]],
    Meta(description="a list of A (at least 0) and B (above 0), such as [0.55, 1.5]"),
]
Url = Annotated[str, Meta(pattern="^https?://", description="an address that starts with http:// or https://")]


class SplitFiles(TypedDict):
    """Describe the split of one data file: ``train`` and ``test``, files of row numbers from 1, and their ``column``.

    Columns are counted from 0.
    """

    train: str
    test: str
    column: NotRequired[Annotated[int, Meta(ge=0)]]


class FileFacts(TypedDict):
    """Hold size and SHA-256 of a file."""

    bytes: int
    sha256: str


class PublishedCounts(TypedDict):
    """Hold published sizes of a dataset: counts, averages over training instances and labels, and their source.

    ``nonzeros`` is the average of an instance. Differences from the data are not reported.
    """

    n_train: NotRequired[PositiveCount]
    n_test: NotRequired[PositiveCount]
    d: NotRequired[PositiveCount]
    m: NotRequired[PositiveCount]
    nonzeros: NotRequired[PositiveAverage]
    labels_per_instance: NotRequired[PositiveAverage]
    instances_per_label: NotRequired[PositiveAverage]
    source: str


class Shape(TypedDict):
    """Hold averages over training instances, and the number of labels, that no paper prints exactly.

    They are counted on copies of the data.
    """

    nonzeros: NotRequired[PositiveAverage]
    labels_per_instance: NotRequired[PositiveAverage]
    m: NotRequired[PositiveCount]


class SplitEvidence(TypedDict):
    """Record whether a paper's split is the same as an entry's, and the evidence.

    ``report_on`` names another split of the same instances, on which the paper's results are counted.
    """

    same: bool
    evidence: Annotated[str, Meta(min_length=20, description="the evidence in at least 20 characters")]
    report_on: NotRequired[DatasetName]


class Synthetic(TypedDict):
    """Hold parameters of `xmlc synth`, see `xmlc.suite.steps.synth.KINDS`."""

    kind: NotRequired[Literal["labels", "objects", "texts"]]
    n_train: PositiveCount
    n_test: PositiveCount
    n_features: PositiveCount
    n_labels: PositiveCount
    labels_per_instance: NotRequired[PositiveAverage]
    nonzeros: NotRequired[PositiveCount]
    seed: NotRequired[Annotated[int, Meta(ge=0, le=2**32 - 1)]]
    posteriors: NotRequired[bool]


class Address(TypedDict):
    """Hold the address of a file in a git repository, and the id that the downloaded content must have."""

    url: Url
    blob: Annotated[str, Meta(pattern="^[0-9a-f]{40}$", description="git's id of the file, 40 digits from 0-9 and a-f")]


class Size(NamedTuple):
    """Describe how large a dataset is: instances, features, labels, and averages for an instance.

    The defaults are for datasets outside the catalogue. Datasets of the papers have 20 to 700 features and 2 to 75
    labels an instance.
    """

    n_train: float = 50_000.0
    n_test: float = 10_000.0
    d: float = 100_000.0
    m: float = 10_000.0
    nonzeros: float = 100.0
    labels_per_instance: float = 5.0

    @property
    def bytes(self) -> float:
        """Return the bytes of its arrays: 8 for a non-zero, 4 for a label of an instance."""
        return (self.n_train + self.n_test) * (8 * self.nonzeros + 4 * self.labels_per_instance)


@dataclass(frozen=True)
class Dataset:
    """Describe one entry of the catalogue. config/README.md explains the keys to users."""

    #: The key of the entry.
    name: str = ""
    _: KW_ONLY
    #: See `xmlc.data.formats.load`.
    format: Format = "repository"
    #: Whether ids of labels, in svmlight also ids of features, start from 0.
    zero_based: bool = True
    #: File names in ``resources/<name>``: one each, or several in some formats. One name is a list of one.
    train: str | list[str] = "train.txt"
    test: str | list[str] = "test.txt"
    #: XML file that names the labels of an ARFF dataset. MEKA's files need none, because their header counts the
    #: labels.
    labels: str | None = None
    #: Lists of row numbers that split one data file.
    split_files: SplitFiles | None = None
    #: File of the pairs of a test instance and a label that no measure counts (`xmlc.suite.steps.prepare.read_pairs`).
    filter: str | None = None
    #: Where to fetch it. There is no address if only a mirror holds it.
    drive: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{10,}$", description="the id of an archive on Google Drive")] = ""
    url: Url = ""
    urls: dict[str, Url | Address] = field(default_factory=dict)
    source: Literal["mirror"] = "mirror"
    #: The same data in other files, tried when the sources of this entry fail.
    alternatives: list[Dataset] = field(default_factory=list)
    published: PublishedCounts | None = None
    #: Unpublished sizes of large datasets, for cost estimates and rehearsals. The data do not depend on them.
    shape: Shape | None = field(default=None, repr=False)
    #: By paper. It affects how printed numbers are judged but not the data, so
    #: the entry's text omits it.
    splits: dict[str, SplitEvidence] = field(default_factory=dict, repr=False)
    #: A and B of the propensities. None for the values that go with the name. Neither the data nor the text depend on
    #: it.
    propensity: Propensity | None = field(default=None, repr=False)
    #: Parameters of `xmlc synth`, see `xmlc.suite.steps.synth.KINDS`.
    synthetic: Synthetic | None = None
    #: Which edition of the data to fetch by hand, if several have this name.
    edition: str | None = field(default=None, repr=False)
    homepage: str | None = None
    licence: str | None = None

    def __post_init__(self) -> None:
        for part in ("train", "test"):
            names = getattr(self, part)
            object.__setattr__(self, part, [names] if isinstance(names, str) else [*names])

    @property
    def sources(self) -> list[tuple[str, Any]]:
        """Return where to fetch it: ``("drive", id)``, ``("url", address)``, ``("urls", {file name: address})``."""
        return [(kind, address) for kind in SOURCES if (address := getattr(self, kind))]

    @property
    def size(self) -> Size:
        """Return the published or generated size, with defaults for unknown parts."""
        given = self.known_shape | {**(self.synthetic or {})}
        if given.get("kind") in ("objects", "texts"):
            given["labels_per_instance"] = 1
        given |= {short: given[long] for long, short in (("n_features", "d"), ("n_labels", "m")) if long in given}
        return Size(**{name: float(given[name]) for name in Size._fields if name in given})

    @property
    def known_shape(self) -> dict[str, Any]:
        """Return its published and unpublished sizes."""
        return {**(self.published or {}), **(self.shape or {})}

    def in_its_shape(self, one_in: int) -> Mapping[str, Any]:
        """Return parameters of `xmlc synth` with all its features and labels, and one in ``one_in`` of its instances.

        Raises
        ------
        XmlcError
            The entry lacks some of them.
        """
        known = self.known_shape
        if missing := [
            key for key in ("n_train", "n_test", "d", "m", "labels_per_instance", "nonzeros") if key not in known
        ]:
            raise XmlcError(
                f"{self.name}: found no {', '.join(missing)} in the keys published and shape of its entry. Add them"
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
        """Return every file of the dataset, each once."""
        names = [*self.train, *self.test]
        names += [self.labels] if self.labels else []
        names += [self.split_files["train"], self.split_files["test"]] if self.split_files else []
        names += [self.filter] if self.filter else []
        return tuple(dict.fromkeys(names))

    @property
    def layouts(self) -> tuple[Dataset, ...]:
        """Return the entries that a folder or mirror may hold, each with other files, in order of preference."""
        plain = Dataset(self.name, filter=self.filter)
        pairs = replace(plain, format="npz", train=["X.trn.npz", "Y.trn.npz"], test=["X.tst.npz", "Y.tst.npz"])
        entries = (self, *self.alternatives, plain, pairs)
        return tuple({entry.files: entry for entry in reversed(entries)}.values())[::-1]

    def files_in(self, folder: Path) -> dict[str, Path]:
        """Find files in a folder that may belong to the dataset, by their names without suffixes such as ``.gz``."""
        names = sorted({name for entry in self.layouts for name in entry.files})
        found = ((name, folder / (name + suffix)) for name in names for suffix in reversed(SUFFIXES))
        return {name: file for name, file in found if file.is_file()}

    def layout_of(self, found: Collection[str]) -> Dataset | None:
        """Return the first layout whose files are all there."""
        return next((entry for entry in self.layouts if {*found} >= {*entry.files}), None)

    def renamed(self, found: Mapping[str, str]) -> Dataset:
        """Return the entry with its files renamed to their actual names."""

        def name(file: str) -> str:
            return found.get(file, file)

        split = self.split_files
        return replace(
            self,
            train=[*map(name, self.train)],
            test=[*map(name, self.test)],
            labels=self.labels and name(self.labels),
            filter=self.filter and name(self.filter),
            split_files=split and {**split, "train": name(split["train"]), "test": name(split["test"])},
        )

    @property
    def layout(self) -> dict[str, Any]:
        """Return how the files are read, for ``source.json``."""
        return {key: getattr(self, key) for key in LAYOUT}

    def stored(self, source: Mapping[str, Any]) -> Dataset:
        """Return the entry with the files of a ``source.json``, and its way to read them."""
        return replace(self, **{key: source[key] for key in LAYOUT if key in source})


Catalogue = Annotated[dict[DatasetName, Dataset], Meta(description="names of datasets, each with an entry")]


def load_catalogue(*paths: str | Path) -> dict[str, Dataset]:
    """Read and check a catalogue. Later files take precedence, and without files only datasets of a mirror can be used.

    Raises
    ------
    XmlcError
        A file does not exist, is not YAML, does not fit or contradicts itself. The message names entry and key.
    """
    return {name: entry for path in paths for name, entry in _catalogue(Path(path)).items()}


def _catalogue(path: Path) -> dict[str, Dataset]:
    if not path.is_file():
        raise XmlcError(f"{path}: found no such file, expected a catalogue of datasets")
    content = converted(read_yaml(path) or {}, Catalogue, str(path))
    catalogue = {name: _named(name, entry) for name, entry in content.items()}
    problems = [(name, "unknown key: found 'name'. Remove it") for name, entry in content.items() if entry.name]
    problems += [(name, text) for name, entry in catalogue.items() for text in _contradictions(entry)]
    if problems:
        raise XmlcError("\n".join(located(str(path), (name,), (name,), problem) for name, problem in problems))
    return catalogue


def dataset(name: str, catalogue: dict[str, Dataset]) -> Dataset:
    """Return a dataset's entry. A dataset outside the catalogue is expected in the mirror.

    Raises
    ------
    XmlcError
        No folder can have that name.
    """
    converted(name, DatasetName, "dataset")
    return catalogue.get(name) or Dataset(name)


def file_facts(folder: Path) -> dict[str, FileFacts]:
    """Return size and SHA-256 of every file of a folder, by name in alphabetical order."""
    return {file.name: {"bytes": file.stat().st_size, "sha256": sha256(file)} for file in sorted(folder.iterdir())}


def _named(name: str, entry: Dataset) -> Dataset:
    """Return an entry with its name, and its alternatives with the name and the filter."""
    others = (replace(other, filter=other.filter or entry.filter) for other in entry.alternatives)
    return replace(entry, name=name, alternatives=[_named(name, other) for other in others])


def _contradictions(entry: Dataset) -> list[str]:
    """Describe keys that contradict each other. Types cannot check this."""
    odd = [file for file in entry.files if not FILE_NAME.fullmatch(file)]
    found = [f"found {file!r}, expected a file name without a folder and without a leading dot" for file in odd]
    names = SEVERAL_FILES.get(entry.format, 1)
    for part, files in (("train", entry.train), ("test", entry.test)):
        if len(files) != names:
            found.append(f"{part}: found {len(files)} file names, expected {names} for format {entry.format}")
    if entry.labels and entry.format != "arff":
        found.append(f"labels: found format {entry.format}, expected this key for format arff only. Remove it")
    if entry.split_files and (entry.train != entry.test or entry.format != "repository"):
        found.append("split_files: expected format repository, and the same one file in train and test")
    if not entry.split_files and set(entry.train) & set(entry.test):
        found.append("train and test: found the same file, expected different files or the key split_files")
    for kind, address in entry.sources:
        if kind == "urls" and set(address) != set(entry.files):
            found.append(f"urls: found {', '.join(address)}, expected the files {', '.join(entry.files)}")
    if entry.synthetic and (entry.sources or entry.alternatives):
        found.append("synthetic: found addresses or alternatives, too. A dataset is either generated or downloaded")
    for number, other in enumerate(entry.alternatives):
        found += [f"alternatives[{number}]: {text}" for text in _contradictions(other)]
    return found
