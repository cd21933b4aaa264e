"""From a source to ``resources/<dataset>``: a hand-downloaded copy, a mirror, or the catalogue's addresses."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from xmlc.core.checksums import checksum_now, state_of
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, git_blob, read_json, write_json
from xmlc.data.archives import SUFFIXES, Unreadable, is_compressed, open_plain, unpack
from xmlc.data.catalogue import Address, Dataset, FileFacts, Layout, file_facts
from xmlc.data.fetching import WEB_PAGE, NotThere, fetch_drive, fetch_http

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
OF_MIRRORS = ("train.txt", "test.txt")  # in the repository's format
HEAD = 2048
HTML_MARKS = (b"<html", b"<!doctype html", b"<head", b"<body", b"<script")
ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06")
TAR_MARK, TAR_PLACE = b"ustar", 257
NUMBERS = re.compile(rb"[\d\s.,:+\-]|[eE][+\-]?\d|nan|inf", re.IGNORECASE)
HEADER = re.compile(rb"\d+[ \t]+\d+[ \t]+\d+\s*")  # of the repository's format
SHOWN = 60
PAIRS = rb"\d+:\S+([ \t]+\d+:\S+)*\s*(#.*)?"
# Other formats by their first line, and the entry of the catalogue that says so.
OTHERS = (
    (
        "SVMLight",
        re.compile(rb"(\d+(,\d+)*[ \t]+)?" + PAIRS),
        "{source: mirror, format: svmlight}  # libsvm: features from 1",
    ),
    ("Vowpal Wabbit's format", re.compile(rb"[^|]*\|.*"), "{source: mirror, format: vw}"),
    ("MEKA's ARFF", re.compile(rb"@relation.*-C\s+-?\d.*", re.I), "{source: mirror, format: arff}"),
    ("ARFF", re.compile(rb"@relation.*", re.I), "{source: mirror, format: arff, labels: <XML file>}"),
    (
        "the repository's variant of two files",
        re.compile(rb"\d+[ \t]+\d+\s*"),
        "{source: mirror, format: repository-two-files, train: [<features>, <labels>], test: [<features>, <labels>]}",
    ),
    ("comma-separated values", re.compile(rb"[^,]*(,[^,]*)+"), ""),
)


@dataclass(frozen=True)
class Fetched:
    """A dataset as found in one place.

    Attributes
    ----------
    origin : str
        An address, or a folder of this machine.
    layout : Layout
    copied : dict
        The files of such a folder, as `states` gives them.
    of_catalogue : bool
        Whether the address is one of the catalogue's, which give the same for ever.
    """

    origin: str
    layout: Layout
    copied: States = field(default_factory=dict)
    of_catalogue: bool = False


@dataclass(frozen=True)
class DownloadTask:
    """A dataset to download, and the folders for its files and digests."""

    dataset: Dataset
    manual: Path
    partial: Path
    digests: Path

    @property
    def entries(self) -> tuple[Dataset, ...]:
        """The entry itself and its alternatives."""
        return (self.dataset, *self.dataset.alternatives)

    def by_hand(self) -> str:
        """Return the advice for a failed download."""
        where = f" (see {self.dataset.homepage})" if self.dataset.homepage else ""
        get = f"Download it by hand{where} and put" if any(one.addresses for one in self.entries) or where else "Put"
        return f"{get} {_wanted(self.dataset)}, or the archive with them, into {self.manual}/"


Attempt = Callable[[Path], Fetched]
States = dict[str, list[Any]]  # of files, by name: bytes, nanoseconds of the last change, checksum


def download(
    dataset: Dataset,
    out: Path,
    mirror: str | None = None,
    on_missing: Callable[[str], object] = lambda reason: None,
) -> str:
    """Fetch a dataset into the folder ``out``, whole or not at all.

    Tried in this order: files put by hand into ``manual/<dataset>`` beside ``out``, the mirror, the catalogue's
    sources and alternatives. The digests of what the catalogue's addresses give are recorded the first time, in
    ``digests/<dataset>.json`` beside ``out``, and checked from then on, for each source by itself.

    Parameters
    ----------
    dataset : Dataset
    out : Path
        Usually ``resources/<dataset>``. Gets the data files and ``source.json``, which describes them.
    mirror : str, optional
        Folder or base URL that has the dataset in ``<dataset>/``. There, as in ``manual/<dataset>``, lie the files that
        the catalogue names, ``train.txt`` and ``test.txt`` in the repository format, or matrices: ``X.trn.npz``,
        ``Y.trn.npz``, ``X.tst.npz`` and ``Y.tst.npz``, plain or compressed; in a folder also one archive with them.
    on_missing : callable, optional
        Called with a sentence for each source that does not have the dataset.

    Returns
    -------
    str
        Where it came from.

    Raises
    ------
    XmlcError
        No source has it, or it is not what it should be; the message says where to put a hand-downloaded copy.
    """
    name, beside = dataset.name, out.parent
    if dataset.synthetic:
        raise XmlcError(f"{name} is made, not fetched: use xmlc synth {name}")
    task = DownloadTask(dataset, beside / "manual" / name, beside / ".partial", beside / "digests" / f"{name}.json")
    problems: list[str] = []
    for attempt in _attempts(task, mirror):
        try:
            return _into(out, task, attempt)
        except NotThere as error:  # look elsewhere; any other error is for the user to mend
            problems.append(str(error))
            on_missing(str(error))
        except OtherFormat as error:
            raise XmlcError(f"{name}: {error}; {error.advice(name)}") from error
        except XmlcError as error:
            raise XmlcError(f"{name}: {error}. {task.by_hand()}") from error
    if problems:
        raise XmlcError(f"{name}: {'; '.join(problems)}. {task.by_hand()}")
    raise XmlcError(f"{name}: the catalogue knows no address for it. Give a mirror that has it, or: {task.by_hand()}")


def states(place: Place, dataset: Dataset, known: States) -> States:
    """Return the state of each file of a folder that the dataset may be copied from; of an address none.

    Parameters
    ----------
    place : Place
    dataset : Dataset
    known : dict
        An earlier result: files of the same size and time are not read again.

    Returns
    -------
    dict of str to list
        By the name of the file in the folder: its bytes, the time of its last change in nanoseconds, its checksum.
    """
    found: States = {}
    for file in place.files_of(dataset).values() or place.listed:
        name, (_, size, changed) = file.relative_to(place.base).as_posix(), state_of(file)
        same = known.get(name, [])[:2] == [size, changed]
        found[name] = known[name] if same else [size, changed, checksum_now(file)]
    return found


def source_of(dataset: Dataset, mirror: str | None, resources: Path) -> list[str]:
    """Say what a dataset is copied from, so that a step of the workflow runs again when that is other data.

    Parameters
    ----------
    dataset : Dataset
    mirror : str or None
    resources : Path
        The folder of the copies.

    Returns
    -------
    list of str
        Names and checksums of the files in a folder of this machine, wherever that lies; else the address of the
        mirror, of whose changes nothing is known. Where there is neither (the mirror is not given any more, say), what
        the copy that is there was made from.
    """
    made_of: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # there is no copy yet, or what tells about it is damaged
        made_of = read_json(resources / dataset.name / "source.json")
    places = [Place(str(resources / "manual" / dataset.name))]
    with suppress(XmlcError):  # whoever needs the mirror says so
        places += [mirror_at(mirror).under(dataset.name)] if mirror else []
    for place in places:
        if place.is_url:
            return [place.base]
        if found := states(place, dataset, made_of["copied"] if made_of.get("origin") == place.base else {}):
            break
    else:
        found = made_of.get("copied", {})
    return [f"{name} {checksum}" for name, (_, _, checksum) in found.items()]


def check_sources(entries: Iterable[Dataset], mirror: str | None, resources: Path, known: Iterable[str]) -> None:
    """Check that each of some datasets, which are to be fetched, has an address or lies in the mirror.

    Mirrors of the web are not asked.

    Parameters
    ----------
    entries : iterable of Dataset
    mirror : str or None
    resources : Path
        The folder for downloads, with those by hand.
    known : iterable of str
        Datasets of the catalogue.

    Raises
    ------
    XmlcError
        With datasets of nearly this name.
    """
    entries = list(entries)
    place = mirror_at(mirror) if mirror and entries else None
    for entry in entries:
        if (resources / "manual" / entry.name).is_dir():
            continue
        at = place.under(entry.name) if place else None
        if at and (files := at.files_of(entry)):
            if any(files.keys() >= {*one.files} for one in entry.layouts):
                continue
            raise XmlcError(f"{entry.name}: {_lacks(at, entry)}")
        if any(one.addresses for one in (entry, *entry.alternatives)) or (at and (at.is_url or at.listed)):
            continue
        there = [one.name for one in Path(place.base).iterdir() if one.is_dir()] if place else []
        found = f"the mirror {place.base} has no files in {entry.name}/" if place else "no mirror is given"
        expected = " or ".join(get_close_matches(entry.name, sorted({*there, *known}))) or "a mirror that has it"
        raise XmlcError(
            f"dataset {entry.name}: the catalogue knows no address for it, and {found}; expected {expected}"
        )


def _into(out: Path, task: DownloadTask, attempt: Attempt) -> str:
    """Fetch into a folder that takes its final name when everything is there and checked."""
    with atomic_folder(out) as folder:
        fetched = attempt(folder)
        files = file_facts(folder)
        if fetched.of_catalogue:
            _check_digests(task.digests, fetched.origin, files)
        content = {"name": task.dataset.name, "origin": fetched.origin, "copied": fetched.copied, **fetched.layout}
        write_json(folder / "source.json", content | {"files": files})
    return fetched.origin


def _attempts(task: DownloadTask, mirror: str | None) -> Iterator[Attempt]:
    """Give the ways to get the dataset, in the order in which they are tried."""
    if task.manual.is_dir() and any(task.manual.iterdir()):
        yield partial(_from_hand, task)
    if mirror:
        yield partial(_from_place, task, mirror_at(mirror).under(task.dataset.name))
    for entry in task.entries:
        for kind, address in entry.addresses:
            if kind == "urls":
                yield partial(_from_files, task, entry, address)
            else:
                yield partial(_from_archive, task, entry, kind, address)


def _from_hand(task: DownloadTask, folder: Path) -> Fetched:
    """Take what the user put there, which must be the dataset."""
    try:
        return _from_place(task, Place(str(task.manual)), folder)
    except NotThere as error:
        raise XmlcError(str(error)) from error


def _from_place(task: DownloadTask, place: Place, folder: Path) -> Fetched:
    """Take the first layout that is there whole; from a folder, also one archive with its files."""
    copied = states(place, task.dataset, {})  # before any is read: a change meanwhile is one since then
    problem: XmlcError | None = None
    started = False
    for entry in task.dataset.layouts:
        try:
            found: dict[str, str] = {}
            for name in entry.files:
                found[name] = _take(task, place, entry, name, folder)
            return Fetched(place.base, entry.layout(found), copied)
        except NotThere:
            started = started or bool(found)
        except NoData as error:
            problem = problem or error
        for file in folder.iterdir():
            file.unlink()
    if problem:
        raise problem
    try:
        if len(place.listed) == 1 and not started:
            return Fetched(place.base, _unpack_any(place.listed[0], task, folder).layout({}), copied)
    except XmlcError as error:
        raise XmlcError(f"{place.listed[0]}: {error}") from error
    raise (XmlcError if started else NotThere)(_lacks(place, task.dataset))


def _lacks(place: Place, dataset: Dataset) -> str:
    found = ", ".join(file.name for file in place.listed) or "no file that could be the dataset's"
    return f"{place.base}: found {found}, expected {_wanted(dataset)}"


def _wanted(dataset: Dataset) -> str:
    """Name the files that make a dataset."""
    named = ", or ".join(f"{', '.join(entry.files)} ({entry.format})" for entry in dataset.layouts)
    return f"{named}, each plain or compressed (.gz, .xz, .bz2)"


def _unpack_any(archive: Path, task: DownloadTask, folder: Path) -> Dataset:
    """Unpack an archive that holds the files of one of the layouts; return which."""
    check_is_data(archive)
    problems = []
    for entry in task.dataset.layouts:
        try:
            unpack(archive, entry.files, folder)
            check_folder(folder, entry.with_header)
            return entry
        except XmlcError as error:
            problems.append(str(error))
            for file in folder.iterdir():
                file.unlink()
    raise XmlcError("; ".join(problems))


def _take(task: DownloadTask, place: Place, entry: Dataset, name: str, folder: Path) -> str:
    """Take the first of ``name``, ``name.gz`` ... that is there; return its name in ``folder``.

    Files that the source names are kept as its addresses give them, uncompressed, so that a dataset's digest does not
    tell where it is from. `train.txt` and `test.txt` stay as found: accepted tables name the digests of such copies.
    """
    no_data: NoData | None = None
    for candidate in (f"{name}{suffix}" for suffix in SUFFIXES):
        address, target = f"{place.base}/{candidate}", folder / candidate
        try:
            if place.is_url:
                fetch_http(address, target, task.partial)
            elif Path(address).is_file():
                shutil.copyfile(address, target)
            else:
                continue
        except NotThere:
            continue
        except XmlcError as error:
            raise XmlcError(f"{address}: {error}") from error
        try:
            check_is_data(target, name in entry.with_header)
        except NoData as error:  # some servers answer a page where they have no such file
            target.unlink()
            error.args = (f"{address}: {error}",)
            no_data = no_data or error
            continue
        if candidate == name or not entry.addresses or entry.files == OF_MIRRORS:
            return candidate
        unpack(target, [name], folder)
        target.unlink()
        return name
    raise no_data or NotThere(f"{place.base} has no {name}")


def _from_files(task: DownloadTask, entry: Dataset, addresses: dict[str, str | Address], folder: Path) -> Fetched:
    """Fetch the files one by one from addresses of the catalogue; one that is compressed there is not kept so."""
    files = {name: Address(url=one, blob="") if isinstance(one, str) else one for name, one in addresses.items()}
    fetched = folder / ".fetched"
    for name, file in files.items():
        try:
            fetch_http(file["url"], fetched, task.partial)
            check_is_data(fetched, name in entry.with_header)
            if file["blob"] and (found := git_blob(fetched)) != file["blob"]:
                raise XmlcError(f"found another file, git blob {found}, expected {file['blob']}")
            if is_compressed(fetched) and Path(name).suffix not in SUFFIXES:
                unpack(fetched, [name], folder)
                fetched.unlink()
            else:
                fetched.rename(folder / name)
        except XmlcError as error:
            raise NotThere(f"{file['url']}: {error}") from error
    origin = " ".join(file["url"] for file in files.values())
    return Fetched(origin, entry.layout({}), of_catalogue=True)


def _from_archive(task: DownloadTask, entry: Dataset, kind: str, address: str, folder: Path) -> Fetched:
    """Fetch an archive from an address of the catalogue and take the entry's files out of it."""
    origin = f"https://drive.google.com/uc?id={address}" if kind == "drive" else address
    archive = folder / ".archive"
    try:
        (fetch_drive if kind == "drive" else fetch_http)(address, archive, task.partial)
        check_is_data(archive)
        unpack(archive, entry.files, folder)
        archive.unlink()
        check_folder(folder, entry.with_header)
    except XmlcError as error:
        raise NotThere(f"{origin}: {error}") from error
    return Fetched(origin, entry.layout({}), of_catalogue=True)


