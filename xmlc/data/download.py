"""From a source to ``resources/<dataset>``: a hand-downloaded copy, a mirror, or the catalogue's addresses."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, read_json, write_json
from xmlc.data.archives import SUFFIXES, Unreadable, open_plain, unpack
from xmlc.data.catalogue import Dataset, FileFacts, Layout, file_facts
from xmlc.data.fetching import USUAL, WEB_PAGE, Limits, NotThere, fetch_drive, fetch_http

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
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
    ("SVMLight", re.compile(rb"(\d+(,\d+)*[ \t]+)?" + PAIRS), "{source: mirror, format: svmlight}"),
    ("Vowpal Wabbit's format", re.compile(rb"[^|]*\|.*"), "{source: mirror, format: vw}"),
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
        For ``source.json``: an address, ``mirror`` or ``manual/<dataset>``; where a folder lies is local.
    key : str
        The same for the record of digests, which stays on this machine: mirrors in two folders are two sources.
    layout : Layout
    """

    origin: str
    key: str
    layout: Layout


@dataclass(frozen=True)
class DownloadTask:
    """A dataset to download, the folders for its files and digests, and the limits."""

    dataset: Dataset
    manual: Path
    partial: Path
    digests: Path
    limits: Limits

    @property
    def entries(self) -> tuple[Dataset, ...]:
        """The entry itself and its alternatives."""
        return (self.dataset, *self.dataset.alternatives)

    def by_hand(self) -> str:
        """Return the advice for a failed download."""
        where = f" (see {self.dataset.homepage})" if self.dataset.homepage else ""
        return f"Download it by hand{where} and put {self.wanted()}, or the archive with them, into {self.manual}/"

    def wanted(self) -> str:
        """Name the files that make the dataset."""
        return ", or ".join(", ".join(entry.files) for entry in self.entries)


Attempt = Callable[[Path], Fetched]


