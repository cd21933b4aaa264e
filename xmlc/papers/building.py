"""A table or figure of a suite made from files of records; mixed kinds, portions and contradictory data are refused."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import xmlc.records
from xmlc.core.errors import XmlcError
from xmlc.papers import figure_of, table_of
from xmlc.papers.tables.table import Published, Table
from xmlc.records.base import ExperimentRecord, check_header, parsed
from xmlc.records.simulation import SimulationRecord, read_simulations
from xmlc.records.statistics import Statistics, read_statistics
from xmlc.records.step import StepRecord, read_steps
from xmlc.records.training import SearchRecord, read_searches
from xmlc.suites.needs import Need
from xmlc.suites.suite import read_suite

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# How to read files that are no records of a model, by the kind that a table or figure needs.
OfTables = ExperimentRecord | StepRecord | Statistics
AnyRecord = OfTables | SimulationRecord | SearchRecord
OTHER_FILES: dict[str, Callable[[Iterable[Path]], Sequence[AnyRecord]]] = {
    "step": read_steps,
    "statistics": read_statistics,
    "simulation": read_simulations,
    "training": read_searches,
}


R = TypeVar("R", bound=ExperimentRecord)
Identity = tuple[str, str, str | None, int]


def build_table(
    name: str, paper: str, records: Sequence[Path], published: Path | None = None, suite: Path | None = None
) -> Table:
    """Build one table of a paper.

    Parameters
    ----------
    name : str
        A table of the paper or of all suites; a bare number means ``table<number>``.
    paper : str
    records : sequence of Path
        Those of other kinds than the table's are left out.
    published : Path or None
        Folder with ``<paper>/<table>.csv``; a paper without such a file has no published values.
    suite : Path or None
        The paper's configuration, for a table that uses it.

    Raises
    ------
    XmlcError
        The table is unknown, or the records do not fit.
    """
    definition = table_of(name, paper)
    printed = read_published(name, paper, published)
    first, *others = read_needs(definition.needs, records, definition.partial)
    configured = [read_suite(suite) if suite else None] if definition.takes_suite else []
    return definition(paper, first, printed, *others, *configured)


def draw_figure(name: str, paper: str, records: Sequence[Path]) -> Figure:
    """Draw one figure of a paper.

    Parameters and errors are those of `build_table`; a bare number means ``figure<number>``.
    """
    definition = figure_of(name, paper)
    return definition(paper, *read_needs(definition.needs, records))


def read_needs(needs: Sequence[Need], records: Sequence[Path], partial: bool = False) -> list[Sequence[AnyRecord]]:
    """Read the records of each need; of the first there must be some, if not ``partial``."""
    files = files_of_kinds(needs, records)
    return [read_need(need, files[need.kind], needed=need is needs[0] and not partial) for need in needs]


def files_of_kinds(needs: Sequence[Need], records: Sequence[Path]) -> dict[str, Sequence[Path]]:
    """Return the files in which the records of each kind that is needed are; maybe with some of other kinds.

    Raises
    ------
    XmlcError
        One is not readable.
    """
    wanted = {need.kind for need in needs}
    if len(wanted) > 1 and wanted & {*OTHER_FILES}:  # whose readers take no files of other kinds
        return {kind: [path for path in records if kind_of(path) == kind] for kind in wanted}
    return dict.fromkeys(wanted, records)


def kind_of(path: Path) -> str:
    """Name the kind of a file that a table is made from; results of searches and statistics do not say theirs.

    Raises
    ------
    XmlcError
        It is not readable.
    """
    if path.suffix == ".yaml":
        return "training"
    content = parsed(path, "record")
    return str(content.get("kind", "statistics")) if isinstance(content, dict) else ""


def read_need(need: Need, records: Sequence[Path], needed: bool = True) -> Sequence[AnyRecord]:
    """Read the records of one need; without ``needed`` there may be none of them."""
    if need.kind in OTHER_FILES:
        return OTHER_FILES[need.kind](records) if needed or records else []
    return read_records(records, kinds()[need.kind], need.portion, needed, need.takes)


def read_published(name: str, paper: str, folder: Path | None) -> Published:
    """Read the paper's numbers of one table, from the files in ``folder/<paper>/`` that hold it; maybe nothing."""
    definition = table_of(name, paper)
    printed = Published({}, definition.keys)
    for source in definition.printed_in or (definition.name,):
        file = folder / paper / f"{source}.csv" if folder else None
        printed = Published.read(file, definition.keys).over(printed)
    return printed


