"""Find the source of a dataset. A source is a manual download, a mirror, or an address in the catalogue."""

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

# Names that a dataset's files in the repository format may have on any mirror.
OF_MIRRORS = ("train.txt", "test.txt")
# Maps a file name to a list of size in bytes, time of the last change in ns, and checksum.
States = dict[str, list[Any]]
# The folder or the web address of a mirror, or of one dataset in a mirror. A web address does not end with a slash.
Location = Path | str


def source_of(dataset: Dataset, mirror: str | None, resources: Path) -> list[str]:
    """Return a text that describes the current source of a dataset.

    If the text changes, the workflow fetches the dataset again. A dataset that was fetched from an address keeps its
    text if the user names another mirror, because nobody wants to download what exists.

    Parameters
    ----------
    dataset : Dataset
    mirror : str or None
    resources : Path
        The folder that contains the folder of each dataset.

    Returns
    -------
    list of str
        For a folder on this machine, the list contains the names and checksums of the files, but not the folder's path.
        For a web mirror, the list contains only the address of the dataset. Changes of files on a web mirror are not
        detected. If there is no source, or only an address, the list describes the source from which the dataset was
        fetched earlier.
    """
    recorded: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # The dataset was not fetched yet, or its ``source.json`` is damaged.
        recorded = read_json(resources / dataset.name / "source.json")
    fetched_from_address = "copied" in recorded and not recorded["copied"]
    places: list[Location] = [by_hand(dataset, resources)]
    if mirror and not fetched_from_address:
        with suppress(XmlcError):  # The step that fetches the dataset reports an error of the mirror.
            places.append(under(mirror_at(mirror), dataset))
    for place in places:
        if isinstance(place, str):
            if recorded:
                continue
            return [place]
        known = recorded["copied"] if recorded.get("origin") == str(place) else {}
        if found := states(sources_in(place, dataset), known):
            break
    else:
        if fetched_from_address:
            return list(recorded.get("described", []))
        found = recorded.get("copied", {})
    return [f"{name} {checksum}" for name, (_, _, checksum) in found.items()]


def check_source(entry: Dataset, mirror: str | None, resources: Path, known: Iterable[str]) -> None:
    """Check that a dataset has an address in the catalogue, is in the mirror, or was downloaded by hand.

    A web mirror is assumed to have the dataset.

    Parameters
    ----------
    entry : Dataset
    mirror : str or None
    resources : Path
        The folder that contains the folder of each dataset, and the folder ``manual``.
    known : iterable of str
        Names of the datasets in the catalogue.

    Raises
    ------
    XmlcError
        The dataset has no source. The error message suggests datasets with similar names.
    """
    base = mirror_at(mirror) if mirror else None
    if isinstance(base, str) or by_hand(entry, resources).is_dir():
        return
    if base and (files := entry.files_in(base / entry.name)):
        if not entry.layout_of(files):
            raise XmlcError(f"{entry.name}: {lacks(base / entry.name, entry)}")
        return
    if any(one.sources for one in (entry, *entry.alternatives)) or (base and listed(base / entry.name)):
        return
    there = [one.name for one in base.iterdir() if one.is_dir()] if base else []
    found = f"no files in {base / entry.name}/" if base else "no mirror"
    near = " or ".join(get_close_matches(entry.name, sorted({*there, *known} - {entry.name})))
    expected = f"a mirror with this dataset{f'. Did you mean {near}?' if near else ''}"
    raise XmlcError(f"dataset {entry.name}: found no address in the catalogue and {found}, expected {expected}")


def states(files: Iterable[Path], known: States) -> States:
    """Return the size, the time of the last change, and the checksum of each file.

    Parameters
    ----------
    files : iterable of Path
    known : dict
        An earlier result of this function. A file is not read again if its size and its time are the same as in
        ``known``.

    Returns
    -------
    dict of str to list
        Maps a file name to a list of size in bytes, time of the last change in nanoseconds, and checksum.
    """
    found: States = {}
    for file in files:
        _, size, changed = state_of(file)
        same = known.get(file.name, [])[:2] == [size, changed]
        found[file.name] = known[file.name] if same else [size, changed, checksum_now(file)]
    return found


def mirror_at(given: str) -> Location:
    """Check the folder or the address of a mirror, and return it without a slash at the end.

    Parameters
    ----------
    given : str
        A folder, in which ``~`` means the home folder, or an address that begins with ``http://``, ``https://`` or
        ``file://``.

    Raises
    ------
    XmlcError
        The text is neither an existing folder nor an address.
    """
    if given.lower().startswith(("http://", "https://")):
        return given.rstrip("/")
    folder = Path(unquote(given[7:]) if given.startswith("file://") else given).expanduser()
    if not folder.is_dir():
        beside = [str(other) for other in folder.parent.glob("*") if other.is_dir()]
        near = f". Did you mean {near}?" if (near := " or ".join(get_close_matches(str(folder), beside))) else ""
        said = f"mirror: found {given}, expected a folder on this machine or an address with http:// or https://"
        raise XmlcError(said + near)
    return folder


def under(mirror: Location, dataset: Dataset) -> Location:
    """Return the folder or the address of a dataset in a mirror."""
    return f"{mirror}/{dataset.name}" if isinstance(mirror, str) else mirror / dataset.name


def by_hand(dataset: Dataset, resources: Path) -> Path:
    """Return the folder into which users put the files of a dataset that they downloaded by hand."""
    return resources / "manual" / dataset.name


def listed(place: Path) -> list[Path]:
    """Return the files in a folder that are not hidden. The list is empty if the folder does not exist."""
    files = place.iterdir() if place.is_dir() else ()
    return sorted(file for file in files if file.is_file() and not file.name.startswith("."))


def sources_in(place: Path, dataset: Dataset) -> list[Path]:
    """Return the files of a dataset in a folder.

    If the folder contains files with the names of the dataset's files, only these files are returned. If the folder
    contains none of the dataset's files, all files are returned, because one may be an archive.
    """
    return [*dataset.files_in(place).values()] or listed(place)


def lacks(place: Path, dataset: Dataset) -> str:
    """Return a text that lists the files in a folder, and the files that a dataset requires."""
    found = ", ".join(file.name for file in listed(place)) or "no files"
    return f"{place}: found {found}, expected {wanted(dataset)}"


def wanted(dataset: Dataset) -> str:
    """Return a text that lists the names of a dataset's files, for every possible set of files."""
    named = ", or ".join(f"{', '.join(entry.files)} ({entry.format})" for entry in dataset.layouts)
    return f"{named}, each plain or compressed (.gz, .xz, .bz2)"