def download(
    dataset: Dataset,
    out: Path,
    mirror: str | None = None,
    digests: Path | None = None,
    on_missing: Callable[[str], object] = lambda reason: None,
    limits: Limits = USUAL,
) -> str:
    """Fetch a dataset into the folder ``out``, whole or not at all.

    Tried in this order: files put by hand into ``manual/<dataset>`` beside ``out``, the mirror, the catalogue's
    sources and alternatives. The digests of what is fetched are recorded the first time and checked from then on,
    for each source by itself.

    Parameters
    ----------
    dataset : Dataset
    out : Path
        Usually ``resources/<dataset>``. Gets the data files and ``source.json``, which describes them.
    mirror : str, optional
        Folder or base URL laid out ``<dataset>/{train,test}.txt[.gz|.xz|.bz2]``, in the repository format.
    digests : Path, optional
        JSON file of the recorded digests, one for each dataset; ``digests/<dataset>.json`` beside ``out``.
    on_missing : callable, optional
        Called with a sentence for each source that does not have the dataset.
    limits : Limits
        How slow, long and large a download may be.

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
    digests = digests or beside / "digests" / f"{name}.json"
    task = DownloadTask(dataset, beside / "manual" / name, beside / ".partial", digests, limits)
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
    reason = "expects it under a mirror" if dataset.own_mirror_layout else "knows no address for it"
    raise XmlcError(f"{name}: the catalogue {reason}. Give a mirror that has it, or: {task.by_hand()}")


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
    entries, place = list(entries), mirror_at(mirror) if mirror else None
    folder = Path(place.base) if place and not place.is_url else None
    if entries and place and not place.is_there:
        raise XmlcError(place.lacks(""))
    for entry in entries:
        has_address = any(kind != "source" for one in (entry, *entry.alternatives) for kind, _ in one.sources)
        by_hand = resources / "manual" / entry.name
        if has_address or by_hand.is_dir() or (place and place.is_url):
            continue
        if folder and any((folder / entry.name / f"{entry.train[0]}{suffix}").is_file() for suffix in SUFFIXES):
            continue
        there = [one.name for one in folder.iterdir() if one.is_dir()] if folder else []
        found = f"the mirror has no {entry.name}/{entry.train[0]}" if folder else "no mirror is given"
        expected = " or ".join(get_close_matches(entry.name, sorted({*there, *known}))) or "a mirror that has it"
        raise XmlcError(
            f"dataset {entry.name}: the catalogue knows no address for it, and {found}; expected {expected}"
        )


def _into(out: Path, task: DownloadTask, attempt: Attempt) -> str:
    """Fetch into a folder that takes its final name when everything is there and checked."""
    with atomic_folder(out) as folder:
        fetched = attempt(folder)
        files = file_facts(folder)
        _check_digests(task.digests, fetched.origin, fetched.key, files)
        content = {"name": task.dataset.name, "origin": fetched.origin, **fetched.layout, "files": files}
        write_json(folder / "source.json", content)
    return fetched.origin


def _attempts(task: DownloadTask, mirror: str | None) -> Iterator[Attempt]:
    """Give the ways to get the dataset, in the order in which they are tried."""
    if task.manual.is_dir() and any(task.manual.iterdir()):
        yield partial(_from_hand, task)
    if mirror:
        yield partial(_from_mirror, task, mirror_at(mirror))
    for entry in task.entries:
        for kind, address in entry.sources:
            if kind == "urls":
                yield partial(_from_files, task, entry, address)
            elif kind in ("drive", "url"):
                yield partial(_from_archive, task, entry, kind, address)


def _from_hand(task: DownloadTask, folder: Path) -> Fetched:
    """Take files, or one archive, that the user put there."""
    origin = f"manual/{task.dataset.name}"
    there = {file.name: file for file in task.manual.iterdir() if file.is_file() and not file.name.startswith(".")}
    try:
        for entry in task.entries:
            if set(entry.files) <= set(there):
                for name in entry.files:
                    shutil.copyfile(there[name], folder / name)
                check_folder(folder, entry.with_header)
                return Fetched(origin, origin, _layout(entry))
        if len(there) == 1 and not set(there) & {name for entry in task.entries for name in entry.files}:
            (archive,) = there.values()
            return Fetched(origin, origin, _layout(_unpack_any(archive, task, folder)))
        listed = ", ".join(sorted(there)) or "no file"
        raise XmlcError(f"found {listed}, expected {task.wanted()}, or one archive with them")
    except XmlcError as error:
        error.args = (f"{task.manual}: {error}",)
        raise


def _unpack_any(archive: Path, task: DownloadTask, folder: Path) -> Dataset:
    """Unpack an archive that holds the files of one of the entries; return which."""
    check_is_data(archive)
    problems = []
    for entry in task.entries:
        try:
            unpack(archive, entry.files, folder, task.limits.gigabytes)
            check_folder(folder, entry.with_header)
            return entry
        except XmlcError as error:
            problems.append(str(error))
            for file in folder.iterdir():
                file.unlink()
    raise XmlcError("; ".join(problems))


def _from_mirror(task: DownloadTask, mirror: Mirror, folder: Path) -> Fetched:
    """Take the files from a mirror, compressed or not."""
    is_url, base = mirror.is_url, f"{mirror.base}/{task.dataset.name}"
    own = task.dataset.own_mirror_layout
    entry = task.dataset if own else Dataset(task.dataset.name)
    found: dict[str, str] = {}
    for name in entry.files:
        taken = _first_suffix(task, base, name, folder, is_url, name in entry.with_header)
        if taken is None and not found:
            raise NotThere(mirror.lacks(f"{task.dataset.name}/{name}[.gz|.xz|.bz2]"))
        if taken is None:
            raise XmlcError(f"{base}: found {', '.join(found.values())}, but no {name}[.gz|.xz|.bz2]")
        found[name] = taken
    layout = _layout(entry, found)
    return Fetched(base, base, layout) if is_url else Fetched("mirror", f"mirror {Path(base).resolve()}", layout)


def _first_suffix(
    task: DownloadTask, base: str, name: str, folder: Path, is_url: bool, with_header: bool
) -> str | None:
    """Take the first of ``name``, ``name.gz`` ... that is there; return which, or None."""
    no_data: XmlcError | None = None
    for candidate in (f"{name}{suffix}" for suffix in SUFFIXES):
        address, target = f"{base}/{candidate}", folder / candidate
        try:
            if is_url:
                fetch_http(address, target, task.partial, task.limits)
            elif Path(address).is_file():
                shutil.copyfile(address, target)
            else:
                continue
        except NotThere:
            continue
        except XmlcError as error:
            raise XmlcError(f"{address}: {error}") from error
        try:
            check_is_data(target, with_header)
            return candidate
        except XmlcError as error:  # some servers answer a page where they have no such file
            target.unlink()
            error.args = (f"{address}: {error}",)
            no_data = no_data or error
    if no_data:
        raise no_data
    return None


def _from_files(task: DownloadTask, entry: Dataset, addresses: dict[str, str], folder: Path) -> Fetched:
    """Fetch the files one by one from addresses of the catalogue."""
    for name, url in addresses.items():
        try:
            fetch_http(url, folder / name, task.partial, task.limits)
            check_is_data(folder / name, name in entry.with_header)
        except XmlcError as error:
            raise NotThere(f"{url}: {error}") from error
    origin = " ".join(addresses.values())
    return Fetched(origin, origin, _layout(entry))


def _from_archive(task: DownloadTask, entry: Dataset, kind: str, address: str, folder: Path) -> Fetched:
    """Fetch an archive from an address of the catalogue and take the entry's files out of it."""
    origin = f"https://drive.google.com/uc?id={address}" if kind == "drive" else address
    archive = folder / ".archive"
    try:
        (fetch_drive if kind == "drive" else fetch_http)(address, archive, task.partial, task.limits)
        check_is_data(archive)
        unpack(archive, entry.files, folder, task.limits.gigabytes)
        archive.unlink()
        check_folder(folder, entry.with_header)
    except XmlcError as error:
        raise NotThere(f"{origin}: {error}") from error
    return Fetched(origin, origin, _layout(entry))


