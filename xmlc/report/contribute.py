"""Numbers from elsewhere: the records of an archive of `xmlc archive` are taken in beside ours.

Each record has a checksum, which finds damage and edits and is no signature. That the program computed there as it does
here is known from the results that both have, which must be equal.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder
from xmlc.data.archives import unpack
from xmlc.data.catalogue import NAME
from xmlc.numbers.columns import column
from xmlc.numbers.long import is_missing, long_of
from xmlc.numbers.made_of import MadeOf, finished_tables
from xmlc.numbers.passports import passport_columns
from xmlc.papers.building import build_table, read_sources
from xmlc.suites import paths


def contribute(archive: Path, name: str, accepted: Path) -> tuple[int, list[Path]]:
    """Check an archive and take its new records into `paths.CONTRIBUTED`, whole or not at all.

    Parameters
    ----------
    archive : Path
    name : str
        Of the folder, and the origin that the page shows.
    accepted : Path
        Archive of our own runs.

    Returns
    -------
    int
        How many records were here already and have the same results.
    list of Path
        The new records, within the new folder.

    Raises
    ------
    XmlcError
        A record is missing or was changed; a result that is here too differs, or none is here too; a table cannot be
        made with the new records. The message names the record, what was found, what was expected, and what to do.
    """
    out = Path(paths.CONTRIBUTED) / name
    if not NAME.fullmatch(name) or out.exists():
        raise XmlcError(f"{out}: expected a new folder of lower-case letters, digits, '.', '_' and '-'; rename it")
    with TemporaryDirectory() as place:
        theirs, ours = place / out, place / out.with_name("OURS")
        try:
            for packed, folder in ((archive, theirs), (accepted, ours)):
                unpack(packed, [], folder)
            return _take(_tables_in(theirs), [*_tables_in(ours), *contributed_tables()], out)
        except XmlcError as error:
            raise XmlcError(f"{archive}: {str(error).replace(f'{theirs}/', '')}. Nothing was taken in") from error


def contributed_tables() -> list[MadeOf]:
    """Read the provenance of all that was taken in."""
    return [made for folder in sorted(Path(paths.CONTRIBUTED).glob("[!.]*")) for made in _tables_in(folder)]


def _tables_in(folder: Path) -> list[MadeOf]:
    return [made.under(folder) for made in finished_tables(folder / paths.TABLES, ())]


def merged(tables: Iterable[MadeOf]) -> list[MadeOf]:
    """Put the records of tables of the same name together, each run once."""
    found: dict[tuple[str, str], MadeOf] = {}
    for made in tables:
        own = found.setdefault((made.paper, made.table), made)
        records = _by_place([own, made]) | _by_place([own])
        digests = made.digests | own.digests
        found[made.paper, made.table] = replace(own, records=tuple(records.values()), digests=digests)
    return list(found.values())


def _by_place(tables: Iterable[MadeOf]) -> dict[Path, Path]:
    """Return records by their paths where they were made; of the same run that of the last table."""
    return {origin_of(path)[1]: path for made in tables for path in made.records}


def origin_of(record: Path) -> tuple[str, Path]:
    """Return under which name a record was taken in, nothing for our own, and its path where it was made."""
    name, _, path = record.as_posix().partition(f"{paths.CONTRIBUTED}/")[2].partition("/")
    return (name, Path(path)) if path else ("", record)


def _take(tables: list[MadeOf], here: list[MadeOf], out: Path) -> tuple[int, list[Path]]:
    given, known = _by_place(tables), _by_place(here)
    both, new = sorted(given.keys() & known.keys()), sorted(given.keys() - known.keys())
    for name in both:
        found, expected = _results(given[name]), _results(known[name])
        for what in {**expected, **found}:
            if (one := found.get(what)) != (other := expected.get(what)):
                raise XmlcError(
                    f"{name}: {what}: found {one}, expected {other}; a result of both must be the same to the last "
                    "bit: look for another program, other data or settings"
                )
    if not both or not new:
        raise XmlcError(
            f"found {len(both)} records that are here too and {len(new)} new ones, expected both: a set of "
            "config/reference.yaml, such as scene, shows that the program computes the same"
        )
    added = []
    for made in tables:
        if records := tuple(path for path in made.records if origin_of(path)[1] in new):
            added.append(replace(made, records=records))
    for made in merged([*here, *added]):
        if any((made.paper, made.table) == (one.paper, one.table) for one in added):
            build_table(made)
    with atomic_folder(out) as folder:
        for name in new:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(given[name], folder / name)
        for made in added:
            names = tuple(origin_of(path)[1] for path in made.records)
            replace(made, records=names).write(folder / paths.TABLES / made.paper / made.table)
    return len(both), [out / name for name in new]


def _results(file: Path) -> dict[str, object]:
    """Return the hyperparameters of a record, and its numbers that are no costs."""
    (source,) = read_sources([file])
    results: dict[str, object] = {"hyperparameters": passport_columns(source.record).hyperparameters}
    for number in long_of([source]):
        if not column(number.quantity).cost and not is_missing(number.value):
            results[f"{number.quantity} {number.variant}".rstrip()] = number.value
    return results
