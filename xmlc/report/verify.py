"""Checksums of everything below some folders: files that were damaged or edited since they were written."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from xmlc.core.checksums import KEY, NAME, Damaged, check_content, check_file, check_listed, listed_in, unlisted_in
from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.numbers.made_of import SUFFIX
from xmlc.suites import paths

# Folders that steps write with a list of their files, and files that they write with a checksum of their content.
FOLDERS = paths.DATA, paths.MODEL, paths.ESTIMATES, paths.THRESHOLDS
RECORDS = paths.STATISTICS, paths.TUNING, paths.IN_RUN, paths.SIMULATION
SOURCES = paths.PUBLISHED, paths.ACCEPTED, paths.MEASURED
Check = Callable[[], object]


@dataclass
class Verified:
    """Result of `verify`.

    Attributes
    ----------
    damaged : list of Damaged
        By path.
    unlisted : list of Path
        Files in a folder that has a list of its files, which does not name them: no step reads them.
    without : list of Path
        Files without a checksum elsewhere: tables and figures, which records make again, and what is no result.
    files, bytes : int
        What was read against its checksum.
    seconds : float
    """

    damaged: list[Damaged] = field(default_factory=list)
    unlisted: list[Path] = field(default_factory=list)
    without: list[Path] = field(default_factory=list)
    files: int = 0
    bytes: int = 0
    seconds: float = 0.0

    @property
    def targets(self) -> list[Path]:
        """Paths to delete, each once."""
        return list(dict.fromkeys(damage.target for damage in self.damaged))


def verify(places: Iterable[Path]) -> Verified:
    """Read each file below some folders, and hold it against its checksum.

    Published and accepted tables are sources and have none; hidden files are what processes are writing.

    Raises
    ------
    XmlcError
        A place does not exist.
    """
    found, start = Verified(), time.perf_counter()
    for place in places:
        if not place.exists():
            raise XmlcError(f"{place}: no such file or folder")
        for file, check in _checks(place):
            if check is None:
                (found.unlisted if _is_listed(file) else found.without).append(file)
                continue
            found.files += 1
            try:
                check()
                found.bytes += file.stat().st_size
            except Damaged as damage:
                found.damaged.append(damage)
    found.seconds = time.perf_counter() - start
    return found


def remove(targets: Iterable[Path]) -> None:
    """Delete files and folders, so that Snakemake makes them again."""
    for target in targets:
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)


def _checks(place: Path) -> Iterator[tuple[Path, Check | None]]:
    """Yield each file with its check; None where there is none."""
    if not place.is_dir():
        yield place, _check_of(place)
    elif (place / NAME).exists() or any(pattern.read(place) for pattern in FOLDERS):
        yield from _listed_checks(place)
    else:
        for path in sorted(place.iterdir()):
            if not path.name.startswith(".") and path.as_posix() not in SOURCES:
                yield from _checks(path)


def _listed_checks(folder: Path) -> Iterator[tuple[Path, Check | None]]:
    """Yield the files of a folder that has a list of them, or ought to; its list alone where that is damaged."""
    yield folder / NAME, partial(listed_in, folder)
    try:
        listed = listed_in(folder)
    except Damaged:
        return
    for name in listed:
        yield folder / name, partial(check_listed, folder, name)
    for name in unlisted_in(folder):
        yield folder / name, None


def _is_listed(file: Path) -> bool:
    """Tell whether a file lies in a folder that has a list of its files."""
    return any((folder / NAME).is_file() for folder in (file.parent, file.parent.parent))


def _check_of(file: Path) -> Check | None:
    """Return the check of one file: by the list of its folder, or by its own checksum."""
    if _is_listed(file):
        return partial(check_file, file)
    if file.suffix != ".json":
        return None
    try:
        content = read_json(file)
    except (OSError, ValueError, RecursionError):
        content = None
    if isinstance(content, dict) and KEY in content:
        return partial(check_content, file, content)
    is_record = file.name.endswith(SUFFIX) or any(pattern.read(file) for pattern in RECORDS)
    return partial(_refuse, file) if is_record else None


def _refuse(file: Path) -> None:
    raise Damaged(file, "is no readable record with a checksum", file)
