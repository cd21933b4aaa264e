"""Find files that were damaged or edited, by their checksums."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from xmlc.core.checksums import (
    KEY,
    NAME,
    Damaged,
    check_listed,
    listed_in,
    unlisted_in,
    verify_file,
)
from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.suite.config import paths
from xmlc.suite.files import similar_path
from xmlc.suite.results.manifest import SUFFIX
from xmlc.suite.results.records.base import parsed

# Folders have a list of their files with checksums, and records have one of their content.
FOLDERS = paths.DATA, paths.MODEL, paths.ESTIMATES, paths.THRESHOLDS
RECORDS = paths.STATISTICS, paths.TUNING, paths.IN_RUN, paths.SIMULATION
SOURCES = paths.PUBLISHED, paths.ACCEPTED, paths.MEASURED


@dataclass
class Verified:
    """The result of `verify`, which counts the checked ``files`` and lists damaged ones by path.

    No step reads ``unlisted`` files, which their folder's list lacks. Those ``without`` a checksum
    are tables and figures, rebuilt from records, and files that are not results.
    """

    damaged: list[Damaged]
    unlisted: list[Path]
    without: list[Path]
    files: int

    @property
    def targets(self) -> list[Path]:
        """Paths to delete so that Snakemake rebuilds damaged files, without duplicates."""
        return list(dict.fromkeys(damage.target for damage in self.damaged))

    def check(self, check: Callable[..., object], *arguments: object) -> bool:
        """Call ``check`` and return whether its file is undamaged."""
        self.files += 1
        try:
            check(*arguments)
        except Damaged as damage:
            self.damaged.append(damage)
            return False
        return True

    def read(self, place: Path) -> None:
        """Check a file by its checksum in a list or in its content, or all files below a folder."""
        if not place.is_dir():
            if any((folder / NAME).is_file() for folder in (place.parent, place.parent.parent)):
                self.check(verify_file, place)
            elif _is_record(place):
                self.check(parsed, place, "record")
            else:
                self.without.append(place)
        elif (place / NAME).exists() or any(pattern.read(place) for pattern in FOLDERS):
            if self.check(listed_in, place):
                for name in listed_in(place):
                    self.check(check_listed, place, name)
                self.unlisted += [place / name for name in unlisted_in(place)]
        else:
            for path in sorted(place.iterdir()):
                if not path.name.startswith(".") and path.as_posix() not in SOURCES:
                    self.read(path)


def verify(places: Iterable[Path]) -> Verified:
    """Compare each file in some folders and their subfolders with its checksum.

    Published and reference tables are skipped because they have none, and hidden files because
    processes may be writing them.
    """
    found = Verified([], [], [], 0)
    for place in places:
        if not place.exists():
            raise XmlcError(f"{place}: found no such file or folder{similar_path(place)}")
        found.read(place)
    return found


def _is_record(file: Path) -> bool:
    if file.suffix != ".json":
        return False
    if file.name.endswith(SUFFIX) or any(pattern.read(file) for pattern in RECORDS):
        return True
    try:
        content = read_json(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and KEY in content