def read_records(
    paths: Iterable[Path],
    kind: type[R],
    portion: str,
    needed: bool = True,
    takes: Callable[[str, str | None], bool] = lambda model, method: True,
) -> list[R]:
    """Read and check records; other kinds and portions are left out.

    Parameters
    ----------
    paths : iterable of Path
    kind : type of ExperimentRecord
    portion : {"full", "80"}
        What the models were trained on.
    needed : bool
        Whether none of this kind is an error.
    takes : callable
        Says of a model and a method whether their records are wanted.

    Returns
    -------
    list of ExperimentRecord
        In the order of the files: it is the order of rows in tables and of panels in figures.

    Raises
    ------
    XmlcError
        A file is no record, lacks something or contradicts another; or one of this kind is needed and there is none.
    """
    paths = list(paths)
    found: dict[Identity, Path] = {}
    records = []
    for path in paths:
        record = read_record(path)
        if not isinstance(record, kind) or record.portion != portion or not takes(record.model, record.method_name):
            continue
        identity = (record.dataset.name, record.model, record.method_name, record.seed)
        if identity in found:
            raise XmlcError(
                f"{path}: a second record of {_named(identity)}; the first is {found[identity]}. Give each record once"
            )
        found[identity] = path
        records.append(record)
    if needed and not records:
        raise XmlcError(
            f"no record of kind {kind.KIND!r}, portion {portion!r}, among {len(paths)} files; "
            f"expected files that {f'`xmlc {kind.COMMAND}`' if kind.COMMAND else 'your script'} wrote"
            " of the models and methods that it is about"
        )
    _check_one_story(records, list(found.values()))
    return records


def read_record(path: Path) -> ExperimentRecord:
    """Read one record of any of the `kinds`.

    Raises
    ------
    XmlcError
        It is not readable, of no kind, or lacks something.
    """
    content = parsed(path, "record")
    kind = check_header(path, content, kinds(), "rank`, `xmlc thresholds` or `xmlc infer")
    return kinds()[kind].of(path, content)


@cache
def kinds() -> dict[str, type[ExperimentRecord]]:
    """Return the classes of records of experiments in the modules of this room, by kind in alphabetical order."""
    names = [f"{xmlc.records.__name__}.{found.name}" for found in pkgutil.iter_modules(xmlc.records.__path__)]
    parts = [part for name in names for part in vars(importlib.import_module(name)).values()]
    classes = [part for part in parts if isinstance(part, type)]
    return {one.KIND: one for one in classes if issubclass(one, ExperimentRecord) and one.KIND}


def _check_one_story(records: Sequence[ExperimentRecord], paths: Sequence[Path]) -> None:
    """Refuse records that must not stand in one table: other data under one name, other settings over seeds."""
    data: dict[str, tuple[str, Path]] = {}
    settings: dict[tuple[str, str], tuple[object, Path]] = {}
    for record, path in zip(records, paths, strict=True):
        name, digest = record.dataset.name, record.dataset.digest
        first, where = data.setdefault(name, (digest, path))
        if first != digest:
            raise XmlcError(
                f"{path}: dataset {name!r} has digest {digest[:12]}, but {first[:12]} in {where}; "
                "the two were made from different data: make the older again"
            )
        setting, where = settings.setdefault((name, record.model), (record.hyperparameters, path))
        if setting != record.hyperparameters:
            raise XmlcError(
                f"{path}: hyperparameters of {record.model} on {name} differ from those in {where}; "
                "one row of a table has one setting: make the older again"
            )


def _named(identity: Identity) -> str:
    dataset, model, method, seed = identity
    return f"{dataset}, {model}{f', {method}' if method else ''}, seed {seed}"
