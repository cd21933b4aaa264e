"""An archive of finished tables: their records and figures in one small file, from which the page is made again."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from xmlc import __version__
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file, sha256
from xmlc.core.sources import PACKAGE, commit, source_digest
from xmlc.numbers.made_of import SUFFIX, MadeOf
from xmlc.suites.suite import suite_file

MANIFEST = "manifest.json"


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content of the archive's first member: its program, configuration and files.

    Attributes
    ----------
    version, commit, code : str
        Of the program: its version, its commit, and a digest of its files.
    config, files : dict of str to str
        SHA-256 of each suite's configuration, and of each other member, by path.
    """

    schema: Literal[1] = 1
    version: str
    commit: str
    code: str
    config: dict[str, str]
    files: dict[str, str]

    @classmethod
    def of(cls, papers: Iterable[str], files: Iterable[Path]) -> Manifest:
        """Describe files as of now, and the program and configuration in use."""
        suites = [file for file in map(suite_file, sorted(set(papers))) if file.is_file()]
        config, members = ({file.as_posix(): sha256(file) for file in some} for some in (suites, files))
        code = source_digest(map(str, PACKAGE.rglob("*.py")))
        return cls(version=__version__, commit=commit(), code=code, config=config, files=members)


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


def write_archive(papers: Iterable[str], files: Sequence[Path], out: Path) -> None:
    """Write files of some papers to ``out``, a tar archive compressed by xz, whole or not at all.

    The same files give the same bytes, whenever and by whomever they were made.
    """
    manifest = msgspec.json.format(msgspec.json.encode(Manifest.of(papers, files)))
    with atomic_file(out) as temporary, tarfile.open(temporary, "w:xz", preset=9) as archive:
        for name, content in [(MANIFEST, manifest), *((file.as_posix(), file.read_bytes()) for file in files)]:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