def _layout(entry: Dataset, renamed: dict[str, str] | None = None) -> Layout:
    """Describe an entry's files for ``source.json``; ``renamed`` gives the names under which they really came."""
    real = {name: name for name in entry.files} | (renamed or {})
    split = entry.split_files
    return {
        "format": entry.format,
        "zero_based": entry.zero_based,
        "train": [real[name] for name in entry.train],
        "test": [real[name] for name in entry.test],
        "labels": real[entry.labels] if entry.labels else None,
        "split_files": split and {**split, "train": real[split["train"]], "test": real[split["test"]]},
    }


def _check_digests(record: Path, origin: str, key: str, files: Mapping[str, FileFacts]) -> None:
    """Compare files with the digests recorded for their source, or record these.

    Parameters
    ----------
    record : Path
        JSON file of a dataset's digests.
    origin : str
        The source, for people.
    key : str
        The source in the record.
    files : mapping of str to FileFacts

    Raises
    ------
    XmlcError
        A file has changed; or the record cannot be read.
    """
    found = {name: file["sha256"] for name, file in files.items()}
    try:
        known = read_json(record) if record.exists() else {}
        recorded = known.get(key, found)
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
            f"{origin}: {'; '.join(reasons)}. If what was found is right, delete the entry {key!r} of {record}, or "
            "that file; otherwise look for another source"
        )
    if key not in known:
        write_json(record, known | {key: found})


@dataclass(frozen=True)
class Mirror:
    """A place that holds datasets."""

    #: A folder, or an address without the last slash.
    base: str
    is_url: bool

    @property
    def is_there(self) -> bool:
        """Whether it is a folder, or an address of the web, which is not asked."""
        return self.is_url or Path(self.base).is_dir()

    def lacks(self, file: str) -> str:
        """Say that it has no such file."""
        return f"the mirror {self.base} " + (f"has no {file}" if self.is_there else "is no folder on this machine")


def mirror_at(given: str) -> Mirror:
    """Read the address or folder of a mirror.

    Parameters
    ----------
    given : str
        A folder, where ``~`` is the home folder; or an address that begins with ``http://``, ``https://`` or
        ``file://``, whose letters beyond ASCII and blanks need not be percent-encoded.

    Raises
    ------
    XmlcError
        It is neither, or an address to which nothing can be appended.
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
    return Mirror(base, is_url)


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # brackets that do not close, say
        return None


class OtherFormat(XmlcError):
    """A file is in another format than the repository's; ``entry`` is the entry for the catalogue, or empty."""

    def __init__(self, message: str, entry: str):
        super().__init__(message)
        self.entry = entry

    def advice(self, dataset: str) -> str:
        """Return the advice for a file of a dataset."""
        if self.entry:
            return f"add to config/datasets.yaml:\n  {dataset}: {self.entry}"
        return "write it by xmlc.data.writer.save_repository(path, X, Y)"


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
    XmlcError
        With what was found.
    """
    try:
        with open_plain(path) as file:
            head = file.read(HEAD)
    except Unreadable as error:
        raise XmlcError(f"found a damaged file ({error})") from error
    if head.startswith(ARCHIVES) or head[TAR_PLACE:].startswith(TAR_MARK):
        return
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        raise XmlcError("found an empty file")
    lower = head.lower()
    if lower.startswith(b"<") and any(mark in lower for mark in HTML_MARKS):
        raise XmlcError(WEB_PAGE)
    if lower.startswith(b"version https://git-lfs.github.com/"):
        raise XmlcError("found a Git LFS pointer instead of the file that it points to")
    if head.startswith((b"{", b"[")):
        raise XmlcError(f"found JSON instead of data: {_shown(head)}")
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith((b"#", b"%"))), b"")
    if with_header and not HEADER.fullmatch(first):
        for format, line, entry in OTHERS:
            if line.fullmatch(first):
                raise OtherFormat(f"found what looks like {format}: {_shown(head)}", entry)
        raise XmlcError(f"found no header of three counts, as data in the repository's format has: {_shown(head)}")
    if not (first.startswith((b"@", b"<")) or b"|" in first or not NUMBERS.sub(b"", first.partition(b"#")[0])):
        raise XmlcError(f"found a text instead of data: {_shown(head)}")


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
