"""Find the sources of a dataset: a manual download, a mirror, and addresses in the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from xmlc.core.checksums import checksum_now, state_of
from xmlc.core.errors import XmlcError, nearest
from xmlc.core.files import read_json
from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.files import similar_path

WEB = ("http://", "https://")
# Maps a file name to a list of size in bytes, time of the last change in ns, and checksum.
States = dict[str, list[Any]]


class Source(NamedTuple):
    """A place that has, or may have, the files of a dataset.

    Attributes
    ----------
    origin : str
        The folder on this machine, or the web addresses.
    entry : Dataset
        The catalogue entry that describes the files.
    files : dict of str to str
        Maps each file of the entry to its path or address. If there is an archive of all files, its
        key is empty.
    is_mirror : bool
        Whether the user named the place. The files of a mirror may have a further suffix, such as
        ``.gz``.
    paths : list of Path
        The files, if they are on this machine.
    """

    origin: str
    entry: Dataset
    files: dict[str, str]
    is_mirror: bool
    paths: list[Path]


def sources_of(dataset: Dataset, mirror: str | None, resources: Path) -> Iterator[Source]:
    """Yield the sources of a dataset in the order in which they are tried.

    If the folder of a manual download or of a mirror has any files, no later source is tried.

    Parameters
    ----------
    dataset : Dataset
    mirror : str or None
        The folder or the address of a mirror, see `mirror_at`.
    resources : Path
        The folder that contains the folder of each dataset, and the folder ``manual``.

    Raises
    ------
    XmlcError
        The mirror does not exist. A folder has files, but neither all files of the dataset nor a
        single archive.
    """
    places = [str(resources / "manual" / dataset.name)]
    if mirror:
        places.append(f"{mirror_at(mirror)}/{dataset.name}")
    for place in places:
        paths = sorted(path for path in Path(place).glob("[!.]*") if path.is_file())
        copies = dataset.files_in(Path(place))
        layouts = dataset.layouts
        layout = dataset.layout_of(copies)
        if layout:
            layouts = (layout,)
            paths = sorted(copies[name] for name in layout.files)
        elif copies or len(paths) > 1:
            names = ", ".join(path.name for path in paths)
            wanted = ", or ".join(f"{', '.join(entry.files)} ({entry.format})" for entry in layouts)
            raise XmlcError(
                f"{dataset.name}: {place}: found {names}, expected {wanted}, each plain or "
                "compressed (.gz, .xz, .bz2)"
            )
        elif not paths and not place.startswith(WEB):
            continue
        for entry in layouts:
            files = {name: f"{place}/{name}" for name in entry.files}
            if paths and not layout:
                files = {"": str(paths[0])}
            yield Source(place, entry, files, True, paths)
        if paths:
            return
    for entry in (dataset, *dataset.alternatives):
        for files in entry.sources:
            yield Source(" ".join(files.values()), entry, files, False, [])


def source_of(dataset: Dataset, mirror: str | None, resources: Path) -> list[str]:
    """Return a text that describes the current source of a dataset.

    If the text changes, the workflow fetches the dataset again. A dataset that was fetched from an
    address keeps its text if the user names another mirror, because nobody wants to download what
    exists.

    Returns
    -------
    list of str
        For a folder on this machine, the list contains the names and checksums of the files, but
        not the folder's path. For a web mirror, it contains only the address of the dataset, so
        changes of files on a web mirror are not detected. If there is no source, or only an
        address, the list describes the source from which the dataset was fetched earlier.
    """
    recorded: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # not fetched yet, or ``source.json`` is damaged
        recorded = read_json(resources / dataset.name / "source.json")
    copied: States = recorded.get("copied", {})
    if recorded and not copied:
        mirror = None
    first = None
    with suppress(XmlcError):  # The step that fetches the dataset reports an error of the mirror.
        first = next(sources_of(dataset, mirror, resources), None)
    if first and first.paths:
        known: States = {}
        if recorded.get("origin") == first.origin:
            known = copied
        current = states(first.paths, known)
        return [f"{name} {checksum}" for name, (_, _, checksum) in current.items()]
    if first and first.is_mirror and not recorded:
        return [first.origin]
    return list(recorded.get("described", []))


def check_source(entry: Dataset, mirror: str | None, resources: Path, known: Iterable[str]) -> None:
    """Check that a dataset has an address, is in the mirror, or was downloaded by hand.

    A web mirror is assumed to have the dataset.

    Parameters
    ----------
    entry : Dataset
    mirror : str or None
    resources : Path
    known : iterable of str
        Names of the datasets in the catalogue.

    Raises
    ------
    XmlcError
        The dataset has no source. The error message suggests datasets with similar names.
    """
    if entry.synthetic:
        problem = "found a synthetic dataset, expected one to download"
        raise XmlcError(f"{entry.name}: {problem}. Run xmlc synth {entry.name}")
    if next(sources_of(entry, mirror, resources), None):
        return
    place = "no mirror"
    names = {*known}
    if mirror:
        folder = Path(mirror_at(mirror))
        place = f"no files in {folder / entry.name}/"
        names |= {other.name for other in folder.iterdir() if other.is_dir()}
    near = nearest(entry.name, names - {entry.name})
    problem = f"found no address in the catalogue and {place}"
    raise XmlcError(
        f"dataset {entry.name}: {problem}, expected a mirror with this dataset, or another name: "
        f"{near}"
    )


def states(files: Iterable[Path], known: States) -> States:
    """Return the size, the time of the last change, and the checksum of each file.

    Parameters
    ----------
    files : iterable of Path
    known : dict
        An earlier result of this function. A file is not read again if its size and its time are
        the same as in ``known``.

    Returns
    -------
    dict of str to list
        Maps a file name to a list of size in bytes, time of the last change in nanoseconds, and
        checksum.
    """
    current: States = {}
    for file in files:
        _, size, changed = state_of(file)
        state = known.get(file.name, [])
        if state[:2] != [size, changed]:
            state = [size, changed, checksum_now(file)]
        current[file.name] = state
    return current


def mirror_at(mirror: str) -> str:
    """Check the folder or the address of a mirror, and return it without a slash at the end.

    Parameters
    ----------
    mirror : str
        A folder, in which ``~`` means the home folder, or an address that begins with ``http://``
        or ``https://``.

    Raises
    ------
    XmlcError
        The text is neither an existing folder nor an address.
    """
    if mirror.startswith(WEB):
        return mirror.rstrip("/")
    folder = Path(mirror).expanduser()
    if not folder.is_dir():
        raise XmlcError(
            f"mirror: found {mirror}, expected a folder on this machine or an address with http:// "
            f"or https://{similar_path(folder)}"
        )
    return str(folder)
