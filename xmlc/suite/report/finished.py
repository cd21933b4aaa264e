"""Prepare finished tables for reports.

The functions find outdated tables, add records of contributed runs, write archives, and build a long table of all
numbers.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.suite.config import paths
from xmlc.suite.papers.building import read_sources, sources_of
from xmlc.suite.report.status import Failure
from xmlc.suite.results.columns import column
from xmlc.suite.results.environments import RecordEnvironment, environment_columns
from xmlc.suite.results.frame import numbers_of
from xmlc.suite.results.manifest import SUFFIX, Manifest, finished_tables

OF_NUMBERS = ("dataset", "model", "method", "variant", "seed", "quantity", "value")
LONG_COLUMNS = (*OF_NUMBERS, "record", "unit", "papers", *RecordEnvironment._fields)


def separate_stale(tables: Sequence[Manifest]) -> tuple[list[Manifest], list[Failure]]:
    """Separate current tables from outdated tables. A table is outdated if its records were deleted or rebuilt later.

    Returns
    -------
    whole : list of Manifest
        The current tables.
    stale : list of Failure
        One failure for each outdated table, with the command that rebuilds the table.
    """
    whole, stale = [], []
    for made in tables:
        file = Path(paths.TABLE.of(paper=made.paper, table=made.table))
        table = file.with_suffix(".md")  # An archive has no Markdown files of tables, so only the records are checked.
        there = all(record.exists() for record in made.records)
        if there and (not table.exists() or Manifest.is_current(table, made.records)):
            whole.append(made)
            continue
        reason = f"its records are missing or newer. Run `snakemake {file}.md` to rebuild it"
        stale.append(Failure(file, f"{made.paper}, {made.table}", "", "", None, "", reason))
    return whole, stale


def archived_files(tables: Sequence[Manifest]) -> list[Path]:
    """Return the files that a page of these tables needs: the tables' manifests and records, and the papers' figures.

    Raises
    ------
    XmlcError
        A file is outside the current folder, so an archive that contains this file could not be unpacked elsewhere.
    """
    files = {Path(f"{paths.TABLE.of(paper=made.paper, table=made.table)}{SUFFIX}") for made in tables}
    files |= {record for made in tables for record in made.records}
    files |= {file for made in tables for file in Path(paths.FIGURES, made.paper).glob("*.svg")}
    for file in files:
        if file.is_absolute() or ".." in file.parts:
            raise XmlcError(f"{file}: found a path outside the current folder. Build the tables here with Snakemake")
    return sorted(files)


def write_archive(files: Sequence[Path], out: Path) -> None:
    """Write an archive of files atomically to ``out``, as a tar file that is compressed by xz.

    The archive is bit-identical for files of equal content, even if their owners and dates differ.
    """
    with atomic_file(out) as temporary, tarfile.open(temporary, "w:xz", preset=9) as archive:
        for file in files:
            content, member = file.read_bytes(), tarfile.TarInfo(file.as_posix())
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def with_contributed(tables: Sequence[Manifest]) -> list[Manifest]:
    """Return our tables, extended by the records of contributed archives, which are unpacked in `paths.CONTRIBUTED`.

    Each contributed record is added only once. The checksum of a record detects damage and edits, but does not prove
    who wrote the record. If both we and the contributor have a record, the two copies must contain equal results. Equal
    results show that our machine and the contributor's machine compute the same numbers.

    Raises
    ------
    XmlcError
        A record was changed, or the two copies of a record have different results. A contributor has no record that we
        also have.
    """
    known = {record: record for made in tables for record in made.records}
    found = {(made.paper, made.table): made for made in tables}
    for folder in sorted(Path(paths.CONTRIBUTED).glob("[!.]*")):
        theirs = [made.under(folder) for made in finished_tables(folder / paths.TABLES, ())]
        given = {origin_of(record)[1]: record for made in theirs for record in made.records}
        if not (both := given.keys() & known.keys()):
            raise XmlcError(
                f"{folder}: found no record that this folder also has. Run a dataset of config/reference.yaml, "
                "such as scene, in both projects to show that the programs agree"
            )
        for name in sorted(both):
            _check_same(given[name], known[name])
        for made in theirs:
            own = found.setdefault((made.paper, made.table), replace(made, records=()))
            new = tuple(record for record in made.records if origin_of(record)[1] not in both)
            found[made.paper, made.table] = replace(own, records=own.records + new, digests=made.digests | own.digests)
        known = given | known
    return [made for made in found.values() if made.records]


def origin_of(record: Path) -> tuple[str, Path]:
    """Return the contributor of a record, and the record's path in the contributor's project.

    For our own records, the contributor is "".
    """
    name, _, path = record.as_posix().partition(f"{paths.CONTRIBUTED}/")[2].partition("/")
    return (name, Path(path)) if path else ("", record)


def _check_same(theirs: Path, ours: Path) -> None:
    """Raise an error if two records differ in hyperparameters or in numbers other than costs."""
    found, expected = (
        {"hyperparameters": environment_columns(source.record).hyperparameters}
        | {
            f"{number.quantity} {number.variant}".rstrip(): number.value
            for number in numbers_of([source])
            if not (column(number.quantity).cost or number.is_missing)
        }
        for source in read_sources([theirs, ours])
    )
    for what in expected | found:
        if found.get(what) != expected.get(what):
            raise XmlcError(
                f"{theirs}: {what}: found {found.get(what)}, expected {expected.get(what)} as in {ours}. "
                "Compare the program, the data and the settings of both runs"
            )


def long_table(tables: Sequence[Manifest]) -> pd.DataFrame:
    """Return all numbers in the records of some tables as one long table.

    Each row contains one number of a record, the number's unit, and the record's environment metadata.

    Raises
    ------
    XmlcError
        A record violates its schema.
    """
    rows = []
    for source, papers in sources_of(tables):
        about = environment_columns(source.record)._asdict() | {"papers": " ".join(papers)}
        for number in numbers_of([source]):
            if number.quantity != "note" and not number.is_missing:
                own = {name: getattr(number, name) for name in OF_NUMBERS}
                rows.append(own | about | {"unit": column(number.quantity).unit, "record": source.path.as_posix()})
    return pd.DataFrame(rows, columns=list(LONG_COLUMNS)).astype({"seed": "Int64"})