def _check_digests(record: Path, origin: str, files: Mapping[str, FileFacts]) -> None:
    """Compare files with the digests recorded for their source, or record these.

    Parameters
    ----------
    record : Path
        JSON file of a dataset's digests.
    origin : str
        The source.
    files : mapping of str to FileFacts

    Raises
    ------
    XmlcError
        A file has changed; or the record cannot be read.
    """
    found = {name: file["sha256"] for name, file in files.items()}
    try:
        known = read_json(record) if record.exists() else {}
        recorded = known.get(origin, found)
        changed = sorted(name for name in {*recorded, *found} if recorded.get(name) != found.get(name))
    except (json.JSONDecodeError, UnicodeDecodeError, AttributeError, TypeError) as error:
        raise XmlcError(f"{record}: expected the JSON of recorded digests ({error}); delete it") from error
    if changed:
        none = "no such file"
        reasons = [
            f"{name} has changed: found SHA-256 {found.get(name, none)}, recorded {recorded.get(name, none)}"
            for name in changed
        ]
        raise XmlcError(
            f"{origin}: {'; '.join(reasons)}. If what was found is right, delete {record} and give the same command "
            "again; otherwise look for another source"
        )
    if origin not in known:
        write_json(record, known | {origin: found})


@dataclass(frozen=True)
class Place:
    """A folder, or an address without the last slash: a mirror, or what it has of one dataset."""

    base: str
    is_url: bool = False

    @property
    def listed(self) -> list[Path]:
        """The files of a folder, hidden ones left out; none of an address, nor of a folder that is not there."""
        files = Path(self.base).iterdir() if not self.is_url and Path(self.base).is_dir() else ()
        return sorted(file for file in files if file.is_file() and not file.name.startswith("."))

    def files_of(self, dataset: Dataset) -> dict[str, Path]:
        """The files of a folder that a dataset may consist of, by their names without a suffix of compression."""
        if self.is_url:
            return {}
        names = sorted({name for entry in dataset.layouts for name in entry.files})
        found = ((name, Path(self.base, name + suffix)) for name in names for suffix in reversed(SUFFIXES))
        return {name: file for name, file in found if file.is_file()}

    def under(self, name: str) -> Place:
        """Return the mirror's place for a dataset."""
        return Place(f"{self.base}/{name}", self.is_url)


