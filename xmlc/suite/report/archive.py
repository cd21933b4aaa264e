"""An archive of finished tables: their records and figures in one small file, from which the page is made again."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.suite.results.made_of import SUFFIX, MadeOf


def archived_files(tables: Sequence[MadeOf], folder: Path, figures: Path) -> list[Path]:
    """Name the files that a page of these tables is made from: provenance, records, and the figures of their papers.

    Parameters
    ----------
    tables : sequence of MadeOf
    folder : Path
        Where the tables are, as ``<paper>/<table>.csv``.
    figures : Path
        Where the figures are, as ``<paper>/<figure>.svg``.

    Raises
    ------
    XmlcError
        A file lies outside the current folder, so that the archive could not be unpacked elsewhere.
    """
    provenance = {folder / made.paper / f"{made.table}{SUFFIX}" for made in tables}
    records = {record for made in tables for record in made.records}
    drawn = {file for paper in {made.paper for made in tables} for file in (figures / paper).glob("*.svg")}
    files = sorted(provenance | records | drawn)
    for file in files:
        if file.is_absolute() or ".." in file.parts:
            raise XmlcError(f"{file}: expected a path within the current folder; make the tables there, with Snakemake")
    return files


def write_archive(files: Sequence[Path], out: Path) -> None:
    """Write files to ``out``, a tar archive compressed by xz, whole or not at all.

    The same files give the same bytes, whenever and by whomever they were made.
    """
    with atomic_file(out) as temporary, tarfile.open(temporary, "w:xz", preset=9) as archive:
        for file in files:
            content, member = file.read_bytes(), tarfile.TarInfo(file.as_posix())
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
