"""Manifests: small files next to finished tables, from which reports rebuild the tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from xmlc.suite.files import write_record
from xmlc.suite.results.records.base import as_checked, parsed
from xmlc.suite.results.settings import RecordedSettings

SUFFIX = ".manifest.json"
STORAGE_COPIES = ".snakemake/storage"


@dataclass(frozen=True)
class Manifest:
    """The arguments with which `xmlc.suite.papers.building.build_table` built a table.

    ``records`` are in the order of use, ``published`` is the folder of published tables, and
    ``suite`` the paper's YAML file, if needed. There are ``digests`` by dataset, unless it has the
    key column ``dataset``, and ``titles`` for models that the suite names. Manifests of earlier
    versions have no ``settings``.
    """

    table: str
    paper: str
    records: tuple[Path, ...]
    published: Path | None = None
    suite: Path | None = None
    digests: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    settings: RecordedSettings = field(default_factory=dict)

    def write(self, prefix: Path) -> Path:
        """Write PREFIX.manifest.json atomically and return its path."""
        path = prefix.with_name(prefix.name + SUFFIX)
        write_record(
            path, {"schema": 1, **asdict(self), "records": list(map(in_project, self.records))}
        )
        return path

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read a manifest, or raise an error if the file is none."""
        return as_checked(path, parsed(path), cls, "a manifest of `xmlc table` of this version")

    @classmethod
    def beside(cls, table: Path) -> Manifest | None:
        """Return the manifest of a CSV table, or None. A reference table's records are missing."""
        path = table.with_suffix(SUFFIX)
        if path.is_file():
            return cls.read(path)
        return None


def finished_tables(folder: Path) -> list[Manifest]:
    """Read the manifests of all tables in ``folder``, by paper and then by name."""
    tables = [Manifest.read(file) for file in folder.glob(f"*/*{SUFFIX}")]
    return sorted(tables, key=lambda made: (made.paper, by_number(made.table)))


def by_number(table: str) -> tuple[bool, int, str]:
    """Return a key that sorts numbered tables first, and then others by name."""
    number = table.removeprefix("table")
    if number.isdecimal():
        return False, int(number), table
    return True, 0, table


def in_project(path: Path) -> str:
    """Return the path in the project of a result, or of its local copy from remote storage.

    Such a copy of ``results/a.json`` is ``.snakemake/storage/<plugin>/<prefix>/results/a.json``.
    """
    text = path.as_posix()
    if text.startswith(f"{STORAGE_COPIES}/"):
        return f"results/{text.rpartition('/results/')[2]}"
    return text
