"""The provenance of a finished table: a small file beside it, from which reports build the table again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from xmlc.core.files import write_record
from xmlc.records.base import read_checked
from xmlc.suites.paths import in_project

SUFFIX = ".made-of.json"


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content of the file: paths as text."""

    schema: Literal[1]
    table: str
    paper: str
    records: tuple[str, ...]
    published: str | None
    suite: str | None
    digests: dict[str, str] = {}


@dataclass(frozen=True)
class MadeOf:
    """The arguments of `xmlc.papers.building.build_table` that gave one table.

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
    """

    table: str
    paper: str
    records: tuple[Path, ...]
    published: Path | None = None
    suite: Path | None = None
    digests: dict[str, str] = field(default_factory=dict)

    def write(self, prefix: Path) -> Path:
        """Write PREFIX.made-of.json, whole or not at all, and return its path."""
        path = prefix.with_name(prefix.name + SUFFIX)
        content = _File(
            schema=1,
            table=self.table,
            paper=self.paper,
            records=tuple(map(in_project, self.records)),
            published=self.published.as_posix() if self.published else None,
            suite=self.suite.as_posix() if self.suite else None,
            digests=self.digests,
        )
        write_record(path, asdict(content))
        return path

    @classmethod
    def read(cls, path: Path) -> MadeOf:
        """Read one file.

        Raises
        ------
        XmlcError
            It is not readable, or another kind of file.
        """
        content = read_checked(path, _File, "what `xmlc table` of this version writes beside a table")
        published, suite = (Path(name) if name else None for name in (content.published, content.suite))
        return cls(content.table, content.paper, tuple(map(Path, content.records)), published, suite, content.digests)

    def under(self, root: Path) -> MadeOf:
        """Return it with its records in a folder, where an archive of them was unpacked."""
        return replace(self, records=tuple(root / record for record in self.records))

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
    return sorted(found, key=lambda made: (order.get(made.paper, len(order)), made.paper, _by_number(made.table)))


def _by_number(name: str) -> tuple[bool, bool, int, str]:
    """Sort claims first, then numbered tables by their number, then the others."""
    number = name.removeprefix("table")
    return (name != "claims", not number.isdecimal(), int(number) if number.isdecimal() else 0, name)
