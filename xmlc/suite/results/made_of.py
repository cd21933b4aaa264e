"""The provenance of a finished table: a small file beside it, from which reports build the table again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from xmlc.core.files import write_record
from xmlc.suite.results.records.base import read_checked
from xmlc.suite.results.settings import Settings

SUFFIX = ".made-of.json"
STORAGE_COPIES = ".snakemake/storage"


@dataclass(frozen=True)
class MadeOf:
    """The arguments of `xmlc.suite.papers.building.build_table` that gave one table.

    Attributes
    ----------
    table, paper : str
    records : tuple of Path
        In the order in which the table has them.
    published : Path or None
        Folder of published tables.
    suite : Path or None
        Configuration of the paper, where the table uses it.
    digests : dict of str to str
        Of the data behind it, by dataset, where no key of the table names the dataset of a row.
    titles : dict of str to str
        Names in print that the suite gives its models.
    settings : dict
        Behind it, see `xmlc.suite.results.settings`; nothing in files of earlier versions.
    """

    table: str
    paper: str
    records: tuple[Path, ...]
    published: Path | None = None
    suite: Path | None = None
    digests: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    settings: Settings = field(default_factory=dict)

    def write(self, prefix: Path) -> Path:
        """Write PREFIX.made-of.json, whole or not at all, and return its path."""
        path = prefix.with_name(prefix.name + SUFFIX)
        records = list(map(in_project, self.records))
        write_record(path, {"schema": 1, **asdict(self), "records": records})
        return path

    @classmethod
    def read(cls, path: Path) -> MadeOf:
        """Read one file.

        Raises
        ------
        XmlcError
            It is not readable, or another kind of file.
        """
        return read_checked(path, cls, "what `xmlc table` of this version writes beside a table")

    def under(self, root: Path) -> MadeOf:
        """Return it with its records in a folder, where an archive of them was unpacked."""
        return replace(self, records=tuple(root / record for record in self.records))

    @staticmethod
    def is_current(made: Path, records: Iterable[Path]) -> bool:
        """Say whether a table or figure, or its provenance, is younger than all its records, and these are there."""
        try:
            return all(record.stat().st_mtime_ns <= made.stat().st_mtime_ns for record in records)
        except FileNotFoundError:
            return False

    @classmethod
    def beside(cls, table: Path) -> MadeOf | None:
        """Read the file beside a table (CSV), if there is one; of an accepted table it names no records."""
        path = table.with_suffix(SUFFIX)
        return cls.read(path) if path.is_file() else None


def same_data(one: MadeOf | None, other: Mapping[str, str]) -> bool:
    """Say whether a table is known to be about the data that have these digests."""
    return one is not None and bool(other) and one.digests == other


def finished_tables(folder: Path, papers: Iterable[str]) -> list[MadeOf]:
    """Read the provenance of the tables in ``folder/<paper>/``, by paper in the given order, claims first within one.

    Papers that are not given come last; a paper without tables is left out.
    """
    order = {paper: place for place, paper in enumerate(papers)}
    found = [MadeOf.read(path) for path in sorted(folder.glob(f"*/*{SUFFIX}"))]
    return sorted(
        found,
        key=lambda made: (order.get(made.paper, len(order)), made.paper, made.table != "claims", by_number(made.table)),
    )


def by_number(table: str) -> tuple[bool, int, str]:
    """Sort numbered tables by their number, then the others."""
    number = table.removeprefix("table")
    return (not number.isdecimal(), int(number) if number.isdecimal() else 0, table)


def in_project(path: Path) -> str:
    """Return the path that a result has in the project, also where Snakemake works on a copy from a storage.

    The copy of ``results/a.json`` is ``.snakemake/storage/<plugin>/<prefix of the storage>/results/a.json``.
    """
    text = path.as_posix()
    return f"results/{text.rpartition('/results/')[2]}" if text.startswith(f"{STORAGE_COPIES}/") else text
