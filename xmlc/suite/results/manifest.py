"""Write and read manifests.

A manifest is a small file next to a finished table, from which reports rebuild the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from xmlc.core.files import write_record
from xmlc.suite.results.records.base import read_checked
from xmlc.suite.results.settings import RecordedSettings

SUFFIX = ".manifest.json"
STORAGE_COPIES = ".snakemake/storage"


@dataclass(frozen=True)
class Manifest:
    """Hold the arguments of `xmlc.suite.papers.building.build_table` for one table.

    Attributes
    ----------
    table, paper : str
        Names of the table and the paper.
    records : tuple of Path
        Files of the table's records, in the order in which the table uses them.
    published : Path or None
        Folder of published tables.
    suite : Path or None
        Configuration of the paper, if the table uses it.
    digests : dict of str to str
        The digest of each dataset. The dict is empty if the keys of the table include the dataset.
    titles : dict of str to str
        Printed names that the suite gives its models.
    settings : dict
        Settings that the table depends on (see `xmlc.suite.results.settings`). The dict is empty in files of earlier
        versions.
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
        """Write PREFIX.manifest.json atomically, and return its path."""
        path = prefix.with_name(prefix.name + SUFFIX)
        records = list(map(in_project, self.records))
        write_record(path, {"schema": 1, **asdict(self), "records": records})
        return path

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read one manifest.

        Raises
        ------
        XmlcError
            The file is not readable, or is of another kind.
        """
        return read_checked(path, cls, "a manifest of `xmlc table` of this version")

    def under(self, root: Path) -> Manifest:
        """Return the manifest with its records in the folder ``root``, such as an unpacked archive."""
        return replace(self, records=tuple(root / record for record in self.records))

    @staticmethod
    def is_current(made: Path, records: Iterable[Path]) -> bool:
        """Return whether the file ``made`` is current: all records exist, and no record is newer than the file."""
        try:
            return all(record.stat().st_mtime_ns <= made.stat().st_mtime_ns for record in records)
        except FileNotFoundError:
            return False

    @classmethod
    def beside(cls, table: Path) -> Manifest | None:
        """Return the manifest next to a CSV table, or None if there is no manifest.

        The manifest of a reference table names no records.
        """
        path = table.with_suffix(SUFFIX)
        return cls.read(path) if path.is_file() else None


def same_data(one: Manifest | None, other: Mapping[str, str]) -> bool:
    """Return whether the digests in the manifest of a table are exactly the digests ``other``.

    Without a manifest or without digests, the data are unknown, and the function returns False.
    """
    return one is not None and bool(other) and one.digests == other


def finished_tables(folder: Path, papers: Iterable[str]) -> list[Manifest]:
    """Read the manifests of the tables in ``folder/<paper>/``, in the order of ``papers``.

    Papers that are not in ``papers`` come last. Within a paper, the table of claims comes first.
    """
    order = {paper: place for place, paper in enumerate(papers)}
    found = [Manifest.read(path) for path in sorted(folder.glob(f"*/*{SUFFIX}"))]
    return sorted(
        found,
        key=lambda made: (order.get(made.paper, len(order)), made.paper, made.table != "claims", by_number(made.table)),
    )


def by_number(table: str) -> tuple[bool, int, str]:
    """Return a sort key: numbered tables come first, by their number, then other tables by name."""
    number = table.removeprefix("table")
    return (not number.isdecimal(), int(number) if number.isdecimal() else 0, table)


def in_project(path: Path) -> str:
    """Return the path of a result in the project. The argument is this path, or the path of a copy from remote storage.

    The copy of ``results/a.json`` is ``.snakemake/storage/<plugin>/<prefix of the storage>/results/a.json``.
    """
    text = path.as_posix()
    return f"results/{text.rpartition('/results/')[2]}" if text.startswith(f"{STORAGE_COPIES}/") else text