def mirror_at(given: str) -> Place:
    """Read the address or folder of a mirror.

    Parameters
    ----------
    given : str
        A folder, where ``~`` is the home folder; or an address that begins with ``http://``, ``https://`` or
        ``file://``, whose letters beyond ASCII and blanks need not be percent-encoded.

    Raises
    ------
    XmlcError
        It is neither, an address to which nothing can be appended, or a folder that is not there.
    """
    scheme = SCHEME.match(given)
    kind = scheme.group().lower() if scheme else "file://"
    if kind not in ("http://", "https://", "file://"):
        raise XmlcError(f"mirror {given!r}: expected a folder, or an address that begins with http:// or https://")
    is_url = kind != "file://"
    if is_url:
        base = (kind + given[len(kind) :]).rstrip("/")
        if "#" in given or "?" in given:
            raise XmlcError(f"mirror {given!r}: names of files are appended to it, so write %23 for # and %3F for ?")
        if not _host(base):
            raise XmlcError(f"mirror {given!r}: expected the name of a server behind {kind}")
    else:
        base = str(Path(unquote(given[len(kind) :]) if scheme else given).expanduser())
        if not Path(base).is_dir():
            raise XmlcError(f"the mirror {base} is no folder on this machine")
    return Place(base, is_url)


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # brackets that do not close, say
        return None


