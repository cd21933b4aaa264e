"""Accepted numbers, results/reference/: the tables of a current run put in their place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from xmlc.errors import XmlcError
from xmlc.files import atomic_file
from xmlc.judging.compare import compare
from xmlc.judging.compare_text import headline
from xmlc.tables.columns import column
from xmlc.tables.fingerprint import read_table
from xmlc.tables.made_of import MadeOf


def accept(tables: Path, reference: Path) -> list[tuple[Path, str]]:
    """Put the tables that were made in the place of the accepted ones, without costs; of claims also their data.

    Costs differ from run to run, so that a difference of two accepted versions would show more than moved numbers.

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
        line = headline(compare(old, file)) if old.exists() else "new table"
        table = read_table(file)
        with atomic_file(old) as temporary:
            kept = table[[name for name in table if not column(name).cost]]
            kept.to_csv(temporary, index=False, lineterminator="\n")
        if (made_of := MadeOf.beside(file)) and made_of.digests:
            replace(made_of, records=()).write(old.with_suffix(""))
        said.append((old, line))
    return said
