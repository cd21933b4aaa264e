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

    Attributes
    ----------
    table, paper : str
        Name of the table, and name of the paper.
    records : tuple of Path
        Paths of the records, in the order in which the table uses them.
    published : Path or None
        Folder that contains published tables.
    suite : Path or None
        YAML file of the paper's suite, if the table uses the file.
    digests : dict of str to str
        Digests by name of the dataset, or {} if the table has the key column ``dataset``.
    titles : dict of str to str
        Maps a model to the printed name that the suite defines.
    settings : dict
        Settings that the table depends on (`xmlc.suite.results.settings`), or {} in manifests of
        earlier versions.
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
        """Write the file PREFIX.manifest.json atomically, and return its path."""
        path = prefix.with_name(prefix.name + SUFFIX)
        write_record(
            path, {"schema": 1, **asdict(self), "records": list(map(in_project, self.records))}
        )
        return path

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read a manifest from a file.

        Raises
        ------
        XmlcError
            The file is not readable, or is not a manifest.
        """
        return as_checked(path, parsed(path), cls, "a manifest of `xmlc table` of this version")

    @classmethod
    def beside(cls, table: Path) -> Manifest | None:
        """Return the manifest of a CSV table, or None if the table has no manifest.

        The manifest of a reference table contains no paths of records.
        """
        path = table.with_suffix(SUFFIX)
        if path.is_file():
            return cls.read(path)
        return None


def finished_tables(folder: Path) -> list[Manifest]:
    """Read the manifests of all tables in ``folder``, by paper and then by name."""
    tables = [Manifest.read(file) for file in folder.glob(f"*/*{SUFFIX}")]
    return sorted(tables, key=lambda made: (made.paper, by_number(made.table)))


def by_number(table: str) -> tuple[bool, int, str]:
    """Return a sort key: tables with numbers come first, followed by other tables by name."""
    number = table.removeprefix("table")
    if number.isdecimal():
        return False, int(number), table
    return True, 0, table


def in_project(path: Path) -> str:
    """Return the path of a result in the project, also for a copy of the result.

    Snakemake makes a copy of a result that is in remote storage. For example, the copy of
    ``results/a.json`` is ``.snakemake/storage/<plugin>/<prefix>/results/a.json``.
    """
    text = path.as_posix()
    if text.startswith(f"{STORAGE_COPIES}/"):
        return f"results/{text.rpartition('/results/')[2]}"
    return text
