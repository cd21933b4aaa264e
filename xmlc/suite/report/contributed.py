"""Numbers from elsewhere: the records of archives that were unpacked in `paths.CONTRIBUTED` are shown beside ours.

Each record has a checksum, which finds damage and edits and is no signature. That the program computed there as it does
here is known from the results that both have, which must be equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from xmlc.core.errors import XmlcError
from xmlc.suite.config import paths
from xmlc.suite.papers.building import read_sources
from xmlc.suite.results.columns import column
from xmlc.suite.results.frame import is_missing, numbers_of
from xmlc.suite.results.made_of import MadeOf, finished_tables
from xmlc.suite.results.passports import passport_columns


def with_contributed(tables: Sequence[MadeOf]) -> list[MadeOf]:
    """Return tables with the records of others added, each run once.

    Raises
    ------
    XmlcError
        A record was changed; a result of both differs, or there is none of both. The message names the record, what was
        found, what was expected, and what to do.
    """
    known = {record: record for made in tables for record in made.records}
    found = {(made.paper, made.table): made for made in tables}
    for folder in sorted(Path(paths.CONTRIBUTED).glob("[!.]*")):
        theirs = [made.under(folder) for made in finished_tables(folder / paths.TABLES, ())]
        given = {origin_of(record)[1]: record for made in theirs for record in made.records}
        both = given.keys() & known.keys()
        if not both:
            raise XmlcError(
                f"{folder}: found no record that is here too; expected those of a set of config/reference.yaml, such "
                "as scene, which show that the program computes the same"
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
    """Return under which name a record was taken in, nothing for our own, and its path where it was made."""
    name, _, path = record.as_posix().partition(f"{paths.CONTRIBUTED}/")[2].partition("/")
    return (name, Path(path)) if path else ("", record)


def _check_same(theirs: Path, ours: Path) -> None:
    found, expected = _results(theirs), _results(ours)
    for what in {**expected, **found}:
        if found.get(what) != expected.get(what):
            raise XmlcError(
                f"{theirs}: {what}: found {found.get(what)}, expected {expected.get(what)} as in {ours}; a result of "
                "both must be the same to the last bit: look for another program, other data or settings"
            )


def _results(file: Path) -> dict[str, object]:
    """Return the hyperparameters of a record, and its numbers that are no costs."""
    (source,) = read_sources([file])
    results: dict[str, object] = {"hyperparameters": passport_columns(source.record).hyperparameters}
    for number in numbers_of([source]):
        if not column(number.quantity).cost and not is_missing(number.value):
            results[f"{number.quantity} {number.variant}".rstrip()] = number.value
    return results
