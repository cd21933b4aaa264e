"""Prepare finished tables for reports: find outdated ones, write archives, list all numbers."""

from __future__ import annotations

import io
import math
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.suite.config import paths
from xmlc.suite.papers.building import read_records
from xmlc.suite.report.status import Failure
from xmlc.suite.results.columns import column
from xmlc.suite.results.environments import ENVIRONMENT, environment_columns
from xmlc.suite.results.manifest import SUFFIX, Manifest
from xmlc.suite.results.numbers import ABOUT, read

LONG_COLUMNS = (
    *("dataset", "model", "method", "variant", "seed", "quantity", "value", "record", "unit", "papers"),
    *ENVIRONMENT,
)


def separate_stale(tables: Sequence[Manifest]) -> tuple[list[Manifest], list[Failure]]:
    """Return the current tables, and a failure for each outdated one, with the command that rebuilds it.

    A table is outdated if its records were deleted or rebuilt later.
    """
    current = []
    stale = []
    for made in tables:
        file = Path(paths.TABLE.of(paper=made.paper, table=made.table))
        table = file.with_suffix(".md")
        # An archive has no Markdown files of tables, so it is only checked that the records exist.
        written = table.stat().st_mtime_ns if table.exists() else math.inf
        if all(record.exists() and record.stat().st_mtime_ns <= written for record in made.records):
            current.append(made)
        else:
            reason = f"its records are missing or newer. Run `snakemake {file}.md` to rebuild it"
            stale.append(Failure(file, reason))
    return current, stale


def archived_files(tables: Sequence[Manifest]) -> list[Path]:
    """Return the files that a page of these tables needs: the tables' manifests and records, and the papers' figures.

    Raises
    ------
    XmlcError
        A file is outside the current folder, so an archive that contains this file could not be
        unpacked elsewhere.
    """
    files: set[Path] = set()
    for made in tables:
        files.add(Path(f"{paths.TABLE.of(paper=made.paper, table=made.table)}{SUFFIX}"))
        files |= {*made.records, *Path(paths.FIGURES, made.paper).glob("*.svg")}
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
            content = file.read_bytes()
            member = tarfile.TarInfo(file.as_posix())
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def long_table(tables: Sequence[Manifest]) -> pd.DataFrame:
    """Return all numbers in the records of some tables as one long table.

    Each row contains one number of a record, the number's unit, and the record's environment
    metadata.

    Raises
    ------
    XmlcError
        A record violates its schema.
    """
    papers: dict[Path, dict[str, None]] = {}
    for made in tables:
        for path in made.records:
            papers.setdefault(path, {})[made.paper] = None
    records = read_records(papers)
    abouts = []
    for path, record in records.items():
        abouts.append(environment_columns(record) | {"record": path, "papers": " ".join(papers[path])})
    numbers = read(records).drop(columns="split")
    is_number = pd.to_numeric(numbers["value"], errors="coerce").notna()
    table = numbers[is_number & (numbers["variant"] != ABOUT)].merge(pd.DataFrame(abouts, dtype=object), on="record")
    table["unit"] = table["quantity"].map(lambda name: column(name).unit)
    table["record"] = table["record"].map(Path.as_posix)
    return table.reindex(columns=LONG_COLUMNS).astype({"seed": "Int64"})
