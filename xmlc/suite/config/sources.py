"""Where a dataset comes from: a copy that the user put there, a mirror, or the addresses of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from xmlc.core.checksums import checksum_now, state_of
from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.suite.config.catalogue import Dataset

OF_MIRRORS = ("train.txt", "test.txt")  # in the repository's format
States = dict[str, list[Any]]  # of files, by name: bytes, nanoseconds of the last change, checksum
Place = Path | str  # a folder, or an address without the last slash: a mirror, or what it has of one dataset


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
    places: list[Place] = [by_hand(dataset, resources)]
    with suppress(XmlcError):  # whoever needs the mirror says so
        places += [under(mirror_at(mirror), dataset)] if mirror else []
    for place in places:
        if isinstance(place, str):
            return [place]
        known = made_of["copied"] if made_of.get("origin") == str(place) else {}
        if found := states(sources_in(place, dataset), known):
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
    base = mirror_at(mirror) if mirror and entries else None
    for entry in entries:
        if isinstance(base, str) or by_hand(entry, resources).is_dir():
            continue
        if base and (files := entry.files_in(base / entry.name)):
            if not entry.layout_of(files):
                raise XmlcError(f"{entry.name}: {lacks(base / entry.name, entry)}")
            continue
        if any(one.sources for one in (entry, *entry.alternatives)) or (base and listed(base / entry.name)):
            continue
        there = [one.name for one in base.iterdir() if one.is_dir()] if base else []
        found = f"the mirror {base} has no files in {entry.name}/" if base else "no mirror is given"
        near = get_close_matches(entry.name, sorted({*there, *known} - {entry.name}))
        expected = " or ".join(near) or "a mirror that has it"
        raise XmlcError(
            f"dataset {entry.name}: the catalogue knows no address for it, and {found}; expected {expected}"
        )


def states(files: Iterable[Path], known: States) -> States:
    """Return the state of each of some files.

    Parameters
    ----------
    files : iterable of Path
    known : dict
        An earlier result: files of the same size and time are not read again.

    Returns
    -------
    dict of str to list
        By the name of the file: its bytes, the time of its last change in nanoseconds, its checksum.
    """
    found: States = {}
    for file in files:
        _, size, changed = state_of(file)
        same = known.get(file.name, [])[:2] == [size, changed]
        found[file.name] = known[file.name] if same else [size, changed, checksum_now(file)]
    return found


def mirror_at(given: str) -> Place:
    """Read the address or folder of a mirror.

    Parameters
    ----------
    given : str
        A folder, where ``~`` is the home folder; or an address that begins with ``http://``, ``https://`` or
        ``file://``.

    Raises
    ------
    XmlcError
        It is neither, or a folder that is not there.
    """
    if given.lower().startswith(("http://", "https://")):
        return given.rstrip("/")
    folder = Path(unquote(given[7:]) if given.startswith("file://") else given).expanduser()
    if not folder.is_dir():
        beside = [str(other) for other in folder.parent.glob("*") if other.is_dir()]
        near = " or ".join(get_close_matches(str(folder), beside)) or "one of the two"
        said = f"the mirror {given} is neither a folder on this machine nor an address with http:// or https://"
        raise XmlcError(f"{said}; expected {near}")
    return folder


def under(mirror: Place, dataset: Dataset) -> Place:
    """Return a dataset's place in a mirror."""
    return f"{mirror}/{dataset.name}" if isinstance(mirror, str) else mirror / dataset.name


def by_hand(dataset: Dataset, resources: Path) -> Path:
    """Return the folder for what the user downloads."""
    return resources / "manual" / dataset.name


def listed(place: Path) -> list[Path]:
    """List the files of a folder, hidden ones left out; none of a folder that is not there."""
    files = place.iterdir() if place.is_dir() else ()
    return sorted(file for file in files if file.is_file() and not file.name.startswith("."))


def sources_in(place: Path, dataset: Dataset) -> list[Path]:
    """List the files of a folder that a dataset may be copied from: its own, or all, of which one may be an archive."""
    return [*dataset.files_in(place).values()] or listed(place)


def lacks(place: Path, dataset: Dataset) -> str:
    """Describe which files a folder has, and which were expected."""
    found = ", ".join(file.name for file in listed(place)) or "no file that could be the dataset's"
    return f"{place}: found {found}, expected {wanted(dataset)}"


def wanted(dataset: Dataset) -> str:
    """Name the files that make a dataset."""
    named = ", or ".join(f"{', '.join(entry.files)} ({entry.format})" for entry in dataset.layouts)
    return f"{named}, each plain or compressed (.gz, .xz, .bz2)"
