"""Accepted numbers, results/reference/: the tables of a current run put in their place."""

from __future__ import annotations

from pathlib import Path

from xmlc.errors import XmlcError
from xmlc.files import atomic_file
from xmlc.reports.compare import compare
from xmlc.reports.compare_text import headline
from xmlc.reports.tolerances import Tolerances


def accept(tables: Path, reference: Path) -> list[tuple[Path, str]]:
    """Copy the tables that were made over the accepted ones.

    Parameters
    ----------
    tables : Path
        Folder with ``<suite>/<table>.csv``, of which each that the run made is there.
    reference : Path
        Folder of the same kind. Suites without a folder in it are passed over.

    Returns
    -------
    list of (Path, str)
        The written files, with what the change is.

    Raises
    ------
    XmlcError
        There is nothing to accept.
    """
    made = [file for file in sorted(tables.glob("*/*.csv")) if (reference / file.parent.name).is_dir()]
    if not made:
        raise XmlcError(
            f"{tables}: no table of a suite that {reference} has a folder of; run a suite first, or make its folder"
        )
    said = []
    for file in made:
        old = reference / file.parent.name / file.name
        line = headline(compare(old, file, Tolerances())) if old.exists() else "new table"
        with atomic_file(old) as temporary:
            temporary.write_bytes(file.read_bytes())
        said.append((old, line))
    return said