class NoData(XmlcError):
    """A file is not what it should be."""


class OtherFormat(NoData):
    """A file is in another format than the repository's; ``entry`` is the entry for the catalogue, or empty."""

    def __init__(self, message: str, entry: str):
        super().__init__(message)
        self.entry = entry

    def advice(self, dataset: str) -> str:
        """Return the advice for a file of a dataset."""
        if self.entry:
            return f"add to config/datasets.yaml:\n  {dataset}: {self.entry}"
        return "write matrices instead: scipy.sparse.save_npz('X.trn.npz', X), likewise Y.trn.npz, X.tst.npz, Y.tst.npz"


def check_is_data(path: Path, with_header: bool = False) -> None:
    """Refuse a web page, such as Drive's quota page, JSON, a sentence, a Git LFS pointer, an empty or damaged file.

    Only the beginning is looked at. A text passes as ARFF, XML, Vowpal Wabbit's format, or if its first line that is no
    comment consists of numbers.

    Parameters
    ----------
    path : Path
        A text, compressed or not, or an archive.
    with_header : bool
        Whether a text must begin with three counts, as in the repository's format.

    Raises
    ------
    OtherFormat
        A file that must have a header is in another format.
    NoData
        With what was found.
    """
    try:
        with open_plain(path) as file:
            head = file.read(HEAD)
    except Unreadable as error:
        raise NoData(f"found a damaged file ({error})") from error
    if head.startswith(ARCHIVES) or head[TAR_PLACE:].startswith(TAR_MARK):
        return
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        raise NoData("found an empty file")
    lower = head.lower()
    if lower.startswith(b"<") and any(mark in lower for mark in HTML_MARKS):
        raise NoData(WEB_PAGE)
    if lower.startswith(b"version https://git-lfs.github.com/"):
        raise NoData("found a Git LFS pointer instead of the file that it points to")
    if head.startswith((b"{", b"[")):
        raise NoData(f"found JSON instead of data: {_shown(head)}")
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith((b"#", b"%"))), b"")
    if with_header and not HEADER.fullmatch(first):
        for format, line, entry in OTHERS:
            if line.fullmatch(first):
                raise OtherFormat(f"found what looks like {format}: {_shown(head)}", entry)
        raise NoData(f"found no header of three counts, as data in the repository's format has: {_shown(head)}")
    if not (first.startswith((b"@", b"<")) or b"|" in first or not NUMBERS.sub(b"", first.partition(b"#")[0])):
        raise NoData(f"found a text instead of data: {_shown(head)}")


def check_folder(folder: Path, with_header: Iterable[str] = ()) -> None:
    """Check every file of a folder; those named have a header.

    Raises
    ------
    XmlcError
        With the name of the file.
    """
    for file in sorted(folder.iterdir()):
        try:
            check_is_data(file, file.name in with_header)
        except XmlcError as error:
            error.args = (f"{file.name}: {error}",)
            raise


def _shown(head: bytes) -> str:
    text = " ".join(head.decode("utf-8", errors="replace").split())
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")
