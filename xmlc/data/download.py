"""From a source to ``resources/<dataset>``: mirror, hand-downloaded copy, or the catalogue's address."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xmlc.data.archives import unpack
from xmlc.data.catalogue import Dataset
from xmlc.data.fetch import NotThere, check_not_html, fetch_drive, fetch_http
from xmlc.errors import XmlcError
from xmlc.files import atomic_folder, read_json, sha256, write_json

SUFFIXES = ("", ".gz", ".xz", ".bz2")


def download(dataset: Dataset, out: Path, mirror: str | None = None) -> str:
    """Fetch a dataset into the folder ``out``, whole or not at all.

    Tried in this order: files put by hand into ``manual/<dataset>`` beside ``out``, the mirror, the catalogue's
    sources. The digests of what is fetched are recorded in ``digests/<dataset>.json`` beside ``out`` the first time
    and checked from then on.

    Parameters
    ----------
    dataset : Dataset
    out : Path
        Usually ``resources/<dataset>``. Gets the data files and ``source.json``, which describes them.
    mirror : str, optional
        Folder or base URL laid out ``<dataset>/{train,test}.txt[.gz|.xz|.bz2]``, in the repository format.

    Returns
    -------
    str
        Where it came from.

    Raises
    ------
    XmlcError
        It cannot be had, or is not what it should be; the message says where to put a hand-downloaded copy.
    """
    if dataset.synthetic:
        raise XmlcError(f"{dataset.name} is made, not fetched: use xmlc synth {dataset.name}")
    place = Place(dataset, out)
    problems = []
    for attempt in _attempts(place, mirror):
        try:
            with atomic_folder(out) as folder:
                origin, layout = attempt(folder)
                place.check_digests(origin, folder)
                write_json(folder / "source.json", _description(dataset, origin, layout, folder))
            return origin
        except NotThere as error:  # look elsewhere; any other error is for the user to mend
            problems.append(str(error))
    raise XmlcError(
        f"{dataset.name}: " + "; ".join(problems) + f". {place.by_hand()}"
        if problems
        else f"{dataset.name}: the catalogue knows no address for it. Give a mirror that has it, or: {place.by_hand()}"
    )


class Place:
    """Where a dataset's files go, and where else to look for them.

    Parameters
    ----------
    dataset : Dataset
    out : Path
    """

    def __init__(self, dataset: Dataset, out: Path):
        self.dataset = dataset
        self.manual = out.parent / "manual" / dataset.name
        self.partial = out.parent / ".partial"
        self.digests = out.parent / "digests" / f"{dataset.name}.json"

    def by_hand(self) -> str:
        """Say what to do where a download fails."""
        where = f" (see {self.dataset.homepage})" if self.dataset.homepage else ""
        files = ", ".join(self.dataset.files)
        return f"Download it by hand{where} and put {files}, or the archive with them, into {self.manual}/"

    def failed(self, origin: str, error: XmlcError) -> XmlcError:
        """Name dataset, origin and remedy for an error."""
        kind = NotThere if isinstance(error, NotThere) else XmlcError
        return kind(f"{self.dataset.name}: {origin}: {error}. {self.by_hand()}")

    def check_digests(self, origin: str, folder: Path) -> None:
        """Compare with the digests recorded for this origin, or record them."""
        found = {file.name: sha256(file) for file in sorted(folder.iterdir())}
        known = read_json(self.digests) if self.digests.exists() else {}
        for name, digest in known.get(origin, found).items():
            if found.get(name) != digest:
                raise XmlcError(
                    f"{self.dataset.name}: {origin}: {name} has changed: found SHA-256 {found.get(name)}, recorded "
                    f"{digest}. If the new file is right, delete {self.digests}; otherwise: {self.by_hand()}"
                )
        if origin not in known:
            write_json(self.digests, known | {origin: found})


Attempt = Callable[[Path], tuple[str, dict[str, Any]]]


def _attempts(place: Place, mirror: str | None) -> list[Attempt]:
    """List the ways to get the dataset, in the order in which they are tried."""
    attempts: list[Attempt] = []
    if place.manual.is_dir() and any(place.manual.iterdir()):
        attempts.append(lambda folder: _from_hand(place, folder))
    if mirror:
        attempts.append(lambda folder: _from_mirror(place, mirror, folder))
    attempts += [lambda folder, source=source: _from_source(place, source, folder) for source in place.dataset.sources]
    return attempts


def _from_hand(place: Place, folder: Path) -> tuple[str, dict[str, Any]]:
    """Take files, or one archive, that the user put there."""
    origin = f"manual/{place.dataset.name}"
    there = {file.name: file for file in place.manual.iterdir() if file.is_file()}
    try:
        if all(name in there for name in place.dataset.files):
            for name in place.dataset.files:
                check_not_html(there[name])
                shutil.copyfile(there[name], folder / name)
        elif len(there) == 1:
            (archive,) = there.values()
            check_not_html(archive)
            unpack(archive, place.dataset.files, folder)
        else:
            raise XmlcError(f"found {', '.join(sorted(there)) or 'nothing'}, expected {', '.join(place.dataset.files)}")
    except XmlcError as error:
        raise place.failed(str(place.manual), error) from error
    return origin, _catalogue_layout(place.dataset)


def _from_mirror(place: Place, mirror: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """Take train and test file from a mirror, compressed or not, in the repository format."""
    is_url = mirror.startswith(("http://", "https://"))
    layout: dict[str, Any] = {"format": "repository", "zero_based": True, "labels": None, "split_files": None}
    for part in ("train", "test"):
        for name in (f"{part}.txt{suffix}" for suffix in SUFFIXES):
            address = f"{mirror.rstrip('/')}/{place.dataset.name}/{name}"
            try:
                if is_url:
                    fetch_http(address, folder / name, place.partial)
                elif Path(address).is_file():
                    shutil.copyfile(address, folder / name)
                else:
                    continue
                check_not_html(folder / name)
            except NotThere:
                continue
            except XmlcError as error:
                raise place.failed(address, error) from error
            layout[part] = [name]
            break
        else:
            raise NotThere(f"the mirror {mirror} has no {place.dataset.name}/{part}.txt[.gz|.xz|.bz2]")
    # A folder's place is this machine's business; that it was a mirror is all a record needs.
    return (f"{mirror.rstrip('/')}/{place.dataset.name}" if is_url else "mirror"), layout


def _from_source(place: Place, source: tuple[str, Any], folder: Path) -> tuple[str, dict[str, Any]]:
    """Fetch from an address of the catalogue."""
    kind, address = source
    archive = folder / ".archive"
    origin = f"https://drive.google.com/uc?id={address}" if kind == "drive" else str(address)
    try:
        if kind == "urls":
            origin = " ".join(address.values())
            for name, url in address.items():
                origin_now = url
                fetch_http(url, folder / name, place.partial)
                check_not_html(folder / name)
            return origin, _catalogue_layout(place.dataset)
        origin_now = origin
        if kind == "drive":
            fetch_drive(address, archive)
        else:
            fetch_http(address, archive, place.partial)
        check_not_html(archive)
        unpack(archive, place.dataset.files, folder)
    except XmlcError as error:
        raise place.failed(origin_now, error) from error
    archive.unlink()
    return origin, _catalogue_layout(place.dataset)


def _catalogue_layout(dataset: Dataset) -> dict[str, Any]:
    return {
        "format": dataset.format,
        "zero_based": dataset.zero_based,
        "labels": dataset.labels,
        "split_files": dataset.split_files,
        "train": list(dataset.train),
        "test": list(dataset.test),
    }


def _description(dataset: Dataset, origin: str, layout: dict[str, Any], folder: Path) -> dict[str, Any]:
    files = {file.name: {"bytes": file.stat().st_size, "sha256": sha256(file)} for file in sorted(folder.iterdir())}
    return {"name": dataset.name, "origin": origin, **layout, "files": files}
