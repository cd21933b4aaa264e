"""Numbers from elsewhere: an archive of `xmlc archive` is checked, and its records are taken in beside ours.

Its checksums find damage and edits, and are no signature. That the program computed there as it does here is known from
the results that both have, which must be equal.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, sha256
from xmlc.data.archives import unpack
from xmlc.data.catalogue import NAME
from xmlc.numbers.columns import column
from xmlc.numbers.long import is_missing, long_of
from xmlc.numbers.made_of import SUFFIX, MadeOf, finished_tables
from xmlc.numbers.passports import passport_columns
from xmlc.papers.building import build_table, sources_of
from xmlc.report.archive import MANIFEST, Manifest
from xmlc.suites import paths


def contribute(archive: Path, name: str, accepted: Path) -> tuple[int, list[Path]]:
    """Check an archive and take its new records into `paths.CONTRIBUTED`, whole or not at all.

    Parameters
    ----------
    archive : Path
    name : str
        Of the folder, and the origin that the page shows.
    accepted : Path
        Archive of our own runs; it needs no manifest.

    Returns
    -------
    int
        How many results were here already and are equal.
    list of Path
        The new records, within the new folder.

    Raises
    ------
    XmlcError
        A member was changed, is missing or was added; program or configuration are others; a result that is here too
        differs, or none is here too; a table cannot be made with the new records. The message names the member, what
        was found, what was expected, and what to do.
    """
    out = Path(paths.CONTRIBUTED) / name
    if not NAME.fullmatch(name) or out.exists():
        raise XmlcError(f"{out}: expected a new folder of lower-case letters, digits, '.', '_' and '-'; rename it")
    with TemporaryDirectory() as place:
        theirs, ours = place / out, place / out.with_name("OURS")
        try:
            for packed, folder in ((archive, theirs), (accepted, ours)):
                unpack(packed, [], folder)
            return _take(theirs, [*_tables_in(ours), *contributed_tables()], out)
        except XmlcError as error:
            raise XmlcError(f"{archive}: {str(error).replace(f'{theirs}/', '')}. Nothing was taken in") from error


def contributed_tables() -> list[MadeOf]:
    """Read the provenance of all that was taken in."""
    return [
        made for file in sorted(Path(paths.CONTRIBUTED).glob(f"[!.]*/{MANIFEST}")) for made in _tables_in(file.parent)
    ]


def _tables_in(folder: Path) -> list[MadeOf]:
    return [made.under(folder) for made in finished_tables(folder / paths.TABLES, ())]


def merged(tables: Iterable[MadeOf]) -> list[MadeOf]:
    """Put the records of tables of the same name together, each run once."""
    found: dict[tuple[str, str], MadeOf] = {}
    for made in tables:
        own = found.setdefault((made.paper, made.table), made)
        records = {origin_of(path)[1]: path for path in own.records}
        for path in made.records:
            records.setdefault(origin_of(path)[1], path)
        digests = made.digests | own.digests
        found[made.paper, made.table] = replace(own, records=tuple(records.values()), digests=digests)
    return list(found.values())


def origin_of(record: Path) -> tuple[str, Path]:
    """Return under which name a record was taken in, nothing for our own, and its path where it was made."""
    name, _, path = record.as_posix().partition(f"{paths.CONTRIBUTED}/")[2].partition("/")
    return (name, Path(path)) if path else ("", record)


def _take(theirs: Path, here: list[MadeOf], out: Path) -> tuple[int, list[Path]]:
    tables = _tables_in(theirs)
    _check_manifest(theirs, tables)
    known = {origin_of(path)[1]: path for made in here for path in made.records}
    same = [_only(made, lambda path: path in known) for made in tables]
    found = _results(same)
    expected = _results(
        replace(made, records=tuple(known[origin_of(path)[1]] for path in made.records)) for made in same
    )
    _check_same(found, expected, "a result of both must be the same to the last bit: look for other data or settings")
    new = [made for made in (_only(made, lambda path: path not in known) for made in tables) if made.records]
    files = {origin_of(path)[1]: path for made in new for path in made.records}
    if not found or not files:
        raise XmlcError(
            f"found {len(found)} results that are here too and {len(files)} new records, expected both: a set of "
            "config/reference.yaml, such as scene, shows that the program computes the same"
        )
    for made in merged([*here, *new]):
        if (made.paper, made.table) in {(one.paper, one.table) for one in new}:
            build_table(made)
    with atomic_folder(out) as folder:
        for name, path in {**files, Path(MANIFEST): theirs / MANIFEST}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
        for made in new:
            names = tuple(origin_of(path)[1] for path in made.records)
            replace(made, records=names).write(folder / paths.TABLES / made.paper / made.table)
    return len(found), [out / name for name in sorted(files)]


def _only(made: MadeOf, wanted: Callable[[Path], bool]) -> MadeOf:
    return replace(made, records=tuple(path for path in made.records if wanted(origin_of(path)[1])))


def _check_manifest(theirs: Path, tables: Sequence[MadeOf]) -> None:
    """Hold members, program and configuration against the manifest."""
    file, again = theirs / MANIFEST, "make the archive again, by `xmlc archive`"
    try:
        manifest = msgspec.json.decode(file.read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        raise XmlcError(f"{MANIFEST}: found none that can be read ({error}); {again}") from error
    members = {path: sha256(path) for path in theirs.rglob("*") if path.is_file() and path != file}
    listed = {theirs / name: digest for name, digest in manifest.files.items()}
    _check_same(members, listed, again)
    for made in tables:
        own = theirs / paths.TABLES / made.paper / f"{made.table}{SUFFIX}"
        needed = {path: "a member" for path in (own, *made.records)}
        _check_same({path: "a member" for path in needed if path in listed}, needed, again)
    here = Manifest.of((made.paper for made in tables), [])
    there = f"check out its commit, {manifest.commit or 'which is not known'}, take it in there, and merge"
    _check_same({"xmlc": f"{manifest.version} ({manifest.code})"}, {"xmlc": f"{here.version} ({here.code})"}, there)
    _check_same(manifest.config, here.config, there)


def _check_same(found: Mapping[Any, object], expected: Mapping[Any, object], advice: str) -> None:
    for name in sorted({*found, *expected}):
        if found.get(name) != expected.get(name):
            ours, theirs = (some.get(name, "nothing") for some in (expected, found))
            raise XmlcError(f"{name}: found {theirs}, expected {ours}; {advice}")


def _results(tables: Iterable[MadeOf]) -> dict[str, object]:
    """Return the numbers of records that are no costs, and their hyperparameters."""
    results: dict[str, object] = {}
    for source, _ in sources_of(tables):
        about = f"{origin_of(source.path)[1]}: "
        results[about + "hyperparameters"] = passport_columns(source.record).hyperparameters
        for number in long_of([source]):
            if not column(number.quantity).cost and not is_missing(number.value):
                results[f"{about}{number.quantity} {number.variant}".rstrip()] = number.value
    return results
