"""The sources of a dataset: a manual download, a mirror, and addresses in the catalogue."""

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
# Size in bytes, time of the last change in ns, and checksum of each file
States = dict[str, list[Any]]


class Source(NamedTuple):
    """A place that has, or may have, the files of a dataset.

    ``origin`` is a folder on this machine, with ``paths`` of the files, or the web addresses.
    ``files`` has the place of each file, or of one archive under an empty key. If the user named
    the place (``is_mirror``), files may have a suffix such as ``.gz``.
    """

    origin: str
    entry: Dataset
    files: dict[str, str]
    is_mirror: bool
    paths: list[Path]


def sources_of(dataset: Dataset, mirror: str | None, resources: Path) -> Iterator[Source]:
    """Yield the sources of a dataset in the order of trial.

    A manual download or a local mirror that has any files is the last one, and must have all or a
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
    """Return a text about a dataset's source, whose change makes the workflow fetch it again.

    For a folder on this machine it has the names and checksums of the files, but for a web mirror
    only the address, so that changes of its files go unnoticed. A dataset from an address, or
    without a source any more, keeps its text, because nobody wants to download it again.
    """
    recorded: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # not fetched yet, or ``source.json`` is damaged
        recorded = read_json(resources / dataset.name / "source.json")
    copied: States = recorded.get("copied", {})
    if recorded and not copied:
        mirror = None
    first = None
    with suppress(XmlcError):  # the step that fetches the dataset reports it
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
    """Check that a dataset has an address, a mirror (a web mirror is assumed to have it) or a
    manual download.
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
    """Return size in bytes, time of the last change in ns, and checksum by file name.

    A file of the same size and time as in ``known`` is not read again.
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
    """Return the folder (``~`` means home) or web address of a mirror, without a final slash."""
    if mirror.startswith(WEB):
        return mirror.rstrip("/")
    folder = Path(mirror).expanduser()
    if not folder.is_dir():
        raise XmlcError(
            f"mirror: found {mirror}, expected a folder on this machine or an address with http:// "
            f"or https://{similar_path(folder)}"
        )
    return str(folder)
